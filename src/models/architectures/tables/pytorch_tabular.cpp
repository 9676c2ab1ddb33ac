// pytorch_tabular's FTTransformer (numbers, then categories, the class token last) and
// TabTransformer (categories alone, numbers put beside).
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "models/architectures/tables/table_family.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

const std::string kTabularEmbedding = "_embedding_layer.";
const std::string kTabularBlocks = "_backbone.transformer_blocks.mha_block_";

std::string table_of(int64_t column) {
  return fmt::format("{}cat_embedding_layers.{}.embed.weight", kTabularEmbedding, column);
}
std::string shared_of(int64_t column) {
  return fmt::format("{}cat_embedding_layers.{}.shared_embed", kTabularEmbedding, column);
}

bool has_blocks(const Checkpoint& tensors) {
  return tensors.has(kTabularBlocks + "0.mha.to_qkv.weight");
}
bool recognises_ft(const Checkpoint& tensors) {
  return has_blocks(tensors) && tensors.has("_backbone.add_cls.weight");
}
bool recognises_tab(const Checkpoint& tensors) { return has_blocks(tensors); }

// With a virtual batch size the norm is wrapped once more.
std::string batch_norm_in(const Checkpoint& tensors, const std::string& owner) {
  const std::string name = owner + "normalizing_batch_norm.bn";
  return tensors.has(name + ".bn.running_mean") ? name + ".bn" : name;
}

TableFacts shared_facts(const TableWeights& weights) {
  const Checkpoint& tensors = weights.tensors;
  TableFacts facts;
  const Shape to_qkv = shape_of(tensors, kTabularBlocks + "0.mha.to_qkv.weight", 2);
  facts.width = to_qkv[1];
  while (tensors.has(table_of(facts.categories())))
    facts.category_counts.push_back(shape_of(tensors, table_of(facts.categories()), 2)[0]);
  facts.blocks = count_of(tensors, kTabularBlocks);
  // A head is as wide as a token.
  facts.possible_heads = {to_qkv[0] / std::max<int64_t>(1, 3 * facts.width)};
  return facts;
}

TableFacts ft_facts(const TableWeights& weights) {
  TableFacts facts = shared_facts(weights);
  const std::string numbers = kTabularEmbedding + "cont_embedding_layer.weight";
  if (weights.tensors.has(numbers)) facts.numbers = shape_of(weights.tensors, numbers, 2)[0];
  return facts;
}

// Numbers have no tensors where they are not normalised: what the head reads besides tokens.
TableFacts tab_facts(const TableWeights& weights) {
  TableFacts facts = shared_facts(weights);
  const int64_t read = shape_of(weights.tensors, "_head.layers.0.weight", 2)[1];
  facts.numbers = read - facts.width * facts.categories();
  return facts;
}

// The first numbers of each vector, or the summand of all, that a column's categories share.
Value category_tokens(TableEncoder& build, Value ids) {
  if (!ids.valid()) return {};
  const Checkpoint& tensors = build.weights().tensors;
  const TableFacts& facts = build.facts();
  const int64_t columns = facts.categories(), width = facts.width, rows = build.rows();
  std::vector<std::string> tables;
  for (int64_t i = 0; i < columns; ++i) tables.push_back(table_of(i));
  const int64_t shared = shape_of(tensors, shared_of(0), 2)[1];
  Tensor all = Tensor::empty({columns, shared}, build.type());
  for (int64_t i = 0; i < columns; ++i)
    all.slice(0, i, 1).copy_from(build.parameter(shared_of(i), {1, shared}));
  Value tokens = build.picked_vectors(ids, tables, first_rows(facts.category_counts));
  if (shared == width) {
    tokens = build.plus(tokens, all, "shared_embed");
  } else if (shared > 0) {
    const Value own = slice(build.graph(), tokens, 2, shared, width - shared, "own_part");
    const Value first = build.constant(
        all.reshape({1, columns, shared}).expand({rows, columns, shared}).contiguous(),
        "shared_embed");
    tokens = concat(build.graph(), first, own, 2, "shared_part");
  }
  const std::string bias = kTabularEmbedding + "cat_embedding_bias";
  return tensors.has(bias) ? build.plus(tokens, build.parameter(bias, {columns, width}), bias)
                           : tokens;
}

