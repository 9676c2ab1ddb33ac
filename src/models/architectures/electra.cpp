#include "models/architectures/encoder.h"

namespace whyformer {
namespace {

// ELECTRA's embeddings may be narrower than its layers.
EncoderOutputs encode(EncoderBuilder& build, const EncoderInputs& inputs) {
  const int64_t width = build.config().size("hidden_size");
  const int64_t narrow = build.config().size_or("embedding_size", width);
  EncoderOutputs outputs = bert_embeddings(build, inputs, narrow);
  Value x = outputs.embeddings;
  if (narrow != width) x = build.linear(x, build.prefix() + "embeddings_project", width);
  outputs.layers_input = x;
  outputs.hidden = bert_layers(build, x, inputs.mask);
  return outputs;
}

Value classify(EncoderBuilder& build, Value hidden, int64_t labels) {
  const Value cls = build.row(hidden, 0, "classifier/first_token");
  const Value dense = build.linear(cls, "classifier.dense", build.config().size("hidden_size"));
  return build.linear(build.activate(dense, "gelu", "classifier/gelu"), "classifier.out_proj",
                      labels);
}

}  // namespace

const Architecture kElectra{"electra", "electra.", "classifier.out_proj.weight", encode, classify};

}  // namespace whyformer
