#include "whyformer/model.h"

#include <fmt/format.h>

#include "base/files.h"
#include "formats/weights.h"
#include "models/built_in.h"
#include "models/text_model.h"

namespace whyformer {
namespace {

void append_maps(const std::vector<AttentionMap>& maps, const std::string& prefix,
                 std::vector<NamedFloats>& tensors) {
  for (size_t layer = 0; layer < maps.size(); ++layer) {
    const AttentionMap& map = maps[layer];
    const auto count = static_cast<size_t>(map.heads * map.queries * map.keys);
    tensors.push_back({prefix + std::to_string(layer),
                       {map.heads, map.queries, map.keys},
                       {map.values.get(), count}});
  }
}

}  // namespace

Model Model::load(const std::filesystem::path& folder) { return Model(TextModel::load(folder)); }

Model Model::built_in() { return Model(TextModel::load(built_in_sentiment(), "sentiment")); }

ModelName Model::name() const { return {model_->name(), model_->architecture()}; }

TextTokenizer TextTokenizer::load(const std::filesystem::path& folder) {
  return TextTokenizer(load_tokenizer(files_of_model(folder)));
}

TextTokenizer TextTokenizer::built_in() {
  return TextTokenizer(load_tokenizer(built_in_sentiment()));
}

TokenizedText TextTokenizer::tokenize(const TextInput& input) const {
  const auto pair = input.pair ? std::optional<std::string_view>(*input.pair) : std::nullopt;
  const Encoding encoding = tokenizer_->encode(input.text, pair, 0);
  TokenizedText result{encoding.ids, encoding.tokens, {}, encoding.special, encoding.segment};
  for (const Encoding::Offset& offset : encoding.offsets) {
    result.offsets.emplace_back(offset.start, offset.end);
  }
  return result;
}

std::string to_safetensors(const Trace& trace) {
  std::vector<float> logits;
  for (const double value : trace.output.values) logits.push_back(static_cast<float>(value));
  std::vector<NamedFloats> tensors;
  append_maps(trace.attention, "attention.", tensors);
  append_maps(trace.attention_gradient, "attention_gradient.", tensors);
  tensors.push_back({"logits", {static_cast<int64_t>(logits.size())}, logits});
  return write_safetensors(tensors);
}

void save(const std::filesystem::path& path, std::string_view bytes) { write_file(path, bytes); }

}  // namespace whyformer
