// tab_transformer_pytorch.TabTransformer, to 0.3, and TabSurvey's: tokens are the categories alone;
// numbers are put beside what comes out of the blocks.
#include <fmt/format.h>

#include "models/architectures/tables/table_family.h"

namespace whyformer {
namespace {

constexpr int64_t kHeadWidth = 16;

// Where the categories' vectors are: from 0.3 on beside a part that all of a column share.
std::string table_in(const Checkpoint& tensors) {
  return tensors.has("category_embed.weight") ? "category_embed.weight"
                                              : "transformer.embeds.weight";
}

// TabSurvey wraps the norm and what it normalises once more; the formula is the same.
std::string function_in(const Checkpoint& tensors) {
  return tensors.has("transformer.layers.0.0.fn.norm.weight") ? "fn." : "";
}

bool recognises(const Checkpoint& tensors) {
  return tensors.has(table_in(tensors)) && tensors.has("mlp.mlp.0.weight") &&
         tensors.has("categories_offset");
}

TableFacts facts(const TableWeights& weights) {
  const Checkpoint& tensors = weights.tensors;
  TableFacts facts;
  const Shape table = shape_of(tensors, table_in(tensors), 2);
  facts.width = table[1];
  if (tensors.has("shared_category_embed"))
    facts.width += shape_of(tensors, "shared_category_embed", 2)[1];
  facts.category_counts = counts_between(tensors.whole_numbers("categories_offset"), table[0]);
  if (tensors.has("norm.weight")) facts.numbers = shape_of(tensors, "norm.weight", 1)[0];
  facts.blocks = count_of(tensors, "transformer.layers.");
  const std::string attention = "transformer.layers.0.0." + function_in(tensors);
  read_lucid_heads(weights, attention + "fn.to_qkv.weight", kHeadWidth, facts);
  return facts;
}

Value category_tokens(TableEncoder& build, Value ids) {
  if (!ids.valid()) return build.joined_tokens({});
  const Checkpoint& tensors = build.weights().tensors;
  const Value picked =
      build.picked_vectors(ids, {table_in(tensors)}, tensors.whole_numbers("categories_offset"));
  if (!tensors.has("shared_category_embed")) return build.joined_tokens({picked});
  const int64_t columns = build.facts().categories();
  const Tensor shared = build.parameter("shared_category_embed", {columns, -1});
  const int64_t width = shared.dim(1);
  const Value all = build.constant(
      shared.reshape({1, columns, width}).expand({build.rows(), columns, width}).contiguous(),
      "shared_category_embed");
  return build.joined_tokens({concat(build.graph(), picked, all, 2, "category_embed/shared")});
}

Value normed_numbers(TableEncoder& build, Value numbers) {
  if (!numbers.valid()) return {};
  const int64_t count = build.facts().numbers;
  if (build.weights().tensors.has("continuous_mean_std")) {
    const Tensor both = build.parameter("continuous_mean_std", {count, 2});
    const Tensor mean = both.select(1, 0).contiguous(), std = both.select(1, 1).contiguous();
    const Value centred = subtract(build.graph(), numbers, build.constant(mean, "mean"), "centred");
    numbers = binary(build.graph(), centred, build.constant(std, "std"), BinaryFunction::kDivide,
                     "scaled");
  }
  return build.norm(numbers, "norm");
}

Value answer(TableEncoder& build, const TableInputs& inputs) {
  const Checkpoint& tensors = build.weights().tensors;
  const std::string wrapper = function_in(tensors);
  Value x = category_tokens(build, inputs.categories);
  const FeedForwardFunction function = function_of(build.weights().spec, ActivationFunction::kGelu);
  for (int64_t i = 0; i < build.facts().blocks; ++i) {
    const std::string attention = fmt::format("transformer.layers.{}.0.{}", i, wrapper);
    const std::string forward = fmt::format("transformer.layers.{}.1.{}", i, wrapper);
    const LinearRows all = linear_without_bias(attention + "fn.to_qkv");
    const AttentionParts parts{.site = attention + "attention",
                               .query = third_of(tensors, all, 0),
                               .key = third_of(tensors, all, 1),
                               .value = third_of(tensors, all, 2),
                               .out = linear_named(attention + "fn.to_out"),
                               .heads = build.heads()};
    x = build.step(x, NormPlace::kBefore, attention + "norm",
                   [&](Value y) { return build.attention(y, parts); });
    x = build.step(x, NormPlace::kBefore, forward + "norm", [&](Value y) {
      return build.feed_forward(y, {.first = linear_named(forward + "fn.net.0"),
                                    .second = linear_named(forward + "fn.net.3"),
                                    .function = function});
    });
  }
  const Value all = build.beside(build.flat(x), normed_numbers(build, inputs.numbers));
  return build.perceptron(all, "mlp.mlp.", build.head_function());
}

}  // namespace

const TableFamily kLucidTab{.name = "lucid-tab",
                            .package = "tab_transformer_pytorch.TabTransformer",
                            .recognises = recognises,
                            .facts = facts,
                            .answer = answer};

}  // namespace whyformer
