#include "evaluate/trust.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/length.h"
#include "evaluate/hideable_units.h"
#include "evaluate/magnitudes.h"
#include "evaluate/noisy_inputs.h"
#include "whyformer/agreement.h"
#include "whyformer/evaluate.h"
#include "whyformer/methods.h"

namespace whyformer {
namespace {

constexpr int64_t kFewestUnits = 3;

// Answers along one ranking, at the sizes of the groups.
struct Path {
  std::vector<double> removed, kept;
  double comprehensiveness = 0, sufficiency = 0;
};

// Comprehensiveness minus sufficiency, each counted as far as it follows known reasons.
double difference(const Path& path) {
  static const double remove = mean_truth_followed("comprehensiveness").value();
  static const double keep = mean_truth_followed("sufficiency").value();
  return (remove * path.comprehensiveness - keep * path.sufficiency) * 2 / (remove + keep);
}

Path path_of(const Ranking& ranking, std::span<const int64_t> sizes, HiddenAnswers& answers) {
  Path path;
  for (const int64_t size : sizes) {
    path.removed.push_back(answers(hide_first(ranking, size)).value);
    path.kept.push_back(answers(hide_rest(ranking, size)).value);
  }
  path.comprehensiveness = mean_drop_without(ranking, sizes, answers);
  path.sufficiency = mean_drop_with_only(ranking, sizes, answers);
  return path;
}

std::vector<double> values_of(const std::vector<Path>& paths, double (*value)(const Path&)) {
  std::vector<double> values;
  for (const Path& path : paths) values.push_back(value(path));
  return values;
}

// The value below which this share of the sorted numbers lies, between neighbours in proportion.
double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto before = static_cast<size_t>(place);
  const size_t after = std::min(before + 1, sorted.size() - 1);
  return sorted[before] + (place - std::floor(place)) * (sorted[after] - sorted[before]);
}

void add_to_band(std::vector<double> values, std::vector<double>& mean, std::vector<double>& low,
                 std::vector<double>& high) {
  std::sort(values.begin(), values.end());
  double sum = 0;
  for (const double value : values) sum += value;
  mean.push_back(sum / static_cast<double>(values.size()));
  low.push_back(quantile(values, 0.05));
  high.push_back(quantile(values, 0.95));
}

TrustBand band_of(const std::vector<Path>& paths, const std::vector<double>& shares) {
  TrustBand band{.shares = shares};
  for (size_t i = 0; i < shares.size(); ++i) {
    std::vector<double> removed, kept;
    for (const Path& path : paths) {
      removed.push_back(path.removed[i]);
      kept.push_back(path.kept[i]);
    }
    add_to_band(removed, band.removed_mean, band.removed_low, band.removed_high);
    add_to_band(kept, band.kept_mean, band.kept_low, band.kept_high);
  }
  return band;
}

// One measurement for all methods of an explanation.
class TrustMeasurement {
 public:
  TrustMeasurement(const TrustRequest& request, Run& run, HideableUnits& units)
      : request_(request), run_(run), units_(units), answers_(units.answers()) {
    for (const int64_t size : eraser_sizes(units.count())) {
      if (sizes_.empty() || sizes_.back() != size) distinct_.push_back(size);
      sizes_.push_back(size);
    }
    for (const int64_t size : distinct_) {
      shares_.push_back(static_cast<double>(size) / static_cast<double>(units.count()));
    }
  }

  // Everything that all methods and random rankings ask for runs together.
  void measure(Explanation& explanation) {
    note_questions(explanation);
    answers_.run_noted();
    for (int64_t i = 0; i < request_.orders; ++i) {
      random_.push_back(path_of(random_ranking(units_.count(), run_.seed(), i), sizes_, answers_));
    }
    for (Attribution& attribution : explanation.attributions) judge(attribution);
    add_agreement(explanation);
    explanation.trust = setting();
  }

 private:
  void note_questions(const Explanation& explanation) {
    answers_.whole();
    answers_.nothing();
    for (int64_t i = 0; i < request_.orders; ++i) {
      path_of(random_ranking(units_.count(), run_.seed(), i), sizes_, answers_);
    }
    for (const Attribution& attribution : explanation.attributions) {
      path_of(descending_order(units_.pick(attribution.scores)), sizes_, answers_);
    }
  }

