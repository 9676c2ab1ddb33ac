// A waterfall: a row per step, the value on top and the base at the bottom.
#include <fmt/format.h>

#include <algorithm>

#include "report/pictures/canvas.h"
#include "report/views/model_title.h"
#include "report/views/text.h"
#include "report/views/waterfall.h"
#include "whyformer/error.h"
#include "whyformer/report.h"

namespace whyformer {
namespace report {
namespace {

constexpr double kWaterfallMargin = 24, kWaterfallHeader = 62, kWaterfallPlotWidth = 460,
                 kWaterfallRow = 30, kWaterfallBar = 20;
constexpr double kWidestStepName = 230, kMarkHeight = 26, kAxisHeight = 58;
constexpr int kTip = 6;  // of an arrow

class WaterfallPicture {
 public:
  WaterfallPicture(const Explanation& explanation, const Attribution& attribution)
      : explanation_(explanation),
        attribution_(attribution),
        fall_(*waterfall_of(explanation, attribution)) {
    for (const WaterfallStep& step : fall_.steps) {
      names_ = std::clamp(text_width(printable(step.text), 12), names_, kWidestStepName);
      widest_score_ = std::max(widest_score_, std::abs(step.score));
    }
    left_ = kWaterfallMargin + names_ + 12;
    top_ = kWaterfallMargin + kWaterfallHeader + kMarkHeight;
    bottom_ = top_ + kWaterfallRow * static_cast<double>(fall_.steps.size());
  }

  std::string draw(PictureFormat format) {
    const double width = left_ + kWaterfallPlotWidth + kWaterfallMargin,
                 height = bottom_ + kAxisHeight + kWaterfallMargin;
    canvas_ = make_canvas(format, width, height);
    canvas_->rectangle({0, 0, width, height}, kLightPalette.paper);
    title(width - 2 * kWaterfallMargin);
    axis();
    for (size_t i = 0; i < fall_.steps.size(); ++i) step(i);
    mark(fall_.value, "f(x) = ", top_ - 14);
    mark(fall_.base, "base = ", bottom_ + 14);
    return canvas_->finish();
  }

 private:
  double x(double place) const {
    return left_ +
           (place - fall_.axis.low) / (fall_.axis.high - fall_.axis.low) * kWaterfallPlotWidth;
  }

  void title(double room) {
    const std::string target = printable(format_label(target_label(explanation_)));
    canvas_->text(kWaterfallMargin, kWaterfallMargin + 8, fitted(target, room, 17),
                  {.size = 17, .bold = true});
    const std::string facts =
        printable(fmt::format("{} in {} · {}", attribution_.method, attribution_.estimate->space,
                              model_title(explanation_.model)));
    canvas_->text(kWaterfallMargin, kWaterfallMargin + 34, fitted(facts, room, 11), faint());
  }

  static TextStyle faint(Anchor anchor = Anchor::kStart) {
    return {.size = 11, .colour = kLightPalette.faint_ink, .anchor = anchor};
  }

  void axis() {
    const double y = bottom_ + 28;
    canvas_->line(x(fall_.base), top_, x(fall_.base), bottom_ + 4, kLightPalette.grid);
    canvas_->line(left_, y, left_ + kWaterfallPlotWidth, y, kLightPalette.faint_ink);
    for (const double tick : ticks_of(fall_.axis)) {
      canvas_->line(x(tick), y, x(tick), y + 4, kLightPalette.faint_ink);
      canvas_->text(x(tick), y + 14, format_tick(tick), faint(Anchor::kMiddle));
    }
  }

  // Base and value stay on the sheet.
  void mark(double place, const char* name, double y) {
    const std::string text = name + format_score(place, fall_.scale, ScoreKind::kMagnitude);
    const double half = text_width(text, 12) / 2;
    canvas_->text(std::clamp(x(place), left_ + half, left_ + kWaterfallPlotWidth - half), y, text,
                  {.size = 12, .anchor = Anchor::kMiddle, .bold = true});
  }

  void step(size_t index) {
    const WaterfallStep& step = fall_.steps[index];
    const double middle = top_ + kWaterfallRow * (static_cast<double>(index) + 0.5);
    canvas_->text(left_ - 12, middle, fitted(printable(step.text), names_ + 2, 12),
                  {.size = 12, .anchor = Anchor::kEnd});
    const double from = x(step.from), to = x(step.to);
    const double next = middle + kWaterfallRow;  // where the step below ends
    if (index + 1 < fall_.steps.size())
      canvas_->line(from, middle - kWaterfallBar / 2, from, next + kWaterfallBar / 2,
                    kLightPalette.faint_ink);
    arrow(from, to, middle, hue(kLightPalette, step.score, ScoreKind::kSigned));
    number(step, middle);
  }

  // The body reaches under its tip, whose layers grow shorter outwards: no lines show between them.
  void arrow(double from, double to, double middle, Colour colour) {
    const double length = std::abs(to - from), tip = std::min<double>(kTip, length);
    for (int layer = 0; layer <= kTip; ++layer) {
      const double reach = length - tip * (kTip - layer) / kTip;
      const double height = kWaterfallBar * (1 - static_cast<double>(layer) / (kTip + 1));
      canvas_->rectangle({to >= from ? from : from - reach, middle - height / 2, reach, height},
                         colour);
    }
  }

  void number(const WaterfallStep& step, double middle) {
    const std::string text = format_score(step.score, widest_score_, ScoreKind::kSigned);
    const double from = x(step.from), to = x(step.to), wide = text_width(text, 11);
    if (std::abs(to - from) > wide + 2 * kTip) {
      const Colour colour = hue(kLightPalette, step.score, ScoreKind::kSigned);
      canvas_->text(
          (from + to) / 2, middle, text,
          {.size = 11, .colour = readable_on(kLightPalette, colour), .anchor = Anchor::kMiddle});
      return;
    }
    const double right = std::max(from, to);
    const bool fits = right + 5 + wide <= left_ + kWaterfallPlotWidth + kWaterfallMargin;
    canvas_->text(fits ? right + 5 : std::min(from, to) - 5, middle, text,
                  faint(fits ? Anchor::kStart : Anchor::kEnd));
  }

  const Explanation& explanation_;
  const Attribution& attribution_;
  Waterfall fall_;
  double names_ = 0, left_ = 0, top_ = 0, bottom_ = 0, widest_score_ = 0;
  std::unique_ptr<Canvas> canvas_;
};

}  // namespace
}  // namespace report

std::string waterfall_picture(const Explanation& explanation, PictureFormat format,
                              const std::string& method) {
  check_explanation(explanation);
  if (has_grid(explanation)) {
    throw InvalidInput(
        "waterfall: patches of a picture are drawn over it; words and columns make a waterfall");
  }
  return report::WaterfallPicture(explanation, report::waterfall_method(explanation, method))
      .draw(format);
}

}  // namespace whyformer
