#include "evaluate/hidden_answers.h"

namespace whyformer {

HiddenAnswer HiddenAnswers::operator()(const Hidden& hidden) {
  const auto found = known_.find(hidden);
  if (found != known_.end()) return found->second;
  noted_.insert(hidden);
  return {};
}

void HiddenAnswers::run_noted() {
  if (noted_.empty()) return;
  const std::vector<Hidden> questions(noted_.begin(), noted_.end());
  const std::vector<HiddenAnswer> answers = ask_(questions);
  for (size_t i = 0; i < questions.size(); ++i) known_[questions[i]] = answers[i];
  noted_.clear();
}

}  // namespace whyformer
