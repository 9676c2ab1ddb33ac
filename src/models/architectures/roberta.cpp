#include "models/architectures/encoder.h"

namespace whyformer {
namespace {

Value classify(EncoderBuilder& build, Value hidden, int64_t labels) {
  const Value cls = build.row(hidden, 0, "classifier/first_token");
  const Value dense = build.linear(cls, "classifier.dense", build.config().size("hidden_size"));
  return build.linear(build.activate(dense, "tanh", "classifier/tanh"), "classifier.out_proj",
                      labels);
}

int64_t first_position(const Config& config) { return config.id_or("pad_token_id", 1) + 1; }

}  // namespace

const Architecture kRoberta{"roberta",    "roberta.", "classifier.out_proj.weight",
                            bert_encoder, classify,   first_position};

const Architecture kXlmRoberta{"xlm-roberta", "roberta.", "classifier.out_proj.weight",
                               bert_encoder,  classify,   first_position};

}  // namespace whyformer
