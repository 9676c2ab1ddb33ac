#include "evaluate/measure_methods.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "evaluate/drawn_scores.h"
#include "evaluate/hideable_units.h"
#include "evaluate/magnitudes.h"
#include "evaluate/measured_values.h"
#include "evaluate/noisy_inputs.h"
#include "whyformer/protocols.h"

namespace whyformer {
namespace {

// What is measured: the scores of a method, those with their sign changed, or random ones.
struct Candidate {
  std::vector<double> scores;  // of all units
  bool of_probability = false;
  std::vector<std::vector<double>> noisy = {};  // scores for each noisy copy
};

Candidate negated(Candidate candidate) {
  for (double& score : candidate.scores) score = -score;
  for (auto& scores : candidate.noisy) {
    for (double& score : scores) score = -score;
  }
  return candidate;
}

bool sums_ratios(const Metric& metric) { return metric.over_maps == OverMaps::kRatioOfSums; }

// Metrics for one way of hiding.
class Measurement {
 public:
  Measurement(const std::vector<const Metric*>& metrics, const MeasuredCase& one,
              const std::string& hiding, const std::vector<double>& noise_lengths)
      : metrics_(metrics),
        units_(one.run, hiding),
        answers_(units_.answers()),
        region_(one.region),
        noise_lengths_(noise_lengths),
        seed_(one.seed) {}

  // Every question is noted before the first one runs.
  std::vector<MeasuredRow> measure(const std::vector<Candidate>& candidates) {
    return answers_.complete([&] {
      std::vector<MeasuredRow> rows;
      for (const Candidate& candidate : candidates) rows.push_back(row_of(candidate));
      return rows;
    });
  }

  int64_t units() const { return units_.count(); }
  bool all_scores_equal(const std::vector<double>& scores) const {
    const std::vector<double> own = units_.pick(scores);
    return std::ranges::all_of(own, [&](double score) { return score == own[0]; });
  }
  int64_t asked() const { return answers_.asked(); }

 private:
  MeasuredRow row_of(const Candidate& candidate) {
    const std::vector<double> scores = units_.pick(candidate.scores);
    if (scores.empty() || !all_finite(scores)) return MeasuredRow(metrics_.size());
    std::vector<NoisyScores> noisy;
    for (size_t copy = 0; copy < candidate.noisy.size(); ++copy) {
      noisy.push_back({units_.pick(candidate.noisy[copy]), noise_lengths_[copy]});
    }
    double sum = 0;
    for (const double score : candidate.scores) sum += std::isfinite(score) ? score : 0;
    const Evidence evidence{.scores = scores,
                            .answers = answers_,
                            .sum_of_all = sum,
                            .of_probability = candidate.of_probability,
                            .noisy = noisy,
                            .seed = seed_};
    MeasuredRow row;
    for (const Metric* metric : metrics_) row.push_back(value_of(*metric, evidence));
    return row;
  }

  MeasuredValue value_of(const Metric& metric, const Evidence& evidence) {
    if (metric.measure != nullptr) return {metric.measure(evidence)};
    if (region_ == nullptr) return {};
    const std::vector<bool> region = units_.pick(*region_);
    if (std::ranges::count(region, true) == 0) return {};  // nothing to find
    MeasuredValue measured{localisation(metric.info.name, evidence.scores, region)};
    if (sums_ratios(metric)) measured.ratios = metric.in_region(evidence.scores, region);
    return measured;
  }

