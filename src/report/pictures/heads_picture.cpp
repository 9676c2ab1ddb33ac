// Head importance as a picture: a heat map of layers and heads per measure, the roles of
// heads, and the pruning curve.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/pictures/canvas.h"
#include "report/views/heads_view.h"
#include "report/views/roles_view.h"
#include "report/views/view.h"
#include "whyformer/error.h"
#include "whyformer/report.h"

namespace whyformer {
namespace report {
namespace {

constexpr double kMargin = 24;
constexpr double kHeader = 56;
constexpr double kGap = 40;
constexpr double kAxis = 46;         // left of a panel: title and numbers of the vertical axis
constexpr double kPanelTop = 74;     // above it: name, options, numbers of the heads
constexpr double kPanelBottom = 44;  // below it: the scale
constexpr double kWidest = 1480;     // panels that would go beyond start a new row
constexpr double kNumbersFrom = 36;  // cells this wide carry their number

const TextStyle kFaint{.size = 11, .colour = kLightPalette.faint_ink};
const TextStyle kFaintMiddle{
    .size = 11, .colour = kLightPalette.faint_ink, .anchor = Anchor::kMiddle};
const TextStyle kFaintEnd{.size = 11, .colour = kLightPalette.faint_ink, .anchor = Anchor::kEnd};
const TextStyle kFaintUpward{
    .size = 11, .colour = kLightPalette.faint_ink, .anchor = Anchor::kMiddle, .upward = true};

Colour colour_of(double score, double scale) {
  if (!std::isfinite(score)) return kLightPalette.negative;
  return attention_colour(kLightPalette, scale > 0 ? score / scale : 0);
}

// One of several series of points, all over the same horizontal axis.
struct Series {
  std::string name;
  Colour colour;
  std::vector<double> values;
};

class HeadsPicture {
 public:
  explicit HeadsPicture(const HeadImportance& importance) : importance_(importance) {
    const HeadGrid shares = importance.roles ? shares_of(*importance.roles) : HeadGrid();
    const HeadGrid& grid = importance.roles ? shares : importance.measures.front().values;
    const auto heads = static_cast<double>(most_heads(grid));
    const auto layers = static_cast<double>(grid.size());
    // Marks of roles need room to be read.
    cell_width_ = std::clamp(440 / heads, importance.roles ? 42.0 : 14.0, 52.0);
    cell_height_ = std::clamp(360 / layers, importance.roles ? 18.0 : 12.0, 40.0);
    grid_ = {0, 0, heads * cell_width_, layers * cell_height_};
    curve_ = {0, 0, 360, std::max(200.0, grid_.height)};
    place_panels();
  }

  std::string draw(PictureFormat format) {
    canvas_ = make_canvas(format, width_, height_);
    canvas_->rectangle({0, 0, width_, height_}, kLightPalette.paper);
    header();
    for (size_t i = 0; i < importance_.measures.size(); ++i) {
      heat_map(importance_.measures[i], boxes_[i]);
    }
    if (importance_.roles) roles(*importance_.roles, boxes_[importance_.measures.size()]);
    if (importance_.pruning) pruning(*importance_.pruning, boxes_.back());
    footer();
    return canvas_->finish();
  }

 private:
  // Left to right, in rows.
  void place_panels() {
    std::vector<Box> sizes(importance_.measures.size() + importance_.roles.has_value(), grid_);
    if (importance_.pruning) sizes.push_back(curve_);
    double x = kMargin, y = kMargin + kHeader, row_height = 0;
    for (const Box& size : sizes) {
      if (x > kMargin && x + kAxis + size.width > kWidest) {
        x = kMargin;
        y += kPanelTop + row_height + kPanelBottom + kGap / 2;
        row_height = 0;
      }
      boxes_.push_back({x + kAxis, y + kPanelTop, size.width, size.height});
      x += kAxis + size.width + kGap;
      row_height = std::max(row_height, size.height);
      width_ = std::max(width_, x - kGap + kMargin);
      height_ = y + kPanelTop + row_height + kPanelBottom + 16 + kMargin;
    }
  }

  void header() {
    const double room = width_ - 2 * kMargin;
    const std::string title = "Heads of " + model_line(importance_.model);
    canvas_->text(kMargin, kMargin + 8, fitted(title, room, 18), {.size = 18, .bold = true});
    canvas_->text(kMargin, kMargin + 32, fitted(corpus_line(importance_), room, 11), kFaint);
  }

