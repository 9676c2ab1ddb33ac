// A text model in an ONNX file: its inputs by name, its outputs by shape, its layers by discovery.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "discovery/axis_use.h"
#include "models/onnx_graph.h"
#include "models/onnx_source.h"
#include "models/onnx_text_inputs.h"
#include "models/sample_ranges.h"
#include "onnx/node_scope.h"
#include "onnx/onnx_model.h"
#include "ops/ops.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr int64_t kProbeTokens = 4;
constexpr int64_t kStep = 7;  // between the ids that a file is tried with
constexpr double kSameAnswer =
    1e-3;  // of the largest number, between two ways to run the same text
constexpr int64_t kUsualTokens = 512;  // where neither tokenizer nor config tells the longest input

// How many tokens the file was exported for; none where it takes any number.
int64_t tokens_written_into(const onnx::OnnxFile& file, const std::string& ids) {
  for (const onnx::DeclaredValue& input : file.graph.inputs) {
    if (input.name == ids && input.shape.size() == 2) return input.shape[1];
  }
  return 0;
}

// What a graph of texts is built for.
struct OnnxTextShape {
  int64_t batch = 1;
  int64_t tokens = 0;
  bool masked = false;  // takes an attention mask
  DType dtype = DType::kFloat32;
};

// The values of a rewritten graph that methods ask for.
class TextValues {
 public:
  TextValues(const Graph& graph, const Discovery& found, Value ids) : graph_(graph) {
    for (const Node& node : graph.nodes()) {
      const bool table = is_a<ops::Embedding, ops::Gather>(*node.op);
      if (!table) continue;
      const Value index = node.inputs.back();
      if (graph.type(index).dtype != DType::kInt64 || !graph.varies(index)) continue;
      if (index == ids || is_view_of(index, ids)) {
        if (!words.valid()) words = dequantised(node.outputs[0]);
      } else {
        positions = index;
      }
    }
    if (!words.valid()) {
      throw UnsupportedModel("no table of word embeddings was found that the token ids pick from");
    }
    layers = first_layer_input(graph, found, words);
    embeddings = layers;
    const int producer = graph.producer(layers);
    if (producer >= 0 && is_a<ops::Linear>(*graph.nodes()[producer].op)) {
      embeddings = graph.nodes()[producer].inputs[0];
    }
  }

  Value words, positions, embeddings, layers;

 private:
  bool is_view_of(Value value, Value source) const {
    while (value != source) {
      const int producer = graph_.producer(value);
      if (producer < 0 || !is_a<ops::Reshape>(*graph_.nodes()[producer].op)) return false;
      value = graph_.nodes()[producer].inputs[0];
    }
    return true;
  }

  // Tables of whole numbers become floats behind the look-up.
  Value dequantised(Value rows) const {
    const std::vector<int>& users = graph_.users(rows);
    if (users.size() != 1) return rows;
    const Node& reader = graph_.nodes()[users[0]];
    return is_a<ops::DequantizeLinear>(*reader.op) ? reader.outputs[0] : rows;
  }

  const Graph& graph_;
};

class OnnxTextSource final : public TextSource {
 public:
  OnnxTextSource(OnnxDocument document, std::string name, const std::string& output,
                 const TokenizerFacts& tokenizer)
      : TextSource(std::move(name), tokenizer),
        config_(document.config()),
        model_(std::move(document.model)),
        tokenizer_(tokenizer),
        inputs_(names_of_text_inputs(model_->file())) {
    const FileLookup& files = document.files;
    facts_.native = native_names_of(model_->file());
    facts_.architecture = !config_.architecture().empty() ? config_.architecture()
                          : !config_.model_type().empty() ? config_.model_type()
                                                          : "ONNX";
    if (!pad_id_ && config_.id_or("pad_token_id", -1) >= 0) {
      pad_id_ = config_.id_or("pad_token_id", -1);
    }
    gives_types_ = gives_token_types(files, config_);
    const int64_t written = tokens_written_into(model_->file(), inputs_.ids);
    probe_length_ = written > 0 ? written : kProbeTokens;
    choose_output(files, output);
    const int64_t limit = tokenizer_.longest_input;
    max_tokens_ = longest_input();
    if (limit > 0) max_tokens_ = std::min(max_tokens_, limit);
    if (written <= 0) return;
    max_tokens_ = std::min(max_tokens_, written);
    if (!works_with_fewer_tokens(written)) fixed_tokens_ = written;
  }

