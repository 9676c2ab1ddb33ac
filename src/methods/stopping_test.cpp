// What methods give when the caller stops them.
#include <gmock/gmock.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "whyformer/interrupted.h"
#include "whyformer/model.h"
#include "whyformer/report.h"

namespace whyformer {
namespace {

using testing::HasSubstr;

const TextInput kReview{
    "The story is thin and the jokes are stale, but the leads are so charming that nobody minded.",
    {}};

// One input at a time; stops as soon as so many of a method's steps are done, where `total` is that
// method's.
Explanation stopped_at(int64_t step, const std::vector<MethodRequest>& methods, int64_t total = 0) {
  ExplainRequest request;
  request.methods = methods;
  request.memory_bytes = 1;
  request.progress = [=](int64_t done, int64_t of) {
    return done < step || (total > 0 && of != total);
  };
  return explain(Model::built_in(), kReview, request)[0];
}

Attribution in_full(const MethodRequest& method) {
  ExplainRequest request;
  request.methods = {method};
  return explain(Model::built_in(), kReview, request)[0].attributions[0];
}

int64_t scores_missing(const Attribution& attribution) {
  return std::ranges::count_if(attribution.scores, [](double score) { return std::isnan(score); });
}

// Those that are there are those of a run to the end.
void expect_part_of(const Attribution& part, const Attribution& full) {
  ASSERT_EQ(part.scores.size(), full.scores.size());
  for (size_t i = 0; i < full.scores.size(); ++i) {
    if (std::isnan(part.scores[i])) continue;
    EXPECT_NEAR(part.scores[i], full.scores[i], 1e-6) << full.method << ' ' << i;
  }
}

TEST(Stopping, LeaveOneOutKeepsTheScoresItHas) {
  const Explanation part = stopped_at(5, {{"leave-one-out", {}}});
  const Attribution& found = part.attributions[0];
  const auto ordinary =
      std::ranges::count_if(part.units, [](const Unit& unit) { return !unit.special; });
  EXPECT_EQ(scores_missing(found), ordinary - 5);
  expect_part_of(found, in_full({"leave-one-out", {}}));
  ASSERT_EQ(found.notes.size(), 1u);
  EXPECT_THAT(found.notes[0], HasSubstr("Stopped after 5 of "));
  EXPECT_THAT(to_json(part, -1), HasSubstr("null"));
  EXPECT_THAT(to_terminal(part), HasSubstr("Stopped after 5 of "));
}

TEST(Stopping, OcclusionScoresWhatAllItsWindowsCover) {
  const MethodRequest windows{"occlusion", {{"window", int64_t{3}}, {"stride", int64_t{1}}}};
  const Attribution found = stopped_at(6, {windows}).attributions[0];
  const Attribution full = in_full(windows);
  // Windows 0 to 5 ran: cells 0 to 5 are in no other, behind the first special token.
  for (size_t i = 1; i <= 6; ++i) EXPECT_FALSE(std::isnan(found.scores[i])) << i;
  EXPECT_TRUE(std::isnan(found.scores[7]));
  expect_part_of(found, full);
  EXPECT_THAT(found.notes.back(), HasSubstr("Stopped after 6 of "));
}

TEST(Stopping, DecompxTellsHowFarItCame) {
  const Explanation part = stopped_at(1, {{"decompx", {}}});
  const Attribution& found = part.attributions[0];
  EXPECT_EQ(scores_missing(found), static_cast<int64_t>(found.scores.size()));
  EXPECT_FALSE(found.completeness_gap);
  ASSERT_EQ(found.notes.size(), 1u);
  EXPECT_THAT(found.notes[0], HasSubstr("Stopped after 1 of "));
}

TEST(Stopping, SmoothGradIsTheMeanOverTheCopiesSoFar) {
  const Attribution found =
      stopped_at(7, {{"smooth-grad", {{"samples", int64_t{10000}}}}}).attributions[0];
  const Attribution full = in_full({"smooth-grad", {{"samples", int64_t{7}}}});
  for (size_t i = 0; i < full.scores.size(); ++i)
    EXPECT_NEAR(found.scores[i], full.scores[i], 1e-6);
  EXPECT_THAT(found.notes.back(), HasSubstr("Stopped after 7 of 10000"));
}

TEST(Stopping, IntegratedGradientsKeepTheLastWholeRound) {
  const MethodRequest endless{"integrated-gradients", {{"tolerance", 0.0}}};
  const Attribution found = stopped_at(3, {endless}, 16).attributions[0];
  const Attribution eight = in_full({"integrated-gradients", {{"steps", int64_t{8}}}});
  for (size_t i = 0; i < eight.scores.size(); ++i)
    EXPECT_NEAR(found.scores[i], eight.scores[i], 1e-6);
  EXPECT_THAT(found.notes[0], HasSubstr("Stopped before 16 steps"));
  EXPECT_THAT(found.notes[1], HasSubstr("8 steps from"));
}

TEST(Stopping, KeepsMethodsThatAreDone) {
  for (const std::string method :
       {"permutation-shap", "exact-shap", "kernel-shap", "attention-flow", "alti", "lime"}) {
    ExplainRequest request;
    request.methods = {{"gae", {}}, {method, {}}, {"rollout", {}}};
    request.memory_bytes = 1;  // one input at a time
    // A slow machine asks before the first method is done, too; there is one step then.
    request.progress = [](int64_t, int64_t total) { return total <= 1; };
    const Explanation found =
        explain(Model::built_in(), TextInput{"not bad at all", {}}, request)[0];
    ASSERT_EQ(found.attributions.size(), 1u) << method;
    EXPECT_EQ(found.attributions[0].method, "gae");
    EXPECT_THAT(found.notes.back(), HasSubstr("Interrupted during " + method + ", before rollout."))
        << method;
    request.methods = {{method, {}}};
    EXPECT_THROW(explain(Model::built_in(), TextInput{"not bad at all", {}}, request), Interrupted)
        << method;
  }
}

TEST(Stopping, PartitionShapDoesNotBlameTheBudget) {
  for (const std::string context : {"none", "0"}) {
    const Attribution found =
        stopped_at(9, {{"partition-shap", {{"context", context}, {"batch", int64_t{1}}}}})
            .attributions[0];
    EXPECT_FALSE(found.estimate->finished);
    EXPECT_THAT(found.notes.back(), HasSubstr("Stopped after ")) << context;
    for (const std::string& note : found.notes)
      EXPECT_THAT(note, testing::Not(HasSubstr("budget"))) << context;
  }
  const Attribution spent = in_full({"partition-shap", {{"max-evals", int64_t{9}}}});
  EXPECT_THAT(spent.notes.back(), HasSubstr("The budget of 9 evaluations"));
}

TEST(Stopping, KernelShapTellsErrorsOfTokens) {
  for (const int64_t step : {80, 150, 400}) {
    const Explanation part = stopped_at(step, {{"kernel-shap", {}}});
    const Estimate& estimate = *part.attributions[0].estimate;
    EXPECT_FALSE(estimate.finished);
    ASSERT_EQ(estimate.errors.size(), part.units.size());
    for (size_t i = 0; i < part.units.size(); ++i) {
      EXPECT_EQ(std::isnan(estimate.errors[i]), part.units[i].special) << step << ' ' << i;
      EXPECT_EQ(estimate.errors[i] > 0, !part.units[i].special) << step << ' ' << i;
    }
  }
}

TEST(Stopping, ALongPlanOfKernelShapHasAnEstimate) {
  for (const std::string method : {"kernel-shap", "lime"}) {
    const Explanation part = stopped_at(400, {{method, {{"samples", int64_t{1'000'000}}}}});
    ASSERT_EQ(part.attributions.size(), 1u) << method;
    EXPECT_FALSE(part.attributions[0].estimate->finished) << method;
    EXPECT_LT(part.attributions[0].estimate->evaluations, 500) << method;
  }
}

// Not only between the layers that alti reports.
TEST(Stopping, IsNoticedInsideALayer) {
  ExplainRequest request;
  request.methods = {{"alti", {}}};
  std::vector<int64_t> layers_done;
  request.progress = [&](int64_t done, int64_t) {
    if (done == 0) return true;  // a slow machine asks before the first layer is done, too
    layers_done.push_back(done);
    std::this_thread::sleep_for(
        std::chrono::milliseconds(150));  // as long as a layer of a large model
    return layers_done.size() < 2;
  };
  EXPECT_THROW(explain(Model::built_in(), kReview, request), Interrupted);
  EXPECT_THAT(layers_done, testing::ElementsAre(1, 1));
}

}  // namespace
}  // namespace whyformer
