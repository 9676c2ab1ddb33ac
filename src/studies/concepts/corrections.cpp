#include "studies/concepts/corrections.h"

#include "studies/concepts/statistics.h"

namespace whyformer {
namespace {

using Member = std::optional<CorrectedP> ConceptTest::*;

void correct(std::vector<ConceptTest>& tests, Member member) {
  std::vector<double> p;
  for (const ConceptTest& test : tests) {
    const bool counts = test.verdict != Verdict::kNotLearnt && (test.*member).has_value();
    p.push_back(counts ? (test.*member)->p : 1);
  }
  const std::vector<double> strict = bonferroni(p), stepwise = benjamini_hochberg(p);
  for (size_t i = 0; i < tests.size(); ++i) {
    if (!(tests[i].*member)) continue;
    (tests[i].*member)->bonferroni = strict[i];
    (tests[i].*member)->benjamini_hochberg = stepwise[i];
  }
}

Verdict verdict_of(const ConceptTest& test, double level) {
  if (test.verdict == Verdict::kNotLearnt) return test.verdict;
  if (!test.t_test) return Verdict::kUndefined;
  const bool relabelling_agrees =
      !test.magnitude_permutation || test.magnitude_permutation->benjamini_hochberg < level;
  return test.t_test->benjamini_hochberg < level && relabelling_agrees ? Verdict::kSignificant
                                                                       : Verdict::kNotSignificant;
}

}  // namespace

void judge(std::vector<ConceptTest>& tests, double level) {
  for (ConceptTest& test : tests) {
    test.verdict = test.held_out.p < level ? Verdict::kUndefined : Verdict::kNotLearnt;
  }
  for (const Member member : {&ConceptTest::t_test, &ConceptTest::score_permutation,
                              &ConceptTest::magnitude_permutation}) {
    correct(tests, member);
  }
  for (ConceptTest& test : tests) test.verdict = verdict_of(test, level);
}

}  // namespace whyformer
