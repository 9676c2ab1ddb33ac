// tab_transformer_pytorch.FTTransformer, to 0.3: the class token first, then categories, then
// numbers.
#include <fmt/format.h>

#include "models/architectures/tables/table_family.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr int64_t kHeadWidth = 16;  // the package's default

bool is_later(const Checkpoint& tensors) {
  return tensors.has_prefix("transformer.layers.0.0.branch.");
}

bool recognises(const Checkpoint& tensors) {
  return tensors.has("cls_token") && tensors.has("to_logits.0.weight") && !is_later(tensors);
}

TableFacts facts(const TableWeights& weights) {
  const Checkpoint& tensors = weights.tensors;
  TableFacts facts;
  facts.width = shape_of(tensors, "cls_token", 3)[2];
  if (tensors.has("numerical_embedder.weights"))
    facts.numbers = shape_of(tensors, "numerical_embedder.weights", 2)[0];
  if (tensors.has("categories_offset")) {
    facts.category_counts = counts_between(tensors.whole_numbers("categories_offset"),
                                           shape_of(tensors, "categorical_embeds.weight", 2)[0]);
  }
  facts.blocks = count_of(tensors, "transformer.layers.");
  read_lucid_heads(weights, "transformer.layers.0.0.to_qkv.weight", kHeadWidth, facts);
  return facts;
}

Value answer(TableEncoder& build, const TableInputs& inputs) {
  const TableFacts& facts = build.facts();
  const Checkpoint& tensors = build.weights().tensors;
  Value numbers, categories;
  if (inputs.categories.valid()) {
    categories = build.picked_vectors(inputs.categories, {"categorical_embeds.weight"},
                                      tensors.whole_numbers("categories_offset"));
  }
  if (inputs.numbers.valid()) {
    numbers = build.plus(build.scaled_vectors(inputs.numbers, "numerical_embedder.weights"),
                         build.parameter("numerical_embedder.biases", {facts.numbers, facts.width}),
                         "numerical_embedder.biases");
  }
  const Value cls =
      build.learned_token(build.parameter("cls_token", {1, 1, facts.width}), "cls_token");
  Value x = build.joined_tokens({cls, categories, numbers});
  const FeedForwardFunction function = function_of(build.weights().spec, ActivationFunction::kGelu);
  for (int64_t i = 0; i < facts.blocks; ++i) {
    const std::string attention = fmt::format("transformer.layers.{}.0.", i);
    const std::string forward = fmt::format("transformer.layers.{}.1.", i);
    const LinearRows all = linear_without_bias(attention + "to_qkv");
    const AttentionParts parts{.site = attention + "attention",
                               .query = third_of(tensors, all, 0),
                               .key = third_of(tensors, all, 1),
                               .value = third_of(tensors, all, 2),
                               .out = linear_without_bias(attention + "to_out"),
                               .heads = build.heads()};
    x = build.step(x, NormPlace::kBefore, attention + "norm",
                   [&](Value y) { return build.attention(y, parts); });
    x = build.step(x, NormPlace::kBefore, forward + "0", [&](Value y) {
      return build.feed_forward(y, {.first = linear_named(forward + "1"),
                                    .second = linear_named(forward + "4"),
                                    .function = function});
    });
  }
  const Value read = build.norm(build.token(x, 0), "to_logits.0");
  return build.linear(build.activate(read, ActivationFunction::kRelu, "to_logits.1"),
                      linear_named("to_logits.2"));
}

TableFacts refused(const TableWeights&) {
  throw UnsupportedModel(
      "the weights are of tab-transformer-pytorch 0.4 or later, whose residual connections are "
      "several mixed streams (hyper-connections): export the model to ONNX and give that file");
}

}  // namespace

void read_lucid_heads(const TableWeights& weights, const std::string& to_qkv, int64_t head_width,
                      TableFacts& facts) {
  const int64_t inner = shape_of(weights.tensors, to_qkv, 2)[0] / 3;
  facts.possible_heads = divisors(inner);
  const auto told = static_cast<int64_t>(option(weights.spec, "dim_head", 0));
  const int64_t width = told > 0 ? told : head_width;
  if (inner % width != 0) return;
  facts.heads = inner / width;
  if (told == 0 && !weights.spec.model.heads) {
    facts.notes.push_back(fmt::format(
        "The number of attention heads is not in the file: {}, as heads of width {}, the package's "
        "default, give.",
        *facts.heads, width));
  }
}

const TableFamily kLucidFt{.name = "lucid-ft",
                           .package = "tab_transformer_pytorch.FTTransformer",
                           .recognises = recognises,
                           .facts = facts,
                           .answer = answer};

const TableFamily kLucidHyperConnections{.name = "lucid-hyper-connections",
                                         .package = "tab_transformer_pytorch from 0.4 on, as ONNX",
                                         .recognises = is_later,
                                         .facts = refused,
                                         .answer = answer};

}  // namespace whyformer
