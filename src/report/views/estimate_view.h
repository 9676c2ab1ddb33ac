// What reports say and draw of an estimate: how base and scores make the value, the force bar, and
// pairs of units.
#pragma once

#include "report/views/view.h"

namespace whyformer::report {

// "base -0.070 + 0.793 = 0.723 logit"; of a linear fit its intercept, the model's value and R².
// Empty without an estimate.
std::string estimate_line(const Attribution& attribution);

// A word, or a unit that belongs to none, with the sum of its units' scores, between two places on
// the axis.
struct ForceSegment {
  std::string text;
  int64_t first_unit = 0;
  double score = 0;
  double from = 0;
  double to = 0;
};

// Consecutive units of one word are one segment; places on the axis are left at 0.
std::vector<ForceSegment> summed_words(const Explanation& explanation,
                                       const Attribution& attribution);

// Scores for the target end at the value, stacked to its left; scores against it begin there. The
// widest are nearest.
struct ForceBar {
  double base = 0;
  double value = 0;  // base plus all scores
  double first = 0;  // where the segments begin and end
  double last = 0;
  double low = 0;  // of the axis: a tenth wider on both sides
  double high = 0;
  double scale = 0;  // that the digits of base and value are chosen by
  std::vector<double> ticks = {};
  int decimals = 0;                         // that tell the ticks apart
  std::vector<ForceSegment> segments = {};  // from left to right
};

// Nothing without an estimate, for linear fits (their coefficients share out no value) and for
// scores that are not finite.
std::optional<ForceBar> force_bar(const Explanation& explanation, const Attribution& attribution);

// Base and value of the bar, with the digits of estimate_line.
std::string format_place(double place, const ForceBar& bar);

// What units are worth alone (first == second), and what pairs are worth beyond that; a pair has
// one value, the sum of its two cells in the matrix.
struct Interactions {
  struct Pair {
    size_t first = 0;  // index into names; first >= second
    size_t second = 0;
    double value = 0;
  };
  std::vector<std::string> names;  // of units that take part, in the order of the text
  std::vector<size_t> units;
  std::vector<Pair> pairs;  // row by row of the lower triangle
  double scale = 0;         // largest |value|
};
std::optional<Interactions> interactions_of(const Explanation& explanation,
                                            const Attribution& attribution);

// Pairs of two units, strongest first.
std::vector<Interactions::Pair> strongest_pairs(const Interactions& interactions, size_t limit);

}  // namespace whyformer::report
