#include <fmt/format.h>

#include <algorithm>

#include "explain/perturb/input_game.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

struct OcclusionOptions {
  int64_t window = 0;  // 0: as large as a unit
  int64_t stride = 0;  // 0: the window
  HidingOptions hiding = {};
};

struct Span {
  int64_t begin, end;
};

// Windows along one side; the last is cut off at the border.
std::vector<Span> spans(int64_t size, int64_t window, int64_t stride) {
  std::vector<Span> result;
  for (int64_t begin = 0;; begin += stride) {
    result.push_back({begin, std::min(size, begin + window)});
    if (begin + window >= size) return result;
  }
}

// A cell's score is the mean over the windows that cover it of y(x) - y(x with the window hidden).
Scores occlusion(Explained& explained, const OcclusionOptions& options) {
  const Subject::Cells cells = explained.subject().cells();
  const auto or_unit = [](int64_t size, int64_t unit) { return size > 0 ? size : unit; };
  const int64_t high = or_unit(options.window, cells.unit_height), wide = or_unit(options.window, cells.unit_width);
  const int64_t down = or_unit(options.stride, high), right = or_unit(options.stride, wide);
  if (down > high || right > wide) {
    throw InvalidInput(fmt::format("occlusion.stride={} leaves gaps between windows of {}: make it smaller",
                                   options.stride, std::min(high, wide)));
  }
  std::vector<std::vector<bool>> hidden;
  std::vector<Variant> inputs;
  for (const Span& rows : spans(cells.height, high, down)) {
    for (const Span& columns : spans(cells.width, wide, right)) {
      hidden.emplace_back(cells.height * cells.width, false);
      for (int64_t y = rows.begin; y < rows.end; ++y) {
        std::fill(hidden.back().begin() + y * cells.width + columns.begin,
                  hidden.back().begin() + y * cells.width + columns.end, true);
      }
    }
  }
  for (const std::vector<bool>& window : hidden) {
    inputs.push_back(explained.subject().hiding_cells(window, options.hiding.how));
  }
  const auto answers = explained.answers(inputs);
  const double whole = explained.in_space(options.hiding.space, explained.outputs());
  std::vector<double> sums(cells.height * cells.width, 0.0), counts(sums.size(), 0.0);
  for (size_t i = 0; i < hidden.size(); ++i) {
    const double fall = whole - explained.in_space(options.hiding.space, answers[i]);
    for (size_t cell = 0; cell < sums.size(); ++cell) {
      if (!hidden[i][cell]) continue;
      sums[cell] += fall;
      counts[cell] += 1;
    }
  }
  for (size_t cell = 0; cell < sums.size(); ++cell) sums[cell] /= counts[cell];
  Scores scores{explained.subject().unit_means(sums)};
  const bool as_units = wide == cells.unit_width && right == wide && high == cells.unit_height && down == high;
  if (explained.subject().kind() == "picture" && !as_units) scores.pixels = std::move(sums);
  return scores;
}

}  // namespace

const Method kOcclusion{
    {.name = "occlusion",
     .summary = "how much the target falls when a window of the input is hidden",
     .paper = "Zeiler & Fergus, ECCV 2014; windows as in Captum",
     .cost = "1 forward per window",
     .class_specific = true,
     .is_signed = true,
     .options = {{"window", "side of the window in pixels or tokens; 0: a patch, or a token", int64_t{0}, {}, 0, 100000},
                 {"stride", "from one window to the next; 0: the window's side", int64_t{0}, {}, 0, 100000},
                 {"how",
                  "tokens: replace by the mask token (auto), delete, drop from attention in every layer, zero their word "
                  "vectors, or retokenize; "
                  "pixels: paint grey (auto), black, the picture's mean colour, or blurred; columns: the background's "
                  "mean (auto), or zero",
                  std::string("auto"),
                  {"auto", "mask", "delete", "drop", "retokenize", "grey", "black", "mean", "blur", "zero"}},
                 space_option()},
     .presets = {}},
    {},
    [](Explained& explained, const OptionReader& options) {
      return occlusion(explained, {.window = options.whole("window"),
                                   .stride = options.whole("stride"),
                                   .hiding = hiding_options(options)});
    }};

}  // namespace whyformer
