// A linear probe of one layer: fitted to labels of some rows, it predicts those of others.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "studies/concepts/gram.h"
#include "whyformer/learned.h"

namespace whyformer {

// Which rows of a layer a probe is fitted to, and which are held out.
struct ProbeSplit {
  std::vector<int64_t> fitted, held_out;
};

class LinearProbe {
 public:
  virtual ~LinearProbe() = default;
  // Labels below `count`, one for each fitted row. Returns the directions, and tells the penalty
  // where one was chosen.
  virtual ProbeDirections fit(const std::vector<int>& labels, int count,
                              std::optional<double>* penalty) const = 0;
};

// What is alike for all labels is computed here, once for the layer. `rows` outlive the probe.
std::unique_ptr<LinearProbe> make_probe(const FloatRows& rows, const ProbeSplit& split,
                                        const LearnedRequest& request);

// The label that each of these rows gets.
std::vector<int> predictions(const ProbeDirections& directions, const FloatRows& rows,
                             std::span<const int64_t> which);

// With its binomial interval.
ProbeAccuracy accuracy_of(int64_t hits, int64_t rows);

}  // namespace whyformer
