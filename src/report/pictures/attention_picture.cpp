// Attention maps in a grid: every layer with its heads averaged, the heads of one layer, or one of
// them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "report/pictures/attention_overlay.h"
#include "report/pictures/canvas.h"
#include "report/views/attention_pack.h"
#include "report/views/row_view.h"
#include "report/views/text.h"
#include "report/views/view.h"
#include "whyformer/error.h"
#include "whyformer/report.h"

namespace whyformer {
namespace report {
namespace {

constexpr double kMargin = 24;
constexpr double kTitleHeight = 46;
constexpr double kPanelTitle = 22;
constexpr double kGap = 18;
constexpr double kLabelSize = 10;
constexpr uint8_t kBroken = 255;  // the level of cells that are not a number

struct AttentionPanel {
  std::string title;
  int64_t queries = 0;
  int64_t keys = 0;
  std::vector<float> weights;
};

std::vector<AttentionPanel> maps_shown(const Explanation& explanation,
                                       const AttentionPicture& which) {
  if (explanation.attention.empty()) {
    throw InvalidInput(
        "attention picture: the explanation holds no attention maps; the model has none over what "
        "gets scores, or they were not kept");
  }
  const auto layers = static_cast<int>(explanation.attention.size());
  if (which.layer < -1 || which.layer >= layers) {
    throw InvalidInput(
        fmt::format("attention picture: there is no layer {}; the model has layers 0 to {}",
                    which.layer, layers - 1));
  }
  std::vector<AttentionPanel> panels;
  if (which.layer < 0) {
    for (const AttentionMap& map : explanation.attention) {
      panels.push_back(
          {fmt::format("layer {}", panels.size()), map.queries, map.keys, mean_over_heads(map)});
    }
    return panels;
  }
  const AttentionMap& map = explanation.attention[static_cast<size_t>(which.layer)];
  for (const int64_t head : heads_shown(map, which)) {
    const std::span<const float> weights = map.head(head);
    panels.push_back(
        {fmt::format("head {}", head), map.queries, map.keys, {weights.begin(), weights.end()}});
  }
  return panels;
}

std::array<Colour, 256> level_colours() {
  std::array<Colour, 256> colours;
  for (size_t level = 0; level < kBroken; ++level) {
    colours[level] = attention_colour(kLightPalette, static_cast<double>(level) / (kBroken - 1));
  }
  colours[kBroken] = kLightPalette.negative;
  return colours;
}

uint8_t level_of(float weight, double top) {
  if (!std::isfinite(weight)) return kBroken;
  return static_cast<uint8_t>(std::lround(attention_share(weight, top) * (kBroken - 1)));
}

class AttentionSheet {
 public:
  AttentionSheet(const Explanation& explanation, const AttentionPicture& which,
                 const ReportOptions& options)
      : explanation_(explanation),
        which_(which),
        options_(options),
        panels_(maps_shown(explanation, which)),
        is_row_(is_row(explanation)),
        rows_(shown(panels_.front().queries)),
        columns_(shown(panels_.front().keys)) {
    for (const TextPiece& piece : pieces_of(explanation)) names_.push_back(printable(piece.text));
    if (is_row_) {
      for (const RowColumn& column : row_columns(explanation))
        names_[column.unit] = printable(column.name);
    }
    measure();
  }

  std::string draw(PictureFormat format) {
    const auto count = static_cast<double>(panels_.size());
    const double width =
        std::max(560.0, 2 * kMargin + left_ + across_ * (panel_width_ + kGap) - kGap);
    const double down = std::ceil(count / across_);
    const double height =
        kMargin + kTitleHeight + top_ + down * (panel_height_ + kPanelTitle + kGap) + 58;
    canvas_ = make_canvas(format, width, height);
    canvas_->rectangle({0, 0, width, height}, kLightPalette.paper);
    title(width);
    for (size_t i = 0; i < panels_.size(); ++i) panel(i);
    footer(height - 46, width);
    return canvas_->finish();
  }

