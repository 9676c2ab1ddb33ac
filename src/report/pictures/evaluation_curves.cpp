#include "report/pictures/evaluation_curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/pictures/picture_sheet.h"
#include "report/views/text.h"

namespace whyformer::report {
namespace {

constexpr double kCurveLeft = 46, kCurveTop = 46, kCurveBottom = 24;  // around the plot of a panel
constexpr double kLegendColumn = 190;

const TextStyle kCurveFaintEnd{
    .size = 10, .colour = kLightPalette.faint_ink, .anchor = Anchor::kEnd};
const TextStyle kCurveFaintMiddle{
    .size = 10, .colour = kLightPalette.faint_ink, .anchor = Anchor::kMiddle};

enum class CurveMark { kDisc, kSquare, kRing, kFrame };

// Three hues that colour blindness leaves apart, and marks, since methods may be more than hues.
struct CurveStyle {
  Colour colour = kLightPalette.faint_ink;
  CurveMark mark = CurveMark::kDisc;
};

CurveStyle style_of(const Evaluation& evaluation, size_t method) {
  if (evaluation.methods[method] == kRandomBaseline) return {};
  constexpr std::array kMarks{CurveMark::kDisc, CurveMark::kSquare, CurveMark::kRing,
                              CurveMark::kFrame};
  const std::array hues{kLightPalette.positive, kLightPalette.negative, kLightPalette.magnitude};
  return {hues[method % hues.size()], kMarks[method / hues.size() % kMarks.size()]};
}

void draw_mark(Canvas& canvas, double x, double y, const CurveStyle& style) {
  const bool is_round = style.mark == CurveMark::kDisc || style.mark == CurveMark::kRing;
  const bool is_hollow = style.mark == CurveMark::kRing || style.mark == CurveMark::kFrame;
  const auto filled = [&](double radius, Colour colour) {
    if (is_round) {
      canvas.circle(x, y, radius, colour);
    } else {
      canvas.rectangle({x - radius, y - radius, 2 * radius, 2 * radius}, colour);
    }
  };
  filled(3.2, style.colour);
  if (is_hollow) filled(1.9, kLightPalette.paper);
}

class CurvePanel {
 public:
  CurvePanel(Canvas& canvas, const Box& box, const Evaluation& evaluation,
             const EvaluationCurve& curve)
      : canvas_(canvas),
        box_(box),
        plot_{box.x + kCurveLeft, box.y + kCurveTop, box.width - kCurveLeft - 8,
              box.height - kCurveTop - kCurveBottom},
        evaluation_(evaluation),
        columns_(curve.columns) {
    first_x_ = x_value(0);
    last_x_ = x_value(columns_.size() - 1);
    if (last_x_ == first_x_) last_x_ = first_x_ + 1;
    for (const auto& row : evaluation.cells) {
      for (const size_t column : columns_) {
        if (!row[column].mean) continue;
        low_ = std::min(low_, *row[column].mean);
        high_ = std::max(high_, *row[column].mean);
      }
    }
    if (high_ == low_) high_ = low_ + 1;
  }

  void draw() {
    const EvaluationColumn& first = evaluation_.columns[columns_.front()];
    canvas_.text(box_.x, box_.y + 8,
                 fitted(printable(first.point->curve) + (first.higher_is_better ? " ↑" : " ↓"),
                        box_.width, 13),
                 {.size = 13, .bold = true});
    canvas_.text(box_.x, box_.y + 25, fitted(printable(first.summary), box_.width, 11), kFaintText);
    axes();
    for (size_t method = 0; method < evaluation_.methods.size(); ++method) line_of(method);
  }

 private:
  double x_value(size_t point) const { return evaluation_.columns[columns_[point]].point->x; }
  double x_of(double value) const {
    return plot_.x + plot_.width * (value - first_x_) / (last_x_ - first_x_);
  }
  double y_of(double value) const {
    return plot_.y + plot_.height * (1 - (value - low_) / (high_ - low_));
  }

