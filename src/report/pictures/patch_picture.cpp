#include "report/pictures/patch_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/pictures/canvas.h"
#include "report/views/text.h"
#include "report/views/view.h"
#include "whyformer/error.h"

namespace whyformer {
namespace report {
namespace {

constexpr double kPatchMargin = 20, kPatchTitle = 30, kPatchColumnTitles = 44, kPatchScale = 40;
constexpr double kWidestPatchTitle = 150, kPatchRow = 20;

class PatchGridPicture {
 public:
  PatchGridPicture(const PatchTable& table, const Palette& palette)
      : table_(table), palette_(palette) {
    for (const std::string& row : table.rows)
      titles_ = std::clamp(text_width(printable(row), 11) + 4, titles_, kWidestPatchTitle);
    cell_width_ = std::clamp(620 / static_cast<double>(table.columns.size()), 16.0, 54.0);
    left_ = kPatchMargin + titles_ + 8;
    top_ = kPatchMargin + kPatchTitle + kPatchColumnTitles;
    width_ = left_ + cell_width_ * static_cast<double>(table.columns.size()) + kPatchMargin;
    width_ = std::max(width_, kPatchMargin * 2 + text_width(table.title, 13));
    height_ =
        top_ + kPatchRow * static_cast<double>(table.rows.size()) + kPatchScale + kPatchMargin;
  }

  double width() const { return width_; }
  double height() const { return height_; }

  void draw(Canvas& canvas, double y) const {
    canvas.text(kPatchMargin, y + kPatchMargin + 8,
                fitted(table_.title, width_ - 2 * kPatchMargin, 13),
                {.size = 13, .colour = palette_.ink, .bold = true});
    canvas.text(left_, y + kPatchMargin + kPatchTitle + 8, table_.across, faint());
    // A title that needs more room than its column has takes that of the next ones, which have
    // none.
    const size_t step = columns_per_title();
    for (size_t column = 0; column < table_.columns.size(); column += step) {
      canvas.text(left_ + (static_cast<double>(column) + 0.5) * cell_width_, y + top_ - 12,
                  fitted(short_patch_title(table_.columns[column]),
                         cell_width_ * static_cast<double>(step) - 4, 11),
                  faint(Anchor::kMiddle));
    }
    for (size_t row = 0; row < table_.rows.size(); ++row) {
      const double middle = y + top_ + (static_cast<double>(row) + 0.5) * kPatchRow;
      canvas.text(left_ - 8, middle, fitted(printable(table_.rows[row]), titles_, 11),
                  {.size = 11, .colour = palette_.ink, .anchor = Anchor::kEnd});
      for (size_t column = 0; column < table_.columns.size(); ++column)
        cell(canvas, table_.cells[row][column],
             {left_ + static_cast<double>(column) * cell_width_, middle - kPatchRow / 2,
              cell_width_ - 1, kPatchRow - 1});
    }
    scale(canvas, y);
  }

 private:
  TextStyle faint(Anchor anchor = Anchor::kStart) const {
    return {.size = 11, .colour = palette_.faint_ink, .anchor = anchor};
  }

  size_t columns_per_title() const {
    constexpr double kTitleWidth = 40;
    const bool all_fit = std::ranges::all_of(table_.columns, [&](const std::string& column) {
      return text_width(short_patch_title(column), 11) <= cell_width_ - 4;
    });
    return all_fit ? 1 : static_cast<size_t>(std::ceil(kTitleWidth / cell_width_));
  }

  Colour paint(double share) const {
    return mix(palette_.paper, hue(palette_, share, table_.colours), std::abs(share));
  }

  // Undefined cells are hatched, so that they do not look like 0.
  void cell(Canvas& canvas, double effect, const Box& box) const {
    const Colour colour =
        std::isfinite(effect) ? paint(strength(effect, table_.scale)) : palette_.paper;
    canvas.rectangle(box, colour);
    if (!std::isfinite(effect)) {
      for (double x = box.x; x + 6 <= box.x + box.width; x += 6)
        canvas.line(x, box.y + box.height, x + 6, box.y, palette_.grid);
      return;
    }
    if (box.width < 34) return;
    canvas.text(box.x + box.width / 2, box.y + box.height / 2,
                format_effect(effect, table_.largest),
                {.size = 10, .colour = readable_on(palette_, colour), .anchor = Anchor::kMiddle});
  }

  void scale(Canvas& canvas, double y) const {
    constexpr int kScaleSteps = 80;
    const double line = y + height_ - kPatchMargin - 22, width = 180;
    for (int i = 0; i < kScaleSteps; ++i) {
      const double share = 2.0 * i / (kScaleSteps - 1) - 1;
      canvas.rectangle({left_ + i * width / kScaleSteps, line, width / kScaleSteps + 0.5, 8},
                       paint(share));
    }
    canvas.text(left_, line + 18, format_effect(-table_.scale, table_.scale), faint());
    canvas.text(left_ + width / 2, line + 18, "0", faint(Anchor::kMiddle));
    canvas.text(left_ + width, line + 18, format_effect(table_.scale, table_.scale),
                faint(Anchor::kEnd));
  }

  const PatchTable& table_;
  const Palette& palette_;
  double titles_ = 40, cell_width_ = 40, left_ = 0, top_ = 0, width_ = 0, height_ = 0;
};

}  // namespace

std::string patch_grid_picture(const PatchTable& table, PictureFormat format,
                               const Palette& palette) {
  const PatchGridPicture picture(table, palette);
  const auto canvas = make_canvas(format, picture.width(), picture.height());
  canvas->rectangle({0, 0, picture.width(), picture.height()}, palette.paper);
  picture.draw(*canvas, 0);
  return canvas->finish();
}

}  // namespace report

// All grids below each other.
std::string patch_picture(const PatchReport& patches, PictureFormat format) {
  using namespace report;
  if (patches.grids.empty()) throw InvalidInput("picture of patches: nothing was patched");
  std::vector<PatchTable> tables;
  for (const EffectGrid& grid : patches.grids) tables.push_back(patch_table(patches, grid));
  std::vector<PatchGridPicture> pictures;
  double width = 420, height = 76;
  for (const PatchTable& table : tables) {
    pictures.emplace_back(table, kLightPalette);
    width = std::max(width, pictures.back().width());
    height += pictures.back().height();
  }
  const auto canvas = make_canvas(format, width, height);
  canvas->rectangle({0, 0, width, height}, kLightPalette.paper);
  canvas->text(20, 28, fitted(patch_title(patches), width - 40, 17), {.size = 17, .bold = true});
  const std::vector<std::string> facts = patch_facts(patches);
  for (size_t i = 0; i + 1 < facts.size(); ++i)
    canvas->text(20, 50 + 16 * static_cast<double>(i), fitted(facts[i], width - 40, 11),
                 {.size = 11, .colour = kLightPalette.faint_ink});
  double y = 76;
  for (const PatchGridPicture& picture : pictures) {
    picture.draw(*canvas, y);
    y += picture.height();
  }
  return canvas->finish();
}

}  // namespace whyformer
