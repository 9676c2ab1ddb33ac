// Start here: load a model, explain a text.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "whyformer/explanation.h"
#include "whyformer/interrupted.h"
#include "whyformer/methods.h"

namespace whyformer {

class PictureModel;
class PictureProcessor;
class TableModel;
class TextModel;
class Tokenizer;
struct ModelParts;  // whyformer/parts.h

struct TextInput {
  std::string text;
  std::optional<std::string> pair;
};

// A JPEG, PNG or WebP file.
struct PictureFile {
  std::filesystem::path path;
};

// A picture in memory, 8 bits for each level.
struct PicturePixels {
  std::string name;  // that reports show
  int64_t width = 0;
  int64_t height = 0;
  int64_t channels = 3;  // 1: grey, 3: RGB, 4: RGBA, whose transparency is dropped, not blended
  std::shared_ptr<const uint8_t[]> pixels;  // [height, width, channels], row after row from the top
};

using PictureInput = std::variant<PictureFile, PicturePixels>;

// A picture with a text that a model compares it with (CLIP).
struct PictureWithText {
  PictureInput picture;
  std::string text;
};

// Whether a command's argument means a picture rather than a text: it names one, or a file that
// begins like one.
bool means_picture(const std::string& argument);

struct TokenizedText {
  std::vector<int64_t> ids;
  std::vector<std::string> tokens;
  std::vector<std::pair<int64_t, int64_t>> offsets;  // code points of the text the token comes from
  std::vector<bool> special;
  std::vector<int> segment;
};

// One attention layer that was found in the graph.
struct SiteInfo {
  std::string name;
  int64_t heads = 0;
  int64_t queries = 0;  // for the lengths that were looked at
  int64_t keys = 0;
  int64_t windows = 1;  // parts of the input that attend each by itself
  int query_stream = 0;
  int key_stream = 0;
  bool causal = false;
  std::string kind;  // "self", "cross", or "co" where two streams attend to each other

  bool self_attention() const { return kind == "self"; }
};

// Tokens that share a residual path.
struct StreamInfo {
  int64_t tokens = 0;
  std::string
      units;  // what they stand for: "tokens of input_ids", "1 learned + 14 × 14 patches of …"
  std::vector<int> sites;  // whose queries they are
};

struct InputInfo {
  std::string name;
  std::string type;
  std::vector<int64_t> shape;  // that was looked at
};

// What was found in a model, for people. Texts are empty and numbers 0 where they do not apply.
struct ModelInfo {
  ModelName model;
  std::string task;  // "single-label classification", …
  std::vector<InputInfo> inputs;
  std::vector<std::string> outputs;
  int64_t parameters = 0;
  int64_t tensors = 0;
  int64_t vocabulary = 0;
  int64_t max_tokens = 0;
  int64_t opset = 0;  // of an ONNX file
  std::vector<SiteInfo> sites;
  std::vector<StreamInfo> streams;
  std::string read_out;            // "token 0", "mean over tokens", …
  std::vector<std::string> notes;  // what discovery is not sure of
};

// Lengths of a model's inputs, by name.
using InputShapes = std::map<std::string, std::vector<int64_t>, std::less<>>;

// What a model folder or an ONNX file of any kind holds. `shapes` are for ONNX inputs whose lengths
// the file leaves open.
ModelInfo inspect(const std::filesystem::path& path, const InputShapes& shapes = {});

struct LoadOptions {
  // Which output of an ONNX file is explained. Empty: the logits; else what the file gives for the
  // whole input, such as "sentence_embedding"; else the vectors of its tokens, pooled.
  std::string output;
};

// Immutable; copies share everything; safe to use from several threads.
class Model {
 public:
  // A HuggingFace folder, an ONNX file, or a folder with one; for texts, pictures or rows of
  // tables. Throws FileError, UnsupportedModel, or InvalidInput for an output that the file does
  // not have.
  static Model load(const std::filesystem::path& folder, const LoadOptions& options = {});
  // What a HuggingFace folder would hold. Weights are not copied: their owners live as long as the
  // model. Throws InvalidInput for sizes that do not fit, and what a folder's load throws.
  static Model load(const ModelParts& parts);
  // The small models inside the program: one judges sentences, the other names painted things.
  static Model built_in();
  static Model built_in_for_pictures();

