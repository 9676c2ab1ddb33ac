// A text model as a folder holds it: tokenizer, weights, and graphs built from them on demand.
#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "models/architectures/encoder.h"
#include "models/model_graph.h"
#include "readers/tokenizers/tokenizer.h"

namespace whyformer {

// What a graph is built for.
struct GraphKey {
  int64_t batch = 1;
  int64_t tokens = 0;
  bool masked = false;  // takes an attention mask
  Head head = Head::kLogits;
  DType dtype = DType::kFloat32;
  bool all_rows = false;  // those of the last layer too that the output does not read
  auto operator<=>(const GraphKey&) const = default;
};

struct TextGraph : ModelGraph {
  GraphKey key;
  EncoderInputs inputs;   // positions may be computed from the ids instead of given
  Value pooling;          // [batch, 1, tokens] weights of a masked mean; invalid where not used
  Value word_embeddings;  // [batch, tokens, width]
};

// Inputs of equal length for one run. `hidden` marks positions that attention must not see.
struct TokenBatch {
  std::vector<std::vector<int64_t>> ids;
  std::vector<std::vector<int64_t>> types;
  std::vector<std::vector<bool>> hidden;  // empty: nothing is hidden
};

enum class Pooling { kMean, kFirst };

class TextModel {
 public:
  // From a HuggingFace folder with weights, an ONNX file, or a folder that holds one; `output`
  // names the one to explain of an ONNX file, which chooses it where that is empty.
  static std::shared_ptr<const TextModel> load(const std::filesystem::path& path,
                                               const std::string& output = {});
  // From files found by name, for models that are part of the program or come in parts.
  static std::shared_ptr<const TextModel> load(const FileLookup& files, std::string name);
  static std::shared_ptr<const TextModel> load(const FileLookup& files, const WeightSource& weights,
                                               std::string name);

  virtual ~TextModel() = default;
  TextModel(const TextModel&) = delete;
  TextModel& operator=(const TextModel&) = delete;

  const std::string& name() const { return name_; }
  const std::string& architecture() const { return architecture_; }
  const Tokenizer& tokenizer() const { return *tokenizer_; }
  bool has_classifier() const { return problem_.has_value(); }
  // Of a kind that does not classify texts, as config.json names the whole:
  // "BertForQuestionAnswering". Empty if there is none, or if it is not known.
  const std::string& head_left_out() const { return head_left_out_; }
  // What that head does: "labels each token, not the text".
  const std::string& work_left_out() const { return work_left_out_; }
  // An output of answers for every token, whose mean is explained instead; empty for none.
  const std::string& averaged_output() const { return averaged_output_; }
  // The tokenizer may give a second text type 1, but the model has type 0 alone.
  bool has_one_token_type() const { return has_one_token_type_; }
  // What its users should know about how the files were read.
  const std::vector<std::string>& notes() const { return notes_; }
  Pooling pooling() const { return pooling_; }
  // Names of the outputs: labels, or dimensions of the embedding.
  const std::vector<std::string>& output_names() const { return output_names_; }
  std::optional<Problem> problem() const { return problem_; }  // nothing without a classifier
  // The longest input in tokens, special ones included.
  int64_t max_tokens() const { return max_tokens_; }
  // The one length that an ONNX file works with: texts are filled up with padding, which graphs
  // hide from attention. 0 for any length.
  int64_t fixed_tokens() const { return fixed_tokens_; }
  // Whether the model can be told to look away from padding.
  virtual bool hides_padding() const { return true; }
  // A length to look at the model with.
  int64_t probe_tokens() const {
    return fixed_tokens_ > 0 ? fixed_tokens_ : std::min<int64_t>(8, max_tokens_);
  }
  // The id that hides a token, and the id that stands for nothing; where the model has them.
  std::optional<int64_t> mask_id() const { return tokenizer_->mask_id(); }
  std::optional<int64_t> pad_id() const { return pad_id_; }

  virtual int64_t parameter_count() const = 0;
  virtual int64_t tensor_count() const = 0;

