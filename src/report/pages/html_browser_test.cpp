// The page in a real browser: what a reader clicks and points at must answer. Skipped without
// Chromium.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "report/views/estimate_view.h"
#include "report/views/heat_overlay.h"
#include "report/views/trust_view.h"
#include "tests/support/sample_explanations.h"
#include "tests/support/sample_pictures.h"
#include "tests/support/sample_rows.h"
#include "tests/support/sample_trust.h"
#include "tests/support/source_folder.h"
#include "whyformer/report.h"

namespace whyformer::report {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string find_browser() {
  if (const char* chosen = std::getenv("WHYFORMER_BROWSER")) return chosen;
  for (const char* path :
       {"/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"}) {
    if (std::filesystem::exists(path)) return path;
  }
  return "";
}

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class HtmlInBrowser : public testing::Test {
 protected:
  struct Visit {
    std::string dom;
    std::string log;
  };

  void SetUp() override {
    browser_ = find_browser();
    if (browser_.empty())
      GTEST_SKIP() << "no Chromium found; set WHYFORMER_BROWSER to test the page";
    std::string pattern = testing::TempDir() + "whyformer_page_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }

  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  Visit visit(const std::string& page) const {
    std::ofstream(folder_ / "page.html") << page;
    const std::string command = fmt::format(
        "timeout 180 '{0}' --headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
        "--disable-background-networking --disable-component-update --disable-sync "
        "--user-data-dir='{1}/profile' --window-size=1400,6000 --enable-logging=stderr "
        "--virtual-time-budget=8000 --dump-dom 'file://{1}/page.html' >'{1}/dom' 2>'{1}/log'",
        browser_, folder_.string());
    EXPECT_EQ(std::system(command.c_str()), 0) << content_of(folder_ / "log");
    return {content_of(folder_ / "dom"), content_of(folder_ / "log")};
  }

  // The page with a script of ours at its end, which its own policy would rightly refuse.
  static std::string with_reader(std::string page, const char* reader) {
    page =
        std::regex_replace(page, std::regex("script-src 'sha256-[^']*'"),
                           "script-src 'unsafe-inline'", std::regex_constants::format_first_only);
    const std::filesystem::path folder = source_folder() / "src/report/pages";
    const std::string script =
        content_of(folder / "browser_reader.js") + content_of(folder / reader);
    return page.insert(page.rfind("</body>"), "<script>" + script + "</script>");
  }

  static nlohmann::json result_of(const std::string& dom) {
    const std::string open = "<pre id=\"result\">";
    const size_t start = dom.find(open);
    if (start == std::string::npos) return {};
    std::string text =
        dom.substr(start + open.size(), dom.find("</pre>", start) - start - open.size());
    for (const auto& [name, character] : {std::pair{"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}}) {
      text = std::regex_replace(text, std::regex(name), character);
    }
    return nlohmann::json::parse(text);
  }

  std::string browser_;
  std::filesystem::path folder_;
};

TEST_F(HtmlInBrowser, AnswersToPointerKeyboardAndControls) {
  const Explanation explanation = pair_sample();
  const Visit seen = visit(with_reader(to_html(explanation), "html_browser_test.js"));
  EXPECT_THAT(seen.log, Not(HasSubstr("CONSOLE")));
  const nlohmann::json result = result_of(seen.dom);
  ASSERT_TRUE(result.is_object()) << seen.log;

  const size_t methods = explanation.attributions.size();
  const size_t units = explanation.units.size();
  EXPECT_EQ(result["cards"], methods);
  EXPECT_EQ(result["tokens"], units);
  EXPECT_EQ(result["hover lights"], methods);
  EXPECT_EQ(result["hover shows the tip"], true);
  EXPECT_THAT(result["hover tells"].get<std::string>(),
              HasSubstr(fmt::format("{:+.3f}", explanation.attributions[0].scores[3])));
  EXPECT_EQ(result["arrow moves to"], "1");
  EXPECT_EQ(result["enter pins"], methods);
  EXPECT_EQ(result["words"], explanation.attributions[0].words.size() + 3);
  EXPECT_THAT(result["first bar"].get<std::string>(), testing::StartsWith("wonderful"));
  EXPECT_THAT(result["first bar in text order"].get<std::string>(), testing::StartsWith("[CLS]"));
  EXPECT_EQ(result["table rows"], units);
  EXPECT_THAT(result["map hover tells"].get<std::string>(),
              HasSubstr(fmt::format("{:.4f}", explanation.attention[1].head(2)[1 * units + 2])));
  EXPECT_EQ(result["map click chooses"], "A");
  EXPECT_EQ(result["overview click chooses"], nlohmann::json({0, 3}));
  EXPECT_EQ(result["slice"], nlohmann::json({12, 6}));
  EXPECT_EQ(result["special tokens left"], 0);
}

TEST_F(HtmlInBrowser, ATextStandsInColoursAboveThePictureItIsComparedWith) {
  const Explanation explanation = picture_pair_sample();
  const Visit seen = visit(with_reader(to_html(explanation), "pair_browser_test.js"));
  EXPECT_THAT(seen.log, Not(HasSubstr("CONSOLE")));
  const nlohmann::json result = result_of(seen.dom);
  ASSERT_TRUE(result.is_object()) << seen.log;
  const size_t methods = explanation.attributions.size();
  EXPECT_EQ(result["texts"], nlohmann::json(std::vector<std::string>(methods, "a red ball")));
  EXPECT_EQ(result["names"][0], "gae");
  EXPECT_EQ(result["strongest word"], "ball");
  EXPECT_EQ(result["says a score"], "red: 0.2500");
  EXPECT_EQ(result["text is above the picture"], true);
  EXPECT_EQ(result["panels"], methods + 1);
  EXPECT_EQ(result["eyebrow"], "Explained logit");
  EXPECT_THAT(result["class token attends"].get<std::string>(), HasSubstr("[CLS]"));
}

TEST_F(HtmlInBrowser, TrustHasItsVerdictAndItsCurvesAboveTheBand) {
  const Explanation explanation = trust_sample();
  const Visit seen = visit(with_reader(to_html(explanation), "trust_browser_test.js"));
  EXPECT_THAT(seen.log, Not(HasSubstr("CONSOLE")));
  const nlohmann::json result = result_of(seen.dom);
  ASSERT_TRUE(result.is_object()) << seen.log;
  EXPECT_EQ(result["boxes"], explanation.attributions.size());
  EXPECT_EQ(result["lines"], nlohmann::json(trust_lines(explanation.attributions[0])));
  EXPECT_EQ(result["plots"], nlohmann::json({"highest-ranked units hidden", "only they are kept"}));
  // 0.9 falls to 0.2 in the one plot, and 0.2 rises to 0.9 in the other: down is large in SVG.
  const auto own = result["own curves"].get<std::vector<std::vector<std::vector<double>>>>();
  ASSERT_EQ(own.size(), 2u);
  ASSERT_EQ(own[0].size(), explanation.attributions[0].trust->curve.shares.size());
  EXPECT_LT(own[0].front()[1], own[0].back()[1]);
  EXPECT_DOUBLE_EQ(own[0].front()[1], own[1].back()[1]);
  EXPECT_DOUBLE_EQ(own[0].back()[1], own[1].front()[1]);
  EXPECT_EQ(result["bands"], nlohmann::json({8, 8}));
  EXPECT_EQ(result["stays within its card"], true);
  EXPECT_EQ(result["setting"], true);
}

TEST_F(HtmlInBrowser, ForceBarsAndPairsSayTheNumbersOfTheExplanation) {
  const Explanation explanation = estimate_sample();
  const std::string page = with_reader(to_html(explanation), "estimate_browser_test.js");
  nlohmann::json result;
  // Bars take their width with the first frame; on a busy machine the reader may come before it.
  for (int attempt = 0;
       attempt < 4 && (attempt == 0 || std::abs(result.value("fills its card", 0.0) - 1) > 0.01);
       ++attempt) {
    const Visit seen = visit(page);
    EXPECT_THAT(seen.log, Not(HasSubstr("CONSOLE")));
    result = result_of(seen.dom);
    ASSERT_TRUE(result.is_object()) << seen.log;
  }

  EXPECT_EQ(result["force bars"], 2);  // the linear fit has none
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(result["lines"][i], estimate_line(explanation.attributions[i]));
  const ForceBar bar = force_bar(explanation, explanation.attributions[0]).value();
  const nlohmann::json& segments = result["segments"];
  ASSERT_EQ(segments.size(), bar.segments.size());
  const double pixels = (segments.back()["x"].get<double>() - segments[0]["x"].get<double>()) /
                        (bar.segments.back().from - bar.segments[0].from);
  for (size_t i = 0; i < segments.size(); ++i) {
    EXPECT_EQ(segments[i]["unit"], bar.segments[i].first_unit);
    EXPECT_NEAR(segments[i]["width"].get<double>(), std::abs(bar.segments[i].score) * pixels, 1e-6);
  }
  const double start = segments[0]["x"].get<double>() - bar.segments[0].from * pixels;
  EXPECT_NEAR(result["marks"][0].get<double>(), start + bar.base * pixels, 1e-6);
  EXPECT_NEAR(result["marks"][1].get<double>(), start + bar.value * pixels, 1e-6);
  EXPECT_EQ(result["mark names"][1], "f(x) " + format_place(bar.value, bar));
  EXPECT_NEAR(result["fills its card"].get<double>(), 1, 0.01);
  EXPECT_THAT(result["segment tells"].get<std::string>(),
              testing::StartsWith(bar.segments[0].text));
  EXPECT_THAT(result["bar values"],
              testing::Contains(testing::ResultOf(
                  [](const nlohmann::json& text) { return text.get<std::string>(); },
                  testing::EndsWith("± ?"))));
  EXPECT_EQ(result["whiskers"], 11);  // of twelve bars, one of which has an error that is not known
  EXPECT_EQ(result["widest whisker ends within its track"], true);
  const Interactions pairs = interactions_of(explanation, explanation.attributions[2]).value();
  EXPECT_EQ(result["cells"], pairs.pairs.size());
  EXPECT_THAT(result["first cell tells"].get<std::string>(),
              HasSubstr(fmt::format("{} × {}", pairs.names[0], pairs.names[1])));
}

TEST_F(HtmlInBrowser, PicturesAnswerToPointerKeyboardAndControls) {
  const std::vector<Explanation> classes = picture_classes_sample();
  const Visit seen = visit(with_reader(to_html(classes), "picture_browser_test.js"));
  EXPECT_THAT(seen.log, Not(HasSubstr("CONSOLE")));
  const nlohmann::json result = result_of(seen.dom);
  ASSERT_TRUE(result.is_object()) << seen.log;

  const PictureView& picture = *classes[0].picture;
  const Attribution& gae = classes[0].attributions[0];
  const MapSize size{448, 448};  // of the page's canvases
  const Raster drawn = resized(picture, size);
  const Heat heat = heat_of(picture, gae, size, Grain::kBlocks);
  const auto middle = [](int64_t row, int64_t column) {
    return static_cast<size_t>((row * 32 + 16) * 448 + column * 32 + 16);
  };
  const auto expect_colour = [&](const nlohmann::json& shown, const Raster& raster, size_t pixel) {
    ASSERT_EQ(shown.size(), 3) << shown;
    // The page blends neighbouring pixels, whose noise is up to 12 levels.
    for (size_t c = 0; c < 3; ++c) EXPECT_NEAR(shown[c].get<int>(), raster.rgb[3 * pixel + c], 10);
  };
  EXPECT_EQ(result["panels"], 12);
  EXPECT_EQ(result["classes"], nlohmann::json({"beach ball", "wooden box", "sky"}));
  expect_colour(result["plain colour"], drawn, middle(2, 2));
  const Raster blocks = painted(drawn, heat, 0.85);
  expect_colour(result["blocks colour"][0], blocks, middle(7, 4));
  expect_colour(result["blocks colour"][1], blocks, middle(0, 13));
  EXPECT_EQ(result["no opacity is grey"], nlohmann::json({true, false}));
  EXPECT_GT(result["outline whites"], 500);
  const std::vector<bool> inside = segment_of(heat);
  std::vector<int64_t> patches;
  for (int64_t patch = 0; patch < 196; ++patch) {
    if (inside[middle(patch / 14, patch % 14)]) patches.push_back(patch);
  }
  EXPECT_EQ(result["segment of the first method"], nlohmann::json(patches));

  EXPECT_EQ(result["hover marks"], 13);  // the panels and the attention's
  const std::string told = result["hover tells"].get<std::string>();
  EXPECT_THAT(told, HasSubstr("row 3, column 5"));
  for (const Explanation& explanation : classes) {
    const Attribution& signed_one = explanation.attributions[2];
    EXPECT_THAT(told, HasSubstr(fmt::format("{:+.5f}", signed_one.scores[1 + 3 * 14 + 5])));
  }
  EXPECT_EQ(result["arrows move to"], "row 4, column 6");  // from where the pointer was
  EXPECT_THAT(result["class token attends"].get<std::string>(), HasSubstr("[CLS] attends most to"));
  EXPECT_EQ(result["enter asks for attention of"], "row 4, column 6");
  const auto units = static_cast<int64_t>(classes[0].units.size());
  const std::span<const float> head = classes[0].attention[1].head(2);
  const std::span<const float> row =
      head.subspan(static_cast<size_t>((1 + 6 * 14 + 7) * units), static_cast<size_t>(units));
  const auto best = std::max_element(row.begin(), row.end());
  EXPECT_THAT(result["click in the attention panel"].get<std::string>(),
              HasSubstr(fmt::format("row 6, column 7 attends most to {} {:.4f}",
                                    classes[0].units[static_cast<size_t>(best - row.begin())].text,
                                    *best)));
  EXPECT_EQ(result["thumbnails"], 4);
  EXPECT_EQ(result["thumbnail chooses"], "3");
  EXPECT_EQ(result["back to the class token"], "[CLS]");
  EXPECT_EQ(result["table rows"], 197);
}

TEST_F(HtmlInBrowser, ARowIsATableThatIsSortedByAClickedMethod) {
  const Visit seen = visit(with_reader(to_html(row_sample()), "row_browser_test.js"));
  EXPECT_THAT(seen.log, Not(HasSubstr("CONSOLE")));
  const nlohmann::json result = result_of(seen.dom);
  ASSERT_TRUE(result.is_object()) << seen.log;
  using List = std::vector<std::string>;
  EXPECT_THAT(result["facts"].get<std::string>(), HasSubstr("5 columns"));
  EXPECT_EQ(result["columns"], List({"married", "age", "town", "hours", "capital-gain"}));
  EXPECT_EQ(result["cells"], List({"no", "39", "Saint-Rémy", "40.0", "missing"}));
  EXPECT_EQ(result["missing"], 1);
  EXPECT_EQ(result["hatched"], 3);  // gae has no score for numbers
  EXPECT_EQ(result["age says"], List({"+0.500 ± 0.010", "–", "above 50 %, equal to 3 %"}));
  EXPECT_EQ(result["age lies at"], "50%");
  EXPECT_EQ(result["town has"], "15%");
  EXPECT_EQ(result["sorted by gae"], List({"town", "married", "age", "capital-gain", "hours"}));
  EXPECT_EQ(result["as in the table"], List({"age", "town", "capital-gain", "hours", "married"}));
  EXPECT_EQ(result["steps"], List({"married = no", "age = 39", "town = Saint-Rémy", "hours = 40.0",
                                   "capital-gain = missing"}));
  EXPECT_EQ(result["marks"], List({"f(x) = 0.375", "base = -1.000"}));
  EXPECT_THAT(result["step tells"].get<std::string>(), testing::StartsWith("married = no"));
  EXPECT_EQ(result["fits"], true);
}

TEST_F(HtmlInBrowser, HostileTextStaysText) {
  const Visit seen = visit(to_html(hostile_sample()));
  EXPECT_THAT(seen.log, Not(HasSubstr("CONSOLE")));
  EXPECT_THAT(seen.dom, Not(HasSubstr("<img")));
  EXPECT_THAT(seen.dom, Not(HasSubstr("<title>owned")));
  EXPECT_THAT(seen.dom, HasSubstr("class=\"card method\""));  // our own script did run
}

TEST_F(HtmlInBrowser, EveryEdgeCaseOpensWithoutComplaint) {
  for (const NamedSample& sample : all_samples()) {
    const Visit seen = visit(to_html(sample.explanation));
    EXPECT_THAT(seen.log, Not(HasSubstr("CONSOLE"))) << sample.name;
    EXPECT_THAT(seen.dom, HasSubstr("Made by Whyformer")) << sample.name;  // the script's last line
  }
}

}  // namespace
}  // namespace whyformer::report
