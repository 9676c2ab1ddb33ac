#include "report/terminal/terminal_image.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "report/views/text.h"

namespace whyformer::report {
namespace {

constexpr std::string_view kShades = " .:-=+*#%@";
constexpr int kIndent = 2;
constexpr int kColumnsBetween = 2;

std::string half_block(const Raster& raster, int64_t x, int64_t y) {
  const uint8_t* upper = raster.rgb.data() + 3 * (y * raster.width + x);
  const uint8_t* lower = upper + (y + 1 < raster.height ? 3 * raster.width : 0);
  return fmt::format("\x1b[38;2;{};{};{};48;2;{};{};{}m▀", upper[0], upper[1], upper[2], lower[0],
                     lower[1], lower[2]);
}

std::string signed_mark(double strength) {
  const auto level = static_cast<int>(std::lround(9 * std::abs(strength)));
  return level == 0 ? " ." : fmt::format("{}{}", strength < 0 ? '-' : '+', level);
}

std::string shade_mark(double strength) {
  const auto level = std::min<size_t>(
      kShades.size() - 1, static_cast<size_t>(strength * static_cast<double>(kShades.size())));
  return std::string(2, kShades[level]);
}

}  // namespace

TextBlock half_blocks(const std::string& heading, const Raster& raster) {
  TextBlock block{heading, static_cast<int>(raster.width), {}};
  for (int64_t y = 0; y < raster.height; y += 2) {
    std::string& line = block.lines.emplace_back();
    for (int64_t x = 0; x < raster.width; ++x) line += half_block(raster, x, y);
    line += "\x1b[0m";
  }
  return block;
}

TextBlock shades(const std::string& heading, const Heat& heat) {
  TextBlock block{heading, static_cast<int>(2 * heat.size.columns), {}};
  for (int64_t y = 0; y < heat.size.rows; ++y) {
    std::string& line = block.lines.emplace_back();
    for (int64_t x = 0; x < heat.size.columns; ++x) {
      const double strength = heat.strengths[static_cast<size_t>(y * heat.size.columns + x)];
      line += heat.kind == ScoreKind::kSigned ? signed_mark(strength) : shade_mark(strength);
    }
  }
  return block;
}

std::vector<std::string> side_by_side(const std::vector<TextBlock>& blocks, int width) {
  std::vector<std::string> lines;
  for (size_t first = 0; first < blocks.size();) {
    int used = kIndent + blocks[first].width;
    size_t end = first + 1;
    size_t height = blocks[first].lines.size();
    while (end < blocks.size() && used + kColumnsBetween + blocks[end].width <= width) {
      used += kColumnsBetween + blocks[end].width;
      height = std::max(height, blocks[end].lines.size());
      ++end;
    }
    if (first > 0) lines.emplace_back();
    for (size_t row = 0; row <= height; ++row) {  // the heading, then the lines
      std::string& line = lines.emplace_back(kIndent, ' ');
      for (size_t i = first; i < end; ++i) {
        const TextBlock& block = blocks[i];
        if (i > first) line += std::string(kColumnsBetween, ' ');
        if (row == 0) {
          line += left_aligned(shortened(block.heading, block.width), block.width);
        } else {
          const bool there = row - 1 < block.lines.size();
          line += there ? block.lines[row - 1] : std::string(static_cast<size_t>(block.width), ' ');
        }
      }
    }
    first = end;
  }
  return lines;
}

}  // namespace whyformer::report