  const std::vector<const Metric*>& metrics_;
  HideableUnits units_;
  HiddenAnswers answers_;
  const std::vector<bool>* region_;
  const std::vector<double>& noise_lengths_;
  int64_t seed_;
};

// Those that hide nothing are the same for every way of hiding: they are measured for the first.
bool belongs_to(const Metric& metric, size_t hiding) {
  return hiding == 0 || metric.info.needs == MetricNeeds::kAnswers;
}

std::vector<const Metric*> metrics_for(const EvaluationRequest& request, size_t hiding) {
  std::vector<const Metric*> metrics;
  for (const std::string& name : request.metrics) {
    const Metric& metric = find_metric(name);
    if (belongs_to(metric, hiding)) metrics.push_back(&metric);
  }
  return metrics;
}

// Scores under noise, for all methods at once: they share the run of each copy.
std::vector<double> add_noisy_scores(const EvaluationRequest& request, const MeasuredCase& one,
                                     std::vector<Candidate>& candidates) {
  const bool wanted = std::ranges::any_of(request.metrics, [](const std::string& name) {
    return metric_named(name).needs == MetricNeeds::kNoisyInputs;
  });
  std::vector<double> lengths;
  if (!wanted) return lengths;
  const NoiseOptions noise{request.noisy_inputs, request.radius, one.seed};
  visit_noisy_inputs(one.run, noise, [&](int64_t, double length) {
    lengths.push_back(length);
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (const auto scores = one.rescore(i)) candidates[i].noisy.push_back(*scores);
    }
  });
  return lengths;
}

// Numbers that are not defined, or say nothing, are told of each example.
void note_rankings_without_order(const Measurement& measurement, EvaluatedInput& result) {
  if (measurement.units() < 2) {
    result.notes.push_back(measurement.units() == 0
                               ? "no unit can be hidden: no metric is defined"
                               : "one unit can be hidden: every ranking is the same");
    return;
  }
  for (const MeasuredMethod& method : result.methods) {
    if (!measurement.all_scores_equal(method.scores)) continue;
    result.notes.push_back(fmt::format(
        "all scores of {} are equal: their ranking is the order of the units", method.method));
  }
}

}  // namespace

void measure_methods(const EvaluationRequest& request, const MeasuredCase& one,
                     EvaluatedInput& result) {
  std::vector<Candidate> candidates;
  for (const Attribution& attribution : one.explanation.attributions) {
    candidates.push_back(
        {.scores = attribution.scores,
         .of_probability = attribution.estimate && attribution.estimate->space == "probability"});
    result.methods.push_back(
        {.method = attribution.method, .scores = attribution.scores, .cost = attribution.cost});
  }
  const std::vector<double> lengths = add_noisy_scores(request, one, candidates);
  const size_t methods = candidates.size();
  const size_t reversed = request.reversed_rankings ? methods : 0;
  for (size_t i = 0; i < reversed; ++i) candidates.push_back(negated(candidates[i]));
  for (int64_t i = 0; i < request.random_rankings; ++i) {
    candidates.push_back({.scores = drawn_scores(one.run.input().units(), one.seed, i)});
  }
  MeasuredMethod random{.method = kRandomBaseline};
  for (size_t hiding = 0; hiding < request.hidings.size(); ++hiding) {
    const std::vector<const Metric*> metrics = metrics_for(request, hiding);
    Measurement measurement(metrics, one, request.hidings[hiding], lengths);
    const std::vector<MeasuredRow> rows = measurement.measure(candidates);
    for (size_t i = 0; i < methods; ++i) {
      MeasuredMethod& own = result.methods[i];
      append_measured(rows[i], own.values, own.ratios);
      if (i < reversed) append_measured(rows[methods + i], own.reversed, own.reversed_ratios);
    }
    if (request.random_rankings > 0) {
      append_measured(mean_of_rows(std::span(rows).subspan(methods + reversed)), random.values,
                      random.ratios);
    }
    if (hiding == 0) {
      result.units = measurement.units();
      note_rankings_without_order(measurement, result);
    }
    result.evaluations += measurement.asked();
  }
  if (request.random_rankings == 0) return;
  if (request.reversed_rankings) {
    random.reversed = random.values;
    random.reversed_ratios = random.ratios;
  }
  result.methods.push_back(std::move(random));
}

std::vector<EvaluationColumn> columns_of(const EvaluationRequest& request) {
  if (!request.protocol.empty()) return protocol_named(request.protocol).columns;
  std::vector<EvaluationColumn> columns;
  for (size_t hiding = 0; hiding < request.hidings.size(); ++hiding) {
    for (const Metric* metric : metrics_for(request, hiding)) {
      const bool hides = metric->info.needs == MetricNeeds::kAnswers;
      columns.push_back({.metric = metric->info.name,
                         .hiding = hides ? request.hidings[hiding] : "",
                         .higher_is_better = metric->info.higher_is_better,
                         .summary = metric->info.summary,
                         .paper = metric->info.paper,
                         .misleads = metric->info.misleads,
                         .sums_ratios = sums_ratios(*metric)});
    }
  }
  return columns;
}

}  // namespace whyformer
