#include "studies/concepts/layer_tests.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "studies/concepts/draws.h"
#include "studies/concepts/statistics.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

int64_t count_of(const ExampleRows& rows) { return static_cast<int64_t>(rows.size()); }

ExampleRows all_of(const std::vector<ExampleRows>& sets) {
  ExampleRows all;
  for (const ExampleRows& set : sets) all.insert(all.end(), set.begin(), set.end());
  return all;
}

// Examples on each side of a fit. Counterparts that are drawn take half of all random examples at
// most: from more they would be nearly one sample, and from all of them the same one again and
// again.
int64_t side_of(int64_t concept_examples, int64_t others, const ConceptTestSettings& settings) {
  return std::min(concept_examples, settings.counterparts > 0 ? others / 2 : others);
}

// A concept with each of its counterparts, both sides of one size.
std::vector<CavJob> concept_jobs(const LayerTestSets& sets, const ExampleRows& concept_rows,
                                 const ConceptTestSettings& settings) {
  std::vector<CavJob> jobs;
  const int64_t seed = settings.jobs.seed;
  const auto against = [&](const ExampleRows& others, int64_t draw) {
    const int64_t size = side_of(count_of(concept_rows), count_of(others), settings);
    jobs.push_back({.concept_rows = size == count_of(concept_rows)
                                        ? concept_rows
                                        : drawn(concept_rows, size, {seed, "tcav concept", draw}),
                    .counterpart = drawn(others, size, {seed, "tcav counterpart", draw}),
                    .hold_out = HoldOut::kThirds,
                    .draw = draw});
  };
  if (settings.counterparts == 0) {
    for (size_t i = 0; i < sets.random.size(); ++i)
      against(sets.random[i], static_cast<int64_t>(i));
    return jobs;
  }
  const ExampleRows pool = all_of(sets.random);
  for (int64_t i = 0; i < settings.counterparts; ++i) against(pool, i);
  return jobs;
}

// Random against random, for sets of this size. The two sides share nothing, and no pair is taken
// twice or the other way round: mirrored pairs would make the scores symmetric by construction.
// Given sets are used once each.
std::vector<CavJob> null_jobs(const LayerTestSets& sets, int64_t size,
                              const ConceptTestSettings& settings) {
  std::vector<CavJob> jobs;
  const int64_t seed = settings.jobs.seed;
  if (settings.counterparts == 0) {
    for (size_t i = 0; i + 1 < sets.random.size(); i += 2) {
      const int64_t fitting =
          std::min({size, count_of(sets.random[i]), count_of(sets.random[i + 1])});
      const auto draw = static_cast<int64_t>(i);
      jobs.push_back(
          {.concept_rows = drawn(sets.random[i], fitting, {seed, "tcav null", draw}),
           .counterpart = drawn(sets.random[i + 1], fitting, {seed, "tcav null", draw + 1})});
    }
    return jobs;
  }
  const ExampleRows pool = all_of(sets.random);
  const int64_t fitting = std::min(size, count_of(pool) / 2);
  for (int64_t i = 0; i < settings.counterparts; ++i) {
    const ExampleRows both = drawn(pool, 2 * fitting, {seed, "tcav null", i});
    jobs.push_back({.concept_rows = {both.begin(), both.begin() + fitting},
                    .counterpart = {both.begin() + fitting, both.end()}});
  }
  return jobs;
}

// The labels of a job's examples dealt out anew.
std::vector<CavJob> relabelled(const CavJob& job, const ConceptTestSettings& settings) {
  std::vector<CavJob> jobs;
  ExampleRows both = job.concept_rows;
  both.insert(both.end(), job.counterpart.begin(), job.counterpart.end());
  const int64_t inside = count_of(job.concept_rows);
  for (int64_t i = 0; i < settings.permutations; ++i) {
    const ExampleRows dealt = shuffled(both, {settings.jobs.seed, "tcav permutation", i});
    jobs.push_back({.concept_rows = {dealt.begin(), dealt.begin() + inside},
                    .counterpart = {dealt.begin() + inside, dealt.end()}});
  }
  return jobs;
}

HeldOut held_out_of(const std::vector<CavOutcome>& outcomes) {
  std::vector<double> accuracies;
  for (const CavOutcome& outcome : outcomes) {
    accuracies.push_back(static_cast<double>(outcome.hits) / static_cast<double>(outcome.tries));
  }
  HeldOut held_out{.accuracy = mean_of(accuracies),
                   .deviation = deviation_of(accuracies),
                   .examples = outcomes[0].tries};
  // As if there were one counterpart: the others share its concept examples, so they add little.
  const double hits = held_out.accuracy * static_cast<double>(held_out.examples);
  held_out.p = coin_tail(static_cast<int64_t>(std::floor(hits + 1e-9)), held_out.examples);
  return held_out;
}

