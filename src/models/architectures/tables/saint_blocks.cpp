// Blocks of SAINT: attention between columns, between rows, or both, each with a feed-forward part.
// What is added to a step's result is what its norm gave.
#include <fmt/format.h>

#include "models/architectures/tables/table_family.h"

namespace whyformer {
namespace {

std::string step_name(int64_t block, int64_t step) {
  return fmt::format("transformer.layers.{}.{}.", block, step);
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

Value forward_step(TableEncoder& build, Value x, const std::string& step,
                   const SaintBlocks& blocks) {
  const FeedForwardFunction function = function_of(build.weights().spec, ActivationFunction::kGelu);
  return build.step(x, NormPlace::kBeforeBoth, step + "norm", [&](Value y) {
    return build.feed_forward(y, {.first = linear_named(step + blocks.first_forward),
                                  .second = linear_named(step + blocks.second_forward),
                                  .function = function});
  });
}

Value column_steps(TableEncoder& build, Value x, int64_t block, const SaintBlocks& blocks) {
  const std::string step = step_name(block, 0);
  const AttentionParts parts = attention_parts(build, step, blocks.column_head_width);
  x = build.step(x, NormPlace::kBeforeBoth, step + "norm",
                 [&](Value y) { return build.attention(y, parts); });
  return forward_step(build, x, step_name(block, 1), blocks);
}

Value row_steps(TableEncoder& build, Value x, int64_t block, int64_t first,
                const SaintBlocks& blocks) {
  const int64_t tokens = build.graph().shape(x)[1];
  const std::string step = step_name(block, first);
  const AttentionParts parts = attention_parts(build, step, blocks.row_head_width);
  Value rows = build.step(build.rows_as_tokens(x), NormPlace::kBeforeBoth, step + "norm",
                          [&](Value y) { return build.row_attention(y, parts); });
  rows = forward_step(build, rows, step_name(block, first + 1), blocks);
  return build.tokens_of_rows(rows, tokens);
}

}  // namespace

// The width of what the first step of a block normalises tells whether it is between rows.
bool starts_with_rows(const Checkpoint& tensors, int64_t width) {
  return shape_of(tensors, step_name(0, 0) + "norm.weight", 1)[0] != width;
}

int64_t read_saint_blocks(const Checkpoint& tensors, TableFacts& facts) {
  facts.blocks = count_of(tensors, "transformer.layers.");
  facts.rows_attend =
      starts_with_rows(tensors, facts.width) || tensors.has(step_name(0, 2) + "norm.weight");
  return shape_of(tensors, step_name(0, 0) + "fn.fn.to_qkv.weight", 2)[0] / 3;
}

Value perceptron_tokens(TableEncoder& build, Value numbers, const std::string& prefix) {
  const int64_t columns = build.graph().shape(numbers)[1], width = build.facts().width;
  std::vector<Value> tokens;
  for (int64_t j = 0; j < columns; ++j) {
    const std::string name = fmt::format("{}{}.layers.", prefix, j);
    const Value number = slice(build.graph(), numbers, 1, j, 1, name + "number");
    const Value token = build.perceptron(
        number, name, [&](Value x, const std::string& own) { return build.relu(x, own); });
    tokens.push_back(
        reshape(build.graph(), token, {build.rows(), 1, width}, {0, -1, 1}, name + "token"));
  }
  return columns == 1 ? tokens[0] : concat(build.graph(), tokens, 1, prefix + "tokens");
}

Value saint_blocks(TableEncoder& build, Value x, const SaintBlocks& blocks) {
  const TableFacts& facts = build.facts();
  const bool rows_first = starts_with_rows(build.weights().tensors, facts.width);
  for (int64_t block = 0; block < facts.blocks; ++block) {
    if (!rows_first) x = column_steps(build, x, block, blocks);
    if (facts.rows_attend) x = row_steps(build, x, block, rows_first ? 0 : 2, blocks);
  }
  return x;
}

}  // namespace whyformer
