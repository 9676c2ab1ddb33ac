// Matrices of whole numbers where they lie: in a tensor, or as bytes of a file.
#pragma once

#include <memory>
#include <vector>

#include "base/bytes.h"
#include "tensor/tensor.h"

namespace whyformer {

class WholeNumbers {
 public:
  virtual ~WholeNumbers() = default;
  WholeNumbers(int64_t rows, int64_t columns) : rows_(rows), columns_(columns) {}

  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }

  // Rows from `first` on as floats [count, columns].
  virtual void read(int64_t first, int64_t count, float* to) const = 0;

  // The whole matrix, made anew by each call.
  Tensor floats() const;

 private:
  int64_t rows_, columns_;
};

// Bytes [rows, columns], or [columns, rows] where they lie transposed, less a zero for all or for
// each row.
struct StoredBytes {
  Bytes data;
  int64_t rows = 0, columns = 0;
  bool is_signed = true;
  bool transposed = false;
  std::vector<float> zeros = {};  // none, one, or one for each row
};

std::shared_ptr<const WholeNumbers> whole_numbers(StoredBytes bytes);
std::shared_ptr<const WholeNumbers> whole_numbers(
    Tensor matrix);  // [rows, columns] of 32-bit floats
std::shared_ptr<const WholeNumbers> some_rows(std::shared_ptr<const WholeNumbers> all,
                                              int64_t first, int64_t count);

}  // namespace whyformer
