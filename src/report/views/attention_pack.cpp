#include "report/views/attention_pack.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace whyformer::report {
namespace {

constexpr size_t kGenerous = size_t{1} << 21;  // bytes for which 16 bits are worth it

int64_t largest_code(int bits) { return (int64_t{1} << bits) - 2; }

uint16_t encode(float weight, double top, int bits) {
  if (!std::isfinite(weight)) return static_cast<uint16_t>(largest_code(bits) + 1);
  if (top <= 0 || weight <= 0) return 0;
  return static_cast<uint16_t>(
      std::lround(std::sqrt(weight / top) * static_cast<double>(largest_code(bits))));
}

PackedMap pack(const AttentionMap& map, int64_t layer, int64_t heads,
               std::span<const float> weights, int bits) {
  PackedMap packed{map.name, layer, heads, map.queries, map.keys, bits, 0, {}};
  for (const float weight : weights) {
    if (std::isfinite(weight)) packed.top = std::max<double>(packed.top, weight);
  }
  packed.codes.reserve(weights.size() * static_cast<size_t>(bits / 8));
  for (const float weight : weights) {
    const uint16_t code = encode(weight, packed.top, bits);
    packed.codes.push_back(static_cast<uint8_t>(code & 0xff));
    if (bits == 16) packed.codes.push_back(static_cast<uint8_t>(code >> 8));
  }
  return packed;
}

size_t weight_count(const std::vector<AttentionMap>& maps, bool averaged) {
  size_t count = 0;
  for (const AttentionMap& map : maps) {
    count += static_cast<size_t>((averaged ? 1 : map.heads) * map.queries * map.keys);
  }
  return count;
}

// The first layer to keep so that the averaged maps fit in 8 bits.
size_t first_fitting_layer(const std::vector<AttentionMap>& maps, size_t budget) {
  size_t first = maps.size();
  for (size_t used = 0; first > 0; --first) {
    used += static_cast<size_t>(maps[first - 1].queries * maps[first - 1].keys);
    if (used > budget) break;
  }
  return first;
}

std::string note_on_what_is_missing(size_t first, size_t count, bool averaged) {
  if (!averaged) return "";
  const std::string layers =
      first == 0
          ? ""
          : fmt::format(", and only the last {} of {} layers are kept", count - first, count);
  return fmt::format(
      "All heads would make this page too large: each map is the mean over the heads of its "
      "layer{}. A trace of the model has every head.",
      layers);
}

}  // namespace

std::vector<float> mean_over_heads(const AttentionMap& map) {
  std::vector<double> sums(static_cast<size_t>(map.queries * map.keys));
  for (int64_t head = 0; head < map.heads; ++head) {
    const std::span<const float> weights = map.head(head);
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += weights[i];
  }
  std::vector<float> means;
  means.reserve(sums.size());
  for (const double sum : sums)
    means.push_back(static_cast<float>(sum / static_cast<double>(map.heads)));
  return means;
}

PackedAttention pack_attention(const std::vector<AttentionMap>& maps, size_t budget) {
  PackedAttention packed;
  packed.averaged = weight_count(maps, false) > budget;
  const size_t count = weight_count(maps, packed.averaged);
  const int bits = 2 * count <= std::min(budget, kGenerous) ? 16 : 8;
  const size_t first = packed.averaged ? first_fitting_layer(maps, budget) : 0;
  for (size_t layer = first; layer < maps.size(); ++layer) {
    const AttentionMap& map = maps[layer];
    const auto number = static_cast<int64_t>(layer);
    if (packed.averaged) {
      packed.maps.push_back(pack(map, number, 1, mean_over_heads(map), bits));
    } else {
      const auto size = static_cast<size_t>(map.heads * map.queries * map.keys);
      packed.maps.push_back(pack(map, number, map.heads, {map.values.get(), size}, bits));
    }
  }
  packed.note = note_on_what_is_missing(first, maps.size(), packed.averaged);
  return packed;
}

}  // namespace whyformer::report
