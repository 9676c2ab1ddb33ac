// Start here: load a model, explain an input.
#pragma once

#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "whyformer/edits.h"
#include "whyformer/error.h"
#include "whyformer/explanation.h"
#include "whyformer/input.h"
#include "whyformer/interrupted.h"
#include "whyformer/methods.h"

namespace whyformer {

class Reader;     // of the library's inside
class Tokenizer;  // likewise

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

// A column of a table model, as its table.json tells.
struct ColumnInfo {
  std::string name;
  std::string kind;      // "number" or "category"
  std::string unit;      // "years"
  std::string encoding;  // what the model reads of it: "quantile", "7 words as ids"
  std::string missing;   // what a cell without a value becomes: "37", "refused"
  std::string input;     // of the model, and the places in it
  std::vector<int64_t> at;
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
  // Of models of tables.
  std::string family;  // in table.json
  std::vector<ColumnInfo> columns;
  std::string context;                // of rows that attend to each other
  std::vector<std::string> not_told;  // what neither the weights nor table.json tell
};

// Lengths of a model's inputs, by name.
using InputShapes = std::map<std::string, std::vector<int64_t>, std::less<>>;

// The axis along which inputs of a file hold several samples, by name; nothing for one that holds a
// single sample and has no such axis. For files where what the graph shows is not enough, or is a
// guess.
using BatchAxes = std::map<std::string, std::optional<int>, std::less<>>;

// What a model folder or an ONNX file of any kind holds. `shapes` are for ONNX inputs whose lengths
// the file leaves open.
ModelInfo inspect(const std::filesystem::path& path, const InputShapes& shapes = {},
                  const BatchAxes& batch_axes = {});

struct LoadOptions {
  // Which output of an ONNX file is explained. Empty: the logits; else what the file gives for the
  // whole input, such as "sentence_embedding"; else the vectors of its tokens, pooled.
  std::string output = {};
  // The model gets arrays, whatever it reads: no tokenizer and no picture processor is looked for.
  bool arrays = false;
  BatchAxes batch_axes = {};  // of arrays
  // What a bare checkpoint of a table model does not hold: its table.json.
  std::filesystem::path table_spec = {};
  // Of a table model whose rows attend to each other (SAINT): which rows an explained one attends
  // to, those of a CSV file; or "block", the others of its block of the table, or "alone", none.
  // And whether these see it, too ("live") or not ("frozen"). Empty: as table.json says, else
  // blocks. Throws InvalidInput for other models.
  std::filesystem::path context = {};
  std::string context_rows = {};
  std::string context_mode = {};
};

// One output of a model given arrays.
struct OutputArray {
  std::vector<int64_t> shape;
  std::vector<double> values;
};

// Immutable; copies share everything; safe to use from several threads.
class Model {
 public:
  // A HuggingFace folder, an ONNX file, a folder with one, a folder with table.json, or a
  // checkpoint of a table package with LoadOptions::table_spec. An ONNX file that reads neither
  // texts, pictures nor rows of tables takes arrays, as all ONNX files do; so does one without the
  // tokenizer that its texts need. Throws FileError, UnsupportedModel, or InvalidInput for an
  // output that the file does not have.
  static Model load(const std::filesystem::path& path, const LoadOptions& options = {});
  // What a HuggingFace folder would hold. Weights are not copied: their owners live as long as the
  // model. Throws InvalidInput for sizes that do not fit, and what a folder's load throws.
  static Model load(const ModelParts& parts);
  // The small models inside the program: one judges sentences, one names painted things, one tells
  // whether a person of a census table earns more than 50,000 dollars a year.
  static Model built_in();
  static Model built_in_for_pictures();
  static Model built_in_for_tables();

  ModelName name() const;
  // SHA-256, in hexadecimal digits, of everything that the model was read from: files or parts,
  // weights included, with the output or the texts that were chosen. Reads all of it anew.
  std::string hash() const { return hash_(); }
  ModelInfo inspect() const;
  // For arrays of these lengths.
  ModelInfo inspect(const ArrayViews& arrays) const;
  // What the model was made for; arrays alone where none of these holds.
  bool reads_texts() const;
  bool reads_pictures() const;
  bool reads_tables() const;
  // Whether columns are found by their names and cells are read as they are written, because a
  // table.json came with the model.
  bool reads_words() const;
  // Whether the rows of a table attend to each other, so that an answer depends on its context.
  bool rows_attend() const;

  // Without a limit on the length, for models that read texts.
  TokenizedText tokenize(const TextInput& input) const;

  // The same model as a classifier among texts, for those that compare pictures with texts.
  Model among(const std::vector<std::string>& texts) const;

  // Of an ONNX file: the names of its outputs, in the file's order, and all of them for some
  // arrays.
  std::vector<std::string> outputs() const;
  std::map<std::string, OutputArray, std::less<>> run(const ArrayViews& arrays) const;