  void axes() {
    const double bottom = plot_.y + plot_.height;
    for (const double value : round_values(low_, high_)) {
      canvas_.line(plot_.x, y_of(value), plot_.x + plot_.width, y_of(value), kLightPalette.grid);
      canvas_.text(plot_.x - 8, y_of(value), fmt::format("{:.4g}", value), kCurveFaintEnd);
    }
    for (const double value : round_values(first_x_, last_x_)) {
      canvas_.line(x_of(value), bottom, x_of(value), bottom + 4, kLightPalette.faint_ink);
      canvas_.text(x_of(value), bottom + 13, fmt::format("{:.4g}", value), kCurveFaintMiddle);
    }
    canvas_.line(plot_.x, bottom, plot_.x + plot_.width, bottom, kLightPalette.faint_ink);
  }

  // Points that are not defined leave a gap.
  void line_of(size_t method) {
    const CurveStyle style = style_of(evaluation_, method);
    const auto mean_at = [&](size_t point) {
      return evaluation_.cells[method][columns_[point]].mean;
    };
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (!mean_at(i)) continue;
      const double x = x_of(x_value(i)), y = y_of(*mean_at(i));
      if (i > 0 && mean_at(i - 1)) {
        canvas_.line(x_of(x_value(i - 1)), y_of(*mean_at(i - 1)), x, y, style.colour);
      }
    }
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (mean_at(i)) draw_mark(canvas_, x_of(x_value(i)), y_of(*mean_at(i)), style);
    }
  }

  Canvas& canvas_;
  Box box_, plot_;
  const Evaluation& evaluation_;
  const std::vector<size_t>& columns_;
  double first_x_ = 0, last_x_ = 1, low_ = 0, high_ = 0;
};

size_t legend_columns(double width) {
  return std::max<size_t>(1, static_cast<size_t>(width / kLegendColumn));
}

}  // namespace

std::vector<double> round_values(double low, double high) {
  constexpr double kMost = 6;
  const double power = std::pow(10, std::floor(std::log10((high - low) / kMost)));
  double step = power;
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    step = factor * power;
    if ((high - low) / step <= kMost) break;
  }
  std::vector<double> values;
  const double slack = 1e-9 * (high - low);  // so that rounding does not lose the ends
  // Adding 0 turns a negative zero, which would be written with its sign, into a plain one.
  for (double i = std::ceil((low - slack) / step) + 0.0; i * step <= high + slack; ++i) {
    values.push_back(i * step);
  }
  return values;
}

void draw_curve(Canvas& canvas, const Box& box, const Evaluation& evaluation,
                const EvaluationCurve& curve) {
  CurvePanel(canvas, box, evaluation, curve).draw();
}

double legend_height(const Evaluation& evaluation, double width) {
  const size_t across = legend_columns(width);
  return kLegendRow * static_cast<double>((evaluation.methods.size() + across - 1) / across);
}

void draw_legend(Canvas& canvas, double x, double y, double width, const Evaluation& evaluation) {
  const size_t across = legend_columns(width);
  for (size_t method = 0; method < evaluation.methods.size(); ++method) {
    const CurveStyle style = style_of(evaluation, method);
    const double left = x + kLegendColumn * static_cast<double>(method % across);
    const double middle = y + kLegendRow * (static_cast<double>(method / across) + 0.5);
    canvas.line(left, middle, left + 20, middle, style.colour);
    draw_mark(canvas, left + 10, middle, style);
    canvas.text(left + 26, middle,
                fitted(printable(evaluation.methods[method]), kLegendColumn - 30, 11),
                {.size = 11});
  }
}

std::vector<std::string> curve_pictures(const Evaluation& evaluation) {
  constexpr double kMargin = 8;
  std::vector<std::string> pictures;
  const double legend = legend_height(evaluation, kCurveWidth);
  for (const EvaluationCurve& curve : curves_with_values(evaluation)) {
    const auto canvas = make_sheet(PictureFormat::kSvg, kCurveWidth + 2 * kMargin,
                                   kCurveHeight + legend + 3 * kMargin);
    draw_curve(*canvas, {kMargin, kMargin, kCurveWidth, kCurveHeight}, evaluation, curve);
    draw_legend(*canvas, kMargin, kCurveHeight + 2 * kMargin, kCurveWidth, evaluation);
    pictures.push_back(canvas->finish());
  }
  return pictures;
}

}  // namespace whyformer::report
