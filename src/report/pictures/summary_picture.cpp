// A summary as bars, or as a swarm of points per feature.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/views/axis.h"
#include "report/views/beeswarm.h"
#include "report/views/summary_view.h"
#include "report/views/text.h"
#include "whyformer/report.h"

namespace whyformer {
namespace report {
namespace {

constexpr double kMargin = 24, kHeader = 66, kPlotWidth = 460, kRow = 30, kBarHeight = 18;
constexpr double kWidestName = 190, kNumberWidth = 74, kAxisHeight = 56;
constexpr double kSwarmRoom = 48;  // above and below the middle of a row
constexpr std::array<double, 4> kRadii{3.2, 2.4, 1.7, 1.1};

// Of all scores and zero, a little wider.
AxisRange range_of(const Summary& summary) {
  AxisRange range;
  for (const SummaryRow& row : summary.rows) {
    for (const SummaryPoint& point : row.points) {
      range.low = std::min(range.low, point.score);
      range.high = std::max(range.high, point.score);
    }
  }
  const double spare = range.high > range.low ? 0.04 * (range.high - range.low) : 1;
  return {range.low - spare, range.high + spare};
}

class SummaryPicture {
 public:
  SummaryPicture(const Summary& summary, SummaryPlot plot, const SummaryStyle& style)
      : summary_(summary),
        plot_(plot),
        style_(style),
        palette_(style.palette),
        range_(range_of(summary)),
        top_(style.titled ? kMargin + kHeader : kMargin) {
    for (const SummaryRow& row : summary.rows) {
      names_ = std::clamp(text_width(printable(row.name), 12), names_, kWidestName);
    }
    left_ = kMargin + names_ + 10;
    width_ = left_ + kPlotWidth + (plot == SummaryPlot::kBar ? kNumberWidth : 0) + kMargin;
    heights_.assign(summary.rows.size(), kRow);
    if (plot == SummaryPlot::kBeeswarm) settle();
    bottom_ = top_;
    for (const double height : heights_) bottom_ += height;
  }

  std::string draw() {
    const double height =
        bottom_ + (plot_ == SummaryPlot::kBar ? kMargin + 8 : kAxisHeight + kMargin);
    canvas_ = make_canvas(style_.format, width_, height);
    canvas_->rectangle({0, 0, width_, height}, palette_.paper);
    if (style_.titled) title();
    if (plot_ == SummaryPlot::kBeeswarm) axis();
    double y = top_;
    for (size_t i = 0; i < summary_.rows.size(); ++i) {
      const double middle = y + heights_[i] / 2;
      canvas_->text(left_ - 10, middle, fitted(printable(summary_.rows[i].name), names_ + 2, 12),
                    {.size = 12, .colour = palette_.ink, .anchor = Anchor::kEnd});
      plot_ == SummaryPlot::kBar ? bar(summary_.rows[i], middle) : points(i, middle);
      y += heights_[i];
    }
    if (plot_ == SummaryPlot::kBar) canvas_->line(left_, top_, left_, bottom_, palette_.faint_ink);
    if (plot_ == SummaryPlot::kBar && has_cut_bar(summary_)) {
      canvas_->text(left_, bottom_ + 10, "The last bar is cut.", faint());
    }
    return canvas_->finish();
  }

 private:
  TextStyle faint(Anchor anchor = Anchor::kStart) const {
    return {.size = 11, .colour = palette_.faint_ink, .anchor = anchor};
  }

  void title() {
    const double room = width_ - 2 * kMargin;
    canvas_->text(kMargin, kMargin + 8, fitted(summary_title(summary_), room, 17),
                  {.size = 17, .colour = palette_.ink, .bold = true});
    const std::string facts =
        (plot_ == SummaryPlot::kBeeswarm ? "ordered by " : "") + summary_facts(summary_);
    canvas_->text(kMargin, kMargin + 34, fitted(facts, room, 11), faint());
  }

  double x(double score) const {
    return left_ + (score - range_.low) / (range_.high - range_.low) * kPlotWidth;
  }

  // The largest points for which all rows have room; the smallest ones where none does.
  void settle() {
    for (const double radius : kRadii) {
      radius_ = radius;
      swarms_.clear();
      size_t left_out = 0;
      for (const SummaryRow& row : summary_.rows) {
        std::vector<double> places;
        for (const SummaryPoint& point : row.points) places.push_back(x(point.score));
        swarms_.push_back(swarm_of(places, radius, kSwarmRoom));
        left_out += swarms_.back().left_out;
      }
      if (left_out == 0) break;
    }
    for (size_t i = 0; i < swarms_.size(); ++i) {
      heights_[i] = std::max(kRow, 2 * (swarms_[i].half_height + radius_) + 8);
      left_out_ += swarms_[i].left_out;
    }
  }

