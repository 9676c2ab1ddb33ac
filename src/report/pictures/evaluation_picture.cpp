// Evaluations as a picture: for each metric a point and an interval per method, and where the
// reversed ranking stands; the curves; and agreement as a heat map.
#include "report/pictures/evaluation_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/pictures/evaluation_curves.h"
#include "report/pictures/picture_sheet.h"
#include "report/views/evaluation_view.h"
#include "report/views/text.h"
#include "whyformer/report.h"

namespace whyformer {
namespace report {
namespace {

constexpr double kEvaluationNames = 170, kEvaluationPlot = 210, kEvaluationGap = 30,
                 kEvaluationRow = 22, kEvaluationTitle = 34, kEvaluationAxis = 26;
constexpr size_t kEvaluationColumns = 3;
static_assert(kEvaluationNames + kEvaluationPlot == kCurveWidth);  // they stand in one grid

const TextStyle kEvaluationEnd{.size = 11, .anchor = Anchor::kEnd};
const TextStyle kEvaluationFaintMiddle{
    .size = 10, .colour = kLightPalette.faint_ink, .anchor = Anchor::kMiddle};

// The range of everything that is drawn in a panel.
struct ValueRange {
  double low = 0, high = 0;
  void take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

class EvaluationPicture {
 public:
  EvaluationPicture(const Evaluation& evaluation, std::vector<EvaluationCurve> curves)
      : evaluation_(evaluation),
        columns_(columns_with_values(evaluation)),
        curves_(std::move(curves)) {
    const size_t panels = std::max<size_t>(1, columns_.size());
    across_ = std::min(std::max(panels, curves_.size()), kEvaluationColumns);
    panel_height_ = kEvaluationTitle +
                    kEvaluationRow * static_cast<double>(evaluation.methods.size()) +
                    kEvaluationAxis;
    const auto rows = static_cast<double>((panels + across_ - 1) / across_);
    width_ = 2 * kSheetMargin +
             static_cast<double>(across_) * (kEvaluationNames + kEvaluationPlot + kEvaluationGap) -
             kEvaluationGap;
    curves_top_ = kSheetMargin + 60 + rows * (panel_height_ + kEvaluationGap);
    height_ = curves_top_ + curves_height() + kSheetMargin;
  }

  std::string draw(PictureFormat format) {
    canvas_ = make_sheet(format, width_, height_);
    canvas_->text(kSheetMargin, kSheetMargin + 8,
                  fitted(printable(evaluation_title(evaluation_)), width_ - 2 * kSheetMargin, 18),
                  {.size = 18, .bold = true});
    wrapped_text(*canvas_, kSheetMargin + 32, width_,
                 evaluation_facts(evaluation_) + ". Circle: reversed ranking.");
    for (size_t i = 0; i < columns_.size(); ++i) panel(columns_[i], i);
    if (!curves_.empty()) curves();
    return canvas_->finish();
  }

 private:
  double room() const { return width_ - 2 * kSheetMargin; }

  double curve_rows_height() const {
    const auto rows = static_cast<double>((curves_.size() + across_ - 1) / across_);
    return rows * (kCurveHeight + kEvaluationGap);
  }

  double curves_height() const {
    return curves_.empty() ? 0 : curve_rows_height() + legend_height(evaluation_, room());
  }

  void curves() {
    for (size_t i = 0; i < curves_.size(); ++i) {
      const auto place = static_cast<double>(i % across_), line = static_cast<double>(i / across_);
      draw_curve(*canvas_,
                 {kSheetMargin + place * (kCurveWidth + kEvaluationGap),
                  curves_top_ + line * (kCurveHeight + kEvaluationGap), kCurveWidth, kCurveHeight},
                 evaluation_, curves_[i]);
    }
    draw_legend(*canvas_, kSheetMargin, curves_top_ + curve_rows_height(), room(), evaluation_);
  }

  ValueRange range_of(size_t column) const {
    ValueRange range;
    for (const auto& row : evaluation_.cells) {
      const EvaluationCell& cell = row[column];
      if (cell.mean) range.take(*cell.mean);
      if (cell.reversed) range.take(*cell.reversed);
      if (cell.interval) {
        range.take(cell.interval->low);
        range.take(cell.interval->high);
      }
    }
    if (range.high == range.low) range.high = range.low + 1;
    return range;
  }

  void panel(size_t column, size_t number) {
    const auto place = static_cast<double>(number % across_);
    const auto line = static_cast<double>(number / across_);
    const double left = kSheetMargin +
                        place * (kEvaluationNames + kEvaluationPlot + kEvaluationGap) +
                        kEvaluationNames;
    const double top = kSheetMargin + 60 + line * (panel_height_ + kEvaluationGap);
    canvas_->text(left - kEvaluationNames, top + 10,
                  fitted(column_title(evaluation_, column), kEvaluationNames + kEvaluationPlot, 13),
                  {.size = 13, .bold = true});
    const ValueRange range = range_of(column);
    const auto x_of = [&](double value) {
      return left + kEvaluationPlot * (value - range.low) / (range.high - range.low);
    };
    const double first = top + kEvaluationTitle, last = top + panel_height_ - kEvaluationAxis;
    canvas_->line(x_of(0), first - 6, x_of(0), last, kLightPalette.grid);
    for (const double value : {range.low, range.high}) {
      canvas_->text(x_of(value), last + 12, fmt::format("{:.3g}", value), kEvaluationFaintMiddle);
    }
    for (size_t method = 0; method < evaluation_.methods.size(); ++method) {
      const double y = first + kEvaluationRow * (static_cast<double>(method) + 0.5);
      canvas_->text(left - 10, y,
                    fitted(printable(evaluation_.methods[method]), kEvaluationNames - 14, 11),
                    kEvaluationEnd);
      mark(evaluation_.cells[method][column], evaluation_.methods[method] == kRandomBaseline, y,
           x_of);
    }
  }

