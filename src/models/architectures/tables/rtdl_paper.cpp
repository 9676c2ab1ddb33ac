// The Transformer of the FT-Transformer paper's own code (and TALENT's): the class token is a
// number that is always 1 and has no bias.
#include "models/architectures/tables/table_family.h"

namespace whyformer {
namespace {

const RtdlNames kBlockNames{.blocks = "layers.",
                            .head = {},
                            .first_linear = "linear0",
                            .second_linear = "linear1",
                            .attention_norm = "norm0",
                            .feed_forward_norm = "norm1",
                            .shared_mixture = "shared_kv_compression"};

bool recognises(const Checkpoint& tensors) {
  return tensors.has("tokenizer.weight") && tensors.has("layers.0.linear0.weight");
}

TableFacts facts(const TableWeights& weights) {
  const Checkpoint& tensors = weights.tensors;
  TableFacts facts;
  const Shape numbers = shape_of(tensors, "tokenizer.weight", 2);
  facts.numbers = numbers[0] - 1;
  facts.width = numbers[1];
  if (tensors.has("tokenizer.category_offsets")) {
    facts.category_counts =
        counts_between(tensors.whole_numbers("tokenizer.category_offsets"),
                       shape_of(tensors, "tokenizer.category_embeddings.weight", 2)[0]);
  }
  read_rtdl_blocks(tensors, kBlockNames, facts);
  return facts;
}

Value answer(TableEncoder& build, const TableInputs& inputs) {
  const TableFacts& facts = build.facts();
  const Checkpoint& tensors = build.weights().tensors;
  const Tensor weight = build.parameter("tokenizer.weight", {facts.numbers + 1, facts.width});
  const bool has_bias = tensors.has("tokenizer.bias");
  const auto with_bias = [&](Value tokens, int64_t first, int64_t count) {
    if (!has_bias) return tokens;
    const Tensor all =
        build.parameter("tokenizer.bias", {facts.numbers + facts.categories(), facts.width});
    return build.plus(tokens, all.slice(0, first, count).contiguous(), "tokenizer.bias");
  };
  Value numbers, categories;
  if (inputs.numbers.valid()) {
    numbers = with_bias(
        build.scaled_vectors(inputs.numbers, weight.slice(0, 1, facts.numbers).contiguous(),
                             "tokenizer.weight"),
        0, facts.numbers);
  }
  if (inputs.categories.valid()) {
    categories =
        with_bias(build.picked_vectors(inputs.categories, {"tokenizer.category_embeddings.weight"},
                                       tensors.whole_numbers("tokenizer.category_offsets")),
                  facts.numbers, facts.categories());
  }
  const Value cls = build.learned_token(weight.slice(0, 0, 1).contiguous(), "tokenizer.cls");
  const Value x = rtdl_blocks(build, build.joined_tokens({cls, numbers, categories}), kBlockNames);
  Value read = build.token(x, 0);
  if (tensors.has("last_normalization.weight")) read = build.norm(read, "last_normalization");
  // The gate's function without the gate.
  const ActivationFunction last =
      function_of(build.weights().spec, ActivationFunction::kRelu).function;
  return build.linear(build.activate(read, last, "last_activation"), linear_named("head"));
}

}  // namespace

const TableFamily kRtdlPaper{.name = "rtdl-paper",
                             .package = "the FT-Transformer paper's code",
                             .recognises = recognises,
                             .facts = facts,
                             .answer = answer};

}  // namespace whyformer
