#include <fmt/format.h>
#include <sys/mman.h>

#include <cstdlib>
#include <new>

#include "base/parallel.h"
#include "kernels/gemm.h"
#include "whyformer/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm_packed.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/gemm_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace whyformer {
namespace HWY_NAMESPACE {

int64_t panel_columns() { return kPanelColumns; }
int64_t tile_rows() { return kTileRows; }

// Chunk after chunk, panel after panel: the order in which the kernel reads.
void pack_chunks(const float* b, int64_t depth, int64_t columns, int64_t row_stride,
                 int64_t column_stride, float* panels) {
  const int64_t padded_columns = divide_up(columns, kPanelColumns) * kPanelColumns;
  for (int64_t k = 0; k < depth; k += chunk_depth(depth)) {
    pack_panels(b + k * row_stride, row_stride, column_stride,
                std::min(chunk_depth(depth), depth - k), columns, panels + k * padded_columns);
  }
}

// The rows of one block times the panels of one range.
void multiply_part(const float* a, int64_t a_stride, const PackedMatrix& b, float* c,
                   int64_t c_stride, const WriteOut& write_out, const Range& rows,
                   const Range& panels) {
  const int64_t padded_columns = divide_up(b.columns(), kPanelColumns) * kPanelColumns;
  const int64_t first_column = panels.begin * kPanelColumns;
  const int64_t most_depth = chunk_depth(b.depth());
  const auto depth_of = [&](int64_t k) { return std::min(most_depth, b.depth() - k); };
  const auto panels_of = [&](int64_t k) {
    return b.panels() + k * padded_columns + first_column * depth_of(k);
  };
  BlockOutput out = {.c = c + rows.begin * c_stride + first_column,
                     .stride = c_stride,
                     .columns = b.columns() - first_column,
                     .bias = write_out.bias == nullptr ? nullptr : write_out.bias + first_column,
                     .scale = 1,
                     .add = write_out.accumulate};
  for (int64_t chunk = 0; chunk < chunk_count(b.depth()); ++chunk) {
    const int64_t k = chunk * most_depth;
    const int64_t next = k + most_depth;
    multiply_block({.a = {a + rows.begin * a_stride + k, rows.size(), a_stride, 1, 0},
                    .panels = panels_of(k),
                    .panel_count = panels.size(),
                    .depth = depth_of(k),
                    .panels_after = panels_of(next < b.depth() ? next : k),
                    .out = out});
    out.bias = nullptr;
    out.add = true;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace whyformer
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace whyformer {
namespace {

HWY_EXPORT(panel_columns);
HWY_EXPORT(tile_rows);
HWY_EXPORT(pack_chunks);
HWY_EXPORT(multiply_part);

// Below this many multiply-adds a piece of work is not worth another thread's waking up.
constexpr int64_t kLeastWork = 100'000;

// Pieces of this many may be as many as one likes: the more there are, the less a thread waits for
// another that the system has put aside.
constexpr int64_t kAmpleWork = 1'000'000;

int64_t piece_count(int64_t work) {
  return std::max(std::clamp<int64_t>(work / kLeastWork, 1, 4 * thread_count()),
                  std::min<int64_t>(work / kAmpleWork, 16 * thread_count()));
}

// A weight is read from end to end by every product: large pages spare most of the address
// look-ups.
std::shared_ptr<float[]> allocate_panels(int64_t count) {
  constexpr size_t kCacheLine = 64;
  constexpr size_t kLargePage = size_t{2} << 20;
  const size_t bytes = count * sizeof(float);
  void* memory = nullptr;
  if (posix_memalign(&memory, bytes < kLargePage ? kCacheLine : kLargePage, bytes) != 0) {
    throw std::bad_alloc();
  }
#ifdef MADV_HUGEPAGE
  // Not for the rest beyond the last whole large page: it would occupy a whole one.
  if (bytes >= kLargePage) madvise(memory, bytes / kLargePage * kLargePage, MADV_HUGEPAGE);
#endif
  return {static_cast<float*>(memory), [](float* panels) { std::free(panels); }};
}

// As many blocks of tiles for every thread, if that does not make them too small.
int64_t tile_block_count(int64_t tiles, int64_t most_tiles) {
  const int64_t blocks = divide_up(tiles, most_tiles);
  const int64_t even = divide_up(blocks, thread_count()) * thread_count();
  return tiles / even >= most_tiles / 2 ? even : blocks;
}

}  // namespace

PackedMatrix::PackedMatrix(const float* b, int64_t depth, int64_t columns, int64_t row_stride,
                           int64_t column_stride)
    : depth_(depth), columns_(columns), panel_columns_(HWY_DYNAMIC_DISPATCH(panel_columns)()) {
  const int64_t padded_columns = divide_up(columns, panel_columns_) * panel_columns_;
  const std::shared_ptr<float[]> panels =
      allocate_panels(std::max<int64_t>(1, depth * padded_columns));
  HWY_DYNAMIC_DISPATCH(pack_chunks)
  (b, depth, columns, row_stride, column_stride, panels.get());
  panels_ = panels;
}

void multiply_packed(const float* a, int64_t rows, int64_t a_stride, const PackedMatrix& b,
                     float* c, int64_t c_stride, const WriteOut& write_out) {
  if (rows == 0 || b.empty()) return;
  const int64_t panel_width = HWY_DYNAMIC_DISPATCH(panel_columns)();
  if (panel_width != b.panel_columns()) {
    throw Error(fmt::format(
        "matrix product: the weights were packed in panels of {} columns but the kernel "
        "in use reads {}; pack them again",
        b.panel_columns(), panel_width));
  }
  const int64_t panels = divide_up(b.columns(), panel_width);
  const int64_t work = rows * std::max<int64_t>(1, b.depth()) * b.columns();
  const int64_t pieces = piece_count(work);
  // Whole tiles to a block: cut by rows, each block would end in lower tiles, which are slower.
  const int64_t tile_height = HWY_DYNAMIC_DISPATCH(tile_rows)();
  const TileSplit tiles(rows, tile_height);
  const int64_t row_blocks = tile_block_count(tiles.tiles(), kBlockRows / tile_height);
  const int64_t column_parts = std::min(panels, divide_up(pieces, row_blocks));
  parallel_for(row_blocks * column_parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Range block = tiles.rows_of_all(part_of(tiles.tiles(), row_blocks, i / column_parts));
      const Range part = part_of(panels, column_parts, i % column_parts);
      HWY_DYNAMIC_DISPATCH(multiply_part)
      (a, a_stride, b, c, c_stride, write_out, block, part);
      if (!write_out.then) continue;
      const int64_t first = part.begin * panel_width;
      write_out.then({block.begin, block.size(), first,
                      std::min(part.end * panel_width, b.columns()) - first});
    }
  });
}

}  // namespace whyformer
#endif  // HWY_ONCE
