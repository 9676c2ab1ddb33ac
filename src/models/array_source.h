// An ONNX file of any kind that is run on arrays, and one element of its outputs as a source.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/graph_source.h"
#include "models/onnx_probe.h"

namespace whyformer {

// Inputs of a file by name, with their batch where the file has it, or in front.
using NamedArrays = Sample;

// One element of an output as part of the answer: [1, 1], or a short row that the output is anyway.
struct ElementGraph : ModelGraph {
  int64_t target = 0;                           // in that row
  std::shared_ptr<const OnnxProbe> probe;       // of that output; its values are this graph's too
  std::shared_ptr<const AppliedEdits> applied;  // null for none
  std::shared_ptr<const OnnxProbe>
      whole;  // the same before rows were left out that the output does not read
};

class OnnxArrays {
 public:
  explicit OnnxArrays(OnnxDocument document, BatchAxes batch_axes = {});

  const OnnxDocument& document() const { return document_; }
  const Config& config() const { return config_; }
  const onnx::OnnxFile& file() const { return document_.model->file(); }

  // The output that `asked` names, the main one where it is empty. Throws InvalidInput that lists
  // them.
  std::string output_named(const std::string& asked) const;

  // Those of the last layer that the output does not read may be left out.
  enum class LastRows { kReadOnes, kAll };

  // Graphs for arrays of these shapes, built once and shared. Masks and their like count by value,
  // too.
  std::shared_ptr<const OnnxProbe> probe(const NamedArrays& arrays,
                                         const OnnxProbeRequest& request) const;
  std::shared_ptr<const ElementGraph> element(const NamedArrays& arrays, const std::string& output,
                                              const std::vector<int64_t>& indices, DType dtype,
                                              LastRows rows = LastRows::kReadOnes) const;
  // The same with other weights.
  std::shared_ptr<const ElementGraph> randomised(const ElementGraph& element,
                                                 const Randomisation& how) const;
  // The same with values inside changed; of an element with all rows.
  static std::shared_ptr<const ElementGraph> edited(const ElementGraph& element,
                                                    std::shared_ptr<const AppliedEdits> edits);

  // Arrays as the file takes them, for its graph: the batch of all of them in front.
  static NamedArrays with_batch_in_front(const OnnxProbe& probe, NamedArrays arrays);

  // Of such arrays. Throws InvalidInput where an array is missing, or an id is none of the table it
  // picks from; both name the input.
  static Feeds feeds(const OnnxProbe& probe, const NamedArrays& arrays);
  // And what the element's edits need.
  static Feeds feeds(const ElementGraph& element, const NamedArrays& arrays);

 private:
  std::string key_of(const NamedArrays& arrays, const OnnxProbeRequest& request) const;

  OnnxDocument document_;
  BatchAxes batch_axes_;
  Config config_;
  mutable GraphCache<std::string, OnnxProbe> probes_{kMostProbes};
  mutable GraphCache<std::string, ElementGraph> elements_{kMostProbes};
  mutable RandomWeights random_weights_;
  static constexpr size_t kMostProbes = 16;
};

// The graph of one element. Lengths of files are fixed in many ways, so its samples are arrays with
// their batch, one sample at a time.
class ElementSource final : public GraphSource {
 public:
  ElementSource(SourceFacts facts, std::shared_ptr<const ElementGraph> element)
      : GraphSource(std::move(facts)), element_(std::move(element)) {}

  const ElementGraph& element() const { return *element_; }

  int64_t parameter_count() const override { return element_->probe->file.parameters().numbers; }
  int64_t tensor_count() const override { return element_->probe->file.parameters().tensors; }
  int64_t max_at_once() const override { return 1; }

 private:
  std::shared_ptr<const ModelGraph> build(const ShapeKey&) const override { return element_; }
  void feed(const ModelGraph&, std::span<const Sample> samples, Feeds& feeds) const override {
    feeds = OnnxArrays::feeds(*element_, samples[0]);
  }

  std::shared_ptr<const ElementGraph> element_;
};

}  // namespace whyformer
