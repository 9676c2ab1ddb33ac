// The innermost part of matrix products, compiled once for each instruction set: a tile of C that
// stays in registers while the depth passes by. Every element is summed in the order of the depth,
// whatever the height of its tile.

// Highway's guard for headers that are included once per instruction set.
#if defined(WHYFORMER_KERNELS_GEMM_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WHYFORMER_KERNELS_GEMM_TILE_INL_H_
#undef WHYFORMER_KERNELS_GEMM_TILE_INL_H_
#else
#define WHYFORMER_KERNELS_GEMM_TILE_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/gemm_block.h"

HWY_BEFORE_NAMESPACE();
namespace whyformer {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using FloatTag = hn::ScalableTag<float>;
using Floats = hn::Vec<FloatTag>;

constexpr int64_t kLanes = HWY_LANES(float);
constexpr int64_t kLineFloats = 16;
constexpr int kPanelVectors = 2;
constexpr int64_t kPanelColumns = kPanelVectors * kLanes;

// 32 vector registers hold 8 x 2 sums with ease, 16 registers hold 6 x 2.
#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64
constexpr int kTileRows = 8;
#else
constexpr int kTileRows = 6;
#endif

// Rows of a length that the compiler knows, so that it need not call memcpy.
template <int64_t kColumns>
HWY_INLINE void copy_rows_of(const float* source, int64_t source_stride, int64_t rows, float* dest,
                             int64_t stride) {
  for (int64_t i = 0; i < rows; ++i) {
    std::memcpy(dest + i * stride, source + i * source_stride, kColumns * sizeof(float));
  }
}

#if HWY_TARGET != HWY_SCALAR
// Four floats from each of several rows, [row 0][row 1]..., one 128-bit block per row.
template <class D>
HWY_INLINE hn::Vec<D> load_blocks(D d, const float* from, int64_t row_stride) {
  if constexpr (hn::MaxLanes(D()) == 4) {
    return hn::LoadU(d, from);
  } else {
    const hn::Half<D> half;
    constexpr int64_t kHalfBlocks = hn::MaxLanes(D()) / 8;
    return hn::Combine(d, load_blocks(half, from + kHalfBlocks * row_stride, row_stride),
                       load_blocks(half, from, row_stride));
  }
}

// dest[i * stride + j] = source[i + j * source_stride] for i < 4, j < kLanes.
HWY_INLINE void transpose_block(const float* source, int64_t source_stride, float* dest,
                                int64_t stride) {
  const FloatTag d;
  const hn::RepartitionToWide<FloatTag> pairs;
  // Every fourth row goes into the same vector, so that the rows come out in their order.
  const Floats v0 = load_blocks(d, source, 4 * source_stride);
  const Floats v1 = load_blocks(d, source + source_stride, 4 * source_stride);
  const Floats v2 = load_blocks(d, source + 2 * source_stride, 4 * source_stride);
  const Floats v3 = load_blocks(d, source + 3 * source_stride, 4 * source_stride);
  const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, v0, v1));
  const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, v2, v3));
  const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, v0, v1));
  const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, v2, v3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23)), d, dest);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23)), d, dest + stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23)), d, dest + 2 * stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23)), d, dest + 3 * stride);
}
#endif

// dest[i * stride + j] = source[i * i_stride + j * j_stride], where one of the strides may be 1.
inline void copy_matrix(const float* source, int64_t i_stride, int64_t j_stride, int64_t rows,
                        int64_t columns, float* dest, int64_t stride) {
  if (j_stride == 1) {
    for (int64_t i = 0; i < rows; ++i) {
      std::memcpy(dest + i * stride, source + i * i_stride, columns * sizeof(float));
    }
    return;
  }
  int64_t done_rows = 0;
  int64_t done_columns = 0;
#if HWY_TARGET != HWY_SCALAR
  if (i_stride == 1) {
    done_rows = rows / 4 * 4;
    done_columns = columns / kLanes * kLanes;
    for (int64_t j = 0; j < done_columns; j += kLanes) {
      for (int64_t i = 0; i < done_rows; i += 4) {
        transpose_block(source + i + j * j_stride, j_stride, dest + i * stride + j, stride);
      }
    }
  }
#endif
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = i < done_rows ? done_columns : 0; j < columns; ++j) {
      dest[i * stride + j] = source[i * i_stride + j * j_stride];
    }
  }
}

