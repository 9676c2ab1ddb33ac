#include "tests/support/golden_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "tests/support/source_folder.h"

namespace whyformer {
namespace {

std::filesystem::path folder() { return source_folder() / "tests/golden/tables/models"; }

template <typename T>
std::vector<T> numbers_in(const StoredTensor& tensor) {
  std::vector<T> numbers(tensor.count());
  std::memcpy(numbers.data(), tensor.data.view.data(), tensor.data.size());
  return numbers;
}

// What table.json would tell of columns with so many categories.
ColumnSpec column_of_categories(int64_t at, int64_t count, int64_t first) {
  ColumnSpec column{.name = "category " + std::to_string(at),
                    .kind = ColumnKind::kCategory,
                    .input = "x_cat",
                    .at = {at}};
  for (int64_t id = first; id < first + count; ++id) {
    column.categories.push_back("word " + std::to_string(id));
    column.ids.push_back(id);
  }
  return column;
}

const char* dtype_in_file(WeightType type) {
  if (type == WeightType::kI64) return "I64";
  return type == WeightType::kF64 ? "F64" : "F32";
}

}  // namespace

GoldenTable::GoldenTable(const std::string& name) {
  tensors = read_safetensors(map_file(folder() / (name + ".safetensors")), name);
  const std::string prefix = "weights.";
  const std::string activation = "activation.";
  for (const auto& [key, tensor] : tensors) {
    if (key.starts_with(prefix)) weights[key.substr(prefix.size())] = tensor;
    if (key.starts_with(activation)) spec.model.activation = key.substr(activation.size());
  }
  spec.model.heads = numbers_in<int64_t>(tensors.at("heads"))[0];
  const int64_t numbers = has("x_cont") ? shape("x_cont")[1] : 0;
  for (int64_t at = 0; at < numbers; ++at) {
    spec.columns.push_back({.name = "number " + std::to_string(at), .input = "x_cont", .at = {at}});
  }
  if (has("counts")) {
    const int64_t first = has("first_id") ? numbers_in<int64_t>(tensors.at("first_id"))[0] : 0;
    int64_t at = 0;
    for (const int64_t count : numbers_in<int64_t>(tensors.at("counts")))
      spec.columns.push_back(column_of_categories(at++, count, first));
  }
  for (ColumnSpec& column : spec.columns) {
    if (has("x_missing")) column.missing.how = MissingCell::How::kMask;
  }
  const int64_t outputs = shape("answers")[1];
  spec.task.kind = outputs == 1 ? TaskSpec::Kind::kRegression : TaskSpec::Kind::kMulticlass;
  spec.task.output = outputs == 1 ? TaskSpec::Output::kValue : TaskSpec::Output::kLogits;
}

std::vector<double> GoldenTable::values(const std::string& name) const {
  return numbers_in<double>(tensors.at(name));
}

std::vector<Sample> GoldenTable::samples(DType type) const {
  std::vector<Sample> samples(rows());
  for (const char* input : {"x_cont", "x_cat", "x_missing"}) {
    if (!has(input)) continue;
    const StoredTensor& stored = tensors.at(input);
    const int64_t width = stored.shape[1];
    for (int64_t row = 0; row < rows(); ++row) {
      Tensor& one = samples[row][input];
      if (stored.type == WeightType::kI64) {
        const auto all = numbers_in<int64_t>(stored);
        one = Tensor::of<int64_t>({width}, std::span(all).subspan(row * width, width));
      } else {
        const auto all = numbers_in<double>(stored);
        one = Tensor::of<double>({width}, std::span(all).subspan(row * width, width)).cast(type);
      }
    }
  }
  return samples;
}

void GoldenTable::save(const std::filesystem::path& folder) const {
  nlohmann::json header = nlohmann::json::object();
  std::string data;
  for (const auto& [name, tensor] : weights) {
    const size_t first = data.size();
    data.append(reinterpret_cast<const char*>(tensor.data.view.data()), tensor.data.size());
    header[name] = {{"dtype", dtype_in_file(tensor.type)},
                    {"shape", tensor.shape},
                    {"data_offsets", {first, data.size()}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const uint64_t size = text.size();
  std::ofstream file(folder / "model.safetensors", std::ios::binary);
  file.write(reinterpret_cast<const char*>(&size), sizeof size) << text << data;
  std::ofstream(folder / "table.json") << to_json(spec);
}

std::string GoldenTable::csv() const {
  std::string text;
  for (const ColumnSpec& column : spec.columns) text += (text.empty() ? "" : ",") + column.name;
  for (const Sample& sample : samples(DType::kFloat64)) {
    std::string line;
    for (const ColumnSpec& column : spec.columns) {
      const double number = sample.at(column.input).to_doubles()[column.at[0]];
      const bool word = column.kind == ColumnKind::kCategory;
      line += (line.empty() ? "\n" : ",") + fmt::format("{}{:.17g}", word ? "word " : "", number);
    }
    text += line;
  }
  return text + "\n";
}

std::vector<std::string> golden_tables() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    // steps.safetensors has no model.
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() == ".safetensors" && name != "steps") names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace whyformer
