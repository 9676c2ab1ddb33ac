#include "studies/heads/head_study.h"
#include "whyformer/error.h"

namespace whyformer {

HeadImportance head_importance(const Model& model, const std::vector<LabelledInput>& corpus,
                               const HeadsRequest& request) {
  if (corpus.empty()) throw InvalidInput("there are no inputs to measure heads on");
  HeadImportance result = study_heads(model.reader_of(corpus[0].input), corpus, request);
  result.model = model.name();
  return result;
}

}  // namespace whyformer
