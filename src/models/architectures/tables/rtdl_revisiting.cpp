// rtdl_revisiting_models.FTTransformer: the class token first, then numbers, then categories.
#include <fmt/format.h>

#include "models/architectures/tables/table_family.h"

namespace whyformer {
namespace {

const RtdlNames kBlockNames{.blocks = "backbone.blocks.",
                            .head = "backbone.output.",
                            .first_linear = "ffn.linear1",
                            .second_linear = "ffn.linear2"};

std::string table_of(int64_t column) {
  return fmt::format("cat_embeddings.embeddings.{}.weight", column);
}

bool recognises(const Checkpoint& tensors) {
  return tensors.has("cls_embedding.weight") &&
         tensors.has("backbone.blocks.0.attention.W_q.weight");
}

TableFacts facts(const TableWeights& weights) {
  const Checkpoint& tensors = weights.tensors;
  TableFacts facts;
  facts.width = shape_of(tensors, "cls_embedding.weight", 1)[0];
  if (tensors.has("cont_embeddings.weight"))
    facts.numbers = shape_of(tensors, "cont_embeddings.weight", 2)[0];
  while (tensors.has(table_of(facts.categories())))
    facts.category_counts.push_back(shape_of(tensors, table_of(facts.categories()), 2)[0]);
  read_rtdl_blocks(tensors, kBlockNames, facts);
  return facts;
}

Value answer(TableEncoder& build, const TableInputs& inputs) {
  const TableFacts& facts = build.facts();
  const int64_t width = facts.width;
  Value numbers, categories;
  if (inputs.numbers.valid()) {
    numbers = build.plus(build.scaled_vectors(inputs.numbers, "cont_embeddings.weight"),
                         build.parameter("cont_embeddings.bias", {facts.numbers, width}),
                         "cont_embeddings.bias");
  }
  if (inputs.categories.valid()) {
    std::vector<std::string> tables;
    for (int64_t i = 0; i < facts.categories(); ++i) tables.push_back(table_of(i));
    categories = build.plus(
        build.picked_vectors(inputs.categories, tables, first_rows(facts.category_counts)),
        build.parameter("cat_embeddings.bias", {facts.categories(), width}), "cat_embeddings.bias");
  }
  const Value cls =
      build.learned_token(build.parameter("cls_embedding.weight", {width}), "cls_embedding");
  // Its last block asks for the class token alone; the answer is the same, and the maps are whole.
  const Value x = rtdl_blocks(build, build.joined_tokens({cls, numbers, categories}), kBlockNames);
  return rtdl_head(build, build.token(x, 0), kBlockNames);
}

}  // namespace

const TableFamily kRtdlRevisiting{.name = "rtdl-revisiting",
                                  .package = "rtdl_revisiting_models.FTTransformer",
                                  .recognises = recognises,
                                  .facts = facts,
                                  .answer = answer};

}  // namespace whyformer