  ModelName name() const;
  ModelInfo inspect() const;
  bool reads_pictures() const { return picture_model_ != nullptr; }
  bool reads_tables() const { return table_model_ != nullptr; }
  // Throw InvalidInput where the model reads another kind of input.
  const TextModel& text_model() const;
  const PictureModel& picture_model() const;
  const PictureProcessor& picture_processor() const;
  const TableModel& table_model() const;

  // Without a limit on the length, for models that read texts.
  TokenizedText tokenize(const TextInput& input) const;

  // The same model as a classifier among texts, for those that compare pictures with texts.
  Model among(const std::vector<std::string>& texts) const;

 private:
  explicit Model(std::shared_ptr<const TextModel> model) : text_model_(std::move(model)) {}
  Model(std::shared_ptr<const PictureModel> model,
        std::shared_ptr<const PictureProcessor> processor)
      : picture_model_(std::move(model)), picture_processor_(std::move(processor)) {}
  explicit Model(std::shared_ptr<const TableModel> model) : table_model_(std::move(model)) {}
  std::shared_ptr<const TextModel> text_model_;
  std::shared_ptr<const PictureModel> picture_model_;
  std::shared_ptr<const PictureProcessor> picture_processor_;
  std::shared_ptr<const TableModel> table_model_;
};

// The tokenizer of a folder, which needs no weights.
class TextTokenizer {
 public:
  static TextTokenizer load(const std::filesystem::path& folder);
  static TextTokenizer built_in();

  // Without a limit on the length.
  TokenizedText tokenize(const TextInput& input) const;

 private:
  explicit TextTokenizer(std::shared_ptr<const Tokenizer> tokenizer)
      : tokenizer_(std::move(tokenizer)) {}
  std::shared_ptr<const Tokenizer> tokenizer_;
};

// Called now and then during long work; returning false stops it with Interrupted.
using Progress = std::function<bool(int64_t done, int64_t total)>;

struct MethodRequest {
  std::string name;
  Options options = {};  // those not given take their defaults
};

// Of the whole run. Double is slow; relevance rules whose denominators cancel may need it.
enum class Precision { kSingle, kDouble };

// How pieces become words.
enum class WordFold { kSum, kMean, kMax };

struct ExplainRequest {
  std::vector<MethodRequest> methods = {};
  std::variant<std::monostate, int64_t, std::string> target =
      {};  // index or label; default: the highest
  // Pictures only: further targets beside the first, and how many of the highest ones where none is
  // named.
  std::vector<std::variant<std::monostate, int64_t, std::string>> other_targets = {};
  int64_t top = 1;
  std::optional<std::string> similar_to =
      {};  // encoders without a classifier: explain the similarity
  // How the output reads the tokens, where the user knows better than discovery: a token's number,
  // or "mean".
  std::variant<std::monostate, int64_t, std::string> read_out = {};
  WordFold fold = WordFold::kSum;
  Precision precision = Precision::kSingle;
  int64_t seed = 0;
  int64_t memory_bytes = int64_t{1} << 30;  // for batches of perturbed inputs
  Progress progress = {};
};

// Names of a few methods that fit the model, for those who name none.
std::vector<std::string> usual_methods(const Model& model);

// One forward run and one backward walk serve all attention and gradient methods of the call.
// Throws InvalidInput for wrong targets, methods or options, and for an empty text.
Explanation explain(const Model& model, const TextInput& input, const ExplainRequest& request);

// The same for a picture, one explanation for each target; they share one forward run.
std::vector<Explanation> explain(const Model& model, const PictureInput& picture,
                                 const ExplainRequest& request);

// How alike a picture and a text are: units are the text's tokens, then those of the picture.
// Throws UnsupportedModel for models that do not compare the two.
Explanation explain(const Model& model, const PictureWithText& input,
                    const ExplainRequest& request);

// Attention maps and their gradients, for people who compute their own.
struct Trace {
  std::vector<AttentionMap> attention;
  std::vector<AttentionMap> attention_gradient;
  Output output;
  Target target;
  std::vector<Unit> units;
  std::vector<std::string> notes;
};
Trace trace(const Model& model, const TextInput& input, const ExplainRequest& request);
Trace trace(const Model& model, const PictureInput& picture, const ExplainRequest& request);

// The bytes of a safetensors file with `attention.L`, `attention_gradient.L` and `logits`.
std::string to_safetensors(const Trace& trace);

// Writes a whole file or nothing. Throws FileError.
void save(const std::filesystem::path& path, std::string_view bytes);

}  // namespace whyformer