  // Throws InvalidInput where the model reads other inputs, and UnsupportedModel with the reason
  // where it reads arrays alone.
  const Reader& reader_of(const InputValue& value) const;

 private:
  friend std::vector<std::string> default_methods(const Model& model);

  using Readers = std::vector<std::shared_ptr<const Reader>>;
  using HashOfModel = std::function<std::string()>;
  Model(ModelName name, Readers readers, HashOfModel hash, std::exception_ptr refusal = nullptr);
  template <class OneReader>
  const OneReader* find() const;

  ModelName name_;
  Readers readers_;  // of what the model was made for first
  HashOfModel hash_;
  std::exception_ptr refusal_;  // why it reads nothing else
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
  std::string name;      // or NAME:PRESET, such as "raw-attention:gorishniy"
  Options options = {};  // those not given take the preset's value, or their default
};

// Of the whole run. Double is slow; relevance rules whose denominators cancel may need it.
enum class Precision { kSingle, kDouble };

// How pieces become words.
enum class WordFold { kSum, kMean, kMax };

// By index or label; of arrays an element. Nothing: the highest.
using TargetChoice = std::variant<std::monostate, int64_t, std::string, OutputElement>;

struct ExplainRequest {
  std::vector<MethodRequest> methods = {};
  TargetChoice target = {};
  // Further targets beside the first, and how many of the highest ones where none is named.
  std::vector<TargetChoice> other_targets = {};
  int64_t top = 1;
  std::optional<std::string> similar_to =
      {};  // encoders without a classifier: explain the similarity
  // How the output reads the tokens, where the user knows better than discovery: a token's number,
  // or "mean".
  std::variant<std::monostate, int64_t, std::string> read_out = {};
  // Of arrays: what stands in for a token where tokens are hidden, and in neutral inputs. Without
  // it: the mask token of a tokenizer beside the file, else the padding of its config.json.
  std::optional<int64_t> hiding_id = {};
  // Values inside the model that are changed: the changed model is explained.
  std::vector<Edit> edits = {};
  WordFold fold = WordFold::kSum;
  Precision precision = Precision::kSingle;
  // Which rows of a context count, not which columns; see LoadOptions::context.
  bool by_rows = false;
  std::optional<TrustRequest> trust = {};  // how far each explanation can be trusted
  int64_t seed = 0;
  int64_t memory_bytes = int64_t{1} << 30;  // for batches of perturbed inputs
  Progress progress = {};
};

// Names of a few methods that fit the model, for those who name none; for rows of tables and arrays
// they depend on the input.
std::vector<std::string> default_methods(const Model& model);
std::vector<std::string> default_methods(const Model& model, const InputValue& input,
                                         const TargetChoice& target = {});

// The same for explanations by the rows of a context.
std::vector<std::string> default_methods_by_rows();

// One explanation for each target; they share one forward run, and all attention and gradient
// methods of a target one backward walk. Throws InvalidInput for wrong targets, methods or options,
// and for inputs that the model cannot take.
std::vector<Explanation> explain(const Model& model, const InputValue& input,
                                 const ExplainRequest& request);
// The same for each of many inputs, which `take` gets in order. Those of equal shapes, as rows of a
// table are, run together where methods only read runs that all share. Returns early where `take`
// or `refused` says false. `refused` gets inputs that cannot be explained; without it explain_each
// throws what explain() throws for the first of them, after those before it were taken.
using TakeExplanations = std::function<bool(size_t input, std::vector<Explanation> explanations)>;
using TakeRefusal = std::function<bool(size_t input, const Error& why)>;
void explain_each(const Model& model, std::span<const InputValue> inputs,
                  const ExplainRequest& request, const TakeExplanations& take,
                  const TakeRefusal& refused = {});

// An array of a trace, as floats.
struct TracedArray {
  std::string name;
  std::vector<int64_t> shape;
  std::shared_ptr<const float[]> values;
};

// Attention maps and their gradients, for analyses of one's own.
struct Trace {
  std::vector<AttentionMap> attention;
  std::vector<AttentionMap> attention_gradient;
  // Of a model given arrays: `output.NAME`, and `input_gradient.NAME` for inputs of numbers.
  std::vector<TracedArray> arrays;
  std::vector<StreamInfo> streams;  // likewise: what the maps go over
  Output output;
  Target target;
  std::vector<Unit> units;
  std::vector<std::string> notes;
};
// Throws InvalidInput for an input of several parts, too.
Trace trace(const Model& model, const InputValue& input, const ExplainRequest& request);
// The maps alone, which are the same for every target.
std::vector<AttentionMap> attention(const Model& model, const InputValue& input);

// The bytes of a safetensors file with `attention.L`, `attention_gradient.L`, and `logits` or the
// arrays.
std::string to_safetensors(const Trace& trace);

// Writes a whole file or nothing. Throws FileError.
void save(const std::filesystem::path& path, std::string_view bytes);

}  // namespace whyformer
