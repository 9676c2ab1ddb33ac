#include "studies/patching/cell_patch.h"

#include <algorithm>

namespace whyformer {

CellPatch::CellPatch(const NamedValue& at, const Tensor& clean, const AlignedUnits& aligned)
    : clean_(clean.select(0, 0)), aligned_(aligned) {
  const int head = at.axis("head"), token = at.axis("token");
  head_axis_ = head < 0 ? -1 : head - 1;  // the batch is gone
  token_axis_ = token - 1;
}

template <class Take>
void CellPatch::for_each_token(const PatchCell& cell, const Take& take) const {
  const auto tokens = static_cast<int64_t>(aligned_.size());
  const int64_t begin = std::max<int64_t>(cell.token, 0);
  const int64_t end = cell.token < 0 ? tokens : cell.token + 1;
  for (int64_t token = begin; token < end; ++token) {
    if (aligned_[token] >= 0) take(token, aligned_[token]);
  }
}

Tensor CellPatch::row_of(const Tensor& value, const PatchCell& cell, int64_t token) const {
  const Tensor rows = cell.head < 0 ? value : value.slice(head_axis_, cell.head, 1);
  return rows.select(token_axis_, token);
}

void CellPatch::write(const PatchCell& cell, const Tensor& value) const {
  for_each_token(cell, [&](int64_t token, int64_t clean) {
    row_of(value, cell, token).copy_from(row_of(clean_, cell, clean));
  });
}

bool CellPatch::changes(const PatchCell& cell, const Tensor& own) const {
  bool differ = false;
  for_each_token(cell, [&](int64_t token, int64_t clean) {
    differ =
        differ || row_of(own, cell, token).to_doubles() != row_of(clean_, cell, clean).to_doubles();
  });
  return differ;
}

double CellPatch::slope(const PatchCell& cell, const Tensor& own, const Tensor& gradient) const {
  double sum = 0;
  for_each_token(cell, [&](int64_t token, int64_t clean) {
    const std::vector<double> after = row_of(clean_, cell, clean).to_doubles(),
                              before = row_of(own, cell, token).to_doubles(),
                              by = row_of(gradient, cell, token).to_doubles();
    for (size_t i = 0; i < after.size(); ++i) sum += (after[i] - before[i]) * by[i];
  });
  return sum;
}

}  // namespace whyformer
