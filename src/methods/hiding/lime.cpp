#include <fmt/format.h>

#include <algorithm>

#include "methods/hiding/word_game.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// What is explained unless the user says: probabilities, as the lime package, where there are any.
std::string chosen_space(const Run& run, const std::string& asked) {
  if (asked != "auto") return asked;
  return run.has_probabilities() ? "probability" : "logit";
}

LimeNeighbours neighbours_of(const Input& input) {
  if (input.parts().size() > 1) return LimeNeighbours::kPictureParts;
  return input.parts()[0]->traits().neighbours;
}

bool hides_words(const Input& input) { return neighbours_of(input) == LimeNeighbours::kWords; }

LimeOptions lime_options(const Run& run, const OptionReader& options) {
  const int64_t keep = options.whole("keep");
  return {.neighbours = neighbours_of(run.input()),
          .samples = options.whole("samples"),
          .kernel_width = options.number("kernel-width"),
          .selection = keep > 0 ? LimeSelection::kAuto : LimeSelection::kNone,
          .players = std::max<int64_t>(1, keep),
          .ridge = options.number("ridge"),
          .seed = numpy_seed(run)};
}

// Options that say nothing to this kind of input are mistakes, not wishes that may be left unheard.
void refuse_foreign_options(const Input& input, const OptionReader& options) {
  if (hides_words(input) && options.word("how") != "auto") {
    throw InvalidInput(
        fmt::format("lime.how={}: words of a text are taken out of it (lime.words=types) or "
                    "replaced by UNKWORDZ (places); how is for patches and columns",
                    options.word("how")));
  }
  if (!hides_words(input) && options.word("words") != "types") {
    throw InvalidInput(
        fmt::format("lime.words={}: a {} has no words of a text to hide; leave it out",
                    options.word("words"), input.parts()[0]->traits().name));
  }
}

// With fewer inputs than numbers to fit, it is the ridge penalty that chooses among the fits.
void note_few_inputs(const LimeFit& fit, Scores& scores) {
  const auto numbers = static_cast<int64_t>(fit.selected[0].size()) + 1;
  if (fit.evaluations >= numbers) return;
  scores.notes.push_back(fmt::format(
      "{} different inputs for {} coefficients: the fit is underdetermined and set by the ridge "
      "penalty, errors are unknown, and units that were never hidden have 0. Raise lime.samples.",
      fit.evaluations, numbers));
}

template <class AnyGame>
Scores scores_of(const AnyGame& game, const LimeFit& fit, const std::string& space, int64_t seed) {
  Scores scores{game.by_unit(fit.coefficients)};
  scores.seed = seed;
  scores.estimate = Estimate{.space = space,
                             .base = fit.intercepts[0],
                             .value = fit.full[0],
                             .errors = game.errors_by_unit(fit.errors),
                             .evaluations = fit.evaluations,
                             .finished = fit.finished,
                             .r_squared = fit.r_squared[0]};
  scores.notes.push_back(
      fmt::format("The linear model explains {:.0f} % of the variation around this input (weighted "
                  "R²), and gives {:.3g} where the model gives {:.3g}.",
                  100 * fit.r_squared[0], fit.local_predictions[0], fit.full[0]));
  note_few_inputs(fit, scores);
  return scores;
}

Scores nothing_to_hide(const Run& run, const std::string& space) {
  const double value = run.in_space(space_named(space), run.outputs());
  Scores scores{std::vector<double>(run.input().units(), 0.0)};
  scores.estimate = Estimate{.space = space, .base = value, .value = value};
  scores.notes.push_back("Nothing in this input can be hidden.");
  return scores;
}

}  // namespace

const Method kLime{
    {.name = "lime",
     .summary = "local linear surrogate model: coefficients of words, patches or columns",
     .paper = "Ribeiro, Singh & Guestrin, KDD 2016",
     .cost = "up to 1000 forwards",
     .class_specific = true,
     .is_signed = true,
     .model_agnostic = true,
     .options = {{"samples",
                  "number of perturbed inputs, the original included",
                  int64_t{1000},
                  {},
                  2,
                  static_cast<double>(kMaxFitSamples)},
                 {"space",
                  "output space; auto: the probability if there is one",
                  std::string("auto"),
                  {"auto", "logit", "probability", "log-odds"}},
                 {"words",
                  "features: word types (all occurrences together), or single occurrences (places)",
                  std::string("types"),
                  {"types", "places"}},
                 {"how",
                  "replacement of hidden units. Patches: grey (auto), black, mean colour, blurred, "
                  "or dropped. Columns: values of background rows (auto), their mean, or zero",
                  std::string("auto"),
                  {"auto", "grey", "black", "mean", "blur", "drop", "background", "zero"}},
                 {"keep",
                  "number of features selected for the linear model; 0: all",
                  int64_t{0},
                  {},
                  0,
                  1e6},
                 {"kernel-width",
                  "width of the locality kernel; 0: 25 for words, 0.25 for patches",
                  0.0,
                  {},
                  0,
                  1e6},
                 {"ridge", "L2 penalty (ridge) of the linear model", 1.0, {}, 0, 1e9}},
     .presets = {{"lime",
                  "defaults of the lime package: 5000 samples, ten words",
                  {{"samples", int64_t{5000}}, {"keep", int64_t{10}}}}}},
    {},
    [](Run& run, const OptionReader& options) {
      const std::string space = chosen_space(run, options.word("space"));
      refuse_foreign_options(run.input(), options);
      const LimeOptions fit = lime_options(run, options);
      if (hides_words(run.input())) {
        WordGame game(run, {options.word("words") == "types", space_named(space)});
        if (game.players() > 0) {
          return scores_of(game, lime(game, fit, watch_of(run)), space, run.seed());
        }
      }
      // A text may have tokens and no words, such as "?!".
      InputGame game(run, {options.word("how"), space_named(space)});
      const std::vector<bool> varying = game.varying();
      if (std::find(varying.begin(), varying.end(), true) == varying.end()) {
        return nothing_to_hide(run, space);
      }
      return scores_of(game, lime(game, fit, watch_of(run)), space, run.seed());
    },
    OnSeveralParts::kTogether};

}  // namespace whyformer
