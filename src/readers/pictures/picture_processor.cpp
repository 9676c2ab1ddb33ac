#include "readers/pictures/picture_processor.h"

#include <algorithm>

namespace whyformer {
namespace {

// In the order and precision of numpy: rescaling in double, rounded to float, then float
// throughout.
float value_of(int level, int colour, const PictureSettings& settings) {
  auto value = static_cast<float>(level);
  if (settings.factor) value = static_cast<float>(level * *settings.factor);
  if (!settings.normalisation) return value;
  const auto mean = static_cast<float>(settings.normalisation->mean[colour]);
  const auto deviation = static_cast<float>(settings.normalisation->deviation[colour]);
  return (value - mean) / deviation;
}

// ITU-R 601 luma in PIL's whole numbers, the same in all three colours.
Picture grey_of(Picture picture) {
  for (size_t i = 0; i + 2 < picture.pixels.size(); i += 3) {
    uint8_t* pixel = picture.pixels.data() + i;
    const auto level = static_cast<uint8_t>(
        (pixel[0] * 19595 + pixel[1] * 38470 + pixel[2] * 7471 + 0x8000) >> 16);
    std::fill_n(pixel, 3, level);
  }
  return picture;
}

int64_t half_rounded_down(int64_t number) { return number >= 0 ? number / 2 : -((1 - number) / 2); }

}  // namespace

PictureProcessor::PictureProcessor(const PictureSettings& settings) : settings_(settings) {
  for (int colour = 0; colour < 3; ++colour) {
    for (int level = 0; level < 256; ++level) {
      value_of_level_[colour][level] = value_of(level, colour, settings);
    }
  }
}

std::optional<PictureSize> PictureProcessor::input_size() const {
  return settings_.crop ? settings_.crop : settings_.size;
}

PictureSize PictureProcessor::resized(const Picture& picture) const {
  if (settings_.size) return *settings_.size;
  if (!settings_.shortest_edge) return {picture.width, picture.height};
  const int64_t edge = *settings_.shortest_edge;
  const auto longer = [&](int64_t longer_side, int64_t shorter_side) {
    return static_cast<int64_t>(static_cast<double>(edge * longer_side) /
                                static_cast<double>(std::max<int64_t>(shorter_side, 1)));
  };
  if (picture.width <= picture.height) return {edge, longer(picture.height, picture.width)};
  return {longer(picture.width, picture.height), edge};
}

ProcessedPicture PictureProcessor::operator()(const Picture& picture) const {
  const PictureSize size = resized(picture);
  PictureWindow window{0, 0, size};
  if (settings_.crop) {
    window.size = *settings_.crop;
    window.left = half_rounded_down(size.width - window.size.width);
    window.top = half_rounded_down(size.height - window.size.height);
  }
  ProcessedPicture input;
  const Picture read = settings_.channels == 1 ? grey_of(picture) : picture;
  input.seen = resize_picture(read, size, settings_.resampling, window);
  input.values = values(input.seen);
  const double across = static_cast<double>(picture.width) / static_cast<double>(size.width);
  const double down = static_cast<double>(picture.height) / static_cast<double>(size.height);
  input.region = {static_cast<double>(window.left) * across, static_cast<double>(window.top) * down,
                  static_cast<double>(window.size.width) * across,
                  static_cast<double>(window.size.height) * down};
  return input;
}

Tensor PictureProcessor::values(const Picture& seen) const {
  Tensor result = Tensor::empty({settings_.channels, seen.height, seen.width});
  float* out = result.mutable_data<float>();
  const int64_t pixels = seen.width * seen.height;
  for (int colour = 0; colour < settings_.channels; ++colour) {
    const auto& table = value_of_level_[colour];
    for (int64_t i = 0; i < pixels; ++i) *out++ = table[seen.pixels[3 * i + colour]];
  }
  return result;
}

}  // namespace whyformer
