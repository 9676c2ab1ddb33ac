#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "methods/hiding/input_game.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

struct OcclusionOptions {
  int64_t window = 0;  // 0: as large as a unit
  int64_t stride = 0;  // 0: the window
  HidingOptions hiding = {};
};

struct CellRange {
  int64_t begin, end;
};

// Windows along one side; the last is cut off at the border.
std::vector<CellRange> spans(int64_t size, int64_t window, int64_t stride) {
  std::vector<CellRange> result;
  for (int64_t begin = 0;; begin += stride) {
    result.push_back({begin, std::min(size, begin + window)});
    if (begin + window >= size) return result;
  }
}

struct OcclusionWindow {
  CellRange rows, columns;
};

// Row by row.
std::vector<OcclusionWindow> windows_of(const Cells& cells, const OcclusionOptions& options) {
  const auto or_unit = [](int64_t size, int64_t unit) { return size > 0 ? size : unit; };
  const int64_t high = or_unit(options.window, cells.unit_height),
                wide = or_unit(options.window, cells.unit_width);
  const int64_t down = or_unit(options.stride, high), right = or_unit(options.stride, wide);
  if (down > high || right > wide) {
    throw InvalidInput(
        fmt::format("occlusion.stride={} leaves gaps between windows of {}: make it smaller",
                    options.stride, std::min(high, wide)));
  }
  std::vector<OcclusionWindow> windows;
  for (const CellRange& rows : spans(cells.height, high, down)) {
    for (const CellRange& columns : spans(cells.width, wide, right))
      windows.push_back({rows, columns});
  }
  return windows;
}

template <class Visit>
void each_cell(const OcclusionWindow& window, const Cells& cells, const Visit& visit) {
  for (int64_t y = window.rows.begin; y < window.rows.end; ++y) {
    for (int64_t x = window.columns.begin; x < window.columns.end; ++x) visit(y * cells.width + x);
  }
}

// How much the target falls for each window, of those that ran before the caller stopped it.
std::vector<double> falls_of(const std::vector<OcclusionWindow>& windows, const Cells& cells,
                             Run& run, const HidingOptions& hiding) {
  const double whole = run.in_space(hiding.space, run.outputs());
  const auto step = static_cast<size_t>(run.most_inputs_at_once());
  std::vector<double> falls;
  try {
    while (falls.size() < windows.size()) {
      std::vector<Variant> inputs;
      for (size_t i = falls.size(); i < std::min(windows.size(), falls.size() + step); ++i) {
        std::vector<bool> hidden(cells.height * cells.width, false);
        each_cell(windows[i], cells, [&](int64_t cell) { hidden[cell] = true; });
        inputs.push_back(run.input().hiding_cells(hidden, hiding.how));
      }
      for (const auto& answer : run.answers(inputs, Run::Report::kNo)) {
        falls.push_back(whole - run.in_space(hiding.space, answer));
      }
      run.report_progress(static_cast<int64_t>(falls.size()), static_cast<int64_t>(windows.size()));
    }
  } catch (const Interrupted&) {
    if (falls.empty()) throw;
  }
  return falls;
}

// A cell's score is the mean over the windows that cover it of y(x) - y(x with the window hidden).
// Where some of its windows did not run it has none: the mean over the others would be another
// number.
Scores occlusion(Run& run, const OcclusionOptions& options) {
  const Cells cells = run.input().cells();
  const std::vector<OcclusionWindow> windows = windows_of(cells, options);
  const std::vector<double> falls = falls_of(windows, cells, run, options.hiding);
  std::vector<double> sums(cells.height * cells.width, 0.0), counts(sums.size(), 0.0);
  for (size_t i = 0; i < windows.size(); ++i) {
    const double fall = i < falls.size() ? falls[i] : std::numeric_limits<double>::quiet_NaN();
    each_cell(windows[i], cells, [&](int64_t cell) {
      sums[cell] += fall;
      counts[cell] += 1;
    });
  }
  for (size_t cell = 0; cell < sums.size(); ++cell) sums[cell] /= counts[cell];
  Scores scores{run.input().unit_means(sums)};
  // One window for each unit, and no other.
  const bool as_units = windows[0].rows.end == cells.unit_height &&
                        windows[0].columns.end == cells.unit_width &&
                        windows.size() * cells.unit_height * cells.unit_width == sums.size();
  if (cells.are_pixels && !as_units) scores.pixels = std::move(sums);
  scores.stopped = falls.size() < windows.size();
  if (scores.stopped) scores.notes.push_back(stopped_note(falls.size(), windows.size(), "windows"));
  return scores;
}

}  // namespace

const Method kOcclusion{
    {.name = "occlusion",
     .summary = "drop of the target when a sliding window of the input is hidden",
     .paper = "Zeiler & Fergus, ECCV 2014; windows as in Captum",
     .cost = "1 forward per window",
     .class_specific = true,
     .is_signed = true,
     .model_agnostic = true,
     .options = {{"window",
                  "window side in pixels or tokens; 0: one patch or token",
                  int64_t{0},
                  {},
                  0,
                  100000},
                 {"stride", "step between windows; 0: the window side", int64_t{0}, {}, 0, 100000},
                 {"how",
                  "replacement of hidden units. Tokens: mask token (auto), deletion, removal from "
                  "attention in every layer (drop), zero word vectors, or masking in the text "
                  "before tokenization (retokenize). Pixels: grey (auto), black, mean colour, or "
                  "blurred. Columns: background mean (auto), or zero",
                  std::string("auto"),
                  {"auto", "mask", "delete", "drop", "retokenize", "grey", "black", "mean", "blur",
                   "zero"}},
                 space_option()},
     .presets = {}},
    {},
    [](Run& run, const OptionReader& options) {
      return occlusion(run, {.window = options.whole("window"),
                             .stride = options.whole("stride"),
                             .hiding = hiding_options(options)});
    }};

}  // namespace whyformer
