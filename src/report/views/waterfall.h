// How scores lead from the base to the value, one below the other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/views/axis.h"
#include "report/views/view.h"

namespace whyformer::report {

struct WaterfallStep {
  std::string text;   // "age = 39", a word, or "4 other columns"
  int64_t unit = -1;  // the first one; -1 for the step of all others
  double score = 0;
  double from = 0;  // what the steps below add up to
  double to = 0;
};

struct Waterfall {
  double base = 0;
  double value = 0;  // base plus all scores
  double scale = 0;  // that the digits of base and value are chosen by
  AxisRange axis = {};
  std::vector<WaterfallStep> steps = {};  // from the value down to the base, the strongest first
};

constexpr size_t kMostWaterfallSteps = 10;  // as the shap package draws; the last one sums the rest

// Whether base and scores add up to the model's output. Linear fits and single changes do not.
bool adds_up(const Attribution& attribution);

// Columns without a score have no step. Nothing where the scores do not add up.
std::optional<Waterfall> waterfall_of(const Explanation& explanation,
                                      const Attribution& attribution);

// The method to draw: the one of this name, or the first that adds up where there is no name.
// Throws InvalidInput where it does not, with those that would.
const Attribution& waterfall_method(const Explanation& explanation, const std::string& method);

}  // namespace whyformer::report