  void judge(Attribution& attribution) {
    const std::vector<double> scores = units_.pick(attribution.scores);
    Trust trust;
    trust.class_specific = method_named(attribution.method).class_specific;
    trust.completeness_gap = attribution.completeness_gap;
    const Path own = path_of(descending_order(scores), sizes_, answers_);
    trust.comprehensiveness = own.comprehensiveness;
    trust.sufficiency = own.sufficiency;
    trust.comprehensiveness_percentile =
        percentile_among(own.comprehensiveness,
                         values_of(random_, [](const Path& p) { return p.comprehensiveness; }));
    trust.sufficiency_percentile = percentile_among(
        -own.sufficiency, values_of(random_, [](const Path& p) { return -p.sufficiency; }));
    const std::vector<double> differences = values_of(random_, difference);
    trust.percentile = percentile_among(difference(own), differences);
    const RandomTest test = test_among(difference(own), differences);
    trust.p_value = test.p_value;
    trust.verdict = test.verdict;
    trust.curve = curve_of(own);
    trust.sanity = finding_of(attribution);
    if (!all_finite(scores)) {
      trust.notes.push_back("Units without a score were ranked last.");
    }
    if (std::ranges::all_of(scores, [&](double score) { return score == scores[0]; })) {
      trust.notes.push_back(
          "All units have the same score: the ranking is their order in the input.");
    }
    attribution.trust = std::move(trust);
  }

  // A method with other options is another one to a sanity check.
  std::optional<SanityFinding> finding_of(const Attribution& attribution) const {
    if (!request_.sanity) return std::nullopt;
    const auto found = std::ranges::find_if(*request_.sanity, [&](const SanityFinding& one) {
      return one.method == attribution.method && one.options == attribution.options;
    });
    return found == request_.sanity->end() ? std::nullopt : std::optional(*found);
  }

  std::vector<double> curve_shares() const {
    std::vector<double> shares{0};
    shares.insert(shares.end(), shares_.begin(), shares_.end());
    shares.push_back(1);
    return shares;
  }

  // Every ranking begins and ends alike.
  std::vector<Path> with_ends(std::vector<Path> paths) {
    const double whole = answers_.whole().value, nothing = answers_.nothing().value;
    for (Path& path : paths) {
      path.removed.insert(path.removed.begin(), whole);
      path.removed.push_back(nothing);
      path.kept.insert(path.kept.begin(), nothing);
      path.kept.push_back(whole);
    }
    return paths;
  }

  // From everything shown to everything hidden, and back.
  TrustCurve curve_of(const Path& path) {
    const double whole = answers_.whole().value, nothing = answers_.nothing().value;
    TrustCurve curve{.shares = {0}, .removed = {whole}, .kept = {nothing}};
    size_t step = 0;
    for (size_t i = 0; i < distinct_.size(); ++i) {
      while (sizes_[step] != distinct_[i]) ++step;
      curve.shares.push_back(shares_[i]);
      curve.removed.push_back(path.removed[step]);
      curve.kept.push_back(path.kept[step]);
    }
    curve.shares.push_back(1);
    curve.removed.push_back(nothing);
    curve.kept.push_back(whole);
    return curve;
  }

  int64_t top_k() const { return std::clamp<int64_t>(units_.count() / 5, 1, 10); }

  void add_agreement(Explanation& explanation) {
    for (Attribution& one : explanation.attributions) {
      for (const Attribution& other : explanation.attributions) {
        if (&one == &other) continue;
        const std::vector<double> a = units_.pick(one.scores), b = units_.pick(other.scores);
        if (!all_finite(a) || !all_finite(b)) continue;
        const auto correlation = spearman(a, b);
        one.trust->agreement.push_back(
            {.method = other.method,
             .spearman = correlation ? std::optional(correlation->value) : std::nullopt,
             .top_k = top_k_overlap(a, b, top_k())});
      }
    }
  }

