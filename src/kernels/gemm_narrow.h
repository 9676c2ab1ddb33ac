// Products with constant matrices of whole numbers, which stay as small in memory as they are in
// files.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

namespace whyformer {

// What a narrow matrix is multiplied by before a product: nothing, or a factor for each row or each
// column.
struct NarrowScales {
  enum class Along { kNone, kRows, kColumns };
  Along along = Along::kNone;
  const float* factors = nullptr;
};

// A constant right-hand side B [depth, columns] of C = A·B whose elements are whole numbers of at
// most 16 bits; those of 8 take a byte each. Panels become floats piece by piece while a product
// runs, so its sums are those of a PackedMatrix.
class NarrowMatrix {
 public:
  NarrowMatrix() = default;
  // b[k * row_stride + n * column_stride].
  NarrowMatrix(const float* b, int64_t depth, int64_t columns, int64_t row_stride,
               int64_t column_stride);

  int64_t depth() const { return depth_; }
  int64_t columns() const { return columns_; }

  // Columns are worked on in groups of this many.
  static constexpr int64_t kGroupColumns = 64;
  int64_t groups() const { return (columns_ + kGroupColumns - 1) / kGroupColumns; }
  int64_t columns_of(int64_t group) const;

  // The columns of a group: C[rows, columns_of(group)] = A·B, in the calling thread if that is
  // inside a parallel_for.
  void multiply_group(int64_t group, const float* a, int64_t rows, int64_t a_stride, float* c,
                      int64_t c_stride, const NarrowScales& scales = {},
                      const float* bias = nullptr) const;

  // C[rows, columns] = A·B, and a bias [columns] if there is one; groups in parallel.
  void multiply(const float* a, int64_t rows, int64_t a_stride, float* c, int64_t c_stride,
                const NarrowScales& scales = {}, const float* bias = nullptr) const;

 private:
  using Bytes = std::vector<int8_t>;
  using Words = std::vector<int16_t>;

  int64_t depth_ = 0, columns_ = 0, panel_columns_ = 0;
  std::vector<int64_t> starts_;  // of the groups, in the order of a PackedMatrix each
  std::variant<Bytes, Words> numbers_;
};

}  // namespace whyformer
