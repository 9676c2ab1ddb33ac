// From a picture to what a vision model reads, as the image processors of transformers do with PIL.
#pragma once

#include <vector>

#include "readers/pictures/picture_settings.h"
#include "tensor/tensor.h"

namespace whyformer {

// Where the model's input lies on the original picture, in its pixels. It may reach beyond the
// picture where the input is padded.
struct PictureRegion {
  double left = 0;
  double top = 0;
  double width = 0;
  double height = 0;
};

struct ProcessedPicture {
  Tensor values;         // [channels, height, width], 32-bit floats
  Picture seen;          // the same before rescaling: what the model sees
  PictureRegion region;  // of `seen` on the original
};

class PictureProcessor {
 public:
  explicit PictureProcessor(const PictureSettings& settings);

  const PictureSettings& settings() const { return settings_; }
  // The size of every input; nothing if it depends on the picture.
  std::optional<PictureSize> input_size() const;

  // Throws InvalidInput if the picture has no pixels, or its proportions make the result too large.
  ProcessedPicture operator()(const Picture& picture) const;

  // The last two steps alone, for pictures of the model's size that were changed: [channels,
  // height, width].
  Tensor values(const Picture& seen) const;

 private:
  PictureSize resized(const Picture& picture) const;

  PictureSettings settings_;
  std::array<std::array<float, 256>, 3> value_of_level_;
};

}  // namespace whyformer
