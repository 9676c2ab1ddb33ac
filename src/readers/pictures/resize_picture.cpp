#include "readers/pictures/resize_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "base/parallel.h"
#include "kernels/resampling.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// Filters and coefficients follow Pillow's Resample.c operation by operation: the last bit of a
// weight can move a pixel.
struct Filter {
  double (*weight)(double x);
  double support;
};

double box(double x) { return x > -0.5 && x <= 0.5 ? 1.0 : 0.0; }

double triangle(double x) {
  x = std::abs(x);
  return x < 1.0 ? 1.0 - x : 0.0;
}

double hamming(double x) {
  x = std::abs(x);
  if (x == 0.0) return 1.0;
  if (x >= 1.0) return 0.0;
  x = x * std::numbers::pi;
  return std::sin(x) / x * (0.54 + 0.46 * std::cos(x));
}

double cubic(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1;
  if (x < 2.0) return (((x - 5) * x + 8) * x - 4) * a;
  return 0.0;
}

double sinc(double x) {
  if (x == 0.0) return 1.0;
  x = x * std::numbers::pi;
  return std::sin(x) / x;
}

double lanczos(double x) { return -3.0 <= x && x < 3.0 ? sinc(x) * sinc(x / 3) : 0.0; }

Filter filter_of(Resampling resampling) {
  switch (resampling) {
    case Resampling::kLanczos:
      return {lanczos, 3.0};
    case Resampling::kBilinear:
      return {triangle, 1.0};
    case Resampling::kBicubic:
      return {cubic, 2.0};
    case Resampling::kBox:
      return {box, 0.5};
    case Resampling::kHamming:
      return {hamming, 1.0};
    case Resampling::kNearest:
      break;
  }
  throw Error("nearest-neighbour resizing has no filter");
}

// From `begin` to `end` of the positions along one side.
struct LineRange {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t length() const { return end - begin; }
};

int32_t fixed_point(double weight) {
  const double scaled = weight * (1 << kWeightBits);
  return static_cast<int32_t>(weight < 0 ? scaled - 0.5 : scaled + 0.5);
}

Taps taps_for(int64_t inputs, int64_t outputs, const Filter& filter, LineRange wanted) {
  const double scale = static_cast<double>(inputs) / static_cast<double>(outputs);
  const double filter_scale = std::max(scale, 1.0);
  const double support = filter.support * filter_scale;
  const double shrink = 1.0 / filter_scale;
  Taps taps;
  taps.longest = static_cast<int64_t>(std::ceil(support)) * 2 + 1;
  taps.weights.resize(wanted.length() * taps.longest);
  std::vector<double> exact(taps.longest);
  for (int64_t x = wanted.begin; x < wanted.end; ++x) {
    const double center = (static_cast<double>(x) + 0.5) * scale;
    const int64_t first = std::max<int64_t>(static_cast<int64_t>(center - support + 0.5), 0);
    const int64_t last = std::min(static_cast<int64_t>(center + support + 0.5), inputs);
    double sum = 0;
    for (int64_t k = 0; k < last - first; ++k) {
      exact[k] = filter.weight((static_cast<double>(k + first) - center + 0.5) * shrink);
      sum += exact[k];
    }
    int32_t* weights = taps.weights.data() + (x - wanted.begin) * taps.longest;
    for (int64_t k = 0; k < last - first; ++k) {
      weights[k] = fixed_point(sum != 0.0 ? exact[k] / sum : exact[k]);
    }
    taps.runs.push_back({static_cast<int32_t>(first), static_cast<int32_t>(last - first)});
  }
  return taps;
}

// One of the two passes: which of its outputs are wanted, and which inputs they need. Pillow skips
// a pass that would change nothing; it then has no taps.
struct ResizePass {
  std::optional<Taps> taps;
  LineRange wanted;
  LineRange needed;
};

ResizePass pass_for(int64_t inputs, int64_t outputs, const Filter& filter, LineRange wanted) {
  if (inputs == outputs) return {std::nullopt, wanted, wanted};
  ResizePass pass{taps_for(inputs, outputs, filter, wanted), wanted, {inputs, 0}};
  for (const auto [first, count] : pass.taps->runs) {
    pass.needed.begin = std::min<int64_t>(pass.needed.begin, first);
    pass.needed.end = std::max<int64_t>(pass.needed.end, first + count);
  }
  return pass;
}

// The same pass over a picture that holds the needed part alone.
ResizePass over_needed_part(ResizePass pass) {
  const int64_t begin = pass.needed.begin;
  if (pass.taps) {
    for (Taps::Run& run : pass.taps->runs) run.first -= static_cast<int32_t>(begin);
  } else {
    pass.wanted = {pass.wanted.begin - begin, pass.wanted.end - begin};
  }
  pass.needed = {0, pass.needed.length()};
  return pass;
}

Picture black(int64_t width, int64_t height) {
  return {width, height, std::vector<uint8_t>(static_cast<size_t>(3 * width * height))};
}

Picture cut_out(const Picture& picture, LineRange columns, LineRange rows) {
  Picture result = black(columns.length(), rows.length());
  for (int64_t y = 0; y < result.height; ++y) {
    std::copy_n(picture.row(rows.begin + y) + 3 * columns.begin, 3 * result.width, result.row(y));
  }
  return result;
}