  TrustSetting setting() {
    std::vector<Path> distinct;
    for (int64_t i = 0; i < request_.orders; ++i) {
      distinct.push_back(
          path_of(random_ranking(units_.count(), run_.seed(), i), distinct_, answers_));
    }
    return {.hiding = run_.input().hiding_taken(request_.hiding),
            .space = units_.has_probabilities() ? "probability" : "output",
            .answer = answers_.whole().value,
            .hidden = answers_.nothing().value,
            .units = units_.count(),
            .orders = request_.orders,
            .top_k = top_k(),
            .group_sizes = sizes_,
            .band = band_of(with_ends(distinct), curve_shares()),
            .has_sanity_card = request_.sanity.has_value(),
            .evaluations = answers_.asked()};
  }

  const TrustRequest& request_;
  Run& run_;
  HideableUnits& units_;
  HiddenAnswers answers_;
  std::vector<int64_t> sizes_, distinct_;  // of the groups, with repetitions and without
  std::vector<double> shares_;             // of the distinct ones
  std::vector<Path> random_;
};

// What small noise does to the scores of each method that reads what enters the model.
void add_stability(const TrustRequest& request, Run& run, const Rescore& rescore,
                   Explanation& explanation) {
  if (request.noisy_inputs == 0) return;
  std::vector<std::optional<Stability>> found(explanation.attributions.size());
  const NoiseOptions noise{request.noisy_inputs, request.radius, run.seed()};
  const auto visit = [&](int64_t, double) {
    for (size_t i = 0; i < found.size(); ++i) {
      const std::optional<std::vector<double>> noisy = rescore(i);
      if (!noisy || !all_finite(*noisy)) continue;
      const std::vector<double>& own = explanation.attributions[i].scores;
      Stability& stability = found[i] ? *found[i] : found[i].emplace();
      stability.max_sensitivity =
          std::max(stability.max_sensitivity, distance(*noisy, own) / length_or_one(own));
      const auto kept = spearman(*noisy, own);
      const bool first = stability.inputs == 0;
      if (!kept) {
        stability.spearman = std::nullopt;
      } else if (first || stability.spearman) {
        stability.spearman = first ? kept->value : std::min(kept->value, *stability.spearman);
      }
      ++stability.inputs;
    }
  };
  const bool entered = visit_noisy_inputs(run, noise, visit);
  for (size_t i = 0; i < found.size(); ++i) {
    Trust& trust = *explanation.attributions[i].trust;
    trust.stability = found[i];
    if (found[i]) continue;
    trust.notes.push_back(
        entered ? "Stability was not measured: the method hides units instead of reading what "
                  "enters the model."
                : "Stability was not measured: ids enter this model, and their vectors were not "
                  "recognised.");
  }
}

}  // namespace

Percentile percentile_among(double own, std::span<const double> random) {
  double below = 0;
  for (const double value : random) below += value < own ? 1 : value == own ? 0.5 : 0;
  const auto count = static_cast<double>(random.size());
  const double expected = (below + 1) / (count + 2);
  return {below / count, std::sqrt(expected * (1 - expected) / (count + 3))};
}

RandomTest test_among(double own, std::span<const double> random) {
  constexpr double kLevel = 0.05;
  double above = 1, below = 1;  // it is one of its own kind
  for (const double value : random) {
    above += value >= own ? 1 : 0;
    below += value <= own ? 1 : 0;
  }
  const auto count = static_cast<double>(random.size() + 1);
  RandomTest test{.p_value = std::min(1.0, 2 * std::min(above, below) / count)};
  if (test.p_value <= kLevel) {
    test.verdict = above < below ? TrustVerdict::kBetterThanRandom : TrustVerdict::kWorseThanRandom;
  }
  return test;
}

void add_trust(const TrustRequest& request, Run& run, const Rescore& rescore,
               Explanation& explanation) {
  const auto start = std::chrono::steady_clock::now();
  HideableUnits units(run, request.hiding);
  if (units.count() < kFewestUnits) {
    explanation.notes.push_back(fmt::format(
        "Trust was not measured: {} of the units can be hidden, and {} at least are needed to tell "
        "a ranking from a random one.",
        units.count(), kFewestUnits));
    return;
  }
  TrustMeasurement(request, run, units).measure(explanation);
  add_stability(request, run, rescore, explanation);
  explanation.trust->seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace whyformer
