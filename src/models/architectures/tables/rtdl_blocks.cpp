// Blocks of rtdl: pre-norm without a norm before the first attention, or post-norm, which shows by
// that norm being there.
#include <fmt/format.h>

#include "models/architectures/tables/table_family.h"

namespace whyformer {
namespace {

// Linformer's matrices, of each site, of each block or of all blocks.
void add_mixtures(const Checkpoint& tensors, const RtdlNames& names, const std::string& block,
                  AttentionParts& parts) {
  if (tensors.has(names.shared_mixture + ".weight"))
    parts.key_mixture = parts.value_mixture = linear_without_bias(names.shared_mixture);
  for (const std::string& place : {block + "attention.", block}) {
    const std::string keys = place + "key_compression", values = place + "value_compression";
    if (!tensors.has(keys + ".weight")) continue;
    parts.key_mixture = linear_without_bias(keys);
    parts.value_mixture = linear_without_bias(tensors.has(values + ".weight") ? values : keys);
  }
}

}  // namespace

void read_rtdl_tokens(const TableWeights& weights, const RtdlTokens& names, TableFacts& facts) {
  const Checkpoint& tensors = weights.tensors;
  if (tensors.has(names.number_weight))
    facts.numbers = shape_of(tensors, names.number_weight, 2)[0];
  if (tensors.has(names.table)) {
    facts.category_counts = told_counts(weights, shape_of(tensors, names.category_bias, 2)[0],
                                        shape_of(tensors, names.table, 2)[0]);
  }
}

Value rtdl_numbers(TableEncoder& build, Value numbers, const RtdlTokens& names) {
  if (!numbers.valid()) return {};
  const Tensor bias = build.parameter(names.number_bias, {build.facts().numbers, -1});
  return build.plus(build.scaled_vectors(numbers, names.number_weight), bias, names.number_bias);
}

Value rtdl_categories(TableEncoder& build, Value ids, const RtdlTokens& names) {
  if (!ids.valid()) return {};
  const Tensor bias = build.parameter(names.category_bias, {build.facts().categories(), -1});
  return build.plus(
      build.picked_vectors(ids, {names.table}, first_rows(build.facts().category_counts)), bias,
      names.category_bias);
}

void read_rtdl_blocks(const Checkpoint& tensors, const RtdlNames& names, TableFacts& facts) {
  facts.blocks = count_of(tensors, names.blocks);
  const std::string attention = names.blocks + "0.attention.";
  // A single head has no output projection.
  const bool several = tensors.has(attention + "W_out.weight");
  facts.possible_heads = several ? divisors(facts.width, 2) : std::vector<int64_t>{1};
  facts.mixes_keys = tensors.has(attention + "key_compression.weight") ||
                     tensors.has(names.blocks + "0.key_compression.weight") ||
                     tensors.has(names.shared_mixture + ".weight");
}

Value rtdl_blocks(TableEncoder& build, Value x, const RtdlNames& names) {
  const Checkpoint& tensors = build.weights().tensors;
  // Unless table.json says that this norm stands before the first attention.
  const bool after = tensors.has(names.blocks + "0." + names.attention_norm + ".weight") &&
                     option(build.weights().spec, "prenormalization", 0) == 0;
  const FeedForwardFunction function = function_of(build.weights().spec, names.gate);
  const NormPlace place = after ? NormPlace::kAfter : NormPlace::kBefore;
  for (int64_t i = 0; i < build.facts().blocks; ++i) {
    const std::string block = fmt::format("{}{}.", names.blocks, i);
    const std::string attention = block + "attention.";
    AttentionParts parts{.site = block + "attention",
                         .query = linear_named(attention + "W_q"),
                         .key = linear_named(attention + "W_k"),
                         .value = linear_named(attention + "W_v"),
                         .heads = build.heads()};
    if (build.heads() > 1) parts.out = linear_named(attention + "W_out");
    add_mixtures(tensors, names, block, parts);
    const std::string norm = block + names.attention_norm;
    x = build.step(x, place, tensors.has(norm + ".weight") ? norm : "",
                   [&](Value y) { return build.attention(y, parts); });
    x = build.step(x, place, block + names.feed_forward_norm, [&](Value y) {
      return build.feed_forward(y, {.first = linear_named(block + names.first_linear),
                                    .second = linear_named(block + names.second_linear),
                                    .function = function});
    });
  }
  return x;
}

Value rtdl_head(TableEncoder& build, Value token, const RtdlNames& names) {
  // Post-norm models have none here.
  const std::string norm = names.head + "normalization";
  const bool has_norm = build.weights().tensors.has(norm + ".weight");
  const Value normed = has_norm ? build.norm(token, norm) : token;
  const Value active = build.head_function()(normed, names.head + "activation");
  return build.linear(active, linear_named(names.head + "linear"));
}

}  // namespace whyformer
