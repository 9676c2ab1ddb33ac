#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "explain/array_file.h"
#include "explain/describe.h"
#include "explain/stream_relevance.h"
#include "formats/weights.h"
#include "graph/walk_back.h"
#include "models/onnx_probe.h"
#include "models/text_model.h"
#include "whyformer/arrays.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// The target's position in the output, and its indices filled in.
int64_t find_target(const Tensor& output, const std::string& name, std::vector<int64_t>& indices) {
  if (indices.empty()) {
    const std::vector<double> numbers = output.to_doubles();
    int64_t at = std::max_element(numbers.begin(), numbers.end()) - numbers.begin();
    const int64_t best = at;
    for (int axis = output.rank() - 1; axis >= 0; --axis) {
      indices.insert(indices.begin(), at % output.dim(axis));
      at /= output.dim(axis);
    }
    return best;
  }
  int64_t at = 0;
  bool inside = static_cast<int>(indices.size()) == output.rank();
  for (int axis = 0; inside && axis < output.rank(); ++axis) {
    inside = indices[axis] >= 0 && indices[axis] < output.dim(axis);
    at = at * output.dim(axis) + indices[axis];
  }
  if (!inside) {
    throw InvalidInput(fmt::format(
        "the output '{}' has the shape {}: there is no element {}; give one number per axis, from 0", name,
        to_string(output.shape()), fmt::join(indices, ",")));
  }
  return at;
}

// Tensors collected for a safetensors file.
class Collected {
 public:
  void add(const std::string& name, const Tensor& tensor) {
    tensors_.push_back({name, tensor.cast(DType::kFloat32).contiguous()});
  }
  // Without the batch axis where it has the length 1.
  void add_map(const std::string& name, const Tensor& map) {
    add(name, map.dim(0) == 1 ? map.select(0, 0) : map);
  }
  std::string bytes() const {
    std::vector<NamedFloats> floats;
    for (const auto& [name, tensor] : tensors_) {
      floats.push_back({name, tensor.shape(),
                        {tensor.data<float>(), static_cast<size_t>(tensor.size())}});
    }
    return write_safetensors(floats);
  }

 private:
  std::vector<std::pair<std::string, Tensor>> tensors_;
};

// One run of a model on arrays, and the gradient of one element of an output.
struct ArrayRun {
  OnnxProbe probe;
  std::string output;
  std::vector<int64_t> indices;
  double value = 0;
  Pass pass;
  std::map<Value, Tensor> gradients;  // at maps, inputs of numbers, and where the output reads
};

ArrayRun run_arrays(const std::filesystem::path& model, const std::filesystem::path& inputs,
                    const ArrayTarget& target) {
  const auto arrays = read_arrays(inputs);
  const std::filesystem::path file = onnx_file_of(model);
  if (file.empty()) {
    throw FileError(fmt::format("arrays go into an ONNX file, and '{}' is none and holds none: give the "
                                "file itself",
                                model.string()));
  }
  ArrayRun result;
  result.probe = probe_onnx(file, arrays);
  const OnnxProbe& probe = result.probe;
  result.output = target.output.empty() ? probe.main_output : target.output;
  if (!probe.outputs.contains(result.output)) {
    std::string names;
    for (const auto& [name, value] : probe.outputs) names += (names.empty() ? "" : ", ") + name;
    throw InvalidInput(fmt::format("the model has no output '{}'; its outputs are {}", result.output, names));
  }
  const Value from = probe.outputs.at(result.output);
  Feeds feeds;
  for (const auto& [name, value] : probe.inputs) {
    const auto given = arrays.find(name);
    if (given == arrays.end()) {
      throw InvalidInput(fmt::format("'{}' has no array for the model's input '{}'",
                                     inputs.string(), name));
    }
    feeds[value] = given->second.cast(probe.graph.type(value).dtype);
  }
  std::vector<Value> wanted;
  for (const AttentionSite& site : probe.found.sites) wanted.push_back(site.attention);
  std::vector<Value> kept = wanted;
  for (const auto& [name, value] : probe.outputs) kept.push_back(value);
  result.pass = run(probe.graph, feeds, {Keep::kGradients, kept});
  const Tensor& answer = result.pass[from];
  result.indices = target.indices;
  const int64_t at = find_target(answer, result.output, result.indices);
  result.value = answer.to_doubles()[at];
  if (!std::isfinite(result.value)) {
    throw InvalidInput(fmt::format("the model answers {} there: look at the inputs for NaN or huge numbers",
                                   result.value));
  }
  Tensor seed = Tensor::zeros(answer.shape(), DType::kFloat32);
  seed.mutable_data<float>()[at] = 1;
  for (const auto& [name, value] : probe.inputs) {
    if (probe.graph.type(value).dtype != DType::kInt64) wanted.push_back(value);
  }
  if (probe.found.read_out.read.valid()) wanted.push_back(probe.found.read_out.read);
  result.gradients = walk_back(probe.graph, result.pass, from, seed, gradient_rule(), wanted);
  return result;
}

