#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "tests/support/sample_explanations.h"
#include "tests/support/sample_rows.h"
#include "whyformer/report.h"

namespace whyformer::report {
namespace {

using testing::HasSubstr;
using testing::Not;

nlohmann::json data_of(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const size_t start = page.find(open) + open.size();
  return nlohmann::json::parse(page.substr(start, page.find("</script>", start) - start));
}

TEST(Html, CarriesEverythingItself) {
  const std::string page = to_html(sample_explanation());
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, Not(HasSubstr("http://")));
  EXPECT_THAT(page, Not(HasSubstr("https://")));
  EXPECT_FALSE(std::regex_search(page, std::regex("<(link|img|iframe|script src)")));
}

TEST(Html, HostileTextCannotLeaveItsBlock) {
  const std::string page = to_html(hostile_sample());
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, Not(HasSubstr("owned'\"><")));
  EXPECT_THAT(data_of(page)["methods"][0]["name"].get<std::string>(), HasSubstr("</script><img"));
}

TEST(Html, HostileCellsOfARowCannotLeaveTheirBlock) {
  const std::string page = to_html(hostile_row_sample());
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, Not(HasSubstr("alert(2)</script>")));
  EXPECT_THAT(data_of(page)["row"][0]["name"].get<std::string>(), HasSubstr("\\x1b[2J"));
}

TEST(Html, ARowHasItsCellsAndWhereTheyLieInTheBackground) {
  const nlohmann::json data = data_of(to_html(row_sample()));
  ASSERT_EQ(data["row"].size(), 5);
  EXPECT_EQ(data["row"][1]["cell"], "Saint-Rémy");
  EXPECT_EQ(data["row"][1]["kind"], "category");
  EXPECT_EQ(data["row"][0]["background"]["below"], 0.5);
  EXPECT_EQ(data["pieces"][1]["text"], "age");  // maps have the names of columns
  EXPECT_TRUE(data["methods"][1]["scores"][1].is_null());
  EXPECT_EQ(data["methods"][0]["estimate"]["waterfall"]["steps"].size(), 5);
  EXPECT_TRUE(data_of(to_html(wide_row_sample(1)))["row"][0]["background"].is_null());
  EXPECT_FALSE(data_of(to_html(sample_explanation())).contains("row"));
}

TEST(Html, TemplateMarksInTextAreNotFilled) {
  const std::string page = to_html(sample_explanation({.text = "{{SCRIPT}} film"}));
  EXPECT_EQ(data_of(page)["pieces"][3]["text"], "SCRIPT");
}

TEST(Html, ScalesAgreeWithTheScoresForShownAndExcludedSpecialTokens) {
  Explanation explanation = documented_sample();
  explanation.attributions[0].scores[0] = 5;
  const nlohmann::json method = data_of(to_html(explanation))["methods"][0];
  EXPECT_EQ(method["scale"]["pieces"], 5);
  EXPECT_EQ(method["scale_of_text"]["pieces"], 1.5);
}

TEST(Html, TenLabelsAreEnough) {
  const nlohmann::json data = data_of(to_html(many_labels_sample(1000)));
  EXPECT_EQ(data["answers"].size(), 10);
  EXPECT_EQ(data["label_count"], 1000);
}

TEST(Html, StaysWithinTwelveMegabytes) {
  const Explanation explanation = long_sample(512, 11, 12, 12);
  EXPECT_LT(to_html(explanation).size(), 12'000'000);
}

TEST(Html, EverySampleMakesAPage) {
  for (const NamedSample& sample : all_samples()) {
    const nlohmann::json data = data_of(to_html(sample.explanation, {SpecialTokens::kHide}));
    EXPECT_EQ(data["pieces"].size(), sample.explanation.units.size()) << sample.name;
    EXPECT_EQ(data["special"], "hide");
  }
}

}  // namespace
}  // namespace whyformer::report
