#include <fmt/format.h>

#include "studies/heads/head_study.h"
#include "whyformer/error.h"

namespace whyformer {

HeadImportance head_importance(const Model& model, const std::vector<LabelledInput>& corpus,
                               const HeadsRequest& request) {
  if (corpus.empty()) throw InvalidInput("there are no inputs to measure heads on");
  const Reader& reader = model.reader_of(corpus[0].input);
  for (size_t i = 0; i < corpus.size(); ++i) {
    const std::string& place = corpus[i].place;
    check_kind(reader, corpus[i].input, place.empty() ? fmt::format("input {}", i) : place);
  }
  HeadImportance result = study_heads(reader, corpus, request);
  result.model = model.name();
  return result;
}

}  // namespace whyformer