  int64_t parameter_count() const override { return model_->file().parameters().numbers; }
  int64_t tensor_count() const override { return model_->file().parameters().tensors; }
  bool hides_padding() const override { return !inputs_.mask.empty(); }
  // Where a file says so, reshapes inside rely on it: more texts would become one long one.
  int64_t max_at_once() const override {
    int64_t most = most_together_;
    for (const onnx::DeclaredValue& input : model_->file().graph.inputs) {
      if (!input.shape.empty() && input.shape[0] > 0) most = std::min(most, input.shape[0]);
    }
    return most;
  }

 private:
  // The one that was asked for; the logits of a text, its vector, or the hidden states of its
  // tokens.
  void choose_output(const FileLookup& files, const std::string& asked) {
    check_output(model_->file(), asked);
    onnx::BuildRequest request = request_for({1, probe_length_});
    for (const auto& output : model_->file().graph.outputs) request.outputs.push_back(output.name);
    const onnx::BuiltGraph probe = model_->build(request);
    const FoundOutputs found = outputs_of(probe, asked);
    const bool told = tells_pooling(files);
    // A head of pre-training is no vector of the text where its folder says how tokens become one.
    const auto is_own_vector = [&](const std::string& name) {
      return says_embedding(name) &&
             (!told || found.of_tokens.empty() || name.find("sentence") != name.npos);
    };
    output_ = found.first_named(found.of_text, "logits");
    if (output_.empty()) output_ = found.first_named(found.of_text, "sentence");
    for (const std::string& name : found.of_text) {
      if (output_.empty() && is_own_vector(name)) output_ = name;
    }
    if (output_.empty()) output_ = found.first_named(found.of_tokens, "hidden");
    if (output_.empty()) output_ = found.first_named(found.of_tokens, "");
    if (output_.empty()) output_ = found.first_named(found.of_text, "");
    if (output_.empty()) refuse(found, asked);
    if (has_dynamic_ranges(probe.graph) && max_at_once() > 1) {
      most_together_ = most_together(*model_, request_for({2, probe_length_}), output_);
    }
    name_outputs(files, probe.graph.shape(probe.values.at(output_)));
    if (!facts_.problem) note_output(found, told);
  }

  // Outputs of numbers by what they are about.
  struct FoundOutputs {
    std::vector<std::string> of_text, of_tokens;
    std::string number_of_each_token;

