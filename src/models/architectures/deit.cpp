#include "models/architectures/picture_encoder.h"
#include "ops/arithmetic.h"

namespace whyformer {
namespace {

PictureOutputs encode(EncoderBuilder& build, Value pixels) {
  return vit_encoder(build, pixels, {"cls_token", "distillation_token"});
}

// With a teacher, the class token's and the distillation token's answers are averaged.
Value classify(EncoderBuilder& build, const PictureOutputs& encoded, int64_t labels) {
  const Value first = first_token(build, encoded);
  if (!build.checkpoint().has("cls_classifier.weight")) {
    return build.linear(first, "classifier", labels);
  }
  GraphBuilder& graph = build.graph();
  const Value second = build.row(encoded.hidden, 1, "distillation_token");
  const Value sum = add(graph, build.linear(first, "cls_classifier", labels),
                        build.linear(second, "distillation_classifier", labels), "classifiers/sum");
  Tensor half = Tensor::empty({1}, build.type());
  half.fill(0.5);
  return binary(graph, sum, graph.constant(half, "classifiers/half"), BinaryFunction::kMultiply,
                "classifiers/mean");
}

}  // namespace

const PictureArchitecture kDeit{
    "deit",        "deit.",     {"classifier.weight", "cls_classifier.weight"},
    encode,        first_token, classify,
    kVitRenamings, false};

}  // namespace whyformer