  void panel_title(const Box& box, const std::string& name, const std::string& rest) {
    canvas_->text(box.x, box.y - kPanelTop + 8, fitted(name, box.width, 13),
                  {.size = 13, .bold = true});
    canvas_->text(box.x, box.y - kPanelTop + 26, fitted(rest, box.width, 11), kFaint);
  }

  void heat_map(const HeadScores& scores, const Box& box) {
    panel_title(box, scores.measure, options_line(scores));
    const double scale = largest_score(scores.values);
    for (size_t layer = 0; layer < scores.values.size(); ++layer) {
      for (size_t head = 0; head < scores.values[layer].size(); ++head) {
        cell({box.x + static_cast<double>(head) * cell_width_,
              box.y + static_cast<double>(layer) * cell_height_, cell_width_, cell_height_},
             scores.values[layer][head], scale);
      }
    }
    numbers_of_heads(box);
    numbers_of_layers(box, scores.values.size());
    value_scale(box, scale);
  }

  void cell(const Box& box, double score, double scale) {
    labelled_cell(box, colour_of(score, scale), format_cell(score, scale));
  }

  void labelled_cell(const Box& box, Colour colour, const std::string& label) {
    canvas_->rectangle({box.x, box.y, box.width - 1, box.height - 1}, colour);
    if (box.width < kNumbersFrom || box.height < 16) return;
    canvas_->text(
        box.x + box.width / 2, box.y + box.height / 2, label,
        {.size = 10, .colour = readable_on(kLightPalette, colour), .anchor = Anchor::kMiddle});
  }

  static HeadGrid shares_of(const HeadRoles& roles) {
    HeadGrid grid;
    for (const auto& layer : roles.heads) {
      std::vector<double>& row = grid.emplace_back();
      for (const HeadRole& head : layer) row.push_back(role_share(head));
    }
    return grid;
  }

  void roles(const HeadRoles& found, const Box& box) {
    panel_title(box, "roles", "share of tokens for which the role holds; · none");
    for (size_t layer = 0; layer < found.heads.size(); ++layer) {
      for (size_t head = 0; head < found.heads[layer].size(); ++head) {
        const HeadRole& one = found.heads[layer][head];
        labelled_cell(
            {box.x + static_cast<double>(head) * cell_width_,
             box.y + static_cast<double>(layer) * cell_height_, cell_width_, cell_height_},
            colour_of(role_share(one), 1), role_mark(found, one));
      }
    }
    numbers_of_heads(box);
    numbers_of_layers(box, found.heads.size());
    value_scale(box, 1);
  }

  // Every n-th number, so that none overlap.
  static size_t step_of(double cell, double needed) {
    return static_cast<size_t>(std::max(1.0, std::ceil(needed / cell)));
  }

  void numbers_of_heads(const Box& box) {
    canvas_->text(box.x + box.width / 2, box.y - 24, "head", kFaintMiddle);
    const auto heads = static_cast<size_t>(std::lround(box.width / cell_width_));
    for (size_t head = 0; head < heads; head += step_of(cell_width_, 18)) {
      canvas_->text(box.x + (static_cast<double>(head) + 0.5) * cell_width_, box.y - 9,
                    fmt::format("{}", head), kFaintMiddle);
    }
  }

  void numbers_of_layers(const Box& box, size_t layers) {
    canvas_->text(box.x - kAxis + 10, box.y + box.height / 2, "layer", kFaintUpward);
    for (size_t layer = 0; layer < layers; layer += step_of(cell_height_, 13)) {
      canvas_->text(box.x - 8, box.y + (static_cast<double>(layer) + 0.5) * cell_height_,
                    fmt::format("{}", layer), kFaintEnd);
    }
  }

  void value_scale(const Box& box, double scale) {
    constexpr int kSteps = 100;
    const double y = box.y + box.height + 12, width = std::min(box.width, 180.0);
    for (int i = 0; i < kSteps; ++i) {
      const double share = static_cast<double>(i) / kSteps;
      canvas_->rectangle({box.x + share * width, y, width / kSteps + 0.5, 8},
                         attention_colour(kLightPalette, share));
    }
    canvas_->text(box.x, y + 18, "0", kFaint);
    canvas_->text(box.x + width, y + 18, format_cell(scale, scale), kFaintEnd);
  }

