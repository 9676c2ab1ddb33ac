// SAINT as its authors have it: the class token first (a category with one value), then categories,
// then numbers through a perceptron each; attention between columns, between rows, or both.
#include <fmt/format.h>

#include "models/architectures/tables/table_family.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// Widths of heads that are written into the code.
constexpr int64_t kColumnHeadWidth = 16, kRowHeadWidth = 64;

std::string step_of(int64_t block, int64_t step) {
  return fmt::format("transformer.layers.{}.{}.", block, step);
}

bool recognises(const Checkpoint& tensors) {
  return tensors.has("mask_embeds_cat.weight") && tensors.has("mlpfory.layers.0.weight");
}

// The width of what the first step of a block normalises tells whether it is between rows.
bool starts_with_rows(const Checkpoint& tensors, int64_t width) {
  return shape_of(tensors, step_of(0, 0) + "norm.weight", 1)[0] != width;
}

TableFacts facts(const TableWeights& weights) {
  const Checkpoint& tensors = weights.tensors;
  TableFacts facts;
  const Shape table = shape_of(tensors, "embeds.weight", 2);
  facts.width = table[1];
  facts.numbers = count_of(tensors, "simple_MLP.");
  facts.category_counts = counts_between(tensors.whole_numbers("categories_offset"), table[0]);
  if (facts.category_counts.empty()) throw FileError("'categories_offset' has no class token");
  facts.category_counts.erase(facts.category_counts.begin());  // the class token
  facts.blocks = count_of(tensors, "transformer.layers.");
  const bool rows = starts_with_rows(tensors, facts.width);
  const int64_t inner = shape_of(tensors, step_of(0, 0) + "fn.fn.to_qkv.weight", 2)[0] / 3;
  facts.possible_heads = {inner / (rows ? kRowHeadWidth : kColumnHeadWidth)};
  facts.rows_attend = rows || tensors.has(step_of(0, 2) + "norm.weight");
  facts.has_missing = true;
  return facts;
}

// Of each cell without a value the even rows; the odd ones are never read.
Tensor missing_vectors(TableEncoder& build, const std::string& table, int64_t first,
                       int64_t columns) {
  const int64_t width = build.facts().width;
  const Tensor all = build.parameter(table, {2 * (first + columns), width});
  return all.reshape({first + columns, 2, width})
      .slice(0, first, columns)
      .select(1, 0)
      .contiguous();
}

Value category_tokens(TableEncoder& build, const TableInputs& inputs) {
  if (!inputs.categories.valid()) return {};
  std::vector<int64_t> first = build.weights().tensors.whole_numbers("categories_offset");
  first.erase(first.begin());
  const Value tokens = build.picked_vectors(inputs.categories, {"embeds.weight"}, first);
  return build.with_missing(
      tokens, inputs.missing, build.facts().numbers,
      missing_vectors(build, "mask_embeds_cat.weight", 1, build.facts().categories()));
}

Value number_tokens(TableEncoder& build, const TableInputs& inputs) {
  if (!inputs.numbers.valid()) return {};
  const int64_t columns = build.facts().numbers, width = build.facts().width;
  GraphBuilder& graph = build.graph();
  std::vector<Value> tokens;
  for (int64_t j = 0; j < columns; ++j) {
    const std::string name = fmt::format("simple_MLP.{}.layers.", j);
    const Value number = slice(graph, inputs.numbers, 1, j, 1, name + "number");
    const Value token = build.perceptron(number, name, ActivationFunction::kRelu);
    tokens.push_back(reshape(graph, token, {build.rows(), 1, width}, {0, -1, 1}, name + "token"));
  }
  const Value all = columns == 1 ? tokens[0] : concat(graph, tokens, 1, "simple_MLP");
  return build.with_missing(all, inputs.missing, 0,
                            missing_vectors(build, "mask_embeds_cont.weight", 0, columns));
}

AttentionParts attention_parts(TableEncoder& build, const std::string& step, int64_t head_width) {
  const Checkpoint& tensors = build.weights().tensors;
  const LinearRows all = linear_without_bias(step + "fn.fn.to_qkv");
  const int64_t inner = shape_of(tensors, all.weight, 2)[0] / 3;
  return {.site = step + "attention",
          .query = third_of(tensors, all, 0),
          .key = third_of(tensors, all, 1),
          .value = third_of(tensors, all, 2),
          .out = linear_named(step + "fn.fn.to_out"),
          .heads = inner / head_width};
}

// norm x + f(norm x), of a feed-forward part.
Value forward_step(TableEncoder& build, Value x, const std::string& step) {
  const FeedForwardFunction function = function_of(build.weights().spec, ActivationFunction::kGelu);
  return build.step(x, NormPlace::kBeforeBoth, step + "norm", [&](Value y) {
    return build.feed_forward(y, {.first = linear_named(step + "fn.fn.net.0"),
                                  .second = linear_named(step + "fn.fn.net.3"),
                                  .function = function});
  });
}

Value column_steps(TableEncoder& build, Value x, int64_t block) {
  const std::string step = step_of(block, 0);
  const AttentionParts parts = attention_parts(build, step, kColumnHeadWidth);
  x = build.step(x, NormPlace::kBeforeBoth, step + "norm",
                 [&](Value y) { return build.attention(y, parts); });
  return forward_step(build, x, step_of(block, 1));
}

Value row_steps(TableEncoder& build, Value x, int64_t block, int64_t first) {
  const int64_t tokens = build.graph().shape(x)[1];
  const std::string step = step_of(block, first);
  const AttentionParts parts = attention_parts(build, step, kRowHeadWidth);
  Value rows = build.step(build.rows_as_tokens(x), NormPlace::kBeforeBoth, step + "norm",
                          [&](Value y) { return build.row_attention(y, parts); });
  rows = forward_step(build, rows, step_of(block, first + 1));
  return build.tokens_of_rows(rows, tokens);
}

Value answer(TableEncoder& build, const TableInputs& inputs) {
  const TableFacts& facts = build.facts();
  const Checkpoint& tensors = build.weights().tensors;
  const int64_t cls_row = tensors.whole_numbers("categories_offset").at(0);
  const Tensor cls = build.parameter("embeds.weight", {-1, facts.width}).slice(0, cls_row, 1);
  Value x = build.with_context_rows(
      build.joined_tokens({build.learned_token(cls.contiguous(), "class_token"),
                           category_tokens(build, inputs), number_tokens(build, inputs)}));
  const bool rows_first = starts_with_rows(tensors, facts.width);
  for (int64_t block = 0; block < facts.blocks; ++block) {
    if (!rows_first) x = column_steps(build, x, block);
    if (facts.rows_attend) x = row_steps(build, x, block, rows_first ? 0 : 2);
  }
  return build.perceptron(build.token(build.explained_rows(x), 0), "mlpfory.layers.",
                          ActivationFunction::kRelu);
}

// Heads of the training before, and a mask's positions.
constexpr std::string_view kWithoutUse[] = {"norm.",
                                            "mlp.",
                                            "mlp1.",
                                            "mlp2.",
                                            "pt_mlp",
                                            "single_mask.",
                                            "pos_encodings.",
                                            "transformer.embeds.",
                                            "transformer.mask_embed.",
                                            "cat_mask_offset",
                                            "con_mask_offset",
                                            "mask_embeds_"};

}  // namespace

const TableFamily kSaint{.name = "saint",
                         .package = "SAINT (somepago/saint)",
                         .recognises = recognises,
                         .facts = facts,
                         .answer = answer,
                         .without_use = kWithoutUse};

}  // namespace whyformer
