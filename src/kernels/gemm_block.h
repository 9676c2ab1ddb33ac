// How the kernels of gemm_packed.cpp and gemm_stack.cpp cut a product into pieces that fit the
// caches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

namespace whyformer {

// A product is summed over chunks of its depth, each from zero, and the chunk sums are then added
// up: one long float sum would lose two or three times as much precision. A chunk of a panel also
// has to stay in the first-level cache while the rows pass by.
constexpr int64_t kMostChunkDepth = 384;

// Distance of rows in a packed block of A; not a power of two, lest all rows fall into the same few
// places of the cache.
constexpr int64_t kPackedRowStride = kMostChunkDepth + 16;

// Rows of A that are worked on at a time: they have to stay in the second-level cache.
constexpr int64_t kBlockRows = 96;
constexpr int64_t kPackedRowsSize = (kBlockRows + 8) * kPackedRowStride;

constexpr int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

// A depth of zero counts as one empty chunk, so that the result is still written.
constexpr int64_t chunk_count(int64_t depth) {
  return std::max<int64_t>(1, divide_up(depth, kMostChunkDepth));
}

// All chunks of a product are as deep as this, but for the last, which may be shallower.
constexpr int64_t chunk_depth(int64_t depth) { return divide_up(depth, chunk_count(depth)); }

// Part `index` of `parts` nearly equal parts of [0, count).
struct Range {
  int64_t begin;
  int64_t end;
  int64_t size() const { return end - begin; }
};
constexpr Range part_of(int64_t count, int64_t parts, int64_t index) {
  return {count * index / parts, count * (index + 1) / parts};
}

// Rows in tiles of nearly equal height, for a tile of few rows leaves the multipliers idle. Divides
// but once: a division per tile takes long enough to show.
class TileSplit {
 public:
  TileSplit(int64_t rows, int64_t most_rows)
      : tiles_(divide_up(rows, most_rows)), height_(rows / tiles_), higher_(rows % tiles_) {}
  int64_t tiles() const { return tiles_; }
  Range rows_of(int64_t tile) const {
    const int64_t begin = tile * height_ + std::min(tile, higher_);
    return {begin, begin + height_ + (tile < higher_ ? 1 : 0)};
  }
  Range rows_of_all(const Range& tiles) const {
    return {rows_of(tiles.begin).begin, rows_of(tiles.end).begin};
  }

 private:
  int64_t tiles_;
  int64_t height_;
  int64_t higher_;  // how many tiles, from the first on, have a row more
};

// Told of every block of whole rows of C that is done.
using RowsDone = std::function<void(int64_t first_row, int64_t rows)>;

// Where the sums of a block go: C = scale · sum (+ C) (+ bias).
struct BlockOutput {
  float* c;
  int64_t stride;
  int64_t columns;    // how many of the panels' columns exist in C
  const float* bias;  // null: none
  float scale;
  bool add;
};

// Rows of A over one chunk of the depth. Element (i, k) is at data[i * row_stride + k *
// depth_stride]; with a strip_size, that holds within a tile, and tile t begins at data[t *
// strip_size].
struct PackedRows {
  const float* data;
  int64_t rows;
  int64_t row_stride;
  int64_t depth_stride;
  int64_t strip_size;
};

// Rows of A times neighbouring panels of B, over one chunk of the depth.
struct Block {
  PackedRows a;
  const float* panels;  // [panel][depth][panel columns]
  int64_t panel_count;
  int64_t depth;
  const float* panels_after;  // what will be read next
  BlockOutput out;
};

}  // namespace whyformer
