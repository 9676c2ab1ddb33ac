#include "report/pictures/text_plot.h"

#include <algorithm>
#include <cmath>

#include "report/views/text.h"

namespace whyformer::report {
namespace {

constexpr double kSize = 12, kLine = 22, kBlank = 5, kPadding = 2, kOverhang = 16;
constexpr size_t kMostLines = 12;
constexpr double kFaintest = 0.03;  // strength below which the paper stays as it is

bool has_blank(const std::string& text) {
  return text.find_first_of(" \n\t\r") != std::string::npos;
}

}  // namespace

TextPlot::TextPlot(const Explanation& explanation, const Attribution& attribution,
                   SpecialTokens special, double width)
    : kind_(kind_of(attribution)), lines_(1) {
  const double scale = scale_of(explanation, attribution, special).pieces;
  const std::vector<TextPiece> pieces = pieces_of(explanation);
  for (size_t i = 0; i < pieces.size() && !is_cut_; ++i) {
    if (is_shown(explanation.units[i], special))
      place(pieces[i], strength(attribution.scores[i], scale), width);
  }
}

void TextPlot::place(const TextPiece& piece, double strength, double width) {
  const std::vector<PlacedText>& line = lines_.back();
  const bool apart =
      piece.special || has_blank(piece.gap) || (!line.empty() && line.back().special);
  PlacedText cell{.text = fitted(printable(piece.text), width - 2 * kPadding, kSize),
                  .strength = strength,
                  .special = piece.special};
  cell.width = text_width(cell.text, kSize) + 2 * kPadding;
  if (!line.empty()) cell.x = line.back().x + line.back().width + (apart ? kBlank : 0);
  const double limit =
      width + (apart ? 0 : kOverhang);  // no line begins with the full stop of another
  if (cell.x + cell.width > limit && !line.empty()) {
    is_cut_ = lines_.size() == kMostLines;
    if (is_cut_) return;
    lines_.emplace_back();
    cell.x = 0;
  }
  lines_.back().push_back(std::move(cell));
}

double TextPlot::height() const {
  return kLine * static_cast<double>(lines_.size() + (is_cut_ ? 1 : 0));
}

void TextPlot::draw(Canvas& canvas, double x, double y) const {
  for (const std::vector<PlacedText>& line : lines_) {
    for (const PlacedText& cell : line) {
      const double share = std::abs(cell.strength);
      const Colour paint =
          mix(kLightPalette.paper, hue(kLightPalette, cell.strength, kind_), share);
      if (share > kFaintest) canvas.rectangle({x + cell.x, y + 2, cell.width, kLine - 4}, paint);
      const bool plain = share < 0.3;
      canvas.text(x + cell.x + cell.width / 2, y + kLine / 2, cell.text,
                  {.size = kSize,
                   .colour = cell.special && plain ? kLightPalette.faint_ink
                                                   : readable_on(kLightPalette, paint),
                   .anchor = Anchor::kMiddle});
    }
    y += kLine;
  }
  if (is_cut_)
    canvas.text(x, y + kLine / 2, "…", {.size = kSize, .colour = kLightPalette.faint_ink});
}

}  // namespace whyformer::report
