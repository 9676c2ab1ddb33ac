#include "studies/concepts/sensitivity.h"

#include <algorithm>

#include "base/parallel.h"
#include "studies/concepts/draws.h"

namespace whyformer {
namespace {

constexpr int kFolds = 3;
constexpr int64_t kJobsAtOnce = 64;  // between two looks at the clock and at Ctrl-C

}  // namespace

Sensitivity sensitivity_to(const InnerProducts& products, const Cav& cav,
                           const TargetRange& target) {
  Sensitivity sums;
  const int64_t images = products.gram.size;
  for (int64_t example = target.first; example < target.first + target.count; ++example) {
    const double* slopes = products.slopes.data() + example * images;
    double derivative = 0;
    for (size_t i = 0; i < cav.rows.size(); ++i) derivative += cav.weights[i] * slopes[cav.rows[i]];
    sums.score += derivative > 0;
    sums.zero += derivative == 0;
    sums.magnitude += derivative;
  }
  const auto count = static_cast<double>(target.count);
  sums.score /= count;
  sums.zero /= count;
  sums.magnitude /= count;
  sums.unit_magnitude = cav.length > 0 ? sums.magnitude / cav.length : 0;
  return sums;
}

void try_held_out(const InnerProducts& products, const CavJob& job, const CavOptions& options,
                  int64_t seed, CavOutcome& outcome) {
  const ExampleRows inside = shuffled(job.concept_rows, {seed, "tcav held-out concept", job.draw});
  const ExampleRows outside =
      shuffled(job.counterpart, {seed, "tcav held-out counterpart", job.draw});
  for (int fold = 0; fold < kFolds; ++fold) {
    ExampleRows train_in, train_out;
    const auto seen = [&](const ExampleRows& rows, ExampleRows& kept) {
      for (size_t i = 0; i < rows.size(); ++i) {
        if (static_cast<int>(i) % kFolds != fold) kept.push_back(rows[i]);
      }
    };
    seen(inside, train_in);
    seen(outside, train_out);
    const Cav cav = fit_cav(products.gram, train_in, train_out, options);
    const auto judge = [&](const ExampleRows& rows, double side) {
      for (size_t i = fold; i < rows.size(); i += kFolds) {
        outcome.hits += side * decision(products.gram, cav, rows[i]) > 0;
        ++outcome.tries;
      }
    };
    judge(inside, 1);
    judge(outside, -1);
  }
}

std::vector<CavOutcome> run_jobs(const InnerProducts& products,
                                 const std::vector<TargetRange>& targets,
                                 const std::vector<CavJob>& jobs, const JobSettings& settings) {
  std::vector<CavOutcome> outcomes(jobs.size());
  const auto count = static_cast<int64_t>(jobs.size());
  for (int64_t first = 0; first < count; first += kJobsAtOnce) {
    const int64_t some = std::min(kJobsAtOnce, count - first);
    parallel_for(some, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = first + begin; i < first + end; ++i) {
        const Cav cav =
            fit_cav(products.gram, jobs[i].concept_rows, jobs[i].counterpart, settings.cav);
        for (const TargetRange& target : targets) {
          outcomes[i].by_target.push_back(sensitivity_to(products, cav, target));
        }
        if (jobs[i].hold_out == HoldOut::kThirds) {
          try_held_out(products, jobs[i], settings.cav, settings.seed, outcomes[i]);
        }
      }
    });
    if (settings.done) settings.done(some);
  }
  return outcomes;
}

}  // namespace whyformer
