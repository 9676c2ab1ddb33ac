// rtdl.FTTransformer (0.0.13 and before): numbers, then categories, the class token last. How many
// categories each column has is not stored.
#include "models/architectures/tables/table_family.h"

namespace whyformer {
namespace {

const RtdlNames kBlockNames{.blocks = "transformer.blocks.",
                            .head = "transformer.head.",
                            .first_linear = "ffn.linear_first",
                            .second_linear = "ffn.linear_second",
                            .shared_mixture = "transformer.shared_kv_compression"};
const RtdlTokens kTokenNames{.number_weight = "feature_tokenizer.num_tokenizer.weight",
                             .number_bias = "feature_tokenizer.num_tokenizer.bias",
                             .table = "feature_tokenizer.cat_tokenizer.embeddings.weight",
                             .category_bias = "feature_tokenizer.cat_tokenizer.bias"};

bool recognises(const Checkpoint& tensors) {
  return tensors.has_prefix("feature_tokenizer.") && tensors.has_prefix("transformer.blocks.0.") &&
         tensors.has("cls_token.weight");
}

TableFacts facts(const TableWeights& weights) {
  TableFacts facts;
  facts.width = shape_of(weights.tensors, "cls_token.weight", 1)[0];
  read_rtdl_tokens(weights, kTokenNames, facts);
  read_rtdl_blocks(weights.tensors, kBlockNames, facts);
  return facts;
}

Value answer(TableEncoder& build, const TableInputs& inputs) {
  const Value numbers = rtdl_numbers(build, inputs.numbers, kTokenNames);
  const Value categories = rtdl_categories(build, inputs.categories, kTokenNames);
  const Value cls =
      build.learned_token(build.parameter("cls_token.weight", {build.facts().width}), "cls_token");
  const Value tokens = build.joined_tokens({numbers, categories, cls});
  const int64_t last = build.graph().shape(tokens)[1] - 1;
  return rtdl_head(build, build.token(rtdl_blocks(build, tokens, kBlockNames), last), kBlockNames);
}

}  // namespace

const TableFamily kRtdlOld{.name = "rtdl-old",
                           .package = "rtdl.FTTransformer",
                           .recognises = recognises,
                           .facts = facts,
                           .answer = answer};

}  // namespace whyformer
