// Pairwise interactions: the lower triangle of a matrix, with the effects of units alone on its
// diagonal.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/pictures/canvas.h"
#include "report/views/estimate_view.h"
#include "report/views/text.h"
#include "whyformer/error.h"
#include "whyformer/report.h"

namespace whyformer {
namespace report {
namespace {

constexpr double kMargin = 24, kHeader = 62, kPanelHeading = 40, kGap = 44;
constexpr double kLargestCell = 40, kNumbersFromCell = 34, kTriangle = 560;
constexpr double kWidestName = 110;

const TextStyle kFaint{.size = 11, .colour = kLightPalette.faint_ink};

struct InteractionTriangle {
  std::string title;
  Interactions interactions;
  double cell = 0;
  double names = 0;  // width of the longest name
  double x = 0;

  double side() const { return cell * static_cast<double>(interactions.names.size()); }
  double width() const { return names + 8 + std::max(side(), 240.0); }
};

class InteractionsPicture {
 public:
  explicit InteractionsPicture(const Explanation& explanation) : explanation_(explanation) {
    double x = kMargin;
    for (const Attribution& attribution : explanation.attributions) {
      auto interactions = interactions_of(explanation, attribution);
      if (!interactions) continue;
      InteractionTriangle panel{
          .title = printable(attribution.method + " · " + attribution.estimate->space),
          .interactions = std::move(*interactions)};
      const auto count = static_cast<double>(std::max<size_t>(1, panel.interactions.names.size()));
      panel.cell = std::min(kLargestCell, kTriangle / count);
      for (const std::string& name : panel.interactions.names) {
        panel.names = std::clamp(text_width(printable(name), 11), panel.names, kWidestName);
      }
      panel.x = x;
      x += panel.width() + kGap;
      height_ = std::max(height_, panel.side() + panel.names);
      panels_.push_back(std::move(panel));
    }
    width_ = std::max(420.0, x - kGap + kMargin);
    height_ += kMargin + kHeader + kPanelHeading + 12 + 44;
    if (panels_.empty()) {
      throw InvalidInput(
          "picture of interactions: no method has computed them; shapley-taylor does");
    }
  }

  std::string draw(PictureFormat format) {
    canvas_ = make_canvas(format, width_, height_);
    canvas_->rectangle({0, 0, width_, height_}, kLightPalette.paper);
    const double room = width_ - 2 * kMargin;
    const std::string title = printable(format_label(target_label(explanation_)));
    canvas_->text(kMargin, kMargin + 8, fitted(title, room, 18), {.size = 18, .bold = true});
    canvas_->text(kMargin, kMargin + 34, fitted(printable(explanation_.text), room, 12),
                  {.size = 12});
    for (const InteractionTriangle& panel : panels_) draw(panel);
    footer(height_ - kMargin);
    return canvas_->finish();
  }

 private:
  void draw(const InteractionTriangle& panel) {
    const double top = kMargin + kHeader + kPanelHeading, left = panel.x + panel.names + 8;
    const double room = panel.width();
    canvas_->text(panel.x, top - 34, fitted(panel.title, room, 12), {.size = 12, .bold = true});
    const std::string scale =
        format_score(panel.interactions.scale, panel.interactions.scale, ScoreKind::kMagnitude);
    canvas_->text(panel.x, top - 16, fitted("full colour " + scale, room, 11), kFaint);
    for (const Interactions::Pair& pair : panel.interactions.pairs) {
      cell(panel, pair,
           {left + panel.cell * static_cast<double>(pair.second),
            top + panel.cell * static_cast<double>(pair.first), panel.cell, panel.cell});
    }
    for (size_t i = 0; i < panel.interactions.names.size(); ++i) {
      const double middle = panel.cell * (static_cast<double>(i) + 0.5);
      const double size = std::clamp(panel.cell - 2, 7.0, 11.0);
      const std::string name =
          fitted(printable(panel.interactions.names[i]), panel.names + 2, size);
      canvas_->text(left - 6, top + middle, name, {.size = size, .anchor = Anchor::kEnd});
      canvas_->text(left + middle, top + panel.side() + 6, name,
                    {.size = size, .anchor = Anchor::kEnd, .upward = true});
    }
  }

  void cell(const InteractionTriangle& panel, const Interactions::Pair& pair, const Box& box) {
    const double share = strength(pair.value, panel.interactions.scale);
    const Colour paint = mix(kLightPalette.paper, hue(kLightPalette, share, ScoreKind::kSigned),
                             0.06 + 0.94 * std::abs(share));
    canvas_->rectangle({box.x + 0.5, box.y + 0.5, box.width - 1, box.height - 1},
                       share == 0 ? mix(kLightPalette.paper, kLightPalette.grid, 0.4) : paint);
    const double scale = panel.interactions.scale;
    if (panel.cell < kNumbersFromCell || scale < 0.01 || scale >= 1000)
      return;  // numbers too long for a cell
    const int decimals = scale < 0.1 ? 3 : scale < 100 ? 2 : 1;
    const bool is_zero = std::abs(pair.value) < 0.5 * std::pow(10, -decimals);  // never "-0.00"
    canvas_->text(
        box.x + box.width / 2, box.y + box.height / 2,
        fmt::format("{:.{}f}", is_zero ? 0.0 : pair.value, decimals),
        {.size = 9.5, .colour = readable_on(kLightPalette, paint), .anchor = Anchor::kMiddle});
  }

  void footer(double y) {
    double x = kMargin;
    const auto key = [&](Colour colour, const std::string& text) {
      canvas_->rectangle({x, y - 5, 10, 10}, colour);
      canvas_->text(x + 16, y, text, kFaint);
      x += 16 + text_width(text, 11) + 20;
    };
    key(kLightPalette.positive, "for the target");
    key(kLightPalette.negative, "against it");
    canvas_->text(kMargin, y - 18,
                  fitted("Diagonal: effect of a token alone. Elsewhere: interaction of a pair.",
                         width_ - 2 * kMargin, 11),
                  kFaint);
  }

  const Explanation& explanation_;
  std::vector<InteractionTriangle> panels_;
  double width_ = 0, height_ = 0;
  std::unique_ptr<Canvas> canvas_;
};

}  // namespace
}  // namespace report

std::string interactions_picture(const Explanation& explanation, PictureFormat format) {
  check_explanation(explanation);
  return report::InteractionsPicture(explanation).draw(format);
}

}  // namespace whyformer