// Cuts B [depth, columns] into panels, [panel][depth][kPanelColumns], with zeros at the right edge.
inline void pack_panels(const float* b, int64_t row_stride, int64_t column_stride, int64_t depth,
                        int64_t columns, float* panels) {
  const int64_t full_columns = columns / kPanelColumns * kPanelColumns;
  if (column_stride == 1) {
    // A few rows at a time, each from end to end: reading goes on where the processor expects it.
    constexpr int64_t kSteps = 16;
    for (int64_t k = 0; k < depth; k += kSteps) {
      const int64_t steps = std::min(kSteps, depth - k);
      for (int64_t column = 0; column < full_columns; column += kPanelColumns) {
        copy_rows_of<kPanelColumns>(b + k * row_stride + column, row_stride, steps,
                                    panels + column * depth + k * kPanelColumns, kPanelColumns);
      }
    }
  } else {
    for (int64_t column = 0; column < full_columns; column += kPanelColumns) {
      copy_matrix(b + column * column_stride, row_stride, column_stride, depth, kPanelColumns,
                  panels + column * depth, kPanelColumns);
    }
  }
  if (full_columns == columns) return;
  float* edge = panels + full_columns * depth;
  std::fill_n(edge, depth * kPanelColumns, 0.0f);
  copy_matrix(b + full_columns * column_stride, row_stride, column_stride, depth,
              columns - full_columns, edge, kPanelColumns);
}

// Columns of A that are rows in memory, in strips as high as a tile: [tile][depth][kTileRows].
inline PackedRows pack_strips(const float* a, int64_t column_stride, int64_t rows, int64_t depth,
                              float* buffer) {
  // So few steps at a time that the lines they share stay in the first-level cache.
  constexpr int64_t kSteps = 16;
  const int64_t strip_size = kTileRows * depth + kLineFloats;
  const TileSplit split(rows, kTileRows);
  for (int64_t k = 0; k < depth; k += kSteps) {
    const int64_t steps = std::min(kSteps, depth - k);
    for (int64_t tile = 0; tile < split.tiles(); ++tile) {
      const Range strip = split.rows_of(tile);
      const float* from = a + k * column_stride + strip.begin;
      float* to = buffer + tile * strip_size + k * kTileRows;
      if (strip.size() == kTileRows) {
        copy_rows_of<kTileRows>(from, column_stride, steps, to, kTileRows);
      } else {
        copy_matrix(from, column_stride, 1, steps, strip.size(), to, kTileRows);
      }
    }
  }
  return {buffer, rows, 1, kTileRows, strip_size};
}

// Makes rows of A ready for tiles: as they are if their elements are neighbours, else in strips or,
// as a last resort, in a copy. `buffer` holds kPackedRowsSize floats.
inline PackedRows pack_rows(const float* a, int64_t row_stride, int64_t column_stride, int64_t rows,
                            int64_t depth, float* buffer) {
  if (column_stride == 1) return {a, rows, row_stride, 1, 0};
  if (row_stride == 1) return pack_strips(a, column_stride, rows, depth, buffer);
  copy_matrix(a, row_stride, column_stride, rows, depth, buffer, kPackedRowStride);
  return {buffer, rows, kPackedRowStride, 1, 0};
}

// What is asked for while a tile is computed: at each step the lines from `next` on, which then
// moves on by `step` floats. The tiles of a panel share out the next panel between them. It goes to
// the second-level cache, for the first has no room for two panels.
struct Ahead {
  const float* next;
  int64_t step;

  HWY_INLINE void prefetch() {
    HWY_UNROLL(8)
    for (int i = 0; i < kPanelColumns; i += kLineFloats) __builtin_prefetch(next + i, 0, 2);
    next += step;
  }
};

// A tile of sums. Loops over it must be unrolled whole, else the compiler keeps it in memory.
template <int kRows>
using TileSums = Floats[kRows][kPanelVectors];

// Fetches the tile of C while the sums are still to be made.
template <int kRows>
HWY_INLINE void prefetch_output(const BlockOutput& out) {
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) {
    hwy::Prefetch(out.c + r * out.stride);
  }
}

template <int kRows>
HWY_INLINE void write_out(TileSums<kRows>& sum, const BlockOutput out) {
  const FloatTag d;
  const Floats scale = hn::Set(d, out.scale);
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) {
    float* c = out.c + r * out.stride;
    HWY_UNROLL(8)
    for (int v = 0; v < kPanelVectors; ++v) {
      sum[r][v] = out.add ? hn::MulAdd(sum[r][v], scale, hn::LoadU(d, c + v * kLanes))
                          : hn::Mul(sum[r][v], scale);
      if (out.bias != nullptr) {
        sum[r][v] = hn::Add(sum[r][v], hn::LoadU(d, out.bias + v * kLanes));
      }
      hn::StoreU(sum[r][v], d, c + v * kLanes);
    }
  }
}

