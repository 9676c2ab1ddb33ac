#include "methods/hiding/partition_shap.h"

#include <fmt/format.h>

#include <cmath>

namespace whyformer {
namespace {

// What groups were given for being together, which their tokens share evenly.
double shared_interaction(const PartitionValues& found, int64_t players) {
  double sum = 0;
  for (size_t node = players; node < found.hierarchical.size(); ++node)
    sum += std::abs(found.hierarchical[node]);
  return sum;
}

SiblingContext context_named(const std::string& name) {
  if (name == "none") return SiblingContext::kBoth;
  return name == "0" ? SiblingContext::kHidden : SiblingContext::kVisible;
}

}  // namespace

Scores partition_scores(Run& run, const PartitionSettings& settings, const HidingOptions& hiding,
                        const std::string& space) {
  InputGame game(run, hiding);
  const PartitionValues found =
      partition_shap(game, game.tree(),
                     {.context = context_named(settings.context),
                      .max_evals = settings.max_evals,
                      .batch_size = settings.batch > 0 ? settings.batch : game.max_at_once(),
                      .seed = numpy_seed(run)},
                     watch_of(run));
  Scores scores = game.sampled_scores(found, space);
  const double shared = shared_interaction(found, game.players());
  if (settings.context != "none") {
    scores.notes.push_back(fmt::format(
        "With context={} an interaction between two groups is shared evenly among their tokens, "
        "special ones too: {:.3g} in all. context=none gives each token its own part.",
        settings.context, shared));
  } else if (!found.finished && !run.stopped()) {
    scores.notes.push_back(
        fmt::format("The budget of {} evaluations left some groups whole: {:.3g} is shared evenly "
                    "within them. More max-evals split them.",
                    settings.max_evals, shared));
  }
  if (!found.finished && run.stopped()) {
    scores.notes.push_back(
        fmt::format("Stopped after {} evaluations: some groups were not split yet, and {:.3g} is "
                    "shared evenly within them.",
                    found.evaluations, shared));
  }
  return scores;
}

const Method kPartitionShap{
    {.name = "partition-shap",
     .summary = "Owen values over a hierarchy of phrases or picture regions",
     .paper = "Owen, 1977; the Partition explainer of the shap package",
     .cost = "(2/3)M² forwards, at most 500",
     .class_specific = true,
     .is_signed = true,
     .model_agnostic = true,
     .options = {hiding_option(),
                 space_option(),
                 link_option(),
                 {"context",
                  "context of a group while it is split: siblings hidden and visible (none), "
                  "always hidden (0), or always visible (1)",
                  std::string("none"),
                  {"none", "0", "1"}},
                 evaluations_option("maximum number of coalitions evaluated", 500, 2),
                 {"batch",
                  "coalitions per batch between two choices of the next group; 0: as many as fit",
                  int64_t{0},
                  {},
                  0,
                  1e6}},
     .presets = {{"shap",
                  "text masker and group order of the shap package",
                  {{"how", std::string("retokenize")}, {"batch", int64_t{5}}}},
                 {"shap-context-1",
                  "the same with fixed_context=1",
                  {{"how", std::string("retokenize")},
                   {"batch", int64_t{5}},
                   {"context", std::string("1")}}}}},
    {},
    [](Run& run, const OptionReader& options) {
      return partition_scores(run,
                              {.context = options.word("context"),
                               .max_evals = options.whole("max-evals"),
                               .batch = options.whole("batch")},
                              linked_hiding_options(options), options.word("space"));
    },
    OnSeveralParts::kTogether};

}  // namespace whyformer