// Where all examples agree the plain formula says 0, however few they are: there half an example is
// added to either side.
double binomial_error(double score, int64_t examples) {
  const auto count = static_cast<double>(examples);
  if (score <= 0 || score >= 1) score = 0.5 / (count + 1);
  return std::sqrt(score * (1 - score) / count);
}

// Whether two directions are one. Fits of the same examples in another order agree to about 1e-10,
// of others hardly ever to 1e-8.
bool is_same(const CavOutcome& one, const CavOutcome& other) {
  for (size_t target = 0; target < one.by_target.size(); ++target) {
    const double a = one.by_target[target].unit_magnitude,
                 b = other.by_target[target].unit_magnitude;
    if (std::abs(a - b) > 1e-8 * std::max(std::abs(a), std::abs(b))) return false;
  }
  return true;
}

// Each direction once: a sample that is counted again is no new one.
std::vector<CavOutcome> different(const std::vector<CavOutcome>& outcomes) {
  std::vector<CavOutcome> kept;
  for (const CavOutcome& outcome : outcomes) {
    const auto same = [&](const CavOutcome& other) { return is_same(outcome, other); };
    if (std::none_of(kept.begin(), kept.end(), same)) kept.push_back(outcome);
  }
  return kept;
}

double spread_of(const std::vector<double>& scores) {
  return scores.size() < 2 ? std::numeric_limits<double>::quiet_NaN() : deviation_of(scores);
}

std::vector<double> scores_of(const std::vector<CavOutcome>& outcomes, size_t target) {
  std::vector<double> scores;
  for (const CavOutcome& outcome : outcomes) scores.push_back(outcome.by_target[target].score);
  return scores;
}

class LayerStudy {
 public:
  LayerStudy(const InnerProducts& products, const std::vector<TargetRange>& targets,
             const LayerTestSets& sets, const ConceptTestSettings& settings)
      : products_(products), targets_(targets), sets_(sets), settings_(settings) {
    check();
  }

  LayerTests run() {
    LayerTests result;
    result.tests.resize(targets_.size());
    result.pairs.resize(targets_.size());
    for (const ExampleRows& rows : sets_.concepts) add_concept(rows, result);
    for (size_t i = 0; i < sets_.concepts.size(); ++i) {
      for (size_t j = i + 1; j < sets_.concepts.size(); ++j) {
        add_pair(sets_.concepts[i], sets_.concepts[j], static_cast<int64_t>(j), result);
      }
    }
    return result;
  }

 private:
  void check() const {
    for (const ExampleRows& rows : sets_.concepts) {
      if (count_of(rows) >= kFewestExamples) continue;
      throw InvalidInput(fmt::format("a concept has {} examples: it takes {} at least, better 50",
                                     rows.size(), kFewestExamples));
    }
    for (const ExampleRows& rows : sets_.random) {
      if (settings_.counterparts > 0 || count_of(rows) >= kFewestExamples) continue;
      throw InvalidInput(
          fmt::format("a random set has {} examples: it takes {} at least, better 50", rows.size(),
                      kFewestExamples));
    }
    if (settings_.counterparts == 0 && sets_.random.size() < 4) {
      throw InvalidInput(
          fmt::format("fewer than 4 random sets ({}) leave fewer than two pairs that share none: "
                      "give at least 4, or let them be drawn",
                      sets_.random.size()));
    }
    const int64_t pool = count_of(all_of(sets_.random));
    if (pool < kFewestRandom) {
      throw InvalidInput(
          fmt::format("there are {} random examples: it takes {} at least, better 100 and more",
                      pool, kFewestRandom));
    }
    for (const TargetRange& target : targets_) {
      if (target.count == 0) throw InvalidInput("a target has no examples");
    }
  }

  std::vector<CavOutcome> outcomes(const std::vector<CavJob>& jobs) const {
    return run_jobs(products_, targets_, jobs, settings_.jobs);
  }

  const std::vector<CavOutcome>& null_of(int64_t size) {
    auto found = nulls_.find(size);
    if (found == nulls_.end()) {
      found = nulls_.emplace(size, different(outcomes(null_jobs(sets_, size, settings_)))).first;
    }
    return found->second;
  }

  void add_concept(const ExampleRows& rows, LayerTests& result) {
    const std::vector<CavJob> jobs = concept_jobs(sets_, rows, settings_);
    const std::vector<CavOutcome> runs = different(outcomes(jobs));
    const std::vector<CavOutcome>& null = null_of(count_of(jobs[0].concept_rows));
    const std::vector<CavOutcome> dealt = outcomes(relabelled(jobs[0], settings_));
    for (size_t target = 0; target < targets_.size(); ++target) {
      ConceptTest test;
      test.held_out = held_out_of(runs);
      test.set_size = count_of(jobs[0].concept_rows);
      summarise(runs, null, target, test);
      if (!dealt.empty()) permutation_tests(runs[0], dealt, target, test);
      result.tests[target].push_back(std::move(test));
    }
  }

