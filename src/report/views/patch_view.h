// What every report of patching draws.
#pragma once

#include <string>
#include <vector>

#include "report/views/palette.h"
#include "whyformer/patching.h"

namespace whyformer::report {

// Cells that are drawn: tokens run down, layers across, because there are more tokens than fit.
struct PatchTable {
  std::string title;  // "residual: the stream behind each block, …"
  std::string across, down;
  std::vector<std::string> columns, rows;
  std::vector<std::vector<double>> cells;   // [row][column]; not a number where undefined
  std::vector<std::vector<double>> errors;  // likewise; empty without
  double scale = 0;                         // of the colours: that of the largest |cell|
  double largest = 0;                       // |cell|; how many decimals are shown
  ScoreKind colours = ScoreKind::kSigned;
};

PatchTable patch_table(const PatchReport& report, const EffectGrid& grid);
// "3" of "layer 3" and "3.2" of "layer 3 head 2", since the heading says what they are.
std::string short_patch_title(const std::string& name);

struct PatchExtreme {
  std::string row, column;
  double effect = 0;
};
// The cells with the largest |effect|, largest first.
std::vector<PatchExtreme> strongest_patches(const EffectGrid& grid, size_t limit);

std::string patch_title(const PatchReport& report);  // "Activation patching of NAME"
// "clean “…”: positive 2.31 · corrupted “…”: −1.20 · logit of positive", a line each.
std::vector<std::string> patch_facts(const PatchReport& report);
// What a cell says, in a sentence.
std::string patch_meaning(const PatchReport& report);
std::string preview_words(const EffectGrid& grid);  // empty without estimates
// An effect among others whose largest is given; exactly 0 is "0".
std::string format_effect(double effect, double largest);

}  // namespace whyformer::report
