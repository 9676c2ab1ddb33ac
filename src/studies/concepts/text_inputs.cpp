#include "studies/concepts/text_inputs.h"

#include "studies/concepts/block_outputs.h"

namespace whyformer {

BlockGraph TextConceptInputs::graph(int64_t length, int64_t examples, LastBlock last) const {
  const Head head = model_.has_classifier() ? Head::kLogits : Head::kEmbedding;
  const auto built = model_.graph({.batch = examples,
                                   .tokens = length,
                                   .head = head,
                                   .dtype = dtype_,
                                   .all_rows = last == LastBlock::kAllRows});
  return {built, &built->graph, block_outputs(built->graph, built->found, built->output),
          built->output};
}

Feeds TextConceptInputs::feeds(const BlockGraph& graph, std::span<const int64_t> examples) const {
  TokenBatch batch;
  for (const int64_t example : examples) {
    batch.ids.push_back(texts_[example].ids);
    batch.types.push_back(texts_[example].type_ids);
  }
  return model_.feeds(*std::static_pointer_cast<const TextGraph>(graph.owner), batch);
}

}  // namespace whyformer
