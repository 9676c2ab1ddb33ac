// Bars of every method side by side: one row per word, one panel per method.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/pictures/canvas.h"
#include "report/pictures/force_picture.h"
#include "report/pictures/text_plot.h"
#include "report/views/model_title.h"
#include "report/views/text.h"
#include "report/views/view.h"
#include "whyformer/report.h"

namespace whyformer {
namespace report {
namespace {

constexpr double kMargin = 24;
constexpr double kHeaderHeight = 78;
constexpr double kPanelHeading = 36;
constexpr double kGap = 26;
constexpr double kTallRow = 21;
constexpr double kNumbersFromRow = 14;  // rows this high carry numbers
constexpr double kLabelSpace = 11;      // between the middles of labels of low rows
constexpr double kNumberWidth = 62;
constexpr double kErrorWidth = 58;       // of "± 0.0123" beside a number
constexpr double kEstimateHeading = 22;  // of a force bar
constexpr double kEstimateGap = 18;

const TextStyle kFaint{.size = 11, .colour = kLightPalette.faint_ink};

struct Measures {
  double label_width = 0;
  double panel_width = 0;
  double number_width = 0;
  double row_height = kTallRow;
  double top = kMargin + kHeaderHeight + kPanelHeading;

  double panel_x(size_t index) const {
    return kMargin + label_width + 10 +
           static_cast<double>(index) * (panel_width + number_width + kGap);
  }
};

class BarsPicture {
 public:
  BarsPicture(const Explanation& explanation, const ReportOptions& options)
      : explanation_(explanation),
        options_(options),
        in_rows_(!has_grid(explanation)),
        aligned_(aligned_items(explanation, options.special)),
        means_(mean_strengths(aligned_)) {
    measure();
  }

  std::string draw(PictureFormat format) {
    const size_t panels = std::max<size_t>(1, aligned_.items.size());
    const double width = std::max(560.0, measures_.panel_x(panels) - kGap + kMargin);
    const double body = measures_.row_height * static_cast<double>(means_.size());
    const double bottom = measures_.top + body + estimates_height(width - 2 * kMargin);
    const double height = bottom + 56;
    canvas_ = make_canvas(format, width, height);
    canvas_->rectangle({0, 0, width, height}, kLightPalette.paper);
    header(width);
    labels();
    for (size_t i = 0; i < aligned_.items.size(); ++i) panel(i);
    estimates(measures_.top + body + kEstimateGap, width);
    footer(bottom + 28, width);
    return canvas_->finish();
  }

 private:
  void measure() {
    const auto rows = static_cast<double>(means_.size());
    if (rows > 60) measures_.row_height = std::clamp(1300 / rows, 3.0, kTallRow);
    for (const Item& item : means_) {
      measures_.label_width =
          std::clamp(text_width(printable(item.text), 12), measures_.label_width, 150.0);
    }
    const size_t panels = aligned_.items.size();
    measures_.panel_width = panels == 1 ? 420 : panels <= 4 ? 160 : 112;
    const bool has_errors =
        std::any_of(explanation_.attributions.begin(), explanation_.attributions.end(),
                    [](const Attribution& attribution) {
                      return attribution.estimate && !attribution.estimate->errors.empty();
                    });
    if (measures_.row_height < kNumbersFromRow) return;
    measures_.number_width = kNumberWidth + (has_errors ? kErrorWidth : 0);
  }

  void header(double width) {
    const double room = width - 2 * kMargin;
    const std::vector<LabelValue> answers = best_labels(explanation_, 2);
    std::string title = printable(format_label(target_label(explanation_)));
    if (!answers.empty() && !answers.front().is_target) {
      title += printable(", predicted " + format_label(answers.front()));
    }
    canvas_->text(kMargin, kMargin + 8, fitted(title, room, 20), {.size = 20, .bold = true});
    const std::string text =
        printable(fmt::format("{}", fmt::join(input_texts(explanation_), " ‖ ")));
    canvas_->text(kMargin, kMargin + 34, fitted(text, room, 12), {.size = 12});
    const ModelName& model = explanation_.model;
    const std::string name = printable(model_title(model));
    canvas_->text(kMargin, kMargin + 54, fitted(name, room, 11), kFaint);
    if (aligned_.items.empty()) {
      canvas_->text(kMargin, kMargin + kHeaderHeight + 10, "No method was run.", kFaint);
    }
  }

