// AutoGluon's ft_transformer: categories, then numbers, each through a Linear of its own, the class
// token last; rtdl's blocks.
#include "models/architectures/tables/table_family.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

const RtdlNames kBlockNames{.blocks = "transformer.blocks.",
                            .head = "head.",
                            .first_linear = "ffn.linear_first",
                            .second_linear = "ffn.linear_second",
                            .shared_mixture = "transformer.shared_kv_compression",
                            .gate = ActivationFunction::kGelu};
const RtdlTokens kTokenNames{.number_weight = "numerical_feature_tokenizer.layers.0.weight",
                             .number_bias = "numerical_feature_tokenizer.layers.0.bias",
                             .table = "categorical_feature_tokenizer.embeddings.weight",
                             .category_bias = "categorical_feature_tokenizer.bias"};

bool recognises(const Checkpoint& tensors) {
  return tensors.has("categorical_adapter.weight") || tensors.has("numerical_adapter.weight");
}

TableFacts facts(const TableWeights& weights) {
  const Checkpoint& tensors = weights.tensors;
  const std::string numbers = "numerical_feature_tokenizer.layers.";
  if (tensors.has("numerical_adapter.weight") &&
      (!tensors.has(kTokenNames.number_weight) || tensors.has_prefix(numbers + "1.") ||
       tensors.has_prefix(numbers + "2."))) {
    throw UnsupportedModel(
        "the numbers of this ft_transformer go through more than one linear layer each (its "
        "embedding_arch): export the model to ONNX and give that file");
  }
  TableFacts facts;
  facts.width = shape_of(tensors, "cls_token.weight", 1)[0];
  read_rtdl_tokens(weights, kTokenNames, facts);
  read_rtdl_blocks(tensors, kBlockNames, facts);
  return facts;
}

Value adapted(TableEncoder& build, Value tokens, const std::string& adapter) {
  return tokens.valid() ? build.linear(tokens, linear_named(adapter)) : tokens;
}

Value answer(TableEncoder& build, const TableInputs& inputs) {
  const Value categories =
      adapted(build, rtdl_categories(build, inputs.categories, kTokenNames), "categorical_adapter");
  const Value numbers =
      adapted(build, rtdl_numbers(build, inputs.numbers, kTokenNames), "numerical_adapter");
  const Value cls =
      build.learned_token(build.parameter("cls_token.weight", {build.facts().width}), "cls_token");
  const Value tokens = build.joined_tokens({categories, numbers, cls});
  const int64_t last = build.graph().shape(tokens)[1] - 1;
  return rtdl_head(build, build.token(rtdl_blocks(build, tokens, kBlockNames), last), kBlockNames);
}

}  // namespace

const TableFamily kAutoGluon{.name = "ag-ft",
                             .package = "AutoGluon ft_transformer",
                             .recognises = recognises,
                             .facts = facts,
                             .answer = answer};

}  // namespace whyformer
