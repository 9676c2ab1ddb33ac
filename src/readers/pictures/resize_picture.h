// PIL's Image.resize: the same filters, antialiasing and rounding, so the same pixels.
#pragma once

#include "formats/pictures/picture.h"

namespace whyformer {

// PIL's numbers, which preprocessor_config.json writes too.
enum class Resampling { kNearest, kLanczos, kBilinear, kBicubic, kBox, kHamming };

struct PictureSize {
  int64_t width = 0;
  int64_t height = 0;
  bool operator==(const PictureSize&) const = default;
};

// A rectangle of pixels, which may reach beyond the picture it lies on.
struct PictureWindow {
  int64_t left = 0;
  int64_t top = 0;
  PictureSize size;
};

// The part `window` of `picture` resized to `size`; only that part is computed. What lies beyond
// the resized picture is black. Throws InvalidInput for sizes past the limits of pictures.
Picture resize_picture(const Picture& picture, PictureSize size, Resampling resampling,
                       const PictureWindow& window);
Picture resize_picture(const Picture& picture, PictureSize size, Resampling resampling);

}  // namespace whyformer
