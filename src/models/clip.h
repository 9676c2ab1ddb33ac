// The text side of CLIP: texts become vectors that pictures are compared with.
#pragma once

#include <vector>

#include "models/picture_encoder.h"

namespace whyformer {

class ClipTexts {
 public:
  explicit ClipTexts(const Config& config);

  // The projected vector of a text's end token, [width]; not normalised. Throws InvalidInput for more
  // tokens than the model has positions.
  Tensor embedding(const Checkpoint& checkpoint, std::vector<int64_t> ids, DType type) const;

 private:
  LayerSettings settings_of_texts() const;
  // How many tokens there are up to the one that is read.
  int64_t tokens_read(const std::vector<int64_t>& ids) const;

  Config config_;
};

}  // namespace whyformer
