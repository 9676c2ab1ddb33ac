// What preprocessor_config.json says about pictures.
#pragma once

#include <array>
#include <optional>

#include "base/bytes.h"
#include "readers/pictures/resize_picture.h"

namespace whyformer {

// In the order of use: resize, crop around the centre, rescale, normalise.
struct PictureSettings {
  // To `size` whatever its proportions, or until its shorter side has `shortest_edge` pixels;
  // neither: not at all.
  std::optional<PictureSize> size;
  std::optional<int64_t> shortest_edge;
  Resampling resampling = Resampling::kBilinear;
  std::optional<PictureSize> crop;
  std::optional<double> factor = 1.0 / 255;
  struct Normalisation {
    std::array<double, 3> mean;
    std::array<double, 3> deviation;
  };
  std::optional<Normalisation> normalisation;
  int channels = 3;  // 1: grey, as PIL makes it; which it is depends on the model
};

// Settings as the image processors of transformers read them: ViT's (also for Swin), DeiT's,
// BEiT's, BiT's (DINOv2), CLIP's, SigLIP's and ConvNeXt's, each with its own defaults. Looks at
// "image_processor" of processor_config.json, then at preprocessor_config.json; where neither names
// its class, at the model_type of config.json. Throws FileError for damaged files and
// UnsupportedModel for settings that would change the pixels in a way that is not known here.
PictureSettings picture_settings(const FileLookup& files);

}  // namespace whyformer
