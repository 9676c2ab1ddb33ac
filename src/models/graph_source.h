// Where graphs come from: the weights of a folder or an ONNX file, opened once. Graphs are built
// for the shapes of what is run, and kept.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/config.h"
#include "models/edited_graph.h"
#include "models/graph_cache.h"
#include "models/model_graph.h"
#include "models/model_weights.h"

namespace whyformer {

// The tensors of one input by name, without an axis for the batch.
using Sample = std::map<std::string, Tensor, std::less<>>;

// Which answer is looked at, with which precision, and with which weights.
struct RunKind {
  Head head = Head::kLogits;
  std::vector<double> reference = {};  // of the similarity head
  DType dtype = DType::kFloat32;
  std::optional<Randomisation> randomisation = {};
  std::shared_ptr<const AppliedEdits> edits = {};  // of values inside; null for none
  bool all_rows = false;                           // see ShapeKey
  bool answer_only = false;  // likewise; of the model's own weights, without edits
};

// A graph with what its inputs get.
struct FedGraph {
  std::shared_ptr<const ModelGraph> graph;
  Feeds feeds;
};

// What is known about a model before it runs.
struct SourceFacts {
  std::string name;
  std::string architecture;
  std::optional<Problem> problem;         // nothing without a classifier
  std::vector<std::string> output_names;  // labels, or dimensions of the embedding
  // A head that the explained answers do not come from, as config.json names the whole:
  // "BertForQuestionAnswering"; and what it does: "labels each token, not the text".
  std::string head_left_out, work_left_out;
  std::vector<std::string> notes;  // what its users should know about how the files were read
  NativeNames native = {};         // names of values by the files' own
};

class GraphSource {
 public:
  static constexpr int64_t kAnyNumber = int64_t{1} << 30;

  virtual ~GraphSource() = default;
  GraphSource(const GraphSource&) = delete;
  GraphSource& operator=(const GraphSource&) = delete;

  const SourceFacts& facts() const { return facts_; }
  const std::string& name() const { return facts_.name; }
  bool has_classifier() const { return facts_.problem.has_value(); }
  // The logits, or the embedding of a model without a classifier.
  Head own_head() const { return has_classifier() ? Head::kLogits : Head::kEmbedding; }

  virtual int64_t parameter_count() const = 0;
  virtual int64_t tensor_count() const = 0;
  // How many samples may run together: an ONNX file may be made for a number of its own.
  virtual int64_t max_at_once() const { return kAnyNumber; }

  // Built once and shared. Throws InvalidInput for shapes that the model does not take, and
  // UnsupportedModel where a randomisation is asked for and the weights cannot be replaced. A graph
  // with other weights is the model's own in every other respect, to the ids of its values; so is
  // one with edits, which has all rows.
  std::shared_ptr<const ModelGraph> graph(const ShapeKey& key) const;
  // Of samples with equal shapes; `reference` [width] only for the similarity head.
  Feeds feeds(const ModelGraph& graph, std::span<const Sample> samples,
              const std::vector<double>& reference = {}) const;
  FedGraph fed(std::span<const Sample> samples, const RunKind& kind) const;

 protected:
  explicit GraphSource(SourceFacts facts) : facts_(std::move(facts)) {}

  virtual std::shared_ptr<const ModelGraph> build(const ShapeKey& key) const = 0;
  // The key of the graph that serves this one: a file of one length serves shorter inputs.
  virtual ShapeKey served_by(ShapeKey key) const { return key; }
  // By default the samples one after the other, under the names of the graph's inputs.
  virtual void feed(const ModelGraph& graph, std::span<const Sample> samples, Feeds& feeds) const;

  std::shared_ptr<const ModelGraph> made(const ShapeKey& key) const;

  // Throws InvalidInput where logits are asked for and there are none.
  void require_classifier(const ShapeKey& key) const;
  void name_dimensions(int64_t width);  // of an encoder without a classifier

  SourceFacts facts_;

 private:
  mutable GraphCache<ShapeKey, ModelGraph> graphs_;
  mutable RandomWeights random_weights_;
};

// One tensor of all samples, with the batch in front.
Tensor stacked(std::span<const Sample> samples, std::string_view name);

}  // namespace whyformer
