// Heat maps over a picture: a row per explained class, a column per method.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "report/pictures/picture_sheet.h"
#include "report/pictures/text_plot.h"
#include "report/views/heat_overlay.h"
#include "report/views/model_title.h"
#include "report/views/panel_layout.h"
#include "report/views/picture_view.h"
#include "report/views/text.h"
#include "whyformer/error.h"
#include "whyformer/report.h"

namespace whyformer {
namespace report {
namespace {

constexpr double kTop = 88;        // title, file and model
constexpr double kHeading = 26;    // names of the methods
constexpr double kClassName = 30;  // above every row
constexpr double kBelowText = 10;
constexpr double kBelow = 30;  // colour bar below every panel

class OverlaySheet {
 public:
  OverlaySheet(const PanelLayout& layout, const OverlayOptions& options)
      : whole_(layout.whole),
        explanations_(layout.grids),
        texts_(layout.tokens),
        options_(options),
        columns_(method_columns(explanations_)),
        picture_(layout.picture()),
        drawn_(resized(picture_, drawn_size(picture_))),
        panel_(panel_size(drawn_, kPanelSide)) {
    for (const Explanation& text : texts_) {
      for (const Attribution& attribution : text.attributions) {
        text_height_ = std::max(text_height_, text_plot(text, attribution).height() + kBelowText);
      }
    }
  }

  std::string draw(PictureFormat format) {
    const auto across = static_cast<double>(columns_.size() + 1);
    const auto down = static_cast<double>(explanations_.size());
    const double width =
        std::max(560.0, 2 * kSheetMargin + across * (panel_.width + kPanelGap) - kPanelGap);
    const double height = kTop + kHeading + down * row_height() + 48;
    canvas_ = make_sheet(format, width, height);
    header(width);
    for (size_t row = 0; row < explanations_.size(); ++row) class_row(row);
    footer(height - 34, width);
    return canvas_->finish();
  }

 private:
  double row_height() const { return kClassName + text_height_ + panel_.height + kBelow; }

  TextPlot text_plot(const Explanation& text, const Attribution& attribution) const {
    return {text, attribution, SpecialTokens::kExclude, panel_.width};
  }

  Box box_of(size_t row, size_t column) const {
    return {kSheetMargin + static_cast<double>(column) * (panel_.width + kPanelGap),
            kTop + kHeading + static_cast<double>(row) * row_height() + kClassName + text_height_,
            panel_.width, panel_.height};
  }

  void header(double width) {
    const double room = width - 2 * kSheetMargin;
    const Explanation& first = whole_.front();
    const std::vector<LabelValue> answers = explained_labels(whole_, whole_.size() + 1);
    const LabelValue& best = answers.empty() ? target_label(first) : answers.front();
    const std::string title = printable(
        fmt::format("{} {}", answers.empty() ? "Explained" : "Predicted", format_label(best)));
    canvas_->text(kSheetMargin, kSheetMargin + 8, fitted(title, room, 20),
                  {.size = 20, .bold = true});
    canvas_->text(kSheetMargin, kSheetMargin + 34, fitted(printable(first.text), room, 12),
                  {.size = 12});
    const std::string model = printable(model_title(first.model));
    canvas_->text(kSheetMargin, kSheetMargin + 52, fitted(model, room, 11), kFaintText);
    heading(0, "picture");
    for (size_t i = 0; i < columns_.size(); ++i) heading(i + 1, columns_[i].name);
  }

  void heading(size_t column, const std::string& name) {
    const Box box = box_of(0, column);
    canvas_->text(box.x, kTop + kHeading / 2, fitted(printable(name), panel_.width, 13),
                  {.size = 13, .bold = true});
  }

  void class_row(size_t row) {
    const Box first = box_of(row, 0);
    canvas_->text(
        first.x, first.y - 12,
        fitted(printable(format_label(target_label(explanations_[row]))), panel_.width, 12),
        {.size = 12});
    canvas_->picture(first, drawn_);
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (const Attribution* attribution = columns_[i].attributions[row]) {
        panel(box_of(row, i + 1), *attribution);
      }
    }
    if (!texts_.empty()) texts_above(row);
  }

  void texts_above(size_t row) {
    const std::vector<MethodColumn> columns = method_columns(texts_);
    for (size_t i = 0; i < columns.size(); ++i) {
      const Attribution* attribution = columns[i].attributions[row];
      if (attribution == nullptr) continue;
      const Box box = box_of(row, i + 1);
      text_plot(texts_[row], *attribution).draw(*canvas_, box.x, box.y - text_height_);
    }
  }

  void panel(const Box& box, const Attribution& attribution) {
    const MapSize size{drawn_.height, drawn_.width};
    std::vector<bool> segment;
    if (options_.segment != Segment::kNone) {
      segment = segment_of(picture_, attribution, size, options_.grain);
    }
    if (options_.segment == Segment::kMask) {
      canvas_->picture(box, masked(drawn_, segment));
      return;
    }
    const Heat heat = heat_of(picture_, attribution, size, options_.grain);
    Raster raster = painted(drawn_, heat, options_.opacity);
    if (options_.segment == Segment::kOutline) draw_outline(raster, segment);
    canvas_->picture(box, raster);
    colour_bar(*canvas_, box, heat, options_.opacity);
  }

  void footer(double y, double width) {
    bool has_sign = false;
    bool has_magnitude = false;
    for (const Explanation& explanation : explanations_) {
      for (const Attribution& attribution : explanation.attributions) {
        (attribution.is_signed ? has_sign : has_magnitude) = true;
      }
    }
    std::string said = !has_sign && !has_magnitude ? "No method was run. " : "";
    if (options_.segment != Segment::kMask) {
      if (has_sign) said += "Blue is evidence for the class, orange against it. ";
      if (has_magnitude) said += "Yellow is strongest. ";
      if (has_sign || has_magnitude)
        said += texts_.empty() ? "Each map has its own scale. "
                               : "Each map and each text has its own scale. ";
    }
    if (options_.segment == Segment::kOutline) said += "The line is Otsu's threshold. ";
    if (options_.segment == Segment::kMask) said += "Shown: the region above Otsu's threshold. ";
    if (options_.segment != Segment::kNone && has_sign) {
      said += "Signed scores: the threshold of the evidence for the class.";
    }
    wrapped_text(*canvas_, y, width, said);
  }

  std::span<const Explanation> whole_;
  std::span<const Explanation> explanations_;  // their grids
  std::span<const Explanation> texts_;         // their rows of tokens; none where there are none
  double text_height_ = 0;                     // of the texts above a row of panels
  OverlayOptions options_;
  std::vector<MethodColumn> columns_;
  const PictureView& picture_;
  Raster drawn_;
  Box panel_;
  std::unique_ptr<Canvas> canvas_;
};

}  // namespace
}  // namespace report

std::string overlay_picture(std::span<const Explanation> explanations, PictureFormat format,
                            const OverlayOptions& options) {
  report::check_pictures(explanations);
  if (!(options.opacity >= 0 && options.opacity <= 1)) {
    throw InvalidInput(
        fmt::format("overlay picture: opacity {} is not between 0 and 1", options.opacity));
  }
  return report::OverlaySheet(report::layout_of(explanations), options).draw(format);
}

}  // namespace whyformer