// The pass along each of `rows`.
Picture horizontally(const Picture& picture, const ResizePass& pass, LineRange rows) {
  if (!pass.taps) return cut_out(picture, pass.wanted, rows);
  Picture result = black(pass.wanted.length(), rows.length());
  const auto resample = [&](int64_t begin, int64_t end) {
    resample_along_rows(picture.row(rows.begin + begin), 3 * picture.width, result.row(begin),
                        3 * result.width, end - begin, *pass.taps);
  };
  // No byte follows the last row, so it goes alone.
  parallel_for(rows.length() - 1, 16, resample);
  resample(rows.length() - 1, rows.length());
  return result;
}

// The pass down each of `columns`.
Picture vertically(const Picture& picture, const ResizePass& pass, LineRange columns) {
  if (!pass.taps) return cut_out(picture, columns, pass.wanted);
  Picture result = black(columns.length(), pass.wanted.length());
  parallel_for(result.height, 4, [&](int64_t begin, int64_t end) {
    for (int64_t y = begin; y < end; ++y) {
      const auto [first, count] = pass.taps->runs[y];
      resample_across_rows(picture.row(first) + 3 * columns.begin, 3 * picture.width, result.row(y),
                           3 * result.width, pass.taps->weights_of(y), count);
    }
  });
  return result;
}

// Pillow rounds to 8 bits between the passes, so that their order shows. Since version 13 it begins
// with the rows where a picture loses more than twice as many rows as columns.
Picture filtered(const Picture& picture, PictureSize size, const Filter& filter, LineRange columns,
                 LineRange rows) {
  const ResizePass across = pass_for(picture.width, size.width, filter, columns);
  const ResizePass down = pass_for(picture.height, size.height, filter, rows);
  const int64_t lost_columns = picture.width - size.width;
  const int64_t lost_rows = picture.height - size.height;
  if (lost_rows > 0 && lost_rows > 2 * lost_columns) {
    const Picture lower = vertically(picture, down, across.needed);
    return horizontally(lower, over_needed_part(across), {0, lower.height});
  }
  const Picture narrower = horizontally(picture, across, down.needed);
  return vertically(narrower, over_needed_part(down), {0, narrower.width});
}

// Pillow adds the step up, rounding errors included; -1 where they lead beyond the picture.
std::vector<int64_t> nearest_positions(int64_t inputs, int64_t outputs, LineRange wanted) {
  const double step = static_cast<double>(inputs) / static_cast<double>(outputs);
  std::vector<int64_t> positions;
  double place = step * 0.5;
  for (int64_t x = 0; x < wanted.end; ++x, place += step) {
    const auto position = static_cast<int64_t>(place);
    if (x >= wanted.begin) positions.push_back(position < inputs ? position : -1);
  }
  return positions;
}

Picture nearest(const Picture& picture, PictureSize size, LineRange columns, LineRange rows) {
  const auto from_columns = nearest_positions(picture.width, size.width, columns);
  const auto from_rows = nearest_positions(picture.height, size.height, rows);
  Picture result = black(columns.length(), rows.length());
  for (int64_t y = 0; y < result.height; ++y) {
    if (from_rows[y] < 0) continue;
    for (int64_t x = 0; x < result.width; ++x) {
      if (from_columns[x] < 0) continue;
      std::copy_n(picture.row(from_rows[y]) + 3 * from_columns[x], 3, result.row(y) + 3 * x);
    }
  }
  return result;
}

// `part` lies at (left, top) of the window.
Picture placed(const Picture& part, int64_t left, int64_t top, PictureSize window) {
  Picture result = black(window.width, window.height);
  for (int64_t y = 0; y < part.height; ++y) {
    std::copy_n(part.row(y), 3 * part.width, result.row(top + y) + 3 * left);
  }
  return result;
}

void check_sizes(const Picture& picture, PictureSize size, PictureSize window) {
  const PictureLimits limits;
  const auto fits = [&](int64_t width, int64_t height) {
    return width <= limits.max_pixels && height <= limits.max_pixels / width;
  };
  if (picture.width < 1 || picture.height < 1 || std::min(size.width, size.height) < 1 ||
      std::min(window.width, window.height) < 1) {
    throw InvalidInput(fmt::format("a picture of {} x {} cannot be resized to {} x {}",
                                   picture.width, picture.height, size.width, size.height));
  }
  // The middle one stands between the two passes.
  if (!fits(size.width, size.height) || !fits(window.width, window.height) ||
      !fits(std::min(size.width, window.width), picture.height)) {
    throw InvalidInput(fmt::format(
        "a picture of {} x {} would be resized to {} x {} pixels, more than {} million: crop it "
        "first",
        picture.width, picture.height, size.width, size.height, limits.max_pixels / 1'000'000));
  }
}

// The part of a window that lies on a side of `length`.
LineRange visible(int64_t begin, int64_t count, int64_t length) {
  return {std::clamp<int64_t>(begin, 0, length), std::clamp<int64_t>(begin + count, 0, length)};
}

}  // namespace

Picture resize_picture(const Picture& picture, PictureSize size, Resampling resampling,
                       const PictureWindow& window) {
  check_sizes(picture, size, window.size);
  const LineRange columns = visible(window.left, window.size.width, size.width);
  const LineRange rows = visible(window.top, window.size.height, size.height);
  if (columns.length() == 0 || rows.length() == 0)
    return black(window.size.width, window.size.height);
  Picture part = resampling == Resampling::kNearest
                     ? nearest(picture, size, columns, rows)
                     : filtered(picture, size, filter_of(resampling), columns, rows);
  if (PictureSize{part.width, part.height} == window.size) return part;
  return placed(part, columns.begin - window.left, rows.begin - window.top, window.size);
}

Picture resize_picture(const Picture& picture, PictureSize size, Resampling resampling) {
  return resize_picture(picture, size, resampling, {0, 0, size});
}

}  // namespace whyformer
