#include "report/views/heat_overlay.h"

#include <algorithm>
#include <cmath>

namespace whyformer::report {
namespace {

constexpr int64_t kSmallestSide = 224;  // pixels of the longer side
constexpr int64_t kLargestSide = 512;
constexpr double kOutside = 0.15;  // of the picture outside a mask
constexpr Colour kLine{255, 255, 255};
constexpr Colour kRim{20, 20, 20};

Colour colour_at(const Raster& raster, size_t pixel) {
  return {raster.rgb[3 * pixel], raster.rgb[3 * pixel + 1], raster.rgb[3 * pixel + 2]};
}

void set_colour(Raster& raster, size_t pixel, Colour colour) {
  raster.rgb[3 * pixel] = colour.red;
  raster.rgb[3 * pixel + 1] = colour.green;
  raster.rgb[3 * pixel + 2] = colour.blue;
}

// Luma of Rec. 601, as most programs turn pictures grey.
Colour grey_of(Colour colour) {
  const auto level = static_cast<uint8_t>(
      std::lround(0.299 * colour.red + 0.587 * colour.green + 0.114 * colour.blue));
  return {level, level, level};
}

// The pixels of one axis that a pixel of the new size covers.
struct Covered {
  int64_t first, end;
};
Covered covered(int64_t index, int64_t from, int64_t to) {
  const int64_t first = index * from / to;
  return {first, std::max(first + 1, (index + 1) * from / to)};
}

// How far from the other side of the segment's edge a pixel is looked at.
bool touches_outside(const Raster& raster, const std::vector<bool>& inside, int64_t x, int64_t y,
                     int64_t reach) {
  for (int64_t v = y - reach; v <= y + reach; ++v) {
    for (int64_t u = x - reach; u <= x + reach; ++u) {
      if (u < 0 || v < 0 || u >= raster.width || v >= raster.height) continue;
      if (!inside[static_cast<size_t>(v * raster.width + u)]) return true;
    }
  }
  return false;
}

}  // namespace

Raster resized(const PictureView& picture, MapSize size) {
  Raster raster{size.columns, size.rows, {}};
  raster.rgb.reserve(static_cast<size_t>(3 * size.rows * size.columns));
  for (int64_t y = 0; y < size.rows; ++y) {
    const Covered rows = covered(y, picture.height, size.rows);
    for (int64_t x = 0; x < size.columns; ++x) {
      const Covered columns = covered(x, picture.width, size.columns);
      const int64_t count = (rows.end - rows.first) * (columns.end - columns.first);
      for (int64_t channel = 0; channel < 3; ++channel) {
        int64_t sum = 0;
        for (int64_t v = rows.first; v < rows.end; ++v) {
          for (int64_t u = columns.first; u < columns.end; ++u) {
            sum += picture.rgb[static_cast<size_t>((v * picture.width + u) * 3 + channel)];
          }
        }
        raster.rgb.push_back(static_cast<uint8_t>((sum + count / 2) / count));
      }
    }
  }
  return raster;
}

MapSize drawn_size(const PictureView& picture) {
  const int64_t longer = std::max(picture.width, picture.height);
  if (longer > kLargestSide) {
    return {std::max<int64_t>(1, picture.height * kLargestSide / longer),
            std::max<int64_t>(1, picture.width * kLargestSide / longer)};
  }
  const int64_t factor = (kSmallestSide + longer - 1) / longer;
  return {picture.height * factor, picture.width * factor};
}

Heat heat_of(std::span<const double> scores, MapSize from, ScoreKind kind, MapSize size,
             Grain grain) {
  Heat heat{.kind = kind, .size = size};
  const std::vector<double> map =
      grain == Grain::kSmooth ? bilinear(scores, from, size) : nearest(scores, from, size);
  const auto [low, high] = std::minmax_element(map.begin(), map.end());
  if (kind == ScoreKind::kSigned) {
    heat.strengths = by_largest_magnitude(map);
    heat.high = std::max(std::abs(*low), std::abs(*high));
    heat.low = -heat.high;
  } else {
    heat.strengths = min_max(map);
    heat.low = *low;
    heat.high = *high;
  }
  // Scores near the largest double overflow on the way.
  for (double& strength : heat.strengths) strength = std::isfinite(strength) ? strength : 0;
  return heat;
}

Heat heat_of(const PictureView& picture, const Attribution& attribution, MapSize size,
             Grain grain) {
  if (attribution.pixels.empty()) {
    return heat_of(patch_scores(picture, attribution.scores), patches_of(picture),
                   kind_of(attribution), size, grain);
  }
  std::vector<double> pixels;
  pixels.reserve(attribution.pixels.size());
  for (const float score : attribution.pixels) pixels.push_back(std::isfinite(score) ? score : 0);
  return heat_of(pixels, {picture.height, picture.width}, kind_of(attribution), size, grain);
}

std::vector<bool> segment_of(const Heat& heat) {
  if (heat.kind == ScoreKind::kMagnitude) return otsu_segment(heat.strengths);
  std::vector<double> positive = heat.strengths;
  for (double& strength : positive) strength = std::max(0.0, strength);
  return otsu_segment(positive);
}

std::vector<bool> segment_of(const PictureView& picture, const Attribution& attribution,
                             MapSize size, Grain grain) {
  return segment_of(heat_of(patch_scores(picture, attribution.scores), patches_of(picture),
                            kind_of(attribution), size, grain));
}

Raster painted(const Raster& picture, const Heat& heat, double opacity) {
  Raster raster = picture;
  for (size_t i = 0; i < heat.strengths.size(); ++i) {
    const double strength = heat.strengths[i];
    set_colour(raster, i,
               mix(grey_of(colour_at(picture, i)), overlay_colour(strength, heat.kind),
                   opacity * overlay_opacity(strength)));
  }
  return raster;
}

void draw_outline(Raster& raster, const std::vector<bool>& inside) {
  // A line of two pixels for every 224 of the picture, and a rim as wide.
  const int64_t line = std::max<int64_t>(1, std::max(raster.width, raster.height) / 160);
  for (int64_t y = 0; y < raster.height; ++y) {
    for (int64_t x = 0; x < raster.width; ++x) {
      const auto pixel = static_cast<size_t>(y * raster.width + x);
      if (!inside[pixel]) continue;
      if (touches_outside(raster, inside, x, y, line)) {
        set_colour(raster, pixel, kLine);
      } else if (touches_outside(raster, inside, x, y, 2 * line)) {
        set_colour(raster, pixel, kRim);
      }
    }
  }
}

Raster masked(const Raster& picture, const std::vector<bool>& inside) {
  Raster raster = picture;
  for (size_t i = 0; i < inside.size(); ++i) {
    if (!inside[i]) set_colour(raster, i, mix(kRim, grey_of(colour_at(picture, i)), kOutside));
  }
  return raster;
}

}  // namespace whyformer::report
