#include <fmt/format.h>

#include "models/architectures/encoder.h"

namespace whyformer {
namespace {

constexpr double kEpsilon = 1e-12;  // fixed in DistilBERT's code, not in its config

EncoderOutputs encode(EncoderBuilder& build, const EncoderInputs& inputs) {
  const Config& config = build.config();
  const int64_t width = config.size("dim");
  const std::string base = build.prefix() + "embeddings.";
  EncoderOutputs outputs;
  outputs.word_embeddings = build.table(inputs.ids, base + "word_embeddings", -1, width);
  const Value positions = build.table(inputs.positions, base + "position_embeddings", -1, width);
  const Value sum = add(build.graph(), outputs.word_embeddings, positions, base + "add_positions");
  outputs.embeddings = build.norm(sum, base + "LayerNorm", kEpsilon);

  Value x = outputs.embeddings;
  outputs.layers_input = x;
  const std::string function = config.text_or("activation", "gelu");
  for (int64_t layer = 0; layer < config.size("n_layers", 1000); ++layer) {
    const std::string layer_base = fmt::format("{}transformer.layer.{}.", build.prefix(), layer);
    const std::string self = layer_base + "attention.";
    const Value context = build.self_attention(
        x, {self + "q_lin", self + "k_lin", self + "v_lin", layer_base + "attention"},
        config.size("n_heads"), inputs.mask);
    const Value attended = build.linear(context, self + "out_lin", width);
    x = build.norm(add(build.graph(), attended, x, layer_base + "sa_add"),
                   layer_base + "sa_layer_norm", kEpsilon);
    const Value inner =
        build.activate(build.linear(x, layer_base + "ffn.lin1", config.size("hidden_dim")),
                       function, layer_base + "ffn.act");
    const Value outer = build.linear(inner, layer_base + "ffn.lin2", width);
    x = build.norm(add(build.graph(), outer, x, layer_base + "ffn_add"),
                   layer_base + "output_layer_norm", kEpsilon);
  }
  outputs.hidden = x;
  return outputs;
}

Value classify(EncoderBuilder& build, Value hidden, int64_t labels) {
  const Value cls = build.row(hidden, 0, "pre_classifier/first_token");
  const Value dense = build.linear(cls, "pre_classifier", build.config().size("dim"));
  return build.linear(build.activate(dense, "relu", "pre_classifier/relu"), "classifier", labels);
}

}  // namespace

const Architecture kDistilBert{.model_type = "distilbert",
                               .prefix = "distilbert.",
                               .classifier = "classifier.weight",
                               .encode = encode,
                               .classify = classify,
                               .has_token_types = false,
                               .width = "dim"};

}  // namespace whyformer