// Ā of one input of the batch (equation 5).
Matrix weighted_map(const ArrayRun& run, const AttentionSite& site) {
  const Tensor& map = run.pass[site.attention];
  const int64_t sample = map.dim(0) > 1 && !run.indices.empty() ? run.indices[0] : 0;
  return positive_product(map.select(0, sample).contiguous(),
                          run.gradients.at(site.attention).select(0, sample).contiguous());
}

// Whether the target depends on attention within the stream.
bool matters(const ArrayRun& run, int stream) {
  for (const int site : run.probe.found.streams[stream].sites) {
    const Value map = run.probe.found.sites[site].attention;
    for (const double g : run.gradients.at(map).to_doubles()) {
      if (g != 0) return true;
    }
  }
  return false;
}

void check_can_be_explained(const ArrayRun& run) {
  const Discovery& found = run.probe.found;
  for (const AttentionSite& site : found.sites) {
    const int64_t samples = run.probe.graph.shape(site.attention)[0];
    if (site.windows > 1) {
      throw UnsupportedModel(fmt::format(
          "attention '{}' works on {} windows, each by itself: relevance over the whole input is not "
          "defined by this method",
          site.name, samples));
    }
  }
  if (found.sites.empty()) throw UnsupportedModel("no attention was found in the model");
  if (run.output != run.probe.main_output || !found.read_out.read.valid()) {
    throw UnsupportedModel(fmt::format(
        "how the output '{}' reads the tokens was not recognised; explain '{}', or compute your own "
        "from whyformer trace",
        run.output, run.probe.main_output));
  }
}

}  // namespace

ArrayExplanation explain_arrays(const std::filesystem::path& model,
                                const std::filesystem::path& inputs, const ArrayTarget& target) {
  const ArrayRun run = run_arrays(model, inputs, target);
  check_can_be_explained(run);
  const Discovery& found = run.probe.found;
  std::vector<Matrix> weighted;
  for (const AttentionSite& site : found.sites) weighted.push_back(weighted_map(run, site));
  const int stream = found.read_out.stream;
  const std::vector<Matrix> relevance =
      stream_relevance(run.probe.graph, found, weighted, stream, found.read_out.read);
  // By the size of the gradient there; an output with one answer per token reads the one asked for.
  const std::vector<double> shares =
      shares_along(run.gradients.at(found.read_out.read), found.read_out.axis);
  ArrayExplanation result;
  result.info = describe(run.probe, model);
  result.output = run.output;
  result.indices = run.indices;
  result.value = run.value;
  for (size_t other = 0; other < relevance.size(); ++other) {
    const Matrix& matrix = relevance[other];
    StreamScores scores{static_cast<int>(other), result.info.streams[other].units,
                        std::vector<double>(matrix.columns, 0)};
    for (int64_t row = 0; row < matrix.rows; ++row) {
      for (int64_t column = 0; column < matrix.columns; ++column) {
        const bool itself = static_cast<int>(other) == stream && row == column;
        if (!itself) scores.scores[column] += shares[row] * matrix.at(row, column);
      }
    }
    const bool silent = std::all_of(scores.scores.begin(), scores.scores.end(),
                                    [](double score) { return score == 0; });
    if (silent && matters(run, static_cast<int>(other))) {
      result.info.notes.push_back(fmt::format(
          "The output also reads stream {} by itself, in a way that was not recognised: its scores are "
          "missing.",
          other));
    }
    result.streams.push_back(std::move(scores));
  }
  return result;
}

ArrayTrace trace_arrays(const std::filesystem::path& model, const std::filesystem::path& inputs,
                        const ArrayTarget& target) {
  const ArrayRun run = run_arrays(model, inputs, target);
  ArrayTrace result;
  result.info = describe(run.probe, model);
  result.output = run.output;
  result.indices = run.indices;
  result.value = run.value;
  Collected collected;
  const std::vector<AttentionSite>& sites = run.probe.found.sites;
  for (size_t site = 0; site < sites.size(); ++site) {
    const Value map = sites[site].attention;
    collected.add_map(fmt::format("attention.{}", site), run.pass[map]);
    collected.add_map(fmt::format("attention_gradient.{}", site), run.gradients.at(map));
  }
  for (const auto& [name, value] : run.probe.outputs) {
    collected.add("output." + name, run.pass[value]);
  }
  for (const auto& [name, value] : run.probe.inputs) {
    const auto gradient = run.gradients.find(value);
    if (gradient != run.gradients.end()) collected.add("input_gradient." + name, gradient->second);
  }
  result.safetensors = collected.bytes();
  return result;
}

}  // namespace whyformer
