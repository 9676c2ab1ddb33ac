#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "whyformer/debate.h"
#include "whyformer/error.h"
#include "whyformer/report.h"

namespace whyformer {
namespace {

using testing::HasSubstr;
using testing::Not;

DebateInput sample_input() {
  DebateInput input{.name = "line 1"};
  input.units = {"[CLS]", "good", "<b>", "[SEP]"};
  input.special = {true, false, false, true};
  input.predicted = 1;
  input.probabilities = {0.25, 0.75};
  input.attention = {0.1, 0.5, 0.25, 0.15};
  input.correlations = {{"last-row", "gradient", false, 0.5, {}},
                        {"rollout", "gradient", true, {}, {}}};
  input.permutations = {{"last-row", 1, -1, 0.125, 0.25, 0.75, 0.5}};
  input.adversaries = {{"joint", 3, -1, {0.1, 0.5}, {0.01, 0.05}, 0.4, {0.1, 0.0, 0.75, 0.15}}};
  input.uniform = {{"last", 0.0625, 0}};
  input.others = {{0.5, 0.25}};
  input.guides = {{"gae", {0, 1, 0, 0}}};
  input.refused = {{"seeds", "one model"}};
  input.notes = {"cut"};
  return input;
}

DebateReport sample_report() {
  DebateReport report;
  report.model = {"tiny", "Bert"};
  report.labels = {"negative", "positive"};
  report.inputs = {sample_input()};
  report.verdicts = {{"adversary", "Others <would> do.", "That a model learns them."}};
  report.refused = {{"seeds", "one model was given"}};
  return report;
}

TEST(DebateJson, AnInputReadsBackToTheSameLine) {
  const std::string line = to_json(sample_input());
  EXPECT_EQ(std::ranges::count(line, '\n'), 0);
  EXPECT_EQ(to_json(debate_input_of(line)), line);
  for (const char* other : {"", "{}", "[1]", "{\"name\": 3}"})
    EXPECT_THROW(debate_input_of(other), InvalidInput) << other;
}

TEST(DebateJson, WhatWasNotMeasuredIsNull) {
  DebateReport report = sample_report();
  report.correlations = {{"last-row", "gradient", false, "", {}, 0, 1}};
  const std::string json = to_json(report);
  EXPECT_THAT(json, HasSubstr("\"significant\": null"));
  EXPECT_THAT(json, HasSubstr("\"diagnostic\": null"));
}

TEST(DebateReports, TellEachVerdictAndWhatItDoesNotShow) {
  const DebateReport report = sample_report();
  const std::string terminal = to_terminal(report, {.colour = false});
  EXPECT_THAT(terminal, HasSubstr("Others <would> do."));
  EXPECT_THAT(terminal, HasSubstr("Not shown: That a model learns them."));
  EXPECT_THAT(terminal, HasSubstr("Left out: one model was given."));
  const std::string page = to_html(report);
  EXPECT_THAT(page, HasSubstr("Others &lt;would&gt; do."));
  EXPECT_THAT(page, HasSubstr("&lt;b&gt;"));  // a word of the input, in the picture
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(debate_picture(report, PictureFormat::kSvg), HasSubstr("ln 2"));
  EXPECT_THROW(debate_picture(DebateReport(), PictureFormat::kSvg), InvalidInput);
}

}  // namespace
}  // namespace whyformer
