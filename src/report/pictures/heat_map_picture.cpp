// The scores of a summary as a grid: features down, inputs across.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/views/summary_heat.h"
#include "report/views/summary_view.h"
#include "report/views/text.h"
#include "report/views/view.h"
#include "whyformer/printable.h"

namespace whyformer::report {
namespace {

constexpr double kMargin = 24, kHeader = 66, kPlotWidth = 520, kRow = 24, kLineHeight = 46;
constexpr double kWidestName = 190, kBarWidth = 60, kFooter = 52;
constexpr uint8_t kNoScore = 255;
constexpr int kSteps = 127;  // of colours to both sides of 0

class HeatMapPicture {
 public:
  HeatMapPicture(const Summary& summary, const SummaryStyle& style)
      : summary_(summary),
        style_(style),
        palette_(style.palette),
        heat_(summary_heat(summary)),
        kind_(summary.is_signed ? ScoreKind::kSigned : ScoreKind::kMagnitude) {
    for (const SummaryRow& row : summary.rows)
      names_ = std::clamp(text_width(printable(row.name), 12), names_, kWidestName);
    left_ = kMargin + names_ + 10;
    top_ = kMargin + (style.titled ? kHeader : 0) + kLineHeight;
    bottom_ = top_ + kRow * static_cast<double>(summary.rows.size());
  }

  std::string draw() {
    const double width = left_ + kPlotWidth + 12 + kBarWidth + kMargin;
    const double height = bottom_ + kFooter + kMargin;
    canvas_ = make_canvas(style_.format, width, height);
    canvas_->rectangle({0, 0, width, height}, palette_.paper);
    if (style_.titled) title(width - 2 * kMargin);
    if (!heat_.instances.empty()) {
      sums();
      canvas_->cells({left_, top_, kPlotWidth, bottom_ - top_}, image());
    }
    rows();
    footer();
    return canvas_->finish();
  }

 private:
  TextStyle faint(Anchor anchor = Anchor::kStart) const {
    return {.size = 11, .colour = palette_.faint_ink, .anchor = anchor};
  }

  void title(double room) {
    canvas_->text(kMargin, kMargin + 8, fitted(summary_title(summary_), room, 17),
                  {.size = 17, .colour = palette_.ink, .bold = true});
    canvas_->text(kMargin, kMargin + 34, fitted("ordered by " + summary_facts(summary_), room, 11),
                  faint());
  }

  CellImage image() const {
    CellImage image{.columns = static_cast<int>(heat_.instances.size()),
                    .rows = static_cast<int>(heat_.cells.size())};
    for (int step = -kSteps; step <= kSteps; ++step) {
      const double share = static_cast<double>(step) / kSteps;
      image.colours[static_cast<size_t>(kSteps + step)] = paint(share);
    }
    image.colours[kNoScore] = palette_.grid;
    for (const std::vector<double>& row : heat_.cells) {
      for (const double score : row) {
        const auto step = std::lround(strength(score, heat_.scale) * kSteps);
        image.levels.push_back(std::isnan(score) ? kNoScore : static_cast<uint8_t>(kSteps + step));
      }
    }
    return image;
  }

  Colour paint(double share) const {
    return mix(palette_.paper, hue(palette_, share, kind_), std::abs(share));
  }

  // The sum of an input's scores, as a line above the grid.
  void sums() {
    const auto [low, high] = std::ranges::minmax(heat_.sums);
    const double from = std::min(0.0, low), range = std::max(high, 0.0) - from;
    if (!(range > 0)) return;
    const double slot = kPlotWidth / static_cast<double>(heat_.sums.size());
    const auto y = [&](double sum) { return top_ - 6 - (sum - from) / range * (kLineHeight - 16); };
    canvas_->line(left_, y(0), left_ + kPlotWidth, y(0), palette_.grid);
    canvas_->text(left_ - 10, y(0), "0", faint(Anchor::kEnd));
    canvas_->text(left_ + kPlotWidth + 8, top_ - 6 - (kLineHeight - 16) / 2, "sum", faint());
    for (size_t i = 0; i < heat_.sums.size(); ++i) {
      const double x = left_ + slot * static_cast<double>(i), here = y(heat_.sums[i]);
      canvas_->line(x, here, x + slot, here, palette_.ink);
      if (i > 0) canvas_->line(x, y(heat_.sums[i - 1]), x, here, palette_.ink);
    }
  }

  // Names to the left, and how strong each is as a bar to the right.
  void rows() {
    const double largest = largest_bar(summary_);
    for (size_t i = 0; i < summary_.rows.size(); ++i) {
      const SummaryRow& row = summary_.rows[i];
      const double middle = top_ + kRow * (static_cast<double>(i) + 0.5);
      canvas_->text(left_ - 10, middle, fitted(printable(row.name), names_ + 2, 12),
                    {.size = 12, .colour = palette_.ink, .anchor = Anchor::kEnd});
      if (i > 0)
        canvas_->line(left_, middle - kRow / 2, left_ + kPlotWidth, middle - kRow / 2,
                      palette_.paper);
      const double share = largest > 0 ? std::min(1.0, bar_value(summary_, row) / largest) : 0;
      canvas_->rectangle({left_ + kPlotWidth + 12, middle - 6, share * kBarWidth, 12},
                         palette_.faint_ink);
    }
  }

  void footer() {
    const auto shown = static_cast<int64_t>(heat_.instances.size());
    std::string said = quantity(shown, "input") + ", like ones beside each other";
    if (shown < summary_.instances)
      said = fmt::format("{} of {} inputs, like ones beside each other", shown, summary_.instances);
    canvas_->text(left_ + kPlotWidth / 2, bottom_ + 14, said, faint(Anchor::kMiddle));
    legend(bottom_ + 40);
  }

  void legend(double y) {
    const std::string most = format_score(heat_.scale, heat_.scale, kind_);
    const bool is_signed = kind_ == ScoreKind::kSigned;
    double at = left_;
    const std::string least =
        is_signed ? format_score(-heat_.scale, heat_.scale, kind_) + " against the target" : "0";
    canvas_->text(at, y, least, faint());
    at += text_width(least, 11) + 6;
    // Each reaches to the end, under the next: no lines of paper show between them.
    for (int i = 0; i < 80; ++i) {
      const double share = is_signed ? i / 39.5 - 1 : i / 79.0;
      canvas_->rectangle({at + 1.5 * i, y - 5, 1.5 * (80 - i), 10}, paint(share));
    }
    at += 126;
    canvas_->text(at, y, is_signed ? most + " for it" : most, faint());
    at += text_width(most + " for it", 11) + 18;
    if (summary_.left_out == 0) return;
    canvas_->rectangle({at, y - 5, 10, 10}, palette_.grid);
    canvas_->text(at + 16, y, "no score", faint());
  }

  const Summary& summary_;
  SummaryStyle style_;
  const Palette& palette_;
  SummaryHeat heat_;
  ScoreKind kind_;
  double names_ = 0, left_ = 0, top_ = 0, bottom_ = 0;
  std::unique_ptr<Canvas> canvas_;
};

}  // namespace

std::string draw_heat_map(const Summary& summary, const SummaryStyle& style) {
  return HeatMapPicture(summary, style).draw();
}

}  // namespace whyformer::report