  // How many texts may run together: an ONNX file may be made for a number of its own.
  virtual int64_t most_at_once() const { return int64_t{1} << 30; }

  // The tokens that the model reads of a text, or of two; cut off where its longest input ends, and
  // filled up where it has one length.
  virtual Encoding encode(std::string_view text, std::optional<std::string_view> pair) const;

  // Built once per key and shared.
  std::shared_ptr<const TextGraph> graph(const GraphKey& asked) const;

  // What the graph's inputs get; `reference` [width] only for the similarity head.
  Feeds feeds(const TextGraph& graph, const TokenBatch& batch,
              const std::vector<double>& reference = {}) const;

 protected:
  TextModel(const FileLookup& files, std::string name);

  // Up to the last values; heads, discovery and restriction to rows follow in `finish`.
  virtual std::shared_ptr<TextGraph> build(const GraphKey& key) const = 0;
  virtual void feed_tokens(const TextGraph& graph, const TokenBatch& batch, Feeds& feeds) const = 0;

  // Adds what the key's head needs behind hidden states [batch, tokens, width].
  Value embedding_head(GraphBuilder& graph, Value hidden, TextGraph& built) const;
  // Finds attention in the graph, and leaves out rows of the last layer that nobody reads.
  static void finish(const Graph& whole, TextGraph& built);

  void name_dimensions(int64_t width);  // of an encoder without a classifier

  std::string name_;
  std::string architecture_;
  std::string head_left_out_, work_left_out_;
  std::string averaged_output_;
  std::vector<std::string> notes_;
  bool has_one_token_type_ = false;
  std::shared_ptr<const Tokenizer> tokenizer_;
  std::optional<int64_t> pad_id_;
  std::optional<Problem> problem_;
  int64_t max_tokens_ = 0;
  int64_t fixed_tokens_ = 0;
  Pooling pooling_ = Pooling::kMean;
  std::vector<std::string> output_names_;

 private:
  Value pooled(GraphBuilder& graph, Value hidden, TextGraph& built) const;
  TokenBatch filled_up(const TokenBatch& batch) const;

  mutable std::mutex mutex_;
  mutable std::map<GraphKey, std::shared_ptr<const TextGraph>> graphs_;
};

// [batch, tokens] of integers.
Tensor batch_tensor(const std::vector<std::vector<int64_t>>& rows, int64_t tokens);

// One number per token, as the graph's float type.
Tensor token_numbers(const TokenBatch& batch, DType dtype, const Shape& shape, double if_shown,
                     double if_hidden);

// How sentence-transformers folders say that token vectors become one; the mean where they do not.
Pooling pooling_from(const FileLookup& files);
bool tells_pooling(const FileLookup& files);

// Whether the second text of a pair gets token type 1. transformers 5 decides by the tokenizer's
// class: BERT's and ELECTRA's give token types, all others (ALBERT's too) leave them at 0.
bool gives_token_types(const FileLookup& files, const Config& model);

// The ONNX file of a folder without other weights, where exporters put it; empty if there is none.
std::filesystem::path onnx_file_in(const std::filesystem::path& folder);

// The ONNX file that a path stands for: itself, or the one in a folder; empty if there is none.
std::filesystem::path onnx_file_of(const std::filesystem::path& path);

// Files of a model by name: those of a folder, or those around an ONNX file (beside it, or one
// folder up where exporters keep it in "onnx/").
FileLookup files_of_model(const std::filesystem::path& path);

// The two kinds of text model.
std::shared_ptr<const TextModel> load_checkpoint_model(const FileLookup& files,
                                                       const WeightSource& weights,
                                                       std::string name);
std::shared_ptr<const TextModel> load_onnx_text_model(const std::filesystem::path& file,
                                                      const FileLookup& files, std::string name,
                                                      const std::string& output = {});

// Of a folder of weights, whose outputs have no names. Throws InvalidInput.
void refuse_output(const std::string& output, const std::string& model);

}  // namespace whyformer