 private:
  // Columns of a table that no token stands for follow those that have one.
  bool is_over_units(int64_t count) const {
    const auto units = static_cast<int64_t>(explanation_.units.size());
    return count == units || (is_row_ && count < units);
  }

  // Tokens of the text where the map is over them; plain positions of other maps are all shown.
  std::vector<int64_t> shown(int64_t count) const {
    std::vector<int64_t> indices;
    const bool over_units = is_over_units(count);
    for (int64_t i = 0; i < count; ++i) {
      if (!over_units || is_shown(explanation_.units[static_cast<size_t>(i)], options_.special)) {
        indices.push_back(i);
      }
    }
    return indices;
  }

  std::string name(int64_t index, int64_t count) const {
    return is_over_units(count) ? names_[static_cast<size_t>(index)] : fmt::format("#{}", index);
  }

  double label_room(const std::vector<int64_t>& indices, int64_t count) const {
    double widest = 0;
    for (const int64_t index : indices)
      widest = std::max(widest, text_width(name(index, count), kLabelSize));
    return std::min(widest, 84.0) + 8;
  }

  void measure() {
    const double count = static_cast<double>(panels_.size());
    across_ = std::ceil(std::sqrt(count));
    const auto most =
        static_cast<double>(std::max<size_t>(1, std::max(rows_.size(), columns_.size())));
    const double side = std::max(count == 1 ? 640.0 : 290.0, most / 2);  // a PNG pixel per cell
    const double cell = std::min(side / most, 40.0);
    panel_width_ = cell * static_cast<double>(std::max<size_t>(1, columns_.size()));
    panel_height_ = cell * static_cast<double>(std::max<size_t>(1, rows_.size()));
    cell_ = cell;
    left_ = label_room(rows_, panels_.front().queries);
    top_ = label_room(columns_, panels_.front().keys);
  }

  void title(double width) {
    const std::string what =
        which_.layer < 0 ? "Attention by layer, mean over heads"
        : which_.head < 0
            ? fmt::format("Attention heads of layer {}", which_.layer)
            : fmt::format("Attention of layer {}, head {}", which_.layer, which_.head);
    canvas_->text(kMargin, kMargin + 4, what, {.size = 16, .bold = true});
    const std::string text =
        printable(explanation_.model.name) + ": " + printable(explanation_.text);
    canvas_->text(kMargin, kMargin + 26, fitted(text, width - 2 * kMargin, 11),
                  {.size = 11, .colour = kLightPalette.faint_ink});
  }

  void panel(size_t index) {
    const AttentionPanel& panel = panels_[index];
    const double column = static_cast<double>(index % static_cast<size_t>(across_));
    const double row = static_cast<double>(index / static_cast<size_t>(across_));
    const Box box{
        kMargin + left_ + column * (panel_width_ + kGap),
        kMargin + kTitleHeight + top_ + kPanelTitle + row * (panel_height_ + kPanelTitle + kGap),
        panel_width_, panel_height_};
    const double top = largest_weight(panel);
    const double title_y = row == 0 ? box.y - top_ - 8 : box.y - 12;
    canvas_->text(box.x, title_y, fmt::format("{} · largest {:.3f}", panel.title, top),
                  {.size = 11});
    if (rows_.empty() || columns_.empty()) return;
    canvas_->cells(box, cells_of(panel, top));
    if (column == 0) row_labels(box, panel.queries);
    if (row == 0) column_labels(box, panel.keys);
  }

  double largest_weight(const AttentionPanel& panel) const {
    double top = 0;
    const auto take = [&](float weight) {
      if (std::isfinite(weight)) top = std::max<double>(top, weight);
    };
    if (options_.special == SpecialTokens::kHide) {
      for (const float weight : panel.weights) take(weight);
      return top;
    }
    for (const int64_t query : rows_) {
      for (const int64_t key : columns_)
        take(panel.weights[static_cast<size_t>(query * panel.keys + key)]);
    }
    return top;
  }

