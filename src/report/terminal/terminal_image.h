// Small pictures for a terminal, as blocks of lines that can stand side by side.
#pragma once

#include <string>
#include <vector>

#include "report/views/heat_overlay.h"

namespace whyformer::report {

struct TextBlock {
  std::string heading;
  int width = 0;  // columns of every line
  std::vector<std::string> lines;
};

// Two pixels per character: "▀" in 24-bit colours. The height should be even.
TextBlock half_blocks(const std::string& heading, const Raster& raster);

// Two columns per cell of the heat, without colour: " .:-=+*#%@", or a sign and a digit.
TextBlock shades(const std::string& heading, const Heat& heat);

// The blocks next to each other, in as many rows as the width needs.
std::vector<std::string> side_by_side(const std::vector<TextBlock>& blocks, int width);

}  // namespace whyformer::report