// y = attention(x), x = norm(x + y), x = norm(x + feed_forward(y)): of the attention's output, not
// of the sum.
Value blocks(TableEncoder& build, Value x) {
  const Checkpoint& tensors = build.weights().tensors;
  const FeedForwardFunction function = function_of(build.weights().spec, ActivationFunction::kGelu);
  for (int64_t i = 0; i < build.facts().blocks; ++i) {
    const std::string block = fmt::format("{}{}.", kTabularBlocks, i);
    const LinearRows all = linear_without_bias(block + "mha.to_qkv");
    const AttentionParts parts{.site = block + "mha",
                               .query = third_of(tensors, all, 0),
                               .key = third_of(tensors, all, 1),
                               .value = third_of(tensors, all, 2),
                               .out = linear_named(block + "mha.to_out"),
                               .heads = build.heads()};
    const bool gated = tensors.has(block + "pos_wise_ff.ffn.linear_v.weight");
    const std::string forward = block + (gated ? "pos_wise_ff.ffn." : "pos_wise_ff.");
    FeedForwardParts feed{.first = linear_named(forward + "layer1"),
                          .second = linear_named(forward + "layer2"),
                          .function = function};
    if (gated) {
      feed.gate = linear_without_bias(forward + "linear_v");
      feed.first.bias = feed.second.bias = {};
    }
    Value y;
    x = build.step(x, NormPlace::kAfter, block + "attn_add_norm.ln",
                   [&](Value in) { return y = build.attention(in, parts); });
    x = build.step(x, NormPlace::kAfter, block + "ff_add_norm.ln",
                   [&](Value) { return build.feed_forward(y, feed); });
  }
  return x;
}

Value normed_numbers(TableEncoder& build, Value numbers, const std::string& owner) {
  const Checkpoint& tensors = build.weights().tensors;
  const std::string norm = batch_norm_in(tensors, owner);
  const bool has_norm = numbers.valid() && tensors.has(norm + ".running_mean");
  return has_norm ? build.batch_norm(numbers, norm) : numbers;
}

// Of a regression with a target_range, least + (most - least) · sigmoid(x).
Value in_target_range(TableEncoder& build, Value x) {
  const std::string name = "target_range";
  const auto& options = build.weights().spec.model.numbers;
  const auto range = options.find(name);
  if (range == options.end()) return x;
  const int64_t outputs = build.graph().shape(x).back();
  if (static_cast<int64_t>(range->second.size()) != 2 * outputs) {
    throw UnsupportedModel(fmt::format(
        "table.json gives {} numbers as target_range: the least and the most of each of {} outputs "
        "are expected",
        range->second.size(), outputs));
  }
  std::vector<double> least, size;
  for (int64_t i = 0; i < outputs; ++i) {
    least.push_back(range->second[2 * i]);
    size.push_back(range->second[2 * i + 1] - least.back());
  }
  const auto row = [&](const std::vector<double>& numbers) {
    return Tensor::of<double>({outputs}, std::span<const double>(numbers)).cast(build.type());
  };
  const Value share = build.activate(x, ActivationFunction::kSigmoid, name + "/share");
  return build.plus(build.times(share, row(size), name + "/size"), row(least), name);
}

Value head(TableEncoder& build, Value x) {
  return in_target_range(build, build.perceptron(x, "_head.layers.", build.head_function()));
}

Value ft_answer(TableEncoder& build, const TableInputs& inputs) {
  const TableFacts& facts = build.facts();
  Value numbers = normed_numbers(build, inputs.numbers, kTabularEmbedding);
  if (numbers.valid()) {
    numbers = build.scaled_vectors(numbers, kTabularEmbedding + "cont_embedding_layer.weight");
    const std::string bias = kTabularEmbedding + "cont_embedding_bias";
    if (build.weights().tensors.has(bias))
      numbers = build.plus(numbers, build.parameter(bias, {facts.numbers, facts.width}), bias);
  }
  const Value cls = build.learned_token(build.parameter("_backbone.add_cls.weight", {facts.width}),
                                        "_backbone.add_cls");
  const Value tokens =
      build.joined_tokens({numbers, category_tokens(build, inputs.categories), cls});
  const int64_t last = build.graph().shape(tokens)[1] - 1;
  return head(build, build.token(blocks(build, tokens), last));
}

Value tab_answer(TableEncoder& build, const TableInputs& inputs) {
  const Value x = blocks(build, build.joined_tokens({category_tokens(build, inputs.categories)}));
  const Value numbers = normed_numbers(build, inputs.numbers, "_backbone.");
  return head(build, build.beside(build.flat(x), numbers));
}

// The embedding layer has a norm of its own. Losses and metrics may have weights.
constexpr std::string_view kWithoutUse[] = {"_backbone.normalizing_batch_norm", "loss.",
                                            "custom_loss."};

}  // namespace

const TableFamily kPytorchTabularFt{.name = "pt-ft",
                                    .package = "pytorch_tabular FTTransformer",
                                    .recognises = recognises_ft,
                                    .facts = ft_facts,
                                    .answer = ft_answer,
                                    .without_use = kWithoutUse};

const TableFamily kPytorchTabularTab{.name = "pt-tab",
                                     .package = "pytorch_tabular TabTransformer",
                                     .recognises = recognises_tab,
                                     .facts = tab_facts,
                                     .answer = tab_answer,
                                     .without_use = kWithoutUse};

}  // namespace whyformer
