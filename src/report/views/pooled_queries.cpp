#include "report/views/pooled_queries.h"

#include <fmt/format.h>

#include <algorithm>

namespace whyformer::report {
namespace {

int64_t blocks_along(int64_t patches, int64_t block) { return (patches + block - 1) / block; }

class QueryPooling {
 public:
  QueryPooling(const Explanation& explanation, int64_t block)
      : picture_(*explanation.picture),
        units_(static_cast<int64_t>(explanation.units.size())),
        block_(block),
        across_(blocks_along(picture_.columns, block)),
        blocks_(blocks_along(picture_.rows, block) * across_) {}

  int64_t queries() const { return units_ - patches() + blocks_; }

  AttentionMap pooled(const AttentionMap& map) const {
    const std::vector<float> counts = units_per_row();
    auto values = std::make_shared<float[]>(static_cast<size_t>(map.heads * queries() * map.keys));
    for (int64_t head = 0; head < map.heads; ++head) {
      const std::span<const float> weights = map.head(head);
      for (int64_t unit = 0; unit < units_; ++unit) {
        const int64_t row = row_of(unit);
        float* sum = values.get() + (head * queries() + row) * map.keys;
        for (int64_t key = 0; key < map.keys; ++key) {
          sum[key] += weights[static_cast<size_t>(unit * map.keys + key)] /
                      counts[static_cast<size_t>(row)];
        }
      }
    }
    return {map.name, map.heads, queries(), map.keys, values};
  }

 private:
  int64_t patches() const { return picture_.rows * picture_.columns; }

  int64_t row_of(int64_t unit) const {
    const int64_t patch = unit - picture_.first_patch;
    if (patch < 0) return unit;
    if (patch >= patches()) return unit - patches() + blocks_;
    const int64_t row = patch / picture_.columns / block_;
    const int64_t column = patch % picture_.columns / block_;
    return picture_.first_patch + row * across_ + column;
  }

  std::vector<float> units_per_row() const {
    std::vector<float> counts(static_cast<size_t>(queries()));
    for (int64_t unit = 0; unit < units_; ++unit) ++counts[static_cast<size_t>(row_of(unit))];
    return counts;
  }

  const PictureView& picture_;
  int64_t units_, block_, across_, blocks_;
};

std::string note_on(const Explanation& explanation, size_t shown, const PooledAttention& pooled) {
  std::string note = pooled.packed.note;
  if (pooled.block > 1) {
    note += fmt::format(
        "{}Every row is the mean over {} × {} neighbouring patches: all rows would make this page "
        "too large. A trace of the model has every row.",
        note.empty() ? "" : " ", pooled.block, pooled.block);
  }
  if (const size_t missing = explanation.attention.size() - shown; missing > 0) {
    note += fmt::format("{}{} of {} layers attend within windows and are left out.",
                        note.empty() ? "" : " ", missing, explanation.attention.size());
  }
  return note;
}

}  // namespace

PooledAttention pool_queries(const Explanation& explanation, size_t budget) {
  const PictureView& picture = *explanation.picture;
  const std::vector<PictureLayer> layers = layers_over_units(explanation);
  const auto size_with = [&](int64_t block) {
    size_t size = 0;
    for (const PictureLayer& layer : layers) {
      size += static_cast<size_t>(layer.map->heads * layer.map->keys *
                                  QueryPooling(explanation, block).queries());
    }
    return size;
  };
  PooledAttention pooled;
  const int64_t most = std::max(picture.rows, picture.columns);
  while (pooled.block < most && size_with(pooled.block) > budget) ++pooled.block;
  const QueryPooling pooling(explanation, pooled.block);
  std::vector<AttentionMap> maps;
  for (const PictureLayer& layer : layers) {
    maps.push_back(pooled.block == 1 ? *layer.map : pooling.pooled(*layer.map));
  }
  pooled.block_rows = blocks_along(picture.rows, pooled.block);
  pooled.block_columns = blocks_along(picture.columns, pooled.block);
  pooled.packed = pack_attention(maps, budget);
  for (PackedMap& map : pooled.packed.maps) {
    map.layer = layers[static_cast<size_t>(map.layer)].layer;
  }
  pooled.packed.note = note_on(explanation, layers.size(), pooled);
  return pooled;
}

}  // namespace whyformer::report
