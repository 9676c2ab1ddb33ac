#include "report/pictures/force_picture.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/views/text.h"

namespace whyformer::report {
namespace {

constexpr double kMarkHeight = 18, kBarHeight = 22, kTick = 4;
constexpr double kLabelSize = 11;
constexpr size_t kFewestLetters = 3;  // of a word that was cut

const TextStyle kFaintMiddle{
    .size = 10, .colour = kLightPalette.faint_ink, .anchor = Anchor::kMiddle};

class ForceDrawing {
 public:
  ForceDrawing(Canvas& canvas, const Box& box, const ForceBar& bar)
      : canvas_(canvas), box_(box), bar_(bar) {}

  void draw() {
    for (const ForceSegment& segment : bar_.segments) block(segment);
    // Thin lines of paper keep neighbours apart without shortening their blocks.
    for (const ForceSegment& segment : bar_.segments) {
      if (x(segment.to) - x(segment.from) > 2) {
        canvas_.line(x(segment.from), top(), x(segment.from), top() + kBarHeight,
                     kLightPalette.paper);
      }
    }
    axis();
    marks();
  }

 private:
  double x(double place) const {
    return box_.x + (place - bar_.low) / (bar_.high - bar_.low) * box_.width;
  }
  double top() const { return box_.y + kMarkHeight; }

  void block(const ForceSegment& segment) {
    const Colour paint = hue(kLightPalette, segment.score, ScoreKind::kSigned);
    const double width = x(segment.to) - x(segment.from);
    canvas_.rectangle({x(segment.from), top(), width, kBarHeight}, paint);
    const std::string text = printable(segment.text);
    const std::string label = fitted(text, width - 6, kLabelSize);
    if (label != text && graphemes(label).size() <= kFewestLetters) return;
    if (text_width(label, kLabelSize) > width - 4) return;
    canvas_.text((x(segment.from) + x(segment.to)) / 2, top() + kBarHeight / 2, label,
                 {.size = kLabelSize,
                  .colour = readable_on(kLightPalette, paint),
                  .anchor = Anchor::kMiddle});
  }

  void axis() {
    const double y = top() + kBarHeight + 4;
    canvas_.line(box_.x, y, box_.x + box_.width, y, kLightPalette.faint_ink);
    for (const double tick : bar_.ticks) {
      canvas_.line(x(tick), y, x(tick), y + kTick, kLightPalette.faint_ink);
      const bool plain = bar_.decimals >= -5 && bar_.decimals <= 6;
      canvas_.text(x(tick), y + kTick + 8,
                   plain ? fmt::format("{:.{}f}", tick, std::max(0, bar_.decimals))
                         : fmt::format("{:.2e}", tick),
                   kFaintMiddle);
    }
  }

  // The two labels lean away from each other where they would meet.
  void marks() {
    const std::string base = "base " + format_place(bar_.base, bar_);
    const std::string value = "f(x) " + format_place(bar_.value, bar_);
    const double half = (text_width(base, kLabelSize) + text_width(value, kLabelSize)) / 2 + 12;
    const bool close = std::abs(x(bar_.base) - x(bar_.value)) < half;
    const bool base_first = bar_.base <= bar_.value;
    mark(bar_.base, base,
         !close       ? Anchor::kMiddle
         : base_first ? Anchor::kEnd
                      : Anchor::kStart,
         false);
    mark(bar_.value, value,
         !close       ? Anchor::kMiddle
         : base_first ? Anchor::kStart
                      : Anchor::kEnd,
         true);
  }

  void mark(double place, const std::string& label, Anchor anchor, bool bold) {
    const double at = x(place), wide = text_width(label, kLabelSize);
    // Labels stay on the sheet.
    const double from = anchor == Anchor::kStart ? at
                        : anchor == Anchor::kEnd ? at - wide
                                                 : at - wide / 2;
    const double shift =
        std::max(0.0, box_.x - from) - std::max(0.0, from + wide - box_.x - box_.width);
    canvas_.text(at + shift, box_.y + 6, label,
                 {.size = kLabelSize, .colour = kLightPalette.ink, .anchor = anchor, .bold = bold});
    for (const double half : {-0.5, 0.5}) {
      canvas_.line(at + half, top() - 4, at + half, top() + kBarHeight + 4, kLightPalette.ink);
    }
  }

  Canvas& canvas_;
  Box box_;
  const ForceBar& bar_;
};

}  // namespace

void draw_force(Canvas& canvas, const Box& box, const ForceBar& bar) {
  ForceDrawing(canvas, box, bar).draw();
}

}  // namespace whyformer::report
