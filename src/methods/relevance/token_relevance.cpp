#include "methods/relevance/token_relevance.h"

#include "methods/gradients/token_gradients.h"

namespace whyformer {

OptionInfo relevance_depth_option(std::string default_value) {
  OptionInfo option = depth_option();
  option.default_value = std::move(default_value);
  return option;
}

OptionInfo relevance_form_option() {
  return {"form",
          "gradient × input form, or explicit rules; equal up to rounding",
          std::string("gradient"),
          {"gradient", "explicit"}};
}

Scores token_relevance(Run& run, const Run::RelevanceKind& kind, const OptionReader& options) {
  const Depth depth = depth_named(run.input(), options.word("at"));
  Scores scores = folded(run.input(), depth, run.embedding_relevance(kind, depth), row_sums);
  scores.notes = run.policy_notes(kind.policy);
  return scores;
}

Scores token_relevance_by_form(Run& run, const std::string& policy, const OptionReader& options) {
  const RelevanceForm form =
      options.word("form") == "explicit" ? RelevanceForm::kExplicit : RelevanceForm::kGradient;
  return token_relevance(run, {policy, form}, options);
}

}  // namespace whyformer
