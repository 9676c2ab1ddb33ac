#include "explain/token_gradients.h"

#include <algorithm>
#include <cmath>

namespace whyformer {

OptionInfo place_option() {
  return {"at",
          "the word vectors, those with positions and types added and normalised, or what enters the "
          "first layer",
          std::string("word-embeddings"),
          {"word-embeddings", "embedding-block", "first-layer"}};
}

Place place_named(const std::string& name) {
  if (name == "first-layer") return Place::kFirstLayer;
  return name == "embedding-block" ? Place::kEmbeddingBlock : Place::kWordEmbeddings;
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
      if (norm == Norm::kL2) norms[i] += size * size;
      else if (norm == Norm::kL1) norms[i] += size;
      else norms[i] = std::max(norms[i], size);
    }
    if (norm == Norm::kL2) norms[i] = std::sqrt(norms[i]);
  }
  return norms;
}

std::vector<double> row_products(const Tensor& a, const Tensor& b) {
  const int64_t width = a.dim(1);
  const std::vector<double> left = a.to_doubles(), right = b.to_doubles();
  std::vector<double> sums(a.dim(0), 0.0);
  for (size_t i = 0; i < left.size(); ++i) sums[i / width] += left[i] * right[i];
  return sums;
}

std::vector<double> row_sums(const Tensor& tensor) {
  const std::vector<double> values = tensor.to_doubles();
  std::vector<double> sums(tensor.dim(0), 0.0);
  for (size_t i = 0; i < values.size(); ++i) sums[i / tensor.dim(1)] += values[i];
  return sums;
}

}  // namespace whyformer
