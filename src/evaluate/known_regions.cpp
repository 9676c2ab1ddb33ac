#include <fmt/format.h>
#include <unicode/uchar.h>

#include <algorithm>
#include <cmath>

#include "base/code_points.h"
#include "explanation/panels.h"
#include "readers/given_picture.h"
#include "whyformer/error.h"
#include "whyformer/evaluation.h"

namespace whyformer {
namespace {

bool overlaps(const Unit& unit, const TextSpan& span) {
  return !unit.special && unit.segment == span.segment && unit.start < span.end &&
         span.start < unit.end;
}

// Pixels of the file whose middle lies between two of its edges.
struct PixelRange {
  int64_t first = 0, last = 0;  // `last` is not one of them
};

PixelRange pixels_between(double from, double to, int64_t size) {
  const auto bound = [size](double edge) {
    return std::clamp<int64_t>(static_cast<int64_t>(std::ceil(edge - 0.5)), 0, size);
  };
  return {bound(from), bound(to)};
}

bool mostly_covered(const Picture& mask, PixelRange rows, PixelRange columns) {
  int64_t covered = 0;
  for (int64_t y = rows.first; y < rows.last; ++y) {
    for (int64_t x = columns.first; x < columns.last; ++x) {
      const uint8_t* pixel = mask.row(y) + 3 * x;
      if (pixel[0] > 0 || pixel[1] > 0 || pixel[2] > 0) ++covered;
    }
  }
  return covered > 0 && 2 * covered >= (rows.last - rows.first) * (columns.last - columns.first);
}

void require_same_size(const PictureView& view, const Picture& mask) {
  if (mask.width != view.file_width || mask.height != view.file_height) {
    throw InvalidInput(fmt::format("the mask has {} x {} pixels, the picture {} x {}", mask.width,
                                   mask.height, view.file_width, view.file_height));
  }
}

void mark_patches(const PictureView& view, const Picture& mask, std::vector<bool>& region) {
  require_same_size(view, mask);
  const double high = (view.bottom - view.top) / static_cast<double>(view.rows),
               wide = (view.right - view.left) / static_cast<double>(view.columns);
  for (int64_t row = 0; row < view.rows; ++row) {
    const double top = view.top + static_cast<double>(row) * high;
    for (int64_t column = 0; column < view.columns; ++column) {
      const double left = view.left + static_cast<double>(column) * wide;
      region[view.first_patch + row * view.columns + column] =
          mostly_covered(mask, pixels_between(top, top + high, mask.height),
                         pixels_between(left, left + wide, mask.width));
    }
  }
}

// The mask's pixel under the middle of each pixel that the model saw.
std::vector<bool> nearest_pixels(const PictureView& view, const Picture& mask) {
  require_same_size(view, mask);
  const auto nearest_to = [](double from, double to, int64_t place, int64_t count, int64_t size) {
    const double middle =
        from + (static_cast<double>(place) + 0.5) * (to - from) / static_cast<double>(count);
    return std::clamp<int64_t>(static_cast<int64_t>(std::floor(middle)), 0, size - 1);
  };
  std::vector<bool> inside;
  for (int64_t y = 0; y < view.height; ++y) {
    const uint8_t* row = mask.row(nearest_to(view.top, view.bottom, y, view.height, mask.height));
    for (int64_t x = 0; x < view.width; ++x) {
      const uint8_t* pixel = row + 3 * nearest_to(view.left, view.right, x, view.width, mask.width);
      inside.push_back(pixel[0] > 0 || pixel[1] > 0 || pixel[2] > 0);
    }
  }
  return inside;
}

// Words by white space; those that overlap a span are marked.
MarkedWords mark_words(const std::string& text, const std::vector<TextSpan>& spans) {
  MarkedWords found;
  int64_t place = 0, start = -1;
  const auto finish = [&] {
    if (start >= 0) found.words.push_back({start, place, 0});
    start = -1;
  };
  for_each_code_point(text, [&](UChar32 code_point, size_t, size_t) {
    if (u_isUWhiteSpace(code_point)) {
      finish();
    } else if (start < 0) {
      start = place;
    }
    ++place;
  });
  finish();
  for (const TextSpan& word : found.words) {
    found.marked.push_back(std::ranges::any_of(spans, [&](const TextSpan& span) {
      return span.segment == 0 && word.start < span.end && span.start < word.end;
    }));
  }
  return found;
}

}  // namespace

KnownRegion region_of_spans(std::vector<TextSpan> spans) {
  return [spans = std::move(spans)](const Explanation& explanation) {
    std::vector<bool> region;
    for (const Unit& unit : explanation.units) {
      region.push_back(
          std::ranges::any_of(spans, [&](const TextSpan& span) { return overlaps(unit, span); }));
    }
    return region;
  };
}

KnownRegion region_of_mask(const PictureInput& mask) {
  return [mask](const Explanation& explanation) {
    const Picture pixels = pixels_of(mask);
    std::vector<bool> region(explanation.units.size(), false);
    for (const Panel& panel : panels_of(explanation)) {
      if (panel.picture != nullptr) mark_patches(*panel.picture, pixels, region);
    }
    return region;
  };
}

KnownPixels pixels_of_mask(const PictureInput& mask) {
  return [mask](const Explanation& explanation) {
    for (const Panel& panel : panels_of(explanation)) {
      if (panel.picture != nullptr) return nearest_pixels(*panel.picture, pixels_of(mask));
    }
    throw InvalidInput("a mask was given, but there is no picture");
  };
}

KnownWords words_of_spans(std::vector<TextSpan> spans) {
  return [spans = std::move(spans)](const Explanation& explanation) {
    if (!has_characters(explanation)) {
      throw InvalidInput("spans of characters were given, but no unit stands for characters");
    }
    return mark_words(explanation.text, spans);
  };
}

}  // namespace whyformer
