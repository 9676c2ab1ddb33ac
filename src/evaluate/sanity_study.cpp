#include "evaluate/sanity_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "base/random.h"
#include "evaluate/sanity.h"
#include "evaluate/structural_similarity.h"
#include "methods/jobs.h"
#include "models/model_weights.h"
#include "readers/reader.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using Clock = std::chrono::steady_clock;
using ScoresByMethod = std::map<std::string, std::vector<double>, std::less<>>;

// An input with its explanations by the model as it is.
struct OwnExplanation {
  const InputValue* input = nullptr;
  ScoredUnits units;
  ScoresByMethod scores;
  TargetChoice target;
  std::optional<TargetChoice> other_target;  // nothing where the model has one output
};

// One way to change what is explained.
struct Change {
  SanityStepName what;
  std::optional<Randomisation> randomisation = {};
};

void check(const std::vector<InputValue>& inputs, const SanityRequest& request) {
  if (inputs.empty()) throw InvalidInput("there are no inputs to explain");
  if (request.methods.empty()) throw InvalidInput("there are no methods to check");
  require_each_once(request.methods);
  for (const InputValue& input : inputs) {
    if (input.index() == inputs[0].index()) continue;
    throw InvalidInput(fmt::format("{} and {} cannot be judged together",
                                   kInputNames[inputs[0].index()], kInputNames[input.index()]));
  }
}

// One of `count` numbers other than `own`.
int64_t draw_other(int64_t own, int64_t count, int64_t seed, int64_t input) {
  const double share = CounterRandom(seed, "sanity/other-target", input).uniform(0);
  const int64_t drawn =
      std::min(static_cast<int64_t>(share * static_cast<double>(count - 1)), count - 2);
  return drawn < own ? drawn : drawn + 1;
}

TargetChoice choice_of(const Target& target) {
  if (target.element) return *target.element;
  return target.index;
}

class SanityStudy {
 public:
  SanityStudy(const Model& model, const std::vector<InputValue>& inputs,
              const SanityRequest& request, const ExplainRandomised& explain)
      : model_(model), inputs_(inputs), request_(request), explain_(explain), start_(Clock::now()) {
    check(inputs, request);
    report_.model = model.name();
    report_.hash = model.hash();
    report_.kind = kInputNames[inputs[0].index()];
    report_.seed = request.seed;
    report_.randomised_target = request.randomised_target;
  }

  SanityReport run() {
    find_steps();
    const std::vector<Change> changes = changes_of();
    total_ = static_cast<int64_t>(inputs_.size() * (changes.size() + 1));
    explain_own();
    for (const Change& change : changes) {
      if (stopped_) break;
      compare(change);
    }
    if (request_.independent && request_.cascading) copy_first_step();
    finish();
    return std::move(report_);
  }

 private:
  // Of the first input that the model can take.
  std::shared_ptr<const ModelGraph> some_graph() const {
    const Question question{.similar_to = request_.similar_to,
                            .dtype = dtype_of(request_.precision),
                            .target = request_.target};
    for (size_t i = 0;; ++i) {
      try {
        const Reading reading = model_.reader_of(inputs_[i]).read(inputs_[i], question);
        return reading.inputs.back().copies(1).graph;
      } catch (const InvalidInput&) {
        if (i + 1 == inputs_.size()) throw;
      }
    }
  }

  void find_steps() {
    const ModelWeights weights(*some_graph());
    const std::vector<std::string> names = weights.step_names();
    const std::vector<int64_t> sizes = weights.step_sizes();
    for (size_t step = 0; step < names.size(); ++step) {
      if (sizes[step] == 0) continue;
      report_.steps.push_back({names[step], sizes[step]});
      step_numbers_.push_back(static_cast<int64_t>(step));
    }
    if (report_.steps.empty())
      throw UnsupportedModel("this model has no weights that could be replaced by random ones");
  }

  // All weights first, then the others from the output down: what decides comes early.
  std::vector<Change> changes_of() const {
    std::vector<Change> changes;
    if (request_.other_target) changes.push_back({{SanityChange::kOtherTarget, ""}});
    const auto add = [&](bool cascading, size_t step) {
      changes.push_back({{cascading ? SanityChange::kCascading : SanityChange::kIndependent,
                          report_.steps[step].name},
                         Randomisation{cascading, step_numbers_[step], request_.seed}});
    };
    const size_t last = report_.steps.size() - 1;
    if (request_.cascading) add(true, last);
    for (size_t step = 0; request_.cascading && step < last; ++step) add(true, step);
    // The first step alone is also the first of the cascade.
    for (size_t step = request_.cascading ? 1 : 0; request_.independent && step <= last; ++step)
      add(false, step);
    return changes;
  }

  ExplainRequest asked(const TargetChoice& target) {
    return {.methods = request_.methods,
            .target = target,
            .similar_to = request_.similar_to,
            .precision = request_.precision,
            .seed = request_.seed,
            .memory_bytes = request_.memory_bytes,
            .progress = [this](int64_t, int64_t) { return goes_on(); }};
  }

  bool goes_on() {
    if (request_.progress && !request_.progress(done_, total_)) stopped_ = true;
    return !stopped_;
  }

  // Nothing where the caller stopped it, and for an input that the model cannot take or no method
  // explains: see refusal_.
  std::optional<Explanation> explanation_of(const InputValue& input, const TargetChoice& target,
                                            const std::optional<Randomisation>& randomisation) {
    refusal_.clear();
    if (!goes_on()) return std::nullopt;
    try {
      Explanation found = explain_(input, asked(target), randomisation);
      if (stopped_) return std::nullopt;
      ++done_;
      return found;
    } catch (const Interrupted&) {
      stopped_ = true;
    } catch (const InvalidInput& error) {
      ++done_;
      refusal_ = error.what();
    }
    return std::nullopt;
  }

