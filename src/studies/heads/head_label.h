// What is right about a text or a picture, and how far a model's answer is from it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/config.h"

namespace whyformer {

struct HeadLabel {
  std::vector<int64_t> classes;  // of a classifier: one, or any number for multi-label models
  std::vector<double> numbers;   // of a regression
};

// As people write it: names, indices or numbers. Throws InvalidInput.
HeadLabel label_given(Problem problem, const std::vector<std::string>& output_names,
                      const std::vector<std::string>& labels);

// What the model itself answers.
HeadLabel label_predicted(Problem problem, const std::vector<double>& outputs);

// Whether a classifier answers what is right.
bool is_right(Problem problem, const std::vector<double>& outputs, const HeadLabel& label);

// ∂loss/∂outputs of the loss that transformers trains with: cross-entropy, binary cross-entropy
// averaged over labels, or squared error averaged over outputs.
std::vector<double> loss_gradient(Problem problem, const std::vector<double>& outputs,
                                  const HeadLabel& label);

}  // namespace whyformer
