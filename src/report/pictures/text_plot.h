// The explained text on a sheet, in the colours of its scores.
#pragma once

#include "report/pictures/canvas.h"
#include "report/views/view.h"

namespace whyformer::report {

// Laid out in lines of a width, drawn where the caller wants it.
class TextPlot {
 public:
  TextPlot(const Explanation& explanation, const Attribution& attribution, SpecialTokens special,
           double width);

  double height() const;
  void draw(Canvas& canvas, double x, double y) const;

 private:
  struct PlacedText {
    std::string text;
    double x = 0;
    double width = 0;
    double strength = 0;
    bool special = false;
  };
  void place(const TextPiece& piece, double strength, double width);

  ScoreKind kind_;
  bool is_cut_ = false;
  std::vector<std::vector<PlacedText>> lines_;
};

}  // namespace whyformer::report