  std::string name_of(size_t input) const {
    return input < request_.names.size() ? request_.names[input] : fmt::format("Input {}", input);
  }

  void explain_own() {
    for (size_t i = 0; i < inputs_.size() && !stopped_; ++i) {
      const auto explanation = explanation_of(inputs_[i], request_.target, {});
      if (!refusal_.empty())
        report_.notes.push_back(fmt::format("{} was left out: {}.", name_of(i), refusal_));
      if (!explanation) continue;
      note_refusals(*explanation);
      OwnExplanation own{.input = &inputs_[i],
                         .units = scored_units(*explanation),
                         .scores = scores_of(*explanation)};
      choose_targets(*explanation, static_cast<int64_t>(i), own);
      if (own.units.patches.rows > 0) report_.window = structure_window(own.units.patches);
      for (const Attribution& one : explanation->attributions) note_method(one);
      own_.push_back(std::move(own));
    }
    if (own_.empty() && stopped_) throw Interrupted();
    if (own_.empty()) throw InvalidInput(refusal_);
    report_.inputs = static_cast<int64_t>(own_.size());
  }

  // The target by name or number, so that it stays the same when the weights change.
  void choose_targets(const Explanation& explanation, int64_t input, OwnExplanation& own) const {
    own.other_target =
        model_.reader_of(*own.input)
            .another_target(*own.input, explanation, [&](int64_t one, int64_t count) {
              return draw_other(one, count, request_.seed, input);
            });
    own.target = own.other_target ? choice_of(explanation.target) : request_.target;
  }

  static ScoresByMethod scores_of(const Explanation& explanation) {
    ScoresByMethod scores;
    for (const Attribution& one : explanation.attributions) scores[one.method] = one.scores;
    return scores;
  }

  void note_refusals(const Explanation& explanation) {
    for (const Refusal& refusal : explanation.refused) {
      const bool known = std::ranges::any_of(
          report_.refused, [&](const Refusal& one) { return one.method == refusal.method; });
      if (!known) report_.refused.push_back(refusal);
    }
  }

  void note_method(const Attribution& attribution) {
    const bool known = std::ranges::any_of(
        report_.methods, [&](const MethodSanity& one) { return one.method == attribution.method; });
    if (known) return;
    report_.methods.push_back({.method = attribution.method,
                               .options = attribution.options,
                               .is_signed = attribution.is_signed});
  }

  TargetChoice target_for(const Change& change, const OwnExplanation& own) const {
    if (change.what.change == SanityChange::kOtherTarget) return *own.other_target;
    return request_.randomised_target == SanityTarget::kSame ? own.target : TargetChoice();
  }

  void compare(const Change& change) {
    std::map<std::string, std::vector<ScoreSimilarity>, std::less<>> similarities;
    for (const OwnExplanation& own : own_) {
      if (change.what.change == SanityChange::kOtherTarget && !own.other_target) {
        ++done_;
        continue;
      }
      const auto other = explanation_of(*own.input, target_for(change, own), change.randomisation);
      if (stopped_) break;
      if (!other) continue;
      for (const Attribution& one : other->attributions) {
        const auto before = own.scores.find(one.method);
        if (before == own.scores.end()) continue;
        similarities[one.method].push_back(compare_scores(own.units, before->second, one.scores));
      }
    }
    for (MethodSanity& method : report_.methods) {
      const auto& found = similarities[method.method];
      if (!found.empty())
        method.comparisons.push_back(summarise(change.what, found, request_.seed));
    }
  }

  // The first step alone is the first of the cascade.
  void copy_first_step() {
    for (MethodSanity& method : report_.methods) {
      const auto first = std::ranges::find_if(method.comparisons, [&](const auto& one) {
        return one.change == SanityChange::kCascading && one.step == report_.steps[0].name;
      });
      if (first == method.comparisons.end()) continue;
      SanityComparison alone = *first;
      alone.change = SanityChange::kIndependent;
      method.comparisons.push_back(std::move(alone));
    }
  }

  int64_t place_of(const SanityComparison& one) const {
    const auto step = std::ranges::find(report_.steps, one.step, &SanityStep::name);
    const auto steps = static_cast<int64_t>(report_.steps.size());
    return static_cast<int64_t>(one.change) * (steps + 1) + (step - report_.steps.begin());
  }

  void finish() {
    for (MethodSanity& method : report_.methods) {
      std::ranges::sort(method.comparisons, {},
                        [&](const SanityComparison& one) { return place_of(one); });
      judge(method, report_.steps);
    }
    const bool any_other =
        std::ranges::any_of(own_, [](const auto& own) { return own.other_target.has_value(); });
    if (request_.other_target && !any_other) {
      report_.notes.push_back(
          "The model has one output, so whether explanations depend on the class cannot be told.");
    }
    report_.stopped_early = stopped_;
    report_.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  }

  const Model& model_;
  const std::vector<InputValue>& inputs_;
  const SanityRequest& request_;
  const ExplainRandomised& explain_;
  Clock::time_point start_;
  SanityReport report_;
  std::vector<int64_t> step_numbers_;  // of the report's steps, counted from the output
  std::vector<OwnExplanation> own_;
  std::string refusal_;  // of the last input
  int64_t done_ = 0, total_ = 0;
  bool stopped_ = false;
};

}  // namespace

SanityReport study_sanity(const Model& model, const std::vector<InputValue>& inputs,
                          const SanityRequest& request, const ExplainRandomised& explain) {
  return SanityStudy(model, inputs, request, explain).run();
}

}  // namespace whyformer
