#include "models/encoder.h"

namespace whyformer {
namespace {

EncoderOutputs encode(EncoderBuilder& build, const EncoderInputs& inputs) {
  EncoderOutputs outputs = bert_embeddings(build, inputs, build.config().size("hidden_size"));
  outputs.hidden = bert_layers(build, outputs.embeddings, inputs.mask);
  return outputs;
}

Value classify(EncoderBuilder& build, Value hidden, int64_t labels) {
  const Value cls = build.row(hidden, 0, "classifier/first_token");
  const Value dense = build.linear(cls, "classifier.dense", build.config().size("hidden_size"));
  return build.linear(build.activate(dense, "tanh", "classifier/tanh"), "classifier.out_proj",
                      labels);
}

int64_t first_position(const Config& config) { return config.id_or("pad_token_id", 1) + 1; }

}  // namespace

const Architecture kRoberta{"roberta",
                            "roberta.",
                            "classifier.out_proj.weight",
                            "embeddings.word_embeddings.weight",
                            encode,
                            classify,
                            first_position,
                            true};

const Architecture kXlmRoberta{"xlm-roberta",
                               "roberta.",
                               "classifier.out_proj.weight",
                               "embeddings.word_embeddings.weight",
                               encode,
                               classify,
                               first_position,
                               true};

}  // namespace whyformer