  void bar(const SummaryRow& row, double middle) {
    const double value = bar_value(summary_, row), largest = largest_bar(summary_);
    const double length = largest > 0 ? std::min(1.0, value / largest) * kPlotWidth : 0;
    canvas_->rectangle({left_, middle - kBarHeight / 2, length, kBarHeight}, palette_.magnitude);
    if (value > largest) {  // cut: a gap says so
      canvas_->rectangle({left_ + length - 18, middle - kBarHeight / 2, 3, kBarHeight},
                         palette_.paper);
      canvas_->rectangle({left_ + length - 12, middle - kBarHeight / 2, 3, kBarHeight},
                         palette_.paper);
    }
    canvas_->text(left_ + length + 6, middle, format_bar(value, largest), faint());
  }

  Colour colour_of(const SummaryPoint& point) const {
    if (point.level) return level_colour(palette_, *point.level);
    if (is_of_table(summary_))
      return palette_.faint_ink;  // categories, and sums of columns, have no value on a scale
    return hue(palette_, point.score,
               summary_.is_signed ? ScoreKind::kSigned : ScoreKind::kMagnitude);
  }

  void points(size_t row, double middle) {
    canvas_->line(left_, middle, left_ + kPlotWidth, middle, palette_.grid);
    const std::vector<SummaryPoint>& points = summary_.rows[row].points;
    for (size_t i = 0; i < points.size(); ++i) {
      const double offset = swarms_[row].offsets[i];
      if (std::isnan(offset)) continue;
      canvas_->circle(x(points[i].score), middle + offset, radius_, colour_of(points[i]));
      if (points[i].missing) hollow(x(points[i].score), middle + offset, radius_);
    }
  }

  void hollow(double at, double middle, double radius) {
    canvas_->circle(at, middle, 0.6 * radius, palette_.paper);
  }

  bool has(bool SummaryPoint::*what) const {
    return std::ranges::any_of(summary_.rows, [&](const SummaryRow& row) {
      return std::ranges::any_of(row.points, what);
    });
  }

  void axis() {
    const double y = bottom_ + 4;
    canvas_->line(x(0), top_, x(0), y, palette_.faint_ink);
    canvas_->line(left_, y, left_ + kPlotWidth, y, palette_.faint_ink);
    for (const double tick : ticks_of(range_)) {
      canvas_->line(x(tick), y, x(tick), y + 4, palette_.faint_ink);
      canvas_->text(x(tick), y + 13, format_tick(tick), faint(Anchor::kMiddle));
    }
    std::string name = "score";
    if (!summary_.space.empty()) name += " in " + printable(summary_.space);
    if (left_out_ > 0) name += fmt::format(" ({} points found no place)", left_out_);
    canvas_->text(left_ + kPlotWidth / 2, y + 32, fitted(name, kPlotWidth, 11),
                  faint(Anchor::kMiddle));
    legend(y + 54);
  }

  void legend(double y) {
    double at = kMargin;
    const auto key = [&](Colour colour, const std::string& text) {
      canvas_->circle(at + 4, y, 4, colour);
      canvas_->text(at + 14, y, text, faint());
      at += 14 + text_width(text, 11) + 18;
    };
    if (!is_of_table(summary_)) {
      if (summary_.is_signed) key(palette_.positive, "for the target");
      if (summary_.is_signed) key(palette_.negative, "against it");
      return;
    }
    const std::string low = "the column's value: low";
    canvas_->text(at, y, low, faint());
    at += text_width(low, 11) + 4;
    // Each reaches to the end, under the next: side by side, fine lines of paper would show between
    // them.
    for (int i = 0; i < 60; ++i)
      canvas_->rectangle({at + 1.5 * i, y - 5, 1.5 * (60 - i), 10},
                         level_colour(palette_, i / 59.0));
    canvas_->text(at + 98, y, "high", faint());
    at += 98 + text_width("high", 11) + 18;
    if (has(&SummaryPoint::category)) key(palette_.faint_ink, "category");
    if (!has(&SummaryPoint::missing)) return;
    const double place = at + 4;
    key(palette_.faint_ink, "missing");
    hollow(place, y, 4);
  }

  const Summary& summary_;
  SummaryPlot plot_;
  SummaryStyle style_;
  const Palette& palette_;
  AxisRange range_;
  double top_ = 0, names_ = 0, left_ = 0, width_ = 0, bottom_ = 0, radius_ = 0;
  std::vector<double> heights_;  // of rows
  std::vector<Swarm> swarms_;
  size_t left_out_ = 0;
  std::unique_ptr<Canvas> canvas_;
};

}  // namespace

std::string draw_summary(const Summary& summary, SummaryPlot plot, const SummaryStyle& style) {
  if (plot == SummaryPlot::kHeatMap) return draw_heat_map(summary, style);
  return SummaryPicture(summary, plot, style).draw();
}

}  // namespace report

std::string summary_picture(const Summary& summary, SummaryPlot plot, PictureFormat format) {
  return report::draw_summary(summary, plot, {.format = format});
}

}  // namespace whyformer