  void summarise(const std::vector<CavOutcome>& runs, const std::vector<CavOutcome>& null,
                 size_t target, ConceptTest& test) const {
    test.scores = scores_of(runs, target);
    test.random_scores = scores_of(null, target);
    for (const CavOutcome& run : runs) {
      const Sensitivity& one = run.by_target[target];
      const auto share = 1 / static_cast<double>(runs.size());
      test.mean.zero += share * one.zero;
      test.mean.magnitude += share * one.magnitude;
      test.mean.unit_magnitude += share * one.unit_magnitude;
    }
    test.mean.score = mean_of(test.scores);
    test.deviation = spread_of(test.scores);
    test.standard_error = binomial_error(test.mean.score, targets_[target].count);
    test.random_mean = mean_of(test.random_scores);
    test.random_deviation = spread_of(test.random_scores);
    if (const auto t = t_test(test.scores, test.random_scores)) {
      test.t = t->t;
      test.freedom = t->freedom;
      test.t_test = CorrectedP{.p = t->p};
    }
  }

  // The first counterpart's direction against directions of the same examples with other labels:
  // exact if the concept's examples are like the random ones, whatever the scores' distribution.
  static void permutation_tests(const CavOutcome& observed, const std::vector<CavOutcome>& dealt,
                                size_t target, ConceptTest& test) {
    std::vector<double> scores, magnitudes;
    for (const CavOutcome& outcome : dealt) {
      scores.push_back(std::abs(outcome.by_target[target].score - 0.5));
      magnitudes.push_back(std::abs(outcome.by_target[target].unit_magnitude));
    }
    const Sensitivity& seen = observed.by_target[target];
    test.score_permutation = CorrectedP{.p = permutation_p(std::abs(seen.score - 0.5), scores)};
    test.magnitude_permutation =
        CorrectedP{.p = permutation_p(std::abs(seen.unit_magnitude), magnitudes)};
  }

  void add_pair(const ExampleRows& one, const ExampleRows& other, int64_t draw,
                LayerTests& result) const {
    const int64_t seed = settings_.jobs.seed;
    const int64_t size = std::min(count_of(one), count_of(other));
    const auto fitting = [&](const ExampleRows& rows) {
      return count_of(rows) == size ? rows : drawn(rows, size, {seed, "tcav pair", draw});
    };
    const std::vector<CavOutcome> run = outcomes({{.concept_rows = fitting(one),
                                                   .counterpart = fitting(other),
                                                   .hold_out = HoldOut::kThirds,
                                                   .draw = draw}});
    for (size_t target = 0; target < targets_.size(); ++target) {
      ConceptPair pair;
      pair.held_out = held_out_of(run);
      pair.learnt = pair.held_out.p < settings_.level;
      pair.sensitivity = run[0].by_target[target];
      pair.standard_error = binomial_error(pair.sensitivity.score, targets_[target].count);
      result.pairs[target].push_back(pair);
    }
  }

  const InnerProducts& products_;
  const std::vector<TargetRange>& targets_;
  const LayerTestSets& sets_;
  const ConceptTestSettings& settings_;
  std::map<int64_t, std::vector<CavOutcome>> nulls_;  // by size
};

}  // namespace

int64_t fit_count(const LayerTestSets& sets, const ConceptTestSettings& settings) {
  const auto concepts = static_cast<int64_t>(sets.concepts.size());
  const auto given = static_cast<int64_t>(sets.random.size());
  const int64_t runs = settings.counterparts > 0 ? settings.counterparts : given;
  const int64_t null = settings.counterparts > 0 ? settings.counterparts : given / 2;
  std::map<int64_t, bool> sizes;
  const int64_t pool = count_of(all_of(sets.random));
  for (const ExampleRows& rows : sets.concepts) {
    const int64_t others =
        settings.counterparts > 0 || sets.random.empty() ? pool : count_of(sets.random[0]);
    sizes[side_of(count_of(rows), others, settings)] = true;
  }
  return concepts * (runs + settings.permutations) + static_cast<int64_t>(sizes.size()) * null +
         concepts * (concepts - 1) / 2;
}

LayerTests test_layer(const InnerProducts& products, const std::vector<TargetRange>& targets,
                      const LayerTestSets& sets, const ConceptTestSettings& settings) {
  return LayerStudy(products, targets, sets, settings).run();
}

}  // namespace whyformer