  double row_middle(size_t row) const {
    return measures_.top + (static_cast<double>(row) + 0.5) * measures_.row_height;
  }

  // Low rows have no room for every label: the strongest words take theirs first.
  void labels() {
    const bool tall = measures_.row_height >= kNumbersFromRow;
    std::vector<double> taken;
    for (const size_t row : strongest(means_, means_.size())) {
      const double y = row_middle(row);
      const bool crowded = std::any_of(taken.begin(), taken.end(), [y](double other) {
        return std::abs(other - y) < kLabelSpace;
      });
      if (!tall && crowded) continue;
      taken.push_back(y);
      const double size = tall ? 12 : 9;
      canvas_->text(kMargin + measures_.label_width, y,
                    fitted(printable(means_[row].text), measures_.label_width + 2, size),
                    {.size = size,
                     .colour = means_[row].special ? kLightPalette.faint_ink : kLightPalette.ink,
                     .anchor = Anchor::kEnd});
    }
  }

  void panel(size_t index) {
    const Attribution& attribution = explanation_.attributions[index];
    const std::vector<Item>& items = aligned_.items[index];
    const double scale = aligned_.scales[index];
    const double x = measures_.panel_x(index);
    const double width = measures_.panel_width;
    const double room = width + measures_.number_width;
    canvas_->text(x, measures_.top - 28, fitted(printable(attribution.method), room, 12),
                  {.size = 12, .bold = true});
    canvas_->text(x, measures_.top - 12, scale_sentence(attribution, scale), kFaint);

    // Errors get room to both sides, at most as much as the longest bar.
    double below = 0;
    double above = 0;
    double longest = 0;
    for (const Item& item : items) {
      const double share = strength(item.score, scale),
                   error = std::min(1.0, error_share(item, scale));
      longest = std::max(longest, std::abs(share));
      below = std::max(below, error - share);
      above = std::max(above, share + error);
    }
    const double zero = below + above > 0 ? below / (below + above) : 0;
    // A hidden stronger token shortens all bars, as it pales all colours.
    const double unit = below + above > 0 ? width / (below + above) * longest : 0;
    for (size_t row = 0; row < items.size(); ++row) {
      bar(row, items[row].score, scale, x + zero * width, unit, kind_of(attribution));
      whisker(row, items[row], scale, {x, x + zero * width, x + width, unit});
      number(row, items[row], scale, x + room, kind_of(attribution));
    }
    const double bottom = measures_.top + measures_.row_height * static_cast<double>(items.size());
    canvas_->line(x + zero * width, measures_.top - 2, x + zero * width, bottom + 2,
                  kLightPalette.faint_ink);
  }

  static std::string scale_sentence(const Attribution& attribution, double scale) {
    if (scale == 0) {
      const bool broken = std::any_of(attribution.scores.begin(), attribution.scores.end(),
                                      [](double score) { return !std::isfinite(score); });
      return broken ? "not a number" : "all zero";
    }
    return "longest bar " + format_score(scale, scale, ScoreKind::kMagnitude);
  }

  void bar(size_t row, double score, double scale, double zero, double unit, ScoreKind kind) {
    const double share = strength(score, scale);
    if (share == 0) return;
    const double thickness =
        measures_.row_height > 6 ? measures_.row_height - 5 : measures_.row_height - 0.6;
    const double length = std::abs(share) * unit;
    canvas_->rectangle(
        {share < 0 ? zero - length : zero, row_middle(row) - thickness / 2, length, thickness},
        hue(kLightPalette, share, kind));
  }

  // Of the standard error, as a share of the longest bar; 0 where there is none.
  static double error_share(const Item& item, double scale) {
    return item.error && scale > 0 && std::isfinite(*item.error) ? *item.error / scale : 0;
  }

