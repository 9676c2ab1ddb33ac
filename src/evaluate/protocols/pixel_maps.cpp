#include "evaluate/protocols/pixel_maps.h"

#include <fmt/format.h>

#include <algorithm>

#include "evaluate/heat_map.h"
#include "whyformer/error.h"

namespace whyformer {

PixelMaps::PixelMaps(Run& run, const std::string& protocol)
    : run_(run), cells_(run.input().cells()) {
  if (!cells_.are_pixels) {
    throw InvalidInput(fmt::format(
        "{} paints single pixels of a picture: this input has none that can be hidden", protocol));
  }
  first_unit_ = cells_.unit[0];
  for (int64_t x = 0; x < cells_.width; ++x) {
    columns_ = std::max(columns_, cells_.unit[x] - first_unit_ + 1);
  }
  const int64_t last = *std::ranges::max_element(cells_.unit);
  rows_ = (last - first_unit_ + 1) / columns_;
}

std::vector<double> PixelMaps::map_of(const ScoredInput& scored) const {
  if (static_cast<int64_t>(scored.pixels.size()) == pixels()) return min_max(scored.pixels);
  const std::span<const double> units =
      std::span(scored.scores)
          .subspan(static_cast<size_t>(first_unit_), static_cast<size_t>(rows_ * columns_));
  const MapSize covered{rows_ * cells_.unit_height, columns_ * cells_.unit_width};
  const std::vector<double> large = bilinear(units, {rows_, columns_}, covered);
  // Pixels behind the last patch, which the model does not see, have its edge's score.
  std::vector<double> map;
  map.reserve(static_cast<size_t>(pixels()));
  for (int64_t y = 0; y < cells_.height; ++y) {
    for (int64_t x = 0; x < cells_.width; ++x) {
      const int64_t row = std::min(y, covered.rows - 1), column = std::min(x, covered.columns - 1);
      map.push_back(large[static_cast<size_t>(row * covered.columns + column)]);
    }
  }
  return min_max(map);
}

std::vector<std::vector<double>> PixelMaps::answers(const Ranking& ranking,
                                                    std::span<const int64_t> counts,
                                                    Painted painted, const std::string& how) const {
  std::vector<Variant> variants;
  for (const int64_t count : counts) {
    const auto hidden =
        painted == Painted::kFirst ? hide_first(ranking, count) : hide_rest(ranking, count);
    variants.push_back(run_.input().hiding_cells(hidden, how));
  }
  return run_.answers(variants);
}

}  // namespace whyformer