  template <class XOf>
  void mark(const EvaluationCell& cell, bool is_baseline, double y, const XOf& x_of) {
    if (!cell.mean) return;
    const Colour colour = is_baseline ? kLightPalette.faint_ink : kLightPalette.positive;
    if (cell.interval) {
      for (const double shift : {-0.5, 0.5}) {
        canvas_->line(x_of(cell.interval->low), y + shift, x_of(cell.interval->high), y + shift,
                      colour);
      }
    }
    if (cell.reversed && !is_baseline) {
      canvas_->circle(x_of(*cell.reversed), y, 3.5, kLightPalette.negative);
      canvas_->circle(x_of(*cell.reversed), y, 2, kLightPalette.paper);
    }
    canvas_->circle(x_of(*cell.mean), y, 4, colour);
  }

  const Evaluation& evaluation_;
  std::vector<size_t> columns_;
  std::vector<EvaluationCurve> curves_;
  size_t across_ = 1;
  double width_ = 0, height_ = 0, panel_height_ = 0, curves_top_ = 0;
  std::unique_ptr<Canvas> canvas_;
};

constexpr double kEvaluationCell = 64, kAgreementHeader = 86;

// A square per pair; the ceiling stands on the diagonal.
class AgreementPicture {
 public:
  explicit AgreementPicture(const AgreementReport& found) : found_(found) {
    side_ = kEvaluationCell * static_cast<double>(found.methods.size());
    width_ = 2 * kSheetMargin + kEvaluationNames + side_;
    height_ = 2 * kSheetMargin + kAgreementHeader + side_ + kEvaluationNames;
  }

  std::string draw(PictureFormat format, size_t measure) {
    canvas_ = make_sheet(format, width_, height_);
    canvas_->text(kSheetMargin, kSheetMargin + 8,
                  fitted(fmt::format("Agreement ({})", kAgreementMeasures[measure]),
                         width_ - 2 * kSheetMargin, 18),
                  {.size = 18, .bold = true});
    wrapped_text(
        *canvas_, kSheetMargin + 32, width_,
        fmt::format("{}. Diagonal: the method with another seed.", agreement_facts(found_)));
    const std::string floor =
        fmt::format("Units relabelled: {}", agreement_words(found_.floor[measure]));
    canvas_->text(kSheetMargin, kSheetMargin + 64, fitted(floor, width_ - 2 * kSheetMargin, 11),
                  kFaintText);
    for (size_t a = 0; a < found_.methods.size(); ++a) {
      const double y = top() + kEvaluationCell * (static_cast<double>(a) + 0.5);
      const std::string name = fitted(printable(found_.methods[a]), kEvaluationNames - 14, 11);
      canvas_->text(kSheetMargin + kEvaluationNames - 10, y, name, kEvaluationEnd);
      canvas_->text(left() + kEvaluationCell * (static_cast<double>(a) + 0.5), top() + side_ + 8,
                    name, {.size = 11, .anchor = Anchor::kEnd, .upward = true});
      for (size_t b = 0; b < found_.methods.size(); ++b) {
        cell(a, b, a == b ? found_.ceiling[a][measure] : found_.pairs[a][b][measure]);
      }
    }
    return canvas_->finish();
  }

 private:
  double left() const { return kSheetMargin + kEvaluationNames; }
  double top() const { return kSheetMargin + kAgreementHeader; }

  void cell(size_t row, size_t column, const AgreementCell& cell) {
    const Box box{left() + kEvaluationCell * static_cast<double>(column),
                  top() + kEvaluationCell * static_cast<double>(row), kEvaluationCell - 2,
                  kEvaluationCell - 2};
    const double value = cell.mean.value_or(0);
    const Colour full = value < 0 ? kLightPalette.negative : kLightPalette.positive;
    const Colour paint = mix(kLightPalette.paper, full, std::min(1.0, std::abs(value)));
    canvas_->rectangle(box, cell.mean ? paint : kLightPalette.grid);
    const Colour ink = readable_on(kLightPalette, paint);
    const double middle = box.x + box.width / 2, shift = cell.interval ? 7 : 0;
    canvas_->text(middle, box.y + box.height / 2 - shift,
                  cell.mean ? fmt::format("{:.2f}", *cell.mean) : "–",
                  {.size = 12, .colour = ink, .anchor = Anchor::kMiddle});
    if (!cell.interval) return;
    canvas_->text(middle, box.y + box.height / 2 + 9,
                  fmt::format("{:.2f}, {:.2f}", cell.interval->low, cell.interval->high),
                  {.size = 9, .colour = ink, .anchor = Anchor::kMiddle});
  }

  const AgreementReport& found_;
  double side_ = 0, width_ = 0, height_ = 0;
  std::unique_ptr<Canvas> canvas_;
};

}  // namespace

std::string means_picture(const Evaluation& evaluation) {
  return EvaluationPicture(evaluation, {}).draw(PictureFormat::kSvg);
}

}  // namespace report

std::string evaluation_picture(const Evaluation& evaluation, PictureFormat format) {
  return report::EvaluationPicture(evaluation, report::curves_with_values(evaluation)).draw(format);
}

std::string agreement_picture(const AgreementReport& found, PictureFormat format) {
  return report::AgreementPicture(found).draw(format, 0);
}

}  // namespace whyformer
