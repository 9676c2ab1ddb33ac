#include <fmt/format.h>

#include "models/architectures/encoder.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

Value albert_layer(EncoderBuilder& build, Value x, Value mask, const std::string& base,
                   const std::string& site) {
  const Config& config = build.config();
  const int64_t width = config.size("hidden_size");
  const double epsilon = config.layer_norm_epsilon(1e-12);
  const std::string self = base + "attention.";
  const Value context =
      build.self_attention(x, {self + "query", self + "key", self + "value", site},
                           config.size("num_attention_heads"), mask);
  const Value attended = build.linear(context, self + "dense", width);
  x = build.norm(add(build.graph(), attended, x, site + "/add"), self + "LayerNorm", epsilon);
  const Value inner =
      build.activate(build.linear(x, base + "ffn", config.size("intermediate_size")),
                     config.text_or("hidden_act", "gelu_new"), site + "/ffn_act");
  const Value outer = build.linear(inner, base + "ffn_output", width);
  return build.norm(add(build.graph(), outer, x, site + "/ffn_add"), base + "full_layer_layer_norm",
                    epsilon);
}

// The same few layers are used again and again: one attention map per use.
EncoderOutputs encode(EncoderBuilder& build, const EncoderInputs& inputs) {
  const Config& config = build.config();
  EncoderOutputs outputs = bert_embeddings(build, inputs, config.size("embedding_size"));
  Value x = build.linear(outputs.embeddings, build.prefix() + "encoder.embedding_hidden_mapping_in",
                         config.size("hidden_size"));
  outputs.layers_input = x;
  const int64_t layers = config.size("num_hidden_layers", 1000);
  const int64_t groups = config.size_or("num_hidden_groups", 1);
  const int64_t inner_layers = config.size_or("inner_group_num", 1);
  if (groups > layers) {
    throw FileError(fmt::format("config.json: {} layer groups for {} layers", groups, layers));
  }
  for (int64_t layer = 0; layer < layers; ++layer) {
    const int64_t group = layer * groups / layers;
    for (int64_t inner = 0; inner < inner_layers; ++inner) {
      const std::string base = fmt::format("{}encoder.albert_layer_groups.{}.albert_layers.{}.",
                                           build.prefix(), group, inner);
      const std::string site = inner_layers == 1
                                   ? fmt::format("encoder.layer.{}.attention", layer)
                                   : fmt::format("encoder.layer.{}.{}.attention", layer, inner);
      x = albert_layer(build, x, inputs.mask, base, site);
    }
  }
  outputs.hidden = x;
  return outputs;
}

Value classify(EncoderBuilder& build, Value hidden, int64_t labels) {
  const Value cls = build.row(hidden, 0, "pooler/first_token");
  const Value dense =
      build.linear(cls, build.prefix() + "pooler", build.config().size("hidden_size"));
  return build.linear(build.activate(dense, "tanh", "pooler/tanh"), "classifier", labels);
}

}  // namespace

const Architecture kAlbert{"albert", "albert.", "classifier.weight", encode, classify};

}  // namespace whyformer
