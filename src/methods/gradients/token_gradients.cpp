#include "methods/gradients/token_gradients.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/ops.h"
#include "run/not_a_number.h"
#include "whyformer/error.h"

namespace whyformer {

OptionInfo depth_option() {
  return {"at",
          "where scores are read: the input (word vectors or pixels), the embeddings with "
          "positions, or the input of the first layer",
          std::string("input"),
          {"input", "word-embeddings", "pixels", "embedding-block", "first-layer"}};
}

Depth depth_named(const Input& input, const std::string& name) {
  if (name == "first-layer") return Depth::kFirstLayer;
  if (name == "embedding-block") return Depth::kEmbeddingBlock;
  const bool known = std::ranges::any_of(
      input.parts(), [&](const auto& part) { return part->traits().input_name == name; });
  if (name == "input" || known) return Depth::kInput;
  throw InvalidInput(fmt::format("at={}: a {} has no such vectors; use at=input", name,
                                 input.parts()[0]->traits().name));
}

Norm norm_named(const std::string& name) {
  if (name == "l1") return Norm::kL1;
  return name == "max" ? Norm::kMax : Norm::kL2;
}

std::vector<double> row_norms(const Tensor& gradient, Norm norm) {
  const int64_t width = gradient.dim(1);
  const std::vector<double> values = gradient.to_doubles();
  std::vector<double> norms(gradient.dim(0), 0.0);
  for (size_t i = 0; i < norms.size(); ++i) {
    const double* row = values.data() + static_cast<int64_t>(i) * width;
    for (int64_t d = 0; d < width; ++d) {
      const double size = std::abs(row[d]);
      if (norm == Norm::kL2)
        norms[i] += size * size;
      else if (norm == Norm::kL1)
        norms[i] += size;
      else
        norms[i] = larger_of(norms[i], size);
    }
    if (norm == Norm::kL2) norms[i] = std::sqrt(norms[i]);
  }
  return norms;
}

std::vector<double> row_sums(const Tensor& tensor) {
  const std::vector<double> values = tensor.to_doubles();
  std::vector<double> sums(tensor.dim(0), 0.0);
  for (size_t i = 0; i < values.size(); ++i) sums[i / tensor.dim(1)] += values[i];
  return sums;
}

Tensor products(const Tensor& a, const Tensor& b) {
  std::vector<double> values = a.to_doubles();
  const std::vector<double> right = b.to_doubles();
  for (size_t i = 0; i < values.size(); ++i) values[i] *= right[i];
  return Tensor::of<double>(a.shape(), std::span<const double>(values));
}

namespace {

bool only_norms_read(const Graph& graph, Value value) {
  const std::vector<int>& users = graph.users(value);
  const int64_t width = graph.shape(value).back();
  return !users.empty() && std::ranges::all_of(users, [&](int user) {
    const Node& node = graph.nodes()[user];
    if (is_a<ops::LayerNorm, ops::RmsNorm, ops::L2Normalise>(*node.op))
      return node.inputs[0] == value;
    const bool view = is_a<ops::Reshape>(*node.op) && graph.shape(node.outputs[0]).back() == width;
    return view && only_norms_read(graph, node.outputs[0]);
  });
}

}  // namespace

bool is_normalised_first(const Run& run, Depth depth) {
  const std::vector<Value> values = run.graph().values_at(depth);
  return !values.empty() && std::ranges::all_of(values, [&](Value value) {
    return only_norms_read(run.graph().graph, value);
  });
}

void note_if_normalised_first(const Run& run, Depth depth, Scores& scores) {
  if (!is_normalised_first(run, depth)) return;
  const bool later = !run.graph().values_at(Depth::kFirstLayer).empty() &&
                     !is_normalised_first(run, Depth::kFirstLayer);
  scores.notes.push_back(
      fmt::format("The model normalises these vectors before anything else, so their length "
                  "changes nothing and gradient × input is 0 by "
                  "construction: what is left is rounding and the norm's epsilon. Choose "
                  "{}integrated-gradients.",
                  later ? "at=first-layer, or " : ""));
}

Scores folded(const Input& input, Depth depth, const Tensor& rows, const RowFold& fold) {
  Scores scores{fold(rows)};
  if (depth != Depth::kInput) return scores;
  if (const std::optional<Tensor> channels = input.pixel_channels(rows))
    scores.pixels = fold(*channels);
  return scores;
}

}  // namespace whyformer
