// The pictures of Jain & Wallace for a transformer: how far adversarial attention is, over the
// largest weight, and what both distributions look like on the words.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/pictures/debate_panels.h"
#include "report/pictures/picture_sheet.h"
#include "report/views/axis.h"
#include "report/views/text.h"
#include "whyformer/error.h"

namespace whyformer {
namespace report {
namespace {

constexpr double kScatterLeft = 44, kScatterTop = 30, kScatterBottom = 66;
constexpr double kWordRow = 19, kExampleTop = 52;
constexpr size_t kMostWords = 40;
constexpr size_t kMostExamples = 4;
constexpr double kDebateGap = 28;

const TextStyle kDebateFaint{.size = 10, .colour = kLightPalette.faint_ink};
const TextStyle kDebateMiddle{
    .size = 10, .colour = kLightPalette.faint_ink, .anchor = Anchor::kMiddle};
const TextStyle kDebateEnd{.size = 10, .colour = kLightPalette.faint_ink, .anchor = Anchor::kEnd};

Colour class_colour(int64_t predicted) {
  const std::array hues{kLightPalette.negative, kLightPalette.positive, kLightPalette.magnitude};
  return hues[static_cast<size_t>(predicted) % hues.size()];
}

// A class that is no hue of its own has a frame instead of a disc.
void draw_point(Canvas& canvas, double x, double y, int64_t predicted) {
  if (predicted % 6 < 3)
    canvas.circle(x, y, 3, class_colour(predicted));
  else
    canvas.rectangle({x - 3, y - 3, 6, 6}, class_colour(predicted));
}

void scatter_legend(Canvas& canvas, double x, double y, const ScatterPanel& panel) {
  constexpr int64_t kMostClasses = 4;
  std::vector<int64_t> classes;
  for (const DebatePoint& point : panel.points) {
    if (std::ranges::find(classes, point.predicted) == classes.end())
      classes.push_back(point.predicted);
  }
  std::ranges::sort(classes);
  const double step = (kScatterWidth - kScatterLeft) / kMostClasses;
  for (size_t i = 0; i < std::min<size_t>(classes.size(), kMostClasses); ++i) {
    draw_point(canvas, x + step * static_cast<double>(i) + 4, y, classes[i]);
    canvas.text(x + step * static_cast<double>(i) + 12, y,
                fitted(printable(panel.labels[classes[i]]), step - 16, 10), kDebateFaint);
  }
}

std::vector<TwoWeights> words_shown(const DebateExampleView& example) {
  std::vector<TwoWeights> words = example.words;
  if (words.size() > kMostWords) words.resize(kMostWords);
  return words;
}

}  // namespace

std::vector<ScatterPanel> scatter_panels(const DebateReport& report) {
  std::vector<ScatterPanel> panels{{.title = "Furthest attention with the same answer",
                                    .across = "largest weight of the read-out row",
                                    .up = "Jensen–Shannon divergence",
                                    .top = std::log(2.0),
                                    .top_name = "ln 2",
                                    .points = adversary_points(report),
                                    .labels = report.labels},
                                   {.title = "Shuffled read-out row",
                                    .across = "largest weight of the read-out row",
                                    .up = "median change of the answer",
                                    .top = 1,
                                    .top_name = "",
                                    .points = permutation_points(report),
                                    .labels = report.labels}};
  std::erase_if(panels, [](const ScatterPanel& panel) { return panel.points.empty(); });
  return panels;
}

void draw_scatter(Canvas& canvas, double x, double y, const ScatterPanel& panel) {
  canvas.text(x, y + 8, fitted(panel.title, kScatterWidth, 13), {.size = 13, .bold = true});
  const Box plot{x + kScatterLeft, y + kScatterTop, kScatterWidth - kScatterLeft - 12,
                 kScatterHeight - kScatterTop - kScatterBottom};
  const double bottom = plot.y + plot.height;
  for (const double tick : ticks_of({0, panel.top})) {
    if (tick < 0 || tick > panel.top) continue;
    const double at = bottom - plot.height * tick / panel.top;
    canvas.line(plot.x, at, plot.x + plot.width, at, kLightPalette.grid);
    canvas.text(plot.x - 6, at, format_tick(tick), kDebateEnd);
  }
  if (!panel.top_name.empty()) {
    canvas.line(plot.x, plot.y, plot.x + plot.width, plot.y, kLightPalette.faint_ink);
    canvas.text(plot.x + plot.width, plot.y - 7, panel.top_name, kDebateEnd);
  }
  for (const double tick : ticks_of({0, 1}))
    canvas.text(plot.x + plot.width * tick, bottom + 12, format_tick(tick), kDebateMiddle);
  canvas.line(plot.x, bottom, plot.x + plot.width, bottom, kLightPalette.faint_ink);
  canvas.text(plot.x + plot.width / 2, bottom + 28, panel.across, kDebateMiddle);
  canvas.text(
      x + 8, plot.y + plot.height / 2, panel.up,
      {.size = 10, .colour = kLightPalette.faint_ink, .anchor = Anchor::kMiddle, .upward = true});
  for (const DebatePoint& point : panel.points) {
    draw_point(canvas, plot.x + plot.width * std::clamp(point.x, 0.0, 1.0),
               bottom - plot.height * std::clamp(point.y / panel.top, 0.0, 1.0), point.predicted);
  }
  scatter_legend(canvas, plot.x, bottom + 50, panel);
}

double example_height(const DebateExampleView& example) {
  return kExampleTop + kWordRow * static_cast<double>(words_shown(example).size()) + 24;
}

void draw_example(Canvas& canvas, double x, double y, const DebateExampleView& example) {
  constexpr double kWord = 132, kBars = (kExampleWidth - kWord) / 2;
  canvas.text(x, y + 8, fitted(printable(example.title), kExampleWidth, 11),
              {.size = 11, .bold = true});
  canvas.text(x + kWord, y + 32, "observed", kDebateFaint);
  canvas.text(x + kWord + kBars, y + 32, "adversarial", kDebateFaint);
  double largest = 0;
  for (const TwoWeights& word : example.words)
    largest = std::max({largest, word.observed, word.adversarial});
  const std::vector<TwoWeights> words = words_shown(example);
  for (size_t i = 0; i < words.size(); ++i) {
    const double middle = y + kExampleTop + kWordRow * (static_cast<double>(i) + 0.5);
    canvas.text(x, middle, fitted(printable(words[i].word), kWord - 10, 12), {.size = 12});
    const std::array weights{words[i].observed, words[i].adversarial};
    for (size_t side = 0; side < 2; ++side) {
      const double left = x + kWord + kBars * static_cast<double>(side);
      const double share = largest > 0 ? weights[side] / largest : 0;
      canvas.rectangle({left, middle - 7, std::max(0.5, (kBars - 46) * share), 14},
                       side == 0 ? kLightPalette.positive : kLightPalette.negative);
      canvas.text(left + (kBars - 46) * share + 4, middle, fmt::format("{:.2f}", weights[side]),
                  kDebateFaint);
    }
  }
  if (example.words.size() > words.size()) {
    canvas.text(x, y + example_height(example) - 12,
                fmt::format("… and {} more", example.words.size() - words.size()), kDebateFaint);
  }
}

std::vector<std::string> debate_pictures(const DebateReport& report) {
  constexpr double kEdge = 8;
  std::vector<std::string> pictures;
  for (const ScatterPanel& panel : scatter_panels(report)) {
    const auto canvas =
        make_sheet(PictureFormat::kSvg, kScatterWidth + 2 * kEdge, kScatterHeight + 2 * kEdge);
    draw_scatter(*canvas, kEdge, kEdge, panel);
    pictures.push_back(canvas->finish());
  }
  for (const DebateExampleView& example : debate_examples(report, kMostExamples)) {
    const auto canvas = make_sheet(PictureFormat::kSvg, kExampleWidth + 2 * kEdge,
                                   example_height(example) + 2 * kEdge);
    draw_example(*canvas, kEdge, kEdge, example);
    pictures.push_back(canvas->finish());
  }
  return pictures;
}

}  // namespace report

std::string debate_picture(const DebateReport& found, PictureFormat format) {
  using namespace report;
  const std::vector<ScatterPanel> panels = scatter_panels(found);
  const std::vector<DebateExampleView> examples = debate_examples(found, kMostExamples);
  if (panels.empty()) {
    throw InvalidInput(
        "picture of a debate: it shows permutations and adversarial attention, and neither was "
        "measured");
  }
  const double width = 2 * kSheetMargin + 2 * kScatterWidth + kDebateGap;
  const double first = kSheetMargin + 56;
  double height = first + kScatterHeight + kDebateGap;
  for (size_t i = 0; i < examples.size(); i += 2) {
    height += example_height(examples[i]) + kDebateGap;
    if (i + 1 < examples.size())
      height += std::max(0.0, example_height(examples[i + 1]) - example_height(examples[i]));
  }
  const auto canvas = make_sheet(format, width, height);
  canvas->text(kSheetMargin, kSheetMargin + 8,
               fitted(printable(debate_title(found)), width - 2 * kSheetMargin, 18),
               {.size = 18, .bold = true});
  canvas->text(kSheetMargin, kSheetMargin + 32,
               fitted(printable(debate_facts(found)), width - 2 * kSheetMargin, 11), kFaintText);
  const auto left = [&](size_t i) {
    return kSheetMargin + static_cast<double>(i % 2) * (kScatterWidth + kDebateGap);
  };
  for (size_t i = 0; i < panels.size(); ++i) draw_scatter(*canvas, left(i), first, panels[i]);
  double y = first + kScatterHeight + kDebateGap;
  for (size_t i = 0; i < examples.size(); ++i) {
    draw_example(*canvas, left(i), y, examples[i]);
    if (i % 2 == 1)
      y += std::max(example_height(examples[i - 1]), example_height(examples[i])) + kDebateGap;
  }
  return canvas->finish();
}

}  // namespace whyformer
