// The number that patching moves: an output of the model in some space, alone or less another.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/config.h"
#include "whyformer/patching.h"

namespace whyformer {

class AnswerMetric {
 public:
  // Throws InvalidInput where the model has no probabilities and the metric needs them.
  AnswerMetric(PatchMetric metric, std::optional<Problem> problem, int64_t target,
               std::optional<int64_t> against);

  double value(const std::vector<double>& outputs) const;
  // By each output.
  std::vector<double> gradient(const std::vector<double>& outputs) const;

 private:
  double value_of(const std::vector<double>& outputs, int64_t index) const;
  std::vector<double> gradient_of(const std::vector<double>& outputs, int64_t index) const;

  PatchMetric metric_;
  std::optional<Problem> problem_;
  int64_t target_;
  std::optional<int64_t> against_;
};

std::string name_of(PatchMetric metric);

}  // namespace whyformer