  struct BarBox {
    double left, zero, right, unit;
  };
  void whisker(size_t row, const Item& item, double scale, const BarBox& place) {
    const double error = error_share(item, scale) * place.unit;
    if (error == 0 || measures_.row_height < kNumbersFromRow) return;
    const double end = place.zero + strength(item.score, scale) * place.unit, y = row_middle(row);
    const double from = std::max(place.left, end - error), to = std::min(place.right, end + error);
    canvas_->line(from, y, to, y, kLightPalette.ink);
    for (const double cap : {from, to}) canvas_->line(cap, y - 3, cap, y + 3, kLightPalette.ink);
  }

  void number(size_t row, const Item& item, double scale, double x, ScoreKind kind) {
    if (measures_.number_width == 0) return;
    std::string said = std::isnan(item.score) ? "–" : format_score(item.score, scale, kind);
    if (item.error && !std::isnan(item.score)) said += " " + format_error(item.error, scale);
    canvas_->text(x, row_middle(row), said,
                  {.size = 11, .colour = kLightPalette.faint_ink, .anchor = Anchor::kEnd});
  }

  double estimates_height(double room) const {
    double height = 0;
    for (const Attribution& attribution : explanation_.attributions) {
      if (!attribution.estimate) continue;
      height += kEstimateHeading + kEstimateGap;
      if (in_rows_) height += text_plot(attribution, room).height();
      if (force_bar(explanation_, attribution)) height += kForceHeight;
    }
    return height > 0 ? height + kEstimateGap : 0;
  }

  TextPlot text_plot(const Attribution& attribution, double room) const {
    return {explanation_, attribution, options_.special, room};
  }

  // How the scores make the value, for methods that say so: a sentence, the text in colours, and
  // the force bar.
  void estimates(double y, double width) {
    const double room = width - 2 * kMargin;
    for (const Attribution& attribution : explanation_.attributions) {
      if (!attribution.estimate) continue;
      const std::string line = printable(attribution.method + ": " + estimate_line(attribution));
      canvas_->text(kMargin, y + 8, fitted(line, room, 12), {.size = 12, .bold = true});
      y += kEstimateHeading;
      if (in_rows_) {
        const TextPlot text = text_plot(attribution, room);
        text.draw(*canvas_, kMargin, y);
        y += text.height();
      }
      if (const auto bar = force_bar(explanation_, attribution)) {
        draw_force(*canvas_, {kMargin, y + 4, room, kForceHeight}, *bar);
        y += kForceHeight;
      }
      y += kEstimateGap;
    }
  }

  void footer(double y, double width) {
    bool has_sign = false;
    bool has_magnitude = false;
    for (const Attribution& attribution : explanation_.attributions) {
      (attribution.is_signed ? has_sign : has_magnitude) = true;
    }
    double x = kMargin;
    const auto key = [&](Colour colour, const std::string& text) {
      canvas_->rectangle({x, y - 5, 10, 10}, colour);
      canvas_->text(x + 16, y, text, kFaint);
      x += 16 + text_width(text, 11) + 20;
    };
    if (has_sign) key(kLightPalette.positive, "for the target");
    if (has_sign) key(kLightPalette.negative, "against it");
    if (has_magnitude) key(kLightPalette.magnitude, "strength, no sign");
    const std::string hidden = hidden_tokens_sentence(explanation_, options_.special);
    canvas_->text(x, y, fitted(hidden, width - x - kMargin, 11), kFaint);
  }

  const Explanation& explanation_;
  ReportOptions options_;
  bool in_rows_;  // no unit stands in a grid
  AlignedItems aligned_;
  std::vector<Item> means_;
  Measures measures_;
  std::unique_ptr<Canvas> canvas_;
};

}  // namespace
}  // namespace report

std::string bars_picture(const Explanation& explanation, PictureFormat format,
                         const ReportOptions& options) {
  check_explanation(explanation);
  return report::BarsPicture(explanation, options).draw(format);
}

}  // namespace whyformer
