#include "kernels/gemm_narrow.h"

#include <algorithm>

#include "base/parallel.h"
#include "kernels/gemm.h"
#include "kernels/gemm_block.h"
#include "kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm_narrow.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace whyformer {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
HWY_INLINE void widen_all(const T* from, int64_t count, float* to) {
  const hn::ScalableTag<float> floats;
  const hn::Rebind<int32_t, decltype(floats)> wide;
  const hn::Rebind<T, decltype(floats)> narrow;
  const auto lanes = static_cast<int64_t>(hn::Lanes(floats));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(hn::ConvertTo(floats, hn::PromoteTo(wide, hn::LoadU(narrow, from + i))), floats,
               to + i);
  }
  for (; i < count; ++i) to[i] = static_cast<float>(from[i]);
}

void widen_bytes(const int8_t* from, int64_t count, float* to) { widen_all(from, count, to); }
void widen_words(const int16_t* from, int64_t count, float* to) { widen_all(from, count, to); }

}  // namespace HWY_NAMESPACE
}  // namespace whyformer
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace whyformer {
namespace {

HWY_EXPORT(widen_bytes);
HWY_EXPORT(widen_words);

void widen(const int8_t* from, int64_t count, float* to) {
  HWY_DYNAMIC_DISPATCH(widen_bytes)(from, count, to);
}
void widen(const int16_t* from, int64_t count, float* to) {
  HWY_DYNAMIC_DISPATCH(widen_words)(from, count, to);
}

// Panels lie chunk after chunk of the depth, panel after panel, row after row.
template <typename Use>
void for_each_panel_row(int64_t depth, int64_t columns, int64_t panel_columns, const Use& use) {
  int64_t at = 0;
  for (int64_t first = 0; first < depth; first += chunk_depth(depth)) {
    const int64_t rows = std::min(chunk_depth(depth), depth - first);
    for (int64_t column = 0; column < columns; column += panel_columns) {
      for (int64_t row = first; row < first + rows; ++row, at += panel_columns)
        use(row, column, at);
    }
  }
}

void scale_panels(float* panels, int64_t depth, int64_t columns, int64_t panel_columns,
                  int64_t first_column, const NarrowScales& scales) {
  if (scales.along == NarrowScales::Along::kNone) return;
  const bool by_row = scales.along == NarrowScales::Along::kRows;
  for_each_panel_row(depth, columns, panel_columns, [&](int64_t row, int64_t column, int64_t at) {
    const int64_t own = std::min(panel_columns, columns - column);
    for (int64_t i = 0; i < own; ++i)
      panels[at + i] *= scales.factors[by_row ? row : first_column + column + i];
  });
}

int64_t panel_size(int64_t depth, int64_t columns, int64_t panel_columns) {
  return depth * divide_up(columns, panel_columns) * panel_columns;
}

}  // namespace

NarrowMatrix::NarrowMatrix(const float* b, int64_t depth, int64_t columns, int64_t row_stride,
                           int64_t column_stride)
    : depth_(depth), columns_(columns) {
  for (int64_t group = 0, at = 0; group < groups(); ++group) {
    const PackedMatrix packed(b + group * kGroupColumns * column_stride, depth, columns_of(group),
                              row_stride, column_stride);
    panel_columns_ = packed.panel_columns();
    const int64_t size = panel_size(depth, columns_of(group), panel_columns_);
    starts_.push_back(at);
    at += size;
    const std::span<const float> panels(packed.panels(), static_cast<size_t>(size));
    const bool fits = std::all_of(panels.begin(), panels.end(),
                                  [](float number) { return number >= -128 && number <= 127; });
    if (auto* bytes = std::get_if<Bytes>(&numbers_); bytes != nullptr && !fits)
      numbers_ = Words(bytes->begin(), bytes->end());
    std::visit([&](auto& numbers) { numbers.insert(numbers.end(), panels.begin(), panels.end()); },
               numbers_);
  }
  std::visit([](auto& numbers) { numbers.shrink_to_fit(); }, numbers_);
}

int64_t NarrowMatrix::columns_of(int64_t group) const {
  return std::min(kGroupColumns, columns_ - group * kGroupColumns);
}

void NarrowMatrix::multiply_group(int64_t group, const float* a, int64_t rows, int64_t a_stride,
                                  float* c, int64_t c_stride, const NarrowScales& scales,
                                  const float* bias) const {
  thread_local Scratch scratch;
  const int64_t columns = columns_of(group), size = panel_size(depth_, columns, panel_columns_);
  float* panels = scratch.floats(std::max<int64_t>(1, size));
  std::visit([&](const auto& numbers) { widen(numbers.data() + starts_[group], size, panels); },
             numbers_);
  scale_panels(panels, depth_, columns, panel_columns_, group * kGroupColumns, scales);
  // Lent for this product.
  const std::shared_ptr<const float[]> lent(std::shared_ptr<void>(), panels);
  multiply_packed(a, rows, a_stride, PackedMatrix(lent, depth_, columns, panel_columns_), c,
                  c_stride, {.bias = bias == nullptr ? nullptr : bias + group * kGroupColumns});
}

void NarrowMatrix::multiply(const float* a, int64_t rows, int64_t a_stride, float* c,
                            int64_t c_stride, const NarrowScales& scales, const float* bias) const {
  if (rows == 0) return;
  parallel_for(groups(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group) {
      multiply_group(group, a, rows, a_stride, c + group * kGroupColumns, c_stride, scales, bias);
    }
  });
}

}  // namespace whyformer
#endif  // HWY_ONCE