    std::string first_named(const std::vector<std::string>& names, std::string_view part) const {
      const auto found = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
        return name.find(part) != name.npos;
      });
      return found == names.end() ? "" : *found;
    }
  };

  FoundOutputs outputs_of(const onnx::BuiltGraph& probe, const std::string& asked) const {
    FoundOutputs found;
    for (const auto& output : model_->file().graph.outputs) {
      const ValueType& type = probe.graph.type(probe.values.at(output.name));
      if (type.dtype == DType::kInt64 || (!asked.empty() && output.name != asked)) continue;
      if (type.shape.size() == 3) found.of_tokens.push_back(output.name);
      if (type.shape.size() != 2) continue;
      if (has_one_for_each_token(output.name, probe))
        found.number_of_each_token = output.name;
      else
        found.of_text.push_back(output.name);
    }
    return found;
  }

  [[noreturn]] void refuse(const FoundOutputs& found, const std::string& asked) const {
    if (!found.number_of_each_token.empty()) {
      throw UnsupportedModel(
          fmt::format("the output '{}' has one number for each token (an answer's place in the "
                      "text, say), not an answer about a text: give "
                      "arrays and choose one of them",
                      found.number_of_each_token),
          Remedy::kElement);
    }
    throw UnsupportedModel(
        fmt::format("{} gives neither numbers per text nor vectors per token",
                    asked.empty() ? "the ONNX file" : "the output '" + asked + "'"));
  }

  static bool says_embedding(const std::string& output) {
    return output.find("embed") != output.npos || output.find("pool") != output.npos;
  }

  void name_outputs(const FileLookup& files, const Shape& shape) {
    is_vector_ = shape.size() == 2;
    if (is_vector_ && !says_embedding(output_)) {
      facts_.output_names = config_.labels(shape.back());
      facts_.problem = config_.problem(shape.back());
      return;
    }
    if (!is_vector_) pooling_ = pooling_from(files);
    name_dimensions(shape.back());
    if (!is_vector_ && holds_answers_of_tokens()) averaged_output_ = output_;
  }

  // Which vector stands for a text is a choice that changes every score.
  void note_output(const FoundOutputs& found, bool told) {
    if (!averaged_output_.empty()) return;
    const std::vector<std::string>& others = is_vector_ ? found.of_tokens : found.of_text;
    const std::string also =
        others.empty()
            ? ""
            : fmt::format(" The file also gives '{}', which can be chosen as the output instead.",
                          fmt::join(others, "', '"));
    if (is_vector_)
      facts_.notes.push_back(
          fmt::format("The file's own text vector, '{}', is explained.{}", output_, also));
    else if (!told) {
      facts_.notes.push_back(
          fmt::format("No pooling is declared for the token vectors '{}': their mean is "
                      "explained.{}",
                      output_, also));
    } else if (!others.empty()) {
      facts_.notes.push_back(fmt::format(
          "The token vectors '{}' are pooled as 1_Pooling/config.json says.{}", output_, also));
    }
  }

  // Rather than their hidden states.
  bool holds_answers_of_tokens() const {
    const auto says = [&](std::string_view word) { return output_.find(word) != output_.npos; };
    return says("logits") || (config_.names_head() && !says("hidden") && !says("embed"));
  }

  // Whether more tokens make the output longer.
  bool has_one_for_each_token(const std::string& output, const onnx::BuiltGraph& probe) const {
    if (probe.graph.shape(probe.values.at(output)).back() != probe_length_) return false;
    onnx::BuildRequest longer = request_for({1, probe_length_ + 1});
    longer.outputs = {output};
    try {
      const onnx::BuiltGraph other = model_->build(longer);
      return other.graph.shape(other.values.at(output)).back() != probe_length_;
    } catch (const Error&) {
      // Made for texts of one length: the tokens are followed to the output instead.
      const auto ids = probe.inputs.find(inputs_.ids);
      return ids != probe.inputs.end() &&
             AxisUse(probe.graph, ids->second, 1).axis_in(probe.values.at(output)) == 1;
    }
  }

  // Whether the file answers a short text as it does when padding fills it up to its own length.
  bool works_with_fewer_tokens(int64_t written) const {
    try {
      const int64_t fewer = std::max<int64_t>(1, written / 2);
      const std::vector<double> alone = answer_of_probe(fewer, fewer);
      if (inputs_.mask.empty()) return true;  // padding would count
      const std::vector<double> filled = answer_of_probe(fewer, written);
      double largest = 0, difference = 0;
      for (size_t i = 0; i < std::min(alone.size(), filled.size()); ++i) {
        if (!std::isfinite(alone[i]) || !std::isfinite(filled[i])) return false;
        largest = std::max(largest, std::abs(filled[i]));
        difference = std::max(difference, std::abs(alone[i] - filled[i]));
      }
      return difference <= kSameAnswer * largest;
    } catch (const Error&) {
      return false;
    }
  }

  // Of so many tokens, any that the vocabulary has, with padding behind them.
  std::vector<double> answer_of_probe(int64_t tokens, int64_t length) const {
    onnx::BuildRequest request = request_for({1, length, length > tokens});
    request.outputs = {output_};
    const onnx::BuiltGraph built = model_->build(request);
    TokenBatch batch{{std::vector<int64_t>(length, pad_id_.value_or(0))},
                     {std::vector<int64_t>(length, 0)},
                     {{}}};
    for (int64_t i = 0; i < tokens; ++i)
      batch.ids[0][i] = (i + 1) * kStep % std::max<int64_t>(1, tokenizer_.vocabulary);
    for (int64_t i = 0; i < length; ++i) batch.hidden[0].push_back(i >= tokens);
    Feeds feeds;
    for (const auto& [name, value] : built.inputs) {
      if (name == inputs_.ids)
        feeds[value] = batch_tensor(batch.ids, length);
      else if (name == inputs_.types)
        feeds[value] = batch_tensor(batch.types, length);
      else if (name == inputs_.mask)
        feeds[value] = token_numbers(batch, built.graph.type(value).dtype, {1, length}, 1, 0);
    }
    const Value output = built.values.at(output_);
    return run(built.graph, feeds, {.outputs = {output}})[output].to_doubles();
  }

  // From the config where it tells; the position table of RoBERTa and its kin starts behind
  // padding.
  int64_t longest_input() const {
    const int64_t rows = config_.size_or("max_position_embeddings", kUsualTokens);
    const std::string type = config_.model_type();
    const bool offset =
        type == "roberta" || type == "xlm-roberta" || type == "camembert" || type == "mpnet";
    return offset ? rows - config_.id_or("pad_token_id", 1) - 1 : rows;
  }

  onnx::BuildRequest request_for(const OnnxTextShape& key) const {
    const Shape shape{key.batch, key.tokens};
    onnx::BuildRequest request;
    request.floats = key.dtype;
    request.inputs[inputs_.ids] = {shape, std::nullopt, InputRole::kExplained};
    if (!inputs_.types.empty()) {
      request.inputs[inputs_.types] = {shape, std::nullopt, InputRole::kGiven};
    }
    if (!inputs_.mask.empty() && key.masked) {
      request.inputs[inputs_.mask] = {shape, std::nullopt, InputRole::kGiven};
    } else if (!inputs_.mask.empty()) {
      Tensor ones = Tensor::empty(shape, DType::kInt64);
      ones.fill(1);
      request.inputs[inputs_.mask] = {shape, ones, InputRole::kGiven};
    }
    if (!inputs_.positions.empty()) {
      std::vector<int64_t> numbers;
      for (int64_t i = 0; i < key.batch * key.tokens; ++i) numbers.push_back(i % key.tokens);
      request.inputs[inputs_.positions] = {
          shape, Tensor::of<int64_t>(shape, std::span<const int64_t>(numbers)), InputRole::kGiven};
    }
    return request;
  }

  std::shared_ptr<const ModelGraph> build(const ShapeKey& key) const override {
    auto built = std::make_shared<ModelGraph>();
    built->key = key;
    const OnnxTextShape shape{key.batch, key.shape("input_ids")[0], key.shapes.contains("hidden"),
                              key.dtype};
    OnnxGraph imported = build_onnx(*model_, request_for(shape), output_, key.batch);
    check_tokens_meet(imported, shape);
    const Value ids = imported.input(inputs_.ids);
    built->inputs = {{"input_ids", ids},
                     {"token_type_ids", imported.input(inputs_.types)},
                     {"attention_mask", imported.input(inputs_.mask)}};
    built->output = imported.output;
    GraphBuilder graph(std::move(imported.graph), Folding::kNo);
    if (key.head != Head::kLogits) built->output = with_head(graph, *built);
    const Graph whole = graph.finish();
    const TextValues values(whole, discover(whole, built->output), ids);
    built->entries = {{values.words, "input_ids"}};
    built->embeddings = values.embeddings;
    built->layers_input = values.layers;
    built->inputs["position_ids"] = values.positions;  // computed from the ids, as a rule
    finish_graph(whole, *built, 1);
    return built;
  }

  // Files that take [tokens, batch] would see each token as a text of its own.
  void check_tokens_meet(const OnnxGraph& imported, const OnnxTextShape& key) const {
    const Value ids = imported.input(inputs_.ids);
    if (key.tokens < 2 || !ids.valid() || !has_attention(imported.graph)) return;
    if (!AxisUse(imported.graph, ids, 1).stays_apart()) return;
    throw UnsupportedModel(
        fmt::format("the input '{}' does not take [batch, tokens]: its second axis holds texts "
                    "that have nothing to do with each other; give arrays in the order of the file",
                    inputs_.ids),
        Remedy::kArrays);
  }

  Value with_head(GraphBuilder& graph, ModelGraph& built) const {
    if (!is_vector_) return embedding_head(graph, built.output, built);
    return built.key.head == Head::kSimilarity ? add_similarity(graph, built.output, built)
                                               : built.output;  // pooled by the file itself
  }

  void feed_tokens(const ModelGraph& graph, const TokenBatch& batch, Feeds& feeds) const override {
    const auto tokens = static_cast<int64_t>(batch.ids[0].size());
    const Shape shape{static_cast<int64_t>(batch.ids.size()), tokens};
    feeds[graph.input("input_ids")] = batch_tensor(batch.ids, tokens);
    if (const Value types = graph.input("token_type_ids"); types.valid()) {
      feeds[types] =
          gives_types_ ? batch_tensor(batch.types, tokens) : Tensor::zeros(shape, DType::kInt64);
    }
    if (const Value mask = graph.input("attention_mask"); mask.valid()) {
      feeds[mask] = token_numbers(batch, graph.graph.type(mask).dtype, shape, 1, 0);
    }
  }

  Config config_;
  std::shared_ptr<const onnx::OnnxModel> model_;
  TokenizerFacts tokenizer_;
  TextInputNames inputs_;
  std::string output_;
  int64_t most_together_ = kAnyNumber;
  int64_t probe_length_ = kProbeTokens;
  bool is_vector_ = false;  // the output is one row per text
  bool gives_types_ = false;
};

}  // namespace

std::shared_ptr<const TextSource> onnx_text_source(const OnnxDocument& document, std::string name,
                                                   const std::string& output,
                                                   const TokenizerFacts& tokenizer) {
  return std::make_shared<OnnxTextSource>(document, std::move(name), output, tokenizer);
}

}  // namespace whyformer
