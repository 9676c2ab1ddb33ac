#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "report/pages/base64.h"
#include "tests/support/sample_pictures.h"
#include "whyformer/error.h"
#include "whyformer/report.h"

namespace whyformer::report {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string block_of(const std::string& page, const std::string& id) {
  const std::string open = "id=\"" + id + "\">";
  const size_t start = page.find(open);
  if (start == std::string::npos) return "";
  return page.substr(start + open.size(), page.find("</script>", start) - start - open.size());
}

nlohmann::json data_of(const std::string& page) {
  return nlohmann::json::parse(block_of(page, "data"));
}

TEST(PicturePage, CarriesEverythingItself) {
  const std::string page = to_html(picture_classes_sample());
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, Not(HasSubstr("http://")));
  EXPECT_THAT(page, Not(HasSubstr("https://")));
  EXPECT_FALSE(std::regex_search(page, std::regex("<(link|img|iframe|script src)")));
}

TEST(PicturePage, HoldsThePictureAsTheModelSawIt) {
  const Explanation explanation = picture_sample();
  const uint8_t* rgb = explanation.picture->rgb.get();
  EXPECT_EQ(block_of(to_html(explanation), "picture"), base64({rgb, rgb + 3 * 224 * 224}));
}

TEST(PicturePage, MethodsKnowTheirClassAndColumn) {
  const nlohmann::json data = data_of(to_html(picture_classes_sample()));
  EXPECT_EQ(data["classes"].size(), 3);
  EXPECT_EQ(data["columns"], nlohmann::json({"gae", "integrated-gradients", "leave-one-out"}));
  ASSERT_EQ(data["methods"].size(), 9);
  EXPECT_EQ(data["methods"][4]["name"], "integrated-gradients · wooden box");
  EXPECT_EQ(data["methods"][4]["row"], 1);
  EXPECT_EQ(data["methods"][4]["column"], 1);
  int targets = 0;
  for (const nlohmann::json& answer : data["answers"]) targets += answer["target"] == true;
  EXPECT_EQ(targets, 3);
}

TEST(PicturePage, PixelScoresAreABytePerPixelBetweenTheirEnds) {
  Explanation explanation = documented_picture_sample();
  const std::string page = to_html(explanation);
  EXPECT_EQ(data_of(page)["methods"][0]["pixels"]["high"], 0.5);
  EXPECT_EQ(block_of(page, "pixels-0"),
            base64(std::vector<uint8_t>{255, 64, 128, 0, 32, 32, 0, 0}));
  explanation.attributions[0].is_signed = true;
  explanation.attributions[0].pixels[3] = -0.5f;
  EXPECT_EQ(block_of(to_html(explanation), "pixels-0"),
            base64(std::vector<uint8_t>{254, 159, 191, 0, 143, 143, 127, 127}));
}

TEST(PicturePage, ThreeClassesByThreeMethodsWithAllMapsStayBelowThreeMegabytes) {
  std::vector<Explanation> classes = picture_classes_sample({.layers = 12, .heads = 12});
  for (Explanation& explanation : classes) {
    for (Attribution& attribution : explanation.attributions) {
      attribution.pixels = explanation.attributions[1].pixels;
    }
  }
  const std::string page = to_html(classes);
  EXPECT_LT(page.size(), 3'000'000);
  EXPECT_EQ(data_of(page)["attention"]["maps"].size(), 12);
  EXPECT_EQ(data_of(page)["attention"]["maps"][0]["heads"], 12);
}

TEST(PicturePage, LargePicturesAreStoredSmaller) {
  const std::string page = to_html(picture_sample({.width = 1536, .height = 768, .layers = 0}));
  const nlohmann::json picture = data_of(page)["picture"];
  EXPECT_EQ(picture["width"], 512);
  EXPECT_EQ(picture["height"], 256);
  EXPECT_EQ(picture["columns"], 96);
  EXPECT_LT(page.size(), 3'000'000);
}

TEST(PicturePage, HostileTextCannotLeaveItsBlock) {
  const std::string page = to_html(hostile_picture_sample());
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, Not(HasSubstr("owned'\"><")));
}

TEST(PicturePage, TextsAreNotShownTogether) {
  Explanation text;
  text.text = "words";
  EXPECT_THROW(to_html(std::vector<Explanation>{text, text}), InvalidInput);
  EXPECT_THROW(to_html(std::vector<Explanation>{}), InvalidInput);
}

}  // namespace
}  // namespace whyformer::report
