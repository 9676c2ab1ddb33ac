#include "report/pages/page_style.h"

#include <fmt/format.h>

#include "report/pages/assets.h"
#include "report/views/palette.h"

namespace whyformer::report {
namespace {

std::string colour_variables(const Palette& palette) {
  return fmt::format(
      "--paper:{};--ink:{};--faint:{};--grid:{};--positive:{};--negative:{};--magnitude:{};"
      "--attention:{};",
      css(palette.paper), css(palette.ink), css(palette.faint_ink), css(palette.grid),
      css(palette.positive), css(palette.negative), css(palette.magnitude),
      css(palette.attention[3]));
}

}  // namespace

std::string style_sheet() {
  return fmt::format(
      ":root{{{}}}\n@media screen and "
      "(prefers-color-scheme:dark){{:root{{color-scheme:dark;{}}}}}\n{}",
      colour_variables(kLightPalette), colour_variables(kDarkPalette), kPageStyle);
}

}  // namespace whyformer::report