  void pruning(const PruningCurve& curve, const Box& box) {
    panel_title(box, "pruning",
                fmt::format("accuracy on {} {}{}", curve.examples, importance_.kind,
                            curve.keep_one ? ", one head per layer is kept" : ""));
    Series chosen{"lowest " + curve.measure + " first", kLightPalette.positive, {}};
    Series random{"random order", kLightPalette.negative, {}};
    std::vector<double> shares;
    for (const PruningStep& step : curve.steps) {
      shares.push_back(static_cast<double>(step.pruned) /
                       static_cast<double>(head_count(importance_.measures[0].values)));
      chosen.values.push_back(step.accuracy);
      random.values.push_back(step.random_accuracy);
    }
    const double least = std::min(*std::min_element(chosen.values.begin(), chosen.values.end()),
                                  *std::min_element(random.values.begin(), random.values.end()));
    const double bottom = std::max(0.0, std::floor(10 * least - 0.5) / 10);
    curve_axes(box, bottom);
    double key = box.x;
    for (const Series& series : {random, chosen}) plot(box, bottom, shares, series);
    for (const Series& series : {chosen, random}) {
      canvas_->rectangle({key, box.y - 30, 10, 10}, series.colour);
      canvas_->text(key + 16, box.y - 25, series.name, kFaint);
      key += 30 + text_width(series.name, 11);
    }
  }

  static double height_of(const Box& box, double bottom, double value) {
    return box.y + box.height * (1 - (value - bottom) / (1 - bottom));
  }

  void curve_axes(const Box& box, double bottom) {
    const int tenths = static_cast<int>(std::lround(10 * (1 - bottom)));
    for (int i = 0; i <= tenths; i += tenths > 6 ? 2 : 1) {
      const double value = 1 - 0.1 * i;
      const double y = height_of(box, bottom, value);
      canvas_->line(box.x, y, box.x + box.width, y, kLightPalette.grid);
      canvas_->text(box.x - 8, y, fmt::format("{:.0f} %", 100 * value), kFaintEnd);
    }
    for (int percent = 0; percent <= 100; percent += 20) {
      const double x = box.x + box.width * percent / 100;
      canvas_->line(x, box.y + box.height, x, box.y + box.height + 4, kLightPalette.faint_ink);
      canvas_->text(x, box.y + box.height + 14, fmt::format("{} %", percent), kFaintMiddle);
    }
    canvas_->line(box.x, box.y + box.height, box.x + box.width, box.y + box.height,
                  kLightPalette.faint_ink);
    canvas_->text(box.x + box.width / 2, box.y + box.height + 32, "heads pruned", kFaintMiddle);
  }

  void plot(const Box& box, double bottom, const std::vector<double>& shares,
            const Series& series) {
    for (size_t i = 0; i < shares.size(); ++i) {
      const double x = box.x + box.width * shares[i];
      const double y = height_of(box, bottom, series.values[i]);
      canvas_->rectangle({x - 3, y - 3, 6, 6}, series.colour);
      if (i == 0) continue;
      const double before = box.x + box.width * shares[i - 1];
      const double from = height_of(box, bottom, series.values[i - 1]);
      for (const double shift : {-0.5, 0.0, 0.5}) {  // lines are one pixel wide
        canvas_->line(before, from + shift, x, y + shift, series.colour);
        canvas_->line(before + shift, from, x + shift, y, series.colour);
      }
    }
  }

  void footer() {
    std::string said = "Layer 0 is nearest the input.";
    for (const std::string& note : importance_.notes) said += " " + note;
    canvas_->text(kMargin, height_ - kMargin + 4, fitted(said, width_ - 2 * kMargin, 11), kFaint);
  }

  const HeadImportance& importance_;
  double cell_width_ = 0, cell_height_ = 0;
  Box grid_{}, curve_{};
  std::vector<Box> boxes_;  // one per measure, then the pruning curve's
  double width_ = 560, height_ = 0;
  std::unique_ptr<Canvas> canvas_;
};

}  // namespace
}  // namespace report

std::string heads_picture(const HeadImportance& importance, PictureFormat format) {
  report::check(importance);
  if (importance.measures.empty() && !importance.roles)
    throw InvalidInput("picture of heads: nothing was measured");
  return report::HeadsPicture(importance).draw(format);
}

}  // namespace whyformer
