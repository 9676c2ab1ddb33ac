// Concept tests as a picture: for each target and layer a bar per concept with the spread over
// counterparts as an error bar, and the band in which random directions fall.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/pictures/canvas.h"
#include "report/views/concepts_view.h"
#include "report/views/text.h"
#include "whyformer/error.h"
#include "whyformer/report.h"

namespace whyformer {
namespace report {
namespace {

constexpr double kMargin = 24, kHeader = 64, kGap = 36, kAxis = 44;
constexpr double kPlotHeight = 220, kTitle = 30, kNames = 62;
constexpr double kBarWidth = 38, kBarGap = 44;
constexpr double kWidest = 1480;

const TextStyle kFaint{.size = 11, .colour = kLightPalette.faint_ink};
const TextStyle kFaintMiddle{
    .size = 11, .colour = kLightPalette.faint_ink, .anchor = Anchor::kMiddle};
const TextStyle kFaintEnd{.size = 11, .colour = kLightPalette.faint_ink, .anchor = Anchor::kEnd};

class ConceptsPicture {
 public:
  explicit ConceptsPicture(const ConceptReport& found) : found_(found), groups_(groups_of(found)) {
    double x = kMargin, y = kMargin + kHeader;
    for (const ConceptGroup& group : groups_) {
      const double width = std::max(
          150.0, static_cast<double>(group.tests.size() + 1) * (kBarWidth + kBarGap) + kBarGap);
      if (x > kMargin && x + kAxis + width > kWidest) {
        x = kMargin;
        y += kTitle + kPlotHeight + kNames + kGap;
      }
      boxes_.push_back({x + kAxis, y + kTitle, width, kPlotHeight});
      x += kAxis + width + kGap;
      width_ = std::max(width_, x - kGap + kMargin);
    }
    height_ = y + kTitle + kPlotHeight + kNames + 24 + kMargin;
  }

  std::string draw(PictureFormat format) {
    canvas_ = make_canvas(format, width_, height_);
    canvas_->rectangle({0, 0, width_, height_}, kLightPalette.paper);
    const double room = width_ - 2 * kMargin;
    canvas_->text(kMargin, kMargin + 8, fitted(title_of(found_), room, 18),
                  {.size = 18, .bold = true});
    canvas_->text(kMargin, kMargin + 32, fitted(settings_of(found_), room, 11), kFaint);
    for (size_t i = 0; i < groups_.size(); ++i) panel(groups_[i], boxes_[i]);
    canvas_->text(
        kMargin, height_ - kMargin,
        fitted("Error bars: spread over counterparts. Band: random against random. Filled: "
               "significant; pale: not.",
               room, 11),
        kFaint);
    return canvas_->finish();
  }

 private:
  static double height_of(const Box& box, double score) {
    return box.y + box.height * (1 - std::clamp(score, 0.0, 1.0));
  }

  void panel(const ConceptGroup& group, const Box& box) {
    const std::string title = printable(group.target) + fmt::format(", layer {}", group.layer);
    canvas_->text(box.x, box.y - kTitle + 8, fitted(title, box.width, 13),
                  {.size = 13, .bold = true});
    const ConceptTest& any = *group.tests[0];
    band(box, any.random_mean, any.random_deviation);
    for (const double score : {0.0, 0.25, 0.5, 0.75, 1.0}) {
      const double y = height_of(box, score);
      canvas_->line(box.x, y, box.x + box.width, y,
                    score == 0.5 || score == 0 ? kLightPalette.faint_ink : kLightPalette.grid);
      canvas_->text(box.x - 8, y, fmt::format("{:g}", score), kFaintEnd);
    }
    double x = box.x + kBarGap;
    for (const ConceptTest* test : group.tests) {
      bar(*test, box, x);
      x += kBarWidth + kBarGap;
    }
    canvas_->rectangle({x, height_of(box, any.random_mean), kBarWidth,
                        box.y + box.height - height_of(box, any.random_mean)},
                       kLightPalette.grid);
    error_bar(box, x + kBarWidth / 2, any.random_mean, any.random_deviation);
    below(box, x, "random", "", "");
  }

  void band(const Box& box, double mean, double spread) {
    if (!std::isfinite(spread)) return;
    const double top = height_of(box, mean + spread), bottom = height_of(box, mean - spread);
    canvas_->rectangle({box.x, top, box.width, bottom - top},
                       mix(kLightPalette.paper, kLightPalette.grid, 0.4));
  }

  void bar(const ConceptTest& test, const Box& box, double x) {
    if (test.verdict == Verdict::kNotLearnt) {
      canvas_->text(x + kBarWidth / 2, box.y + box.height - 10, "none", kFaintMiddle);
      below(box, x, test.concept_name, verdict_words(test.verdict),
            fmt::format("held out {:.0f} %", 100 * test.held_out.accuracy));
      return;
    }
    const Colour full = test.mean.score >= 0.5 ? kLightPalette.positive : kLightPalette.negative;
    const Colour paint =
        test.verdict == Verdict::kSignificant ? full : mix(kLightPalette.paper, full, 0.4);
    const double top = height_of(box, test.mean.score);
    canvas_->rectangle({x, top, kBarWidth, box.y + box.height - top}, paint);
    error_bar(box, x + kBarWidth / 2, test.mean.score, test.deviation);
    below(box, x, test.concept_name, fmt::format("{:.2f}", test.mean.score),
          test.t_test ? "p " + format_p(test.t_test->benjamini_hochberg)
                      : verdict_words(test.verdict));
  }

  void error_bar(const Box& box, double x, double score, double spread) {
    if (!std::isfinite(spread)) return;
    const double top = height_of(box, score + spread), bottom = height_of(box, score - spread);
    for (const double shift : {-0.5, 0.5}) {  // lines are one pixel wide
      canvas_->line(x + shift, top, x + shift, bottom, kLightPalette.ink);
      canvas_->line(x - 6, top + shift, x + 6, top + shift, kLightPalette.ink);
      canvas_->line(x - 6, bottom + shift, x + 6, bottom + shift, kLightPalette.ink);
    }
  }

  void below(const Box& box, double x, const std::string& name, const std::string& first,
             const std::string& second) {
    const double middle = x + kBarWidth / 2, room = kBarWidth + kBarGap - 4;
    canvas_->text(middle, box.y + box.height + 14, fitted(printable(name), room, 11),
                  {.size = 11, .anchor = Anchor::kMiddle});
    canvas_->text(middle, box.y + box.height + 30, fitted(first, room, 11), kFaintMiddle);
    canvas_->text(middle, box.y + box.height + 45, fitted(second, room, 10),
                  {.size = 10, .colour = kLightPalette.faint_ink, .anchor = Anchor::kMiddle});
  }

  const ConceptReport& found_;
  std::vector<ConceptGroup> groups_;
  std::vector<Box> boxes_;  // the plot of each group
  double width_ = 560, height_ = 0;
  std::unique_ptr<Canvas> canvas_;
};

}  // namespace
}  // namespace report

std::string concepts_picture(const ConceptReport& found, PictureFormat format) {
  if (found.tests.empty()) throw InvalidInput("picture of concepts: nothing was tested");
  return report::ConceptsPicture(found).draw(format);
}

}  // namespace whyformer
