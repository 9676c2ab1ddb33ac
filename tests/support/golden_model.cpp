#include "tests/support/golden_model.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/files.h"
#include "tests/support/source_folder.h"

namespace whyformer {
namespace {

std::filesystem::path folder() { return source_folder() / "tests/golden/models"; }

// The cases have no tokenizer: this one gives their special ids names.
std::string tokenizer_json(const nlohmann::json& special) {
  nlohmann::json vocabulary, added = nlohmann::json::array();
  for (int id = 0; id < 200; ++id) vocabulary["w" + std::to_string(id)] = id;
  for (const auto& [name, id] : special.items()) {
    vocabulary.erase("w" + std::to_string(id.get<int>()));
    vocabulary["[" + name + "]"] = id;
    added.push_back({{"id", id},
                     {"content", "[" + name + "]"},
                     {"special", true},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false}});
  }
  return nlohmann::json{
      {"version", "1.0"},
      {"truncation", nullptr},
      {"padding", nullptr},
      {"added_tokens", added},
      {"normalizer", nullptr},
      {"pre_tokenizer", {{"type", "WhitespaceSplit"}}},
      {"post_processor", nullptr},
      {"decoder", nullptr},
      {"model", {{"type", "WordLevel"}, {"vocab", vocabulary}, {"unk_token", "w199"}}}}
      .dump();
}

std::string tokenizer_config(const nlohmann::json& special) {
  nlohmann::json config{{"model_input_names", {"input_ids", "token_type_ids", "attention_mask"}}};
  for (const auto& [name, id] : special.items()) config[name + "_token"] = "[" + name + "]";
  return config.dump();
}

std::vector<std::vector<bool>> flags(const nlohmann::json& rows, int set) {
  std::vector<std::vector<bool>> result;
  for (const auto& row : rows) {
    result.emplace_back();
    for (const auto& value : row) result.back().push_back(value.get<int>() == set);
  }
  return result;
}

Bytes changed_weights(const Bytes& file, const ChangeWeights& change) {
  const StoredTensors stored = read_safetensors(file, "model.safetensors");
  std::map<std::string, std::vector<float>> weights;
  for (const auto& [name, tensor] : stored) weights[name] = to_float32(tensor);
  change(weights);
  std::vector<NamedFloats> named;
  for (const auto& [name, values] : weights) named.push_back({name, stored.at(name).shape, values});
  return bytes_of(write_safetensors(named));
}

}  // namespace

FileLookup golden_files(const std::string& name) {
  const FileLookup files = files_in(folder() / name);
  const auto json = parse_json_file(*files("expected.json"), "expected.json");
  return [files, ids = json["token_ids"]](std::string_view file) -> std::optional<Bytes> {
    if (file == "tokenizer.json") return bytes_of(tokenizer_json(ids));
    if (file == "tokenizer_config.json") return bytes_of(tokenizer_config(ids));
    return files(file);
  };
}

GoldenModel GoldenModel::from_onnx(const std::string& name, const std::string& variant) {
  GoldenModel golden(name);
  OnnxDocument document =
      open_onnx(folder().parent_path() / "onnx/text" / (name + variant + ".onnx"));
  document.files = golden_files(name);
  golden.model = TestText::load(document, name);
  return golden;
}

GoldenModel::GoldenModel(const std::string& name, const ChangeWeights& change) {
  const FileLookup files = golden_files(name);
  const auto json = parse_json_file(*files("expected.json"), "expected.json");
  model = TestText::load(
      [&](std::string_view file) -> std::optional<Bytes> {
        if (file == "model.safetensors" && change) return changed_weights(*files(file), change);
        return files(file);
      },
      name);
  expected = read_safetensors(*files("expected.safetensors"), "expected.safetensors");
  for (const auto& entry : json["inputs"]) {
    GoldenInput input;
    input.name = entry["name"];
    input.batch.ids = entry["ids"].get<std::vector<std::vector<int64_t>>>();
    input.batch.types = entry["token_type_ids"].get<std::vector<std::vector<int64_t>>>();
    input.special = flags(entry["special"], 1);
    input.targets = entry["targets"].get<std::vector<int64_t>>();
    input.float32_deviation = entry["float32_deviation"]["attention"];
    const auto hidden = flags(entry["attention_mask"], 0);
    const bool any = std::any_of(hidden.begin(), hidden.end(), [](const auto& row) {
      return std::find(row.begin(), row.end(), true) != row.end();
    });
    if (any) input.batch.hidden = hidden;
    inputs.push_back(std::move(input));
  }
}

Encoding GoldenInput::encoding() const {
  Encoding encoding;
  encoding.ids = batch.ids[0];
  encoding.type_ids = batch.types[0];
  encoding.special = special[0];
  for (size_t i = 0; i < encoding.ids.size(); ++i) {
    encoding.tokens.push_back(std::to_string(encoding.ids[i]));
    encoding.offsets.push_back({});
    encoding.segment.push_back(0);
    encoding.word.push_back(encoding.special[i] ? -1 : static_cast<int64_t>(i));
  }
  return encoding;
}

const GoldenInput& GoldenModel::input(const std::string& name) const {
  return *std::find_if(inputs.begin(), inputs.end(),
                       [&](const GoldenInput& input) { return input.name == name; });
}

std::vector<double> GoldenModel::values(const std::string& name) const {
  const StoredTensor& tensor = expected.at(name);
  std::vector<double> result(tensor.count());
  std::memcpy(result.data(), tensor.data.view.data(), result.size() * sizeof(double));
  return result;
}

ModelParts parts_of(const FileLookup& files, const std::string& name, std::string_view weights) {
  ModelParts parts{.name = name, .documents = {}, .weights = {}};
  for (const char* document :
       {"config.json", "tokenizer.json", "tokenizer_config.json", "preprocessor_config.json",
        "modules.json", "1_Pooling/config.json"}) {
    if (const auto file = files(document)) parts.documents[document] = file->text();
  }
  for (const auto& [key, tensor] : read_safetensors(*files(weights), weights)) {
    const std::shared_ptr<const void> data(tensor.data.owner, tensor.data.view.data());
    parts.weights[key] = {std::string(name_of(tensor.type)), tensor.shape, data,
                          tensor.data.size()};
  }
  return parts;
}

std::vector<std::string> golden_models() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace whyformer
