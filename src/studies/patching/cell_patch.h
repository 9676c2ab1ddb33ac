// One cell of a sweep: which numbers of a value it puts from one run into another.
#pragma once

#include <vector>

#include "discovery/named_values.h"

namespace whyformer {

// Which unit of the clean input stands for each unit of the corrupted one; -1 where none does.
using AlignedUnits = std::vector<int64_t>;

// A cell: one value of a row, or a head or a token of it; -1 stands for all of them.
struct PatchCell {
  size_t row = 0;
  int64_t head = -1;
  int64_t token = -1;
};

// Copies the clean run's numbers into those of a sample, where units stand for each other. Looks at
// the numbers of the cell alone.
class CellPatch {
 public:
  CellPatch(const NamedValue& at, const Tensor& clean, const AlignedUnits& aligned);

  // False where the cell has no counterpart in the clean run.
  bool is_defined(const PatchCell& cell) const {
    return cell.token < 0 || aligned_[cell.token] >= 0;
  }
  void write(const PatchCell& cell, const Tensor& value) const;
  // Whether both runs differ there.
  bool changes(const PatchCell& cell, const Tensor& own) const;
  // ⟨clean − own, gradient⟩ over the cell.
  double slope(const PatchCell& cell, const Tensor& own, const Tensor& gradient) const;

 private:
  // Rows of the cell: `take` gets the token of the value and that of the clean run.
  template <class Take>
  void for_each_token(const PatchCell& cell, const Take& take) const;
  Tensor row_of(const Tensor& value, const PatchCell& cell, int64_t token) const;

  Tensor clean_;
  const AlignedUnits& aligned_;
  int head_axis_ = -1, token_axis_ = 0;
};

}  // namespace whyformer
