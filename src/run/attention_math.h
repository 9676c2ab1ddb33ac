// The few matrix steps that attention methods share. Matrices are row-major, in double; row =
// query, column = key; layer 0 is nearest the input.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tensor/tensor.h"
#include "whyformer/methods.h"

namespace whyformer {

struct Matrix {
  int64_t rows = 0;
  int64_t columns = 0;
  std::vector<double> values;

  Matrix() = default;
  Matrix(int64_t rows, int64_t columns) : rows(rows), columns(columns), values(rows * columns) {}
  double& at(int64_t i, int64_t j) { return values[i * columns + j]; }
  double at(int64_t i, int64_t j) const { return values[i * columns + j]; }
};

enum class HeadFusion { kMean, kSum, kMax, kMin };
HeadFusion head_fusion_named(const std::string& name);

// One matrix from maps [heads, queries, keys].
Matrix fuse_heads(const Tensor& maps, HeadFusion fusion);

// Mean over heads of (a ⊙ b)⁺, maps [heads, queries, keys]: with attention and its gradient eq. 5
// of Chefer et al., ICCV 2021. The positive part is taken per head, before the mean.
Matrix positive_product(const Tensor& a, const Tensor& b);

// r ← r·M.
std::vector<double> times(const std::vector<double>& row, const Matrix& matrix);

// Share of each position of an axis in a gradient, by its length there; equal shares where it is 0.
std::vector<double> shares_along(const Tensor& gradient, int axis);

// M + I, each row divided by its sum (rows that sum to 0 become identity rows).
void add_identity(Matrix& matrix);
void normalise_rows(Matrix& matrix);

// What becomes of the read-out token's own score, which holds the identity's share.
enum class OwnEntry { kKeep, kZero, kMinimum };
OptionInfo own_entry_option(std::string fallback);
OwnEntry own_entry_named(const std::string& name);
void treat_own_entry(std::vector<double>& scores, std::optional<int64_t> row, OwnEntry how);

// (x - least) / (most - least); zeros where all are equal.
void min_max(std::vector<double>& scores);

}  // namespace whyformer
