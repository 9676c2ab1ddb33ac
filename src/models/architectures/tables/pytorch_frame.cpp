// torch_frame.nn.FTTransformer: the class token first, then numbers, then categories; PyTorch's own
// post-norm encoder. Missing numbers are tokens of zeros, missing categories the table's first row.
#include <fmt/format.h>

#include "models/architectures/tables/table_family.h"

namespace whyformer {
namespace {

const std::string kFrameNumbers = "encoder.encoder_dict.numerical.";
const std::string kFrameCategories = "encoder.encoder_dict.categorical.";
constexpr int64_t kFrameHeads = 8;  // the package leaves no choice

bool recognises(const Checkpoint& tensors) {
  return tensors.has("backbone.cls_embedding") &&
         (tensors.has(kFrameNumbers + "weight") || tensors.has(kFrameCategories + "emb.weight"));
}

TableFacts facts(const TableWeights& weights) {
  const Checkpoint& tensors = weights.tensors;
  TableFacts facts;
  facts.width = shape_of(tensors, "backbone.cls_embedding", 1)[0];
  if (tensors.has(kFrameNumbers + "weight"))
    facts.numbers = shape_of(tensors, kFrameNumbers + "weight", 2)[0];
  if (tensors.has(kFrameCategories + "offset")) {
    // Row 0 stands in front of all columns.
    const int64_t rows = shape_of(tensors, kFrameCategories + "emb.weight", 2)[0];
    facts.category_counts =
        counts_between(tensors.whole_numbers(kFrameCategories + "offset"), rows - 1);
  }
  facts.blocks = count_of(tensors, "backbone.transformer.layers.");
  facts.possible_heads = divisors(facts.width);
  if (facts.width % kFrameHeads == 0) facts.heads = kFrameHeads;
  facts.has_missing = true;
  return facts;
}

Value number_tokens(TableEncoder& build, const TableInputs& inputs) {
  if (!inputs.numbers.valid()) return {};
  const int64_t count = build.facts().numbers, width = build.facts().width;
  GraphBuilder& graph = build.graph();
  const Value mean =
      build.constant(build.parameter(kFrameNumbers + "mean", {count}), kFrameNumbers + "mean");
  const Value std =
      build.constant(build.parameter(kFrameNumbers + "std", {count}), kFrameNumbers + "std");
  const Value scaled = binary(graph, subtract(graph, inputs.numbers, mean, "centred"), std,
                              BinaryFunction::kDivide, "scaled");
  const Value tokens =
      build.plus(build.scaled_vectors(scaled, kFrameNumbers + "weight"),
                 build.parameter(kFrameNumbers + "bias", {count, width}), kFrameNumbers + "bias");
  return build.with_missing(tokens, inputs.missing, 0, Tensor::zeros({1, width}, build.type()));
}

Value category_tokens(TableEncoder& build, const TableInputs& inputs) {
  if (!inputs.categories.valid()) return {};
  std::vector<int64_t> first = build.weights().tensors.whole_numbers(kFrameCategories + "offset");
  for (int64_t& row : first) ++row;
  const Tensor table = build.parameter(kFrameCategories + "emb.weight", {-1, build.facts().width});
  const Value tokens =
      build.picked_vectors(inputs.categories, table, first, kFrameCategories + "emb.weight");
  return build.with_missing(tokens, inputs.missing, build.facts().numbers,
                            table.slice(0, 0, 1).contiguous());
}

Value answer(TableEncoder& build, const TableInputs& inputs) {
  const Checkpoint& tensors = build.weights().tensors;
  const int64_t width = build.facts().width;
  const Value cls = build.learned_token(build.parameter("backbone.cls_embedding", {width}),
                                        "backbone.cls_embedding");
  Value x =
      build.joined_tokens({cls, number_tokens(build, inputs), category_tokens(build, inputs)});
  const FeedForwardFunction function = function_of(build.weights().spec, ActivationFunction::kRelu);
  for (int64_t i = 0; i < build.facts().blocks; ++i) {
    const std::string block = fmt::format("backbone.transformer.layers.{}.", i);
    const LinearRows all{block + "self_attn.in_proj_weight", block + "self_attn.in_proj_bias"};
    const AttentionParts parts{.site = block + "self_attn",
                               .query = third_of(tensors, all, 0),
                               .key = third_of(tensors, all, 1),
                               .value = third_of(tensors, all, 2),
                               .out = linear_named(block + "self_attn.out_proj"),
                               .heads = build.heads()};
    x = build.step(x, NormPlace::kAfter, block + "norm1",
                   [&](Value y) { return build.attention(y, parts); });
    x = build.step(x, NormPlace::kAfter, block + "norm2", [&](Value y) {
      return build.feed_forward(y, {.first = linear_named(block + "linear1"),
                                    .second = linear_named(block + "linear2"),
                                    .function = function});
    });
  }
  const Value read =
      build.norm(build.token(build.norm(x, "backbone.transformer.norm"), 0), "decoder.0");
  return build.linear(build.activate(read, ActivationFunction::kRelu, "decoder.1"),
                      linear_named("decoder.2"));
}

}  // namespace

const TableFamily kPytorchFrame{.name = "pyf-ft",
                                .package = "torch_frame.nn.FTTransformer",
                                .recognises = recognises,
                                .facts = facts,
                                .answer = answer};

}  // namespace whyformer
