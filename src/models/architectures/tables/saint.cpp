// SAINT as its authors have it: the class token first (a category with one value), then categories,
// then numbers through a perceptron each; attention between columns, between rows, or both.
#include "models/architectures/tables/table_family.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// Widths of heads that are written into the code.
constexpr int64_t kColumnHeadWidth = 16, kRowHeadWidth = 64;

const SaintBlocks kBlocks{.first_forward = "fn.fn.net.0",
                          .second_forward = "fn.fn.net.3",
                          .column_head_width = kColumnHeadWidth,
                          .row_head_width = kRowHeadWidth};

bool recognises(const Checkpoint& tensors) {
  return tensors.has("mask_embeds_cat.weight") && tensors.has("mlpfory.layers.0.weight");
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
  const int64_t inner = read_saint_blocks(tensors, facts);
  const bool rows = starts_with_rows(tensors, facts.width);
  facts.possible_heads = {inner / (rows ? kRowHeadWidth : kColumnHeadWidth)};
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
  const int64_t columns = build.facts().numbers;
  const Value all = perceptron_tokens(build, inputs.numbers, "simple_MLP.");
  return build.with_missing(all, inputs.missing, 0,
                            missing_vectors(build, "mask_embeds_cont.weight", 0, columns));
}

Value answer(TableEncoder& build, const TableInputs& inputs) {
  const TableFacts& facts = build.facts();
  const Checkpoint& tensors = build.weights().tensors;
  const int64_t cls_row = tensors.whole_numbers("categories_offset").at(0);
  const Tensor cls = build.parameter("embeds.weight", {-1, facts.width}).slice(0, cls_row, 1);
  Value x = build.with_context_rows(
      build.joined_tokens({build.learned_token(cls.contiguous(), "class_token"),
                           category_tokens(build, inputs), number_tokens(build, inputs)}));
  x = saint_blocks(build, x, kBlocks);
  return build.perceptron(build.token(build.explained_rows(x), 0), "mlpfory.layers.",
                          build.head_function());
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
