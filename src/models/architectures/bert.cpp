#include <fmt/format.h>

#include "models/architectures/encoder.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

Value classify(EncoderBuilder& build, Value hidden, int64_t labels) {
  const std::string pooler = build.prefix() + "pooler.dense";
  const Value cls = build.row(hidden, 0, "pooler/first_token");
  const Value dense = build.linear(cls, pooler, build.config().size("hidden_size"));
  return build.linear(build.activate(dense, "tanh", "pooler/tanh"), "classifier", labels);
}

// transformers builds these models with a causal mask, or with layers that read a second sequence.
void refuse_decoders(const Config& config) {
  for (const char* key : {"is_decoder", "add_cross_attention"}) {
    if (!config.flag_or(key, false)) continue;
    throw UnsupportedModel(
        fmt::format("config.json says '{}': true, but folders of type '{}' are read as encoders: "
                    "export the model to ONNX and give that file",
                    key, config.model_type()));
  }
}

}  // namespace

EncoderOutputs bert_embeddings(EncoderBuilder& build, const EncoderInputs& inputs, int64_t width) {
  const Config& config = build.config();
  const std::string type = config.text_or("position_embedding_type", "absolute");
  if (type != "absolute") {
    throw UnsupportedModel(
        fmt::format("position_embedding_type '{}' is not supported, only 'absolute' is", type));
  }
  const std::string base = build.prefix() + "embeddings.";
  EncoderOutputs outputs;
  outputs.word_embeddings = build.table(inputs.ids, base + "word_embeddings", -1, width);
  const Value types = build.table(inputs.types, base + "token_type_embeddings", -1, width);
  const Value positions = build.table(inputs.positions, base + "position_embeddings", -1, width);
  Value sum = add(build.graph(), outputs.word_embeddings, types, base + "add_types");
  sum = add(build.graph(), sum, positions, base + "add_positions");
  outputs.embeddings = build.norm(sum, base + "LayerNorm", config.layer_norm_epsilon(1e-12));
  return outputs;
}

Value bert_layers(EncoderBuilder& build, Value x, Value mask) {
  const Config& config = build.config();
  refuse_decoders(config);
  const int64_t width = config.size("hidden_size");
  const int64_t heads = config.size("num_attention_heads");
  const double epsilon = config.layer_norm_epsilon(1e-12);
  const std::string function = config.text_or("hidden_act", "gelu");
  for (int64_t layer = 0; layer < config.size("num_hidden_layers", 1000); ++layer) {
    const std::string base = fmt::format("{}encoder.layer.{}.", build.prefix(), layer);
    const std::string self = base + "attention.self";
    const Value context = build.self_attention(
        x, {self + ".query", self + ".key", self + ".value", self}, heads, mask);
    const Value attended = build.linear(context, base + "attention.output.dense", width);
    x = build.norm(add(build.graph(), attended, x, base + "attention.add"),
                   base + "attention.output.LayerNorm", epsilon);
    const Value inner = build.activate(
        build.linear(x, base + "intermediate.dense", config.size("intermediate_size")), function,
        base + "intermediate.act");
    const Value outer = build.linear(inner, base + "output.dense", width);
    x = build.norm(add(build.graph(), outer, x, base + "output.add"), base + "output.LayerNorm",
                   epsilon);
  }
  return x;
}

EncoderOutputs bert_encoder(EncoderBuilder& build, const EncoderInputs& inputs) {
  EncoderOutputs outputs = bert_embeddings(build, inputs, build.config().size("hidden_size"));
  outputs.layers_input = outputs.embeddings;
  outputs.hidden = bert_layers(build, outputs.layers_input, inputs.mask);
  return outputs;
}

const Architecture kBert{"bert", "bert.", "classifier.weight", bert_encoder, classify};

}  // namespace whyformer