// Element (r, k) of A is a[r * row_stride + k * depth_stride].
template <int kRows>
void multiply_tile(const float* a, int64_t row_stride, int64_t depth_stride,
                   const float* HWY_RESTRICT panel, int64_t depth, Ahead ahead,
                   const BlockOutput& out) {
  const FloatTag d;
  prefetch_output<kRows>(out);
  const float* HWY_RESTRICT row[kRows];
  TileSums<kRows> sum;
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) {
    row[r] = a + r * row_stride;
    HWY_UNROLL(8)
    for (int v = 0; v < kPanelVectors; ++v) sum[r][v] = hn::Zero(d);
  }
  for (int64_t k = 0, offset = 0; k < depth; ++k, offset += depth_stride) {
    ahead.prefetch();
    const Floats b0 = hn::LoadU(d, panel);
    const Floats b1 = hn::LoadU(d, panel + kLanes);
    panel += kPanelColumns;
    HWY_UNROLL(8)
    for (int r = 0; r < kRows; ++r) {
      const Floats factor = hn::Set(d, row[r][offset]);
      sum[r][0] = hn::MulAdd(factor, b0, sum[r][0]);
      sum[r][1] = hn::MulAdd(factor, b1, sum[r][1]);
    }
  }
  write_out<kRows>(sum, out);
}

// Calls the tile for a height that is known only at run time.
template <int kRows = kTileRows>
HWY_INLINE void multiply_tile_of(const Range& rows, int64_t tile, const PackedRows& a,
                                 const float* panel, int64_t depth, const Ahead& ahead,
                                 const BlockOutput& out) {
  if (rows.size() == kRows) {
    const int64_t start = a.strip_size > 0 ? tile * a.strip_size : rows.begin * a.row_stride;
    multiply_tile<kRows>(a.data + start, a.row_stride, a.depth_stride, panel, depth, ahead, out);
  } else if constexpr (kRows > 1) {
    multiply_tile_of<kRows - 1>(rows, tile, a, panel, depth, ahead, out);
  }
}

// All rows of a block times a panel that exists in C over its full width.
inline void multiply_full_panel(const Block& block, const float* panel, const float* next_panel,
                                const BlockOutput& out) {
  const TileSplit split(block.a.rows, kTileRows);
  const int64_t step = divide_up(kPanelColumns, split.tiles());
  for (int64_t tile = 0; tile < split.tiles(); ++tile) {
    const Range rows = split.rows_of(tile);
    const int64_t share = std::min(tile * step, kPanelColumns - step);
    BlockOutput tile_out = out;
    tile_out.c += rows.begin * out.stride;
    multiply_tile_of(rows, tile, block.a, panel, block.depth,
                     {next_panel + share * block.depth, step}, tile_out);
  }
}

// The panel at the right edge goes through a buffer of full width, so that every element meets the
// same instructions whatever the number of columns.
inline void multiply_edge_panel(const Block& block, const float* panel, const BlockOutput& out) {
  HWY_ALIGN float c[kTileRows * kPanelColumns];
  HWY_ALIGN float bias[kPanelColumns] = {};
  BlockOutput tile_out = out;
  tile_out.c = c;
  tile_out.stride = kPanelColumns;
  if (out.bias != nullptr) {
    std::copy_n(out.bias, out.columns, bias);
    tile_out.bias = bias;
  }
  const TileSplit split(block.a.rows, kTileRows);
  for (int64_t tile = 0; tile < split.tiles(); ++tile) {
    const Range rows = split.rows_of(tile);
    float* edge = out.c + rows.begin * out.stride;
    std::fill_n(c, kTileRows * kPanelColumns, 0.0f);
    if (out.add) copy_matrix(edge, out.stride, 1, rows.size(), out.columns, c, kPanelColumns);
    multiply_tile_of(rows, tile, block.a, panel, block.depth, {panel, 0}, tile_out);
    copy_matrix(c, kPanelColumns, 1, rows.size(), out.columns, edge, out.stride);
  }
}

inline void multiply_block(const Block& block) {
  const int64_t panel_size = block.depth * kPanelColumns;
  for (int64_t p = 0; p < block.panel_count; ++p) {
    const float* panel = block.panels + p * panel_size;
    const float* next = p + 1 < block.panel_count ? panel + panel_size : block.panels_after;
    BlockOutput out = block.out;
    out.c += p * kPanelColumns;
    out.columns -= p * kPanelColumns;
    if (out.bias != nullptr) out.bias += p * kPanelColumns;
    if (out.columns < kPanelColumns) {
      multiply_edge_panel(block, panel, out);
    } else {
      multiply_full_panel(block, panel, next, out);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace whyformer
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