  CellImage cells_of(const AttentionPanel& panel, double top) const {
    CellImage image{
        static_cast<int>(columns_.size()), static_cast<int>(rows_.size()), {}, level_colours()};
    for (const int64_t query : rows_) {
      for (const int64_t key : columns_) {
        image.levels.push_back(
            level_of(panel.weights[static_cast<size_t>(query * panel.keys + key)], top));
      }
    }
    return image;
  }

  // Every n-th label, so that none overlap.
  size_t label_step() const { return static_cast<size_t>(std::ceil((kLabelSize + 1) / cell_)); }

  void row_labels(const Box& box, int64_t count) {
    for (size_t r = 0; r < rows_.size(); r += label_step()) {
      canvas_->text(
          box.x - 5, box.y + (static_cast<double>(r) + 0.5) * cell_,
          fitted(name(rows_[r], count), left_ - 6, kLabelSize),
          {.size = kLabelSize, .colour = kLightPalette.faint_ink, .anchor = Anchor::kEnd});
    }
  }

  void column_labels(const Box& box, int64_t count) {
    for (size_t c = 0; c < columns_.size(); c += label_step()) {
      canvas_->text(box.x + (static_cast<double>(c) + 0.5) * cell_, box.y - 5,
                    fitted(name(columns_[c], count), top_ - 6, kLabelSize),
                    {.size = kLabelSize, .colour = kLightPalette.faint_ink, .upward = true});
    }
  }

  void footer(double y, double width) {
    CellImage ramp{kBroken, 1, std::vector<uint8_t>(kBroken), level_colours()};
    std::iota(ramp.levels.begin(), ramp.levels.end(), uint8_t{0});
    canvas_->text(kMargin, y, "0", {.size = 11, .colour = kLightPalette.faint_ink});
    canvas_->cells({kMargin + 12, y - 4, 140, 8}, ramp);
    const TextStyle faint{.size = 11, .colour = kLightPalette.faint_ink};
    canvas_->text(kMargin + 160, y, "the map's largest weight, on a square-root scale", faint);
    std::string said = "Queries down, keys across.";
    if (has_broken()) said += " Orange cells are not a number.";
    said += " " + hidden_tokens_sentence(explanation_, options_.special);
    canvas_->text(kMargin, y + 18, fitted(said, width - 2 * kMargin, 11), faint);
  }

  bool has_broken() const {
    return std::any_of(panels_.begin(), panels_.end(), [](const AttentionPanel& panel) {
      return std::any_of(panel.weights.begin(), panel.weights.end(),
                         [](float weight) { return !std::isfinite(weight); });
    });
  }

  const Explanation& explanation_;
  AttentionPicture which_;
  ReportOptions options_;
  std::vector<AttentionPanel> panels_;
  bool is_row_;  // of a table
  std::vector<int64_t> rows_;
  std::vector<int64_t> columns_;
  std::vector<std::string> names_;
  double across_ = 1, panel_width_ = 0, panel_height_ = 0, cell_ = 1, left_ = 0, top_ = 0;
  std::unique_ptr<Canvas> canvas_;
};

}  // namespace
}  // namespace report

namespace report {

std::vector<int64_t> heads_shown(const AttentionMap& map, const AttentionPicture& which) {
  if (which.head < -1 || which.head >= map.heads) {
    throw InvalidInput(
        fmt::format("attention picture: there is no head {}; layer {} has heads 0 to {}",
                    which.head, which.layer, map.heads - 1));
  }
  if (which.head >= 0) return {which.head};
  std::vector<int64_t> all(map.heads);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace report

std::string attention_picture(const Explanation& explanation, PictureFormat format,
                              const AttentionPicture& which, const ReportOptions& options) {
  check_explanation(explanation);
  if (which.head != -1 && which.layer < 0) {
    throw InvalidInput(
        fmt::format("attention picture: head {} of which layer? Choose the layer too", which.head));
  }
  if (has_grid(explanation)) {
    return report::attention_overlay(report::layout_of({&explanation, 1}), format, which);
  }
  return report::AttentionSheet(explanation, which, options).draw(format);
}

}  // namespace whyformer
