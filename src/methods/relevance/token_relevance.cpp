#include "methods/relevance/token_relevance.h"

#include "methods/gradients/token_gradients.h"

namespace whyformer {

OptionInfo relevance_place_option(std::string default_value) {
  OptionInfo option = place_option();
  option.default_value = std::move(default_value);
  return option;
}

OptionInfo relevance_form_option() {
  return {"form",
          "gradient × input form, or explicit rules; equal up to rounding",
          std::string("gradient"),
          {"gradient", "explicit"}};
}

Scores token_relevance(Explained& explained, const Explained::RelevanceKind& kind,
                       const OptionReader& options) {
  const Place place = place_named(explained.subject(), options.word("at"));
  Scores scores =
      folded(explained.subject(), place, explained.embedding_relevance(kind, place), row_sums);
  scores.notes = explained.policy_notes(kind.policy);
  return scores;
}

Scores token_relevance_by_form(Explained& explained, const std::string& policy,
                               const OptionReader& options) {
  const RelevanceForm form =
      options.word("form") == "explicit" ? RelevanceForm::kExplicit : RelevanceForm::kGradient;
  return token_relevance(explained, {policy, form}, options);
}

}  // namespace whyformer
