#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "tests/support/source_folder.h"
#include "whyformer/evaluate.h"
#include "whyformer/trust.h"

namespace whyformer {
namespace {

using testing::HasSubstr;

TEST(TruthFollowed, IsWhatTheDocumentationShows) {
  std::ifstream file(source_folder() / "docs/evaluation.md");
  std::ostringstream page;
  page << file.rdbuf();
  int64_t measured = 0;
  for (const MetricInfo& metric : metrics()) {
    std::string row = fmt::format("| {} ", metric.name);
    for (const TruthFollowed& one : truth_followed(metric.name)) {
      row += fmt::format("| {:.2f} [{:.2f}, {:.2f}] ", one.correlation, one.low, one.high);
    }
    if (truth_followed(metric.name).empty()) continue;
    EXPECT_THAT(page.str(), HasSubstr(row + "|\n"));
    ++measured;
  }
  EXPECT_GE(measured, 28);
}

TEST(TruthFollowed, IsNotKnownOfMetricsThatWereNotMeasured) {
  EXPECT_TRUE(truth_followed("pointing-game").empty());
  EXPECT_FALSE(mean_truth_followed("pointing-game"));
  EXPECT_FALSE(follows_truth("pointing-game"));
}

TEST(TruthFollowed, TheVerdictGoesByMetricsThatFollowIt) {
  EXPECT_TRUE(follows_truth(kMetricsOfTrust[0]));
  EXPECT_TRUE(follows_truth(kMetricsOfTrust[1]));
  EXPECT_FALSE(follows_truth("max-sensitivity"));
  EXPECT_FALSE(follows_truth("completeness")) << "hardly: above 0 everywhere, but not above 0.1";
  for (const TruthFollowed& one : truth_followed("completeness")) EXPECT_GT(one.low, 0);
}

}  // namespace
}  // namespace whyformer
