#include "report/views/trust_view.h"

#include <gmock/gmock.h>

#include "tests/support/sample_trust.h"
#include "whyformer/report.h"

namespace whyformer::report {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(TrustView, SaysTheVerdictWithItsErrorsAndWhatElseIsKnown) {
  const Explanation sample = trust_sample();
  EXPECT_THAT(
      trust_lines(sample.attributions[0]),
      ElementsAre(
          "Trust: better than random (p = 0.05). Beats 100 ± 3 % of random rankings: 100 ± 2 "
          "% by hiding what it ranks first, 90 ± 5 % by keeping only that.",
          "Rank correlation with rollout 0.25, constant –; under noise scores change by at "
          "most 12 %, ranks correlate 0.97 at least; scores add up to the answer within "
          "0.0004; by the sanity card (12 inputs) scores depend on the class and depend only "
          "partly on the weights."));
  EXPECT_THAT(trust_lines(sample.attributions[1])[0],
              HasSubstr("not told apart from a random ranking"));
}

TEST(TrustView, SaysNothingWhereItWasNotMeasured) {
  Explanation sample = trust_sample();
  sample.attributions[0].trust.reset();
  sample.trust.reset();
  EXPECT_THAT(trust_lines(sample.attributions[0]), IsEmpty());
  EXPECT_THAT(trust_setting_lines(sample), IsEmpty());
}

TEST(TrustView, NamesMetricsThatDoNotFollowKnownReasons) {
  Explanation sample = trust_sample();
  EXPECT_THAT(
      trust_setting_lines(sample),
      Contains(AllOf(HasSubstr("comprehensiveness (0.70) and sufficiency (0.64) rank methods "
                               "as the truth does"),
                     HasSubstr("max-sensitivity (-0.03) and completeness (0.23) do not"))));
  EXPECT_THAT(trust_setting_lines(sample), Not(Contains(HasSubstr("no sanity card"))));
  sample.trust->has_sanity_card = false;
  EXPECT_THAT(trust_setting_lines(sample), Contains(HasSubstr("no sanity card")));
}

TEST(TrustView, IsInEveryReport) {
  const Explanation sample = trust_sample();
  const std::string terminal = to_terminal(sample, {.colour = false, .width = 400});
  for (const std::string& line : trust_lines(sample.attributions[0])) {
    EXPECT_THAT(terminal, HasSubstr(line));
  }
  EXPECT_THAT(terminal, HasSubstr("hiding by mask"));
  EXPECT_THAT(to_html(sample), HasSubstr("better than random"));
  EXPECT_THAT(to_json(sample), HasSubstr("\"verdict\": \"better-than-random\""));
  Explanation without = sample;
  for (Attribution& attribution : without.attributions) attribution.trust.reset();
  without.trust.reset();
  EXPECT_THAT(to_json(without), Not(HasSubstr("trust")));
}

}  // namespace
}  // namespace whyformer::report
