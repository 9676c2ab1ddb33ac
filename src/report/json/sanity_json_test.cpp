// Reports of sanity checks as JSON and back, and the cards made of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/temporary_folder.h"
#include "whyformer/error.h"
#include "whyformer/report.h"
#include "whyformer/sanity.h"

namespace whyformer {
namespace {

using testing::HasSubstr;

SanityReport sample() {
  SanityReport report;
  report.model = {"sentiment", "BertForSequenceClassification"};
  report.hash = std::string(64, 'a');
  report.kind = "texts";
  report.inputs = 6;
  report.seed = -3;
  report.randomised_target = SanityTarget::kHighest;
  report.steps = {{"head", 100}, {"layer 0", 5000}};
  report.window = 11;
  SanityComparison one{.change = SanityChange::kIndependent, .step = "head"};
  one.magnitudes = {.mean = 0.25, .low = -0.5, .high = 0.75, .inputs = 6};
  one.signed_scores = {.mean = 0.125, .inputs = 1};
  one.inputs = 6;
  one.identical = 2;
  report.methods = {{.method = "gae",
                     .options = {{"all", true}, {"start", int64_t{1}}, {"how", std::string("a")}},
                     .is_signed = true,
                     .comparisons = {one},
                     .depends_on_class = SanityVerdict::kPartly,
                     .depends_on_weights = SanityVerdict::kYes,
                     .findings = {"Depends on the weights."}}};
  report.refused = {{"alti", "no blocks"}};
  report.seconds = 1.5;
  report.notes = {"A note."};
  return report;
}

TEST(SanityJson, ComesBackAsItWas) {
  const std::string text = to_json(sample());
  const SanityReport back = sanity_report_from_json(text);
  EXPECT_EQ(to_json(back), text);
  EXPECT_EQ(back.methods[0].comparisons[0].magnitudes.low, -0.5);
  EXPECT_FALSE(back.methods[0].comparisons[0].signed_scores.low);
  EXPECT_EQ(back.methods[0].depends_on_class, SanityVerdict::kPartly);
  EXPECT_EQ(back.randomised_target, SanityTarget::kHighest);
}

TEST(SanityJson, RefusesEverythingElse) {
  const nlohmann::json sound = nlohmann::json::parse(to_json(sample()));
  const auto refused = [](const nlohmann::json& json) {
    EXPECT_THROW(sanity_report_from_json(json.dump()), FileError) << json.dump();
  };
  EXPECT_THROW(sanity_report_from_json("{"), FileError);
  EXPECT_THROW(sanity_report_from_json(""), FileError);
  EXPECT_THROW(sanity_report_from_json(std::string(100'000, '[')), FileError);
  for (const auto& [key, value] : sound.items()) {
    nlohmann::json without = sound, other = sound;
    without.erase(key);
    refused(without);
    other[key] = nlohmann::json::array({nlohmann::json::array()});
    refused(other);
  }
  for (const auto& change :
       {nlohmann::json::parse(R"([{"op":"replace","path":"/inputs","value":-1}])"),
        nlohmann::json::parse(R"([{"op":"replace","path":"/inputs","value":1e300}])"),
        nlohmann::json::parse(R"([{"op":"replace","path":"/schema","value":"x"}])"),
        nlohmann::json::parse(
            R"([{"op":"replace","path":"/methods/0/depends_on_class","value":"maybe"}])"),
        nlohmann::json::parse(
            R"([{"op":"replace","path":"/methods/0/comparisons/0/change","value":1}])")})
    refused(sound.patch(change));
}

TEST(SanityTerminal, ShowsTheTableAndTheFindings) {
  const std::string text = to_terminal(sample(), {.colour = false, .width = 90});
  EXPECT_THAT(text, HasSubstr("gae"));
  EXPECT_THAT(text, HasSubstr("Depends on the weights."));
  EXPECT_THAT(text, HasSubstr("all weights"));
  EXPECT_THAT(text, HasSubstr("no blocks."));
}

TEST(SanityTerminal, MakesHostileNamesHarmless) {
  SanityReport report = sample();
  report.methods[0].method = "\x1b[2J";
  report.methods[0].findings = {"\x1b]0;x\a"};
  report.steps[0].name = report.notes[0] = report.refused[0].reason = "\x1b[31m";
  report.model.name = "\x1b[1m";
  EXPECT_EQ(to_terminal(report, {.colour = false, .width = 90}).find('\x1b'), std::string::npos);
}

class SanityCards : public testing::Test {
 protected:
  SanityCards() {
    if (const char* before = std::getenv("XDG_CACHE_HOME")) before_ = before;
    setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
  }
  ~SanityCards() override {
    if (before_.empty())
      unsetenv("XDG_CACHE_HOME");
    else
      setenv("XDG_CACHE_HOME", before_.c_str(), 1);
  }
  std::filesystem::path card(const std::string& hash) const {
    return folder_.path() / "whyformer" / "sanity" / (hash + ".json");
  }

  const TemporaryFolder folder_;
  std::string before_;
};

TEST_F(SanityCards, AreFoundByTheWeights) {
  const Model model = Model::built_in();
  EXPECT_FALSE(find_sanity_card(model));
  SanityReport report = sample();
  report.hash = model.hash();
  keep_sanity_card(report);
  EXPECT_TRUE(std::filesystem::exists(card(report.hash)));
  const auto found = find_sanity_card(Model::built_in());
  ASSERT_TRUE(found);
  EXPECT_EQ(to_json(*found), to_json(report));
  const SanityFindings findings = sanity_findings(model);
  ASSERT_TRUE(findings);
  ASSERT_EQ(findings->size(), report.methods.size());
  EXPECT_EQ((*findings)[0].method, report.methods[0].method);
  EXPECT_EQ((*findings)[0].options, report.methods[0].options);
  EXPECT_EQ((*findings)[0].depends_on_class, SanityVerdict::kPartly);
  EXPECT_EQ((*findings)[0].inputs, report.inputs);
  EXPECT_FALSE(sanity_findings(Model::built_in_for_pictures()));
  EXPECT_FALSE(find_sanity_card(Model::built_in_for_pictures()));
}

TEST_F(SanityCards, KeepWhatEarlierChecksFoundOutAboutOtherMethods) {
  const Model model = Model::built_in();
  SanityReport first = sample();
  first.hash = model.hash();
  first.methods.push_back(first.methods[0]);
  first.methods[1].method = "rollout";
  keep_sanity_card(first);
  SanityReport second = sample();
  second.hash = model.hash();
  second.inputs = 9;
  second.methods[0].comparisons[0].inputs = 9;
  second.methods[0].depends_on_class = SanityVerdict::kNo;
  second.methods.push_back(second.methods[0]);
  second.methods[1].options.clear();  // another method
  keep_sanity_card(second);
  const SanityFindings findings = sanity_findings(model);
  ASSERT_TRUE(findings);
  ASSERT_EQ(findings->size(), 3u);
  EXPECT_EQ((*findings)[0].depends_on_class, SanityVerdict::kNo) << "the newer check counts";
  EXPECT_EQ((*findings)[0].inputs, 9);
  EXPECT_TRUE((*findings)[1].options.empty());
  EXPECT_EQ((*findings)[2].method, "rollout");
  EXPECT_EQ((*findings)[2].inputs, 6) << "of its own check";
}

TEST_F(SanityCards, ThatAreBrokenOrOfOtherWeightsAreNone) {
  const Model model = Model::built_in();
  SanityReport report = sample();
  report.hash = model.hash();
  keep_sanity_card(report);
  std::ofstream(card(model.hash())) << to_json(sample());  // says that it is of another model
  EXPECT_FALSE(find_sanity_card(model));
  std::ofstream(card(model.hash())) << "{\"schema\": 1}";
  EXPECT_FALSE(find_sanity_card(model));
}

TEST_F(SanityCards, AreNotKeptOfWhatWasStopped) {
  SanityReport report = sample();
  report.stopped_early = true;
  keep_sanity_card(report);
  EXPECT_FALSE(std::filesystem::exists(card(report.hash)));
}

TEST_F(SanityCards, HaveNamesOfDigitsOnly) {
  SanityReport report = sample();
  report.hash = "../../escape";
  EXPECT_THROW(keep_sanity_card(report), FileError);
}

}  // namespace
}  // namespace whyformer
