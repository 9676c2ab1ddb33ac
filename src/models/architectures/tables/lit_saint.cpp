// lit_saint.Saint (0.4): categories, numbers through a perceptron each, the class token last: a
// further number that is always 0. How many categories each column has is not stored.
#include <fmt/format.h>

#include <cmath>

#include "models/architectures/tables/table_family.h"

namespace whyformer {
namespace {

constexpr int64_t kDefaultHeadWidth = 64;
const std::string kNumbers = "embedding_continuos.";  // as the package spells it
const std::string kCategories = "embedding_categorical.weight";

bool recognises(const Checkpoint& tensors) {
  return tensors.has(kNumbers + "0.layers.0.weight") && tensors.has("mlpfory.layers.0.weight");
}

// Columns that mlp1 of the pretraining has an output for; those are all that there are.
int64_t category_columns(const Checkpoint& tensors) { return count_of(tensors, "mlp1.layers."); }

TableFacts facts(const TableWeights& weights) {
  const Checkpoint& tensors = weights.tensors;
  TableFacts facts;
  const Shape table = shape_of(tensors, kCategories, 2);
  facts.width = table[1];
  facts.numbers = count_of(tensors, kNumbers) - 1;  // the last one is the class token
  facts.category_counts = told_counts(weights, category_columns(tensors), table[0]);
  read_saint_blocks(tensors, facts);
  read_lucid_heads(weights, "transformer.layers.0.0.fn.fn.to_qkv.weight", kDefaultHeadWidth, facts);
  return facts;
}

Value answer(TableEncoder& build, const TableInputs& inputs) {
  const TableFacts& facts = build.facts();
  GraphBuilder& graph = build.graph();
  const Tensor zeros = Tensor::zeros({build.rows(), 1}, build.type());
  const Value zero = build.constant(zeros, "class_token/number");
  const Value all_numbers =
      inputs.numbers.valid() ? concat(graph, inputs.numbers, zero, 1, "numbers") : zero;
  const Value numbers = perceptron_tokens(build, all_numbers, kNumbers);
  Value categories;
  if (inputs.categories.valid()) {
    categories =
        build.picked_vectors(inputs.categories, {kCategories}, first_rows(facts.category_counts));
  }
  Value x = build.with_context_rows(build.joined_tokens({categories, numbers}));
  const int64_t inner =
      shape_of(build.weights().tensors, "transformer.layers.0.0.fn.fn.to_qkv.weight", 2)[0] / 3;
  const int64_t head_width = inner / build.heads();
  x = saint_blocks(build, x,
                   {.first_forward = "fn.fn.layers.0",
                    .second_forward = "fn.fn.layers.3",
                    .column_head_width = head_width,
                    .row_head_width = head_width});
  const int64_t last = graph.shape(x)[1] - 1;
  return build.perceptron(build.token(build.explained_rows(x), last), "mlpfory.layers.",
                          build.head_function());
}

// Heads of the training before.
constexpr std::string_view kWithoutUse[] = {"mlp1.", "mlp2.", "pt_mlp"};

}  // namespace

const TableFamily kLitSaint{.name = "lit-saint",
                            .package = "lit_saint.Saint",
                            .recognises = recognises,
                            .facts = facts,
                            .answer = answer,
                            .without_use = kWithoutUse};

}  // namespace whyformer
