// torch_frame.nn.TabTransformer: tokens are the categories alone, each with a vector of its column
// behind it. The feed-forward part has neither a norm nor a residual connection.
#include <fmt/format.h>

#include "models/architectures/tables/table_family.h"

namespace whyformer {
namespace {

const std::string kFrameTabTable = "cat_encoder.emb.weight";
const std::string kFrameTabOffsets = "cat_encoder.offset";

bool recognises(const Checkpoint& tensors) {
  return tensors.has("pad_embedding.weight") && tensors.has_prefix("tab_transformer_convs.0.");
}

TableFacts facts(const TableWeights& weights) {
  const Checkpoint& tensors = weights.tensors;
  TableFacts facts;
  const Shape table = shape_of(tensors, kFrameTabTable, 2);
  facts.width = table[1] + shape_of(tensors, "pad_embedding.weight", 2)[1];
  // Row 0 stands in front of all columns.
  facts.category_counts = counts_between(tensors.whole_numbers(kFrameTabOffsets), table[0] - 1);
  if (tensors.has("num_norm.weight")) facts.numbers = shape_of(tensors, "num_norm.weight", 1)[0];
  facts.blocks = count_of(tensors, "tab_transformer_convs.");
  facts.possible_heads = divisors(facts.width);
  return facts;
}

Value category_tokens(TableEncoder& build, Value ids) {
  if (!ids.valid()) return build.joined_tokens({});
  std::vector<int64_t> first = build.weights().tensors.whole_numbers(kFrameTabOffsets);
  for (int64_t& row : first) ++row;
  const Value picked = build.picked_vectors(ids, {kFrameTabTable}, first);
  const int64_t columns = build.facts().categories();
  const Tensor pads = build.parameter("pad_embedding.weight", {columns, -1});
  const int64_t width = pads.dim(1);
  const Value all = build.constant(
      pads.reshape({1, columns, width}).expand({build.rows(), columns, width}).contiguous(),
      "pad_embedding");
  return build.joined_tokens({concat(build.graph(), picked, all, 2, "pad_embedding/behind")});
}

Value normed_numbers(TableEncoder& build, Value numbers) {
  if (!numbers.valid()) return {};
  const int64_t count = build.facts().numbers;
  GraphBuilder& graph = build.graph();
  const Value mean = build.constant(build.parameter("num_encoder.mean", {count}), "mean");
  const Value std = build.constant(build.parameter("num_encoder.std", {count}), "std");
  const Value scaled = binary(graph, subtract(graph, numbers, mean, "centred"), std,
                              BinaryFunction::kDivide, "scaled");
  return build.norm(scaled, "num_norm");
}

Value answer(TableEncoder& build, const TableInputs& inputs) {
  const FeedForwardFunction function = function_of(build.weights().spec, ActivationFunction::kGelu);
  Value x = category_tokens(build, inputs.categories);
  for (int64_t i = 0; i < build.facts().blocks; ++i) {
    const std::string block = fmt::format("tab_transformer_convs.{}.", i);
    const AttentionParts parts{.site = block + "attention",
                               .query = linear_named(block + "attn.lin_q"),
                               .key = linear_named(block + "attn.lin_k"),
                               .value = linear_named(block + "attn.lin_v"),
                               .out = linear_named(block + "attn.lin_out"),
                               .heads = build.heads()};
    x = build.step(x, NormPlace::kBeforeBoth, block + "norm_1",
                   [&](Value y) { return build.attention(y, parts); });
    x = build.feed_forward(x, {.first = linear_named(block + "ffn.lin_1"),
                               .second = linear_named(block + "ffn.lin_2"),
                               .function = function});
  }
  x = build.beside(build.flat(x), normed_numbers(build, inputs.numbers));
  for (const int64_t at : {0, 3}) {
    x = build.batch_norm(build.linear(x, linear_named(fmt::format("decoder.{}", at))),
                         fmt::format("decoder.{}", at + 1));
    x = build.selu(x, fmt::format("decoder.{}", at + 2));
  }
  return build.linear(x, linear_named("decoder.6"));
}

constexpr std::string_view kWithoutUse[] = {".norm_2."};

}  // namespace

const TableFamily kPytorchFrameTab{.name = "pyf-tab",
                                   .package = "torch_frame.nn.TabTransformer",
                                   .recognises = recognises,
                                   .facts = facts,
                                   .answer = answer,
                                   .without_use = kWithoutUse};

}  // namespace whyformer
