#include "models/architectures/picture_encoder.h"

// ViT, and DINO, which is a ViT trained otherwise.
namespace whyformer {
namespace {

PictureOutputs encode(EncoderBuilder& build, Value pixels) {
  return vit_encoder(build, pixels, {"cls_token"});
}

Value classify(EncoderBuilder& build, const PictureOutputs& encoded, int64_t labels) {
  return build.linear(first_token(build, encoded), "classifier", labels);
}

}  // namespace

const PictureArchitecture kVit{"vit",       "vit.",   {"classifier.weight"}, encode,
                               first_token, classify, kVitRenamings,         false};

}  // namespace whyformer
