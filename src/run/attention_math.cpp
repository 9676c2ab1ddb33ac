#include "run/attention_math.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/parallel.h"
#include "ops/helpers.h"
#include "run/not_a_number.h"

namespace whyformer {
namespace {

// Calls fill(i, row) for each query row, in parallel: rows are independent.
template <typename Fill>
Matrix by_rows(int64_t rows, int64_t columns, Fill fill) {
  Matrix result(rows, columns);
  parallel_for(rows, 8, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) fill(i, result.values.data() + i * columns);
  });
  return result;
}

}  // namespace

HeadFusion head_fusion_named(const std::string& name) {
  if (name == "max") return HeadFusion::kMax;
  return name == "min" ? HeadFusion::kMin : HeadFusion::kMean;
}

Matrix fuse_heads(const Tensor& maps, HeadFusion fusion) {
  const int64_t heads = maps.dim(0), rows = maps.dim(1), columns = maps.dim(2);
  return with_float_type(maps.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* values = maps.data<T>();
    return by_rows(rows, columns, [&](int64_t i, double* out) {
      for (int64_t head = 0; head < heads; ++head) {
        const T* row = values + (head * rows + i) * columns;
        for (int64_t j = 0; j < columns; ++j) {
          if (head == 0)
            out[j] = row[j];
          else if (fusion == HeadFusion::kMean || fusion == HeadFusion::kSum)
            out[j] += row[j];
          else if (fusion == HeadFusion::kMax)
            out[j] = larger_of(out[j], row[j]);
          else
            out[j] = smaller_of(out[j], row[j]);
        }
      }
      if (fusion != HeadFusion::kMean) return;
      for (int64_t j = 0; j < columns; ++j) out[j] /= static_cast<double>(heads);
    });
  });
}

Matrix positive_product(const Tensor& first, const Tensor& second) {
  const int64_t heads = first.dim(0), rows = first.dim(1), columns = first.dim(2);
  return with_float_type(first.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* a = first.data<T>();
    const T* b = second.data<T>();
    return by_rows(rows, columns, [&](int64_t i, double* out) {
      for (int64_t head = 0; head < heads; ++head) {
        const int64_t at = (head * rows + i) * columns;
        for (int64_t j = 0; j < columns; ++j) {
          out[j] += positive_part(static_cast<double>(a[at + j]) * b[at + j]);
        }
      }
      for (int64_t j = 0; j < columns; ++j) out[j] /= static_cast<double>(heads);
    });
  });
}

std::vector<double> times(const std::vector<double>& row, const Matrix& matrix) {
  std::vector<double> result(matrix.columns, 0.0);
  for (int64_t i = 0; i < matrix.rows; ++i) {
    if (row[i] == 0) continue;
    for (int64_t j = 0; j < matrix.columns; ++j) result[j] += row[i] * matrix.at(i, j);
  }
  return result;
}

std::vector<double> shares_along(const Tensor& gradient, int axis) {
  std::vector<double> shares;
  double sum = 0;
  for (int64_t position = 0; position < gradient.dim(axis); ++position) {
    double square = 0;
    for (const double g : gradient.select(axis, position).to_doubles()) square += g * g;
    shares.push_back(std::sqrt(square));
    sum += shares.back();
  }
  for (double& share : shares) {
    share = sum == 0 ? 1 / static_cast<double>(shares.size()) : share / sum;
  }
  return shares;
}

void add_identity(Matrix& matrix) {
  for (int64_t i = 0; i < matrix.rows; ++i) matrix.at(i, i) += 1;
}

void normalise_rows(Matrix& matrix) {
  for (int64_t i = 0; i < matrix.rows; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < matrix.columns; ++j) sum += matrix.at(i, j);
    for (int64_t j = 0; j < matrix.columns; ++j) {
      matrix.at(i, j) = sum != 0 ? matrix.at(i, j) / sum : (i == j ? 1 : 0);
    }
  }
}

OptionInfo own_entry_option(std::string fallback) {
  return {"own",
          "the read-out token's own score, dominated by the residual identity: keep, set to 0, or "
          "set to the minimum",
          std::move(fallback),
          {"keep", "zero", "minimum"}};
}

OwnEntry own_entry_named(const std::string& name) {
  if (name == "zero") return OwnEntry::kZero;
  return name == "minimum" ? OwnEntry::kMinimum : OwnEntry::kKeep;
}

void treat_own_entry(std::vector<double>& scores, std::optional<int64_t> row, OwnEntry how) {
  if (!row || how == OwnEntry::kKeep) return;
  scores[*row] = how == OwnEntry::kZero
                     ? 0
                     : std::accumulate(scores.begin(), scores.end(), scores[0], smaller_of);
}

void min_max(std::vector<double>& scores) {
  if (scores.empty()) return;
  const double low = std::accumulate(scores.begin(), scores.end(), scores[0], smaller_of);
  const double range = std::accumulate(scores.begin(), scores.end(), scores[0], larger_of) - low;
  for (double& score : scores) score = range == 0 ? 0 : (score - low) / range;
}

}  // namespace whyformer
