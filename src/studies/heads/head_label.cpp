#include "studies/heads/head_label.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "run/labels.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

double number_in(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) {
    throw InvalidInput(fmt::format(
        "the label '{}' is not a number, which is what this regression model answers", text));
  }
  return number;
}

std::vector<double> softmax(std::vector<double> outputs) {
  const double most = *std::max_element(outputs.begin(), outputs.end());
  double sum = 0;
  for (double& value : outputs) sum += value = std::exp(value - most);
  for (double& value : outputs) value /= sum;
  return outputs;
}

}  // namespace

HeadLabel label_given(Problem problem, const std::vector<std::string>& output_names,
                      const std::vector<std::string>& labels) {
  HeadLabel label;
  if (problem == Problem::kRegression) {
    for (const std::string& text : labels) label.numbers.push_back(number_in(text));
  } else {
    for (const std::string& text : labels) {
      label.classes.push_back(label_index(output_names, text, "label"));
    }
    std::sort(label.classes.begin(), label.classes.end());
    label.classes.erase(std::unique(label.classes.begin(), label.classes.end()),
                        label.classes.end());
  }
  const size_t wanted = problem == Problem::kRegression ? output_names.size() : 1;
  if (problem != Problem::kMultiLabel && labels.size() != wanted) {
    throw InvalidInput(fmt::format("{} labels were given but this model takes {} for each example",
                                   labels.size(), wanted));
  }
  return label;
}

HeadLabel label_predicted(Problem problem, const std::vector<double>& outputs) {
  if (problem == Problem::kRegression) return {{}, outputs};
  if (problem == Problem::kSingleLabel || problem == Problem::kOneLogit) {
    return {{std::max_element(outputs.begin(), outputs.end()) - outputs.begin()}, {}};
  }
  HeadLabel label;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] > 0) label.classes.push_back(static_cast<int64_t>(i));
  }
  return label;
}

bool is_right(Problem problem, const std::vector<double>& outputs, const HeadLabel& label) {
  return label_predicted(problem, outputs).classes == label.classes;
}

std::vector<double> loss_gradient(Problem problem, const std::vector<double>& outputs,
                                  const HeadLabel& label) {
  const auto count = static_cast<double>(outputs.size());
  std::vector<double> gradient = outputs;
  switch (problem) {
    case Problem::kSingleLabel:
      gradient = softmax(outputs);
      gradient[label.classes[0]] -= 1;
      break;
    case Problem::kOneLogit:  // its loss, -log of the sigmoid, is half in each output
    case Problem::kMultiLabel:
      for (double& value : gradient) value = 1 / (1 + std::exp(-value)) / count;
      for (const int64_t index : label.classes) gradient[index] -= 1 / count;
      break;
    case Problem::kRegression:
      for (size_t i = 0; i < gradient.size(); ++i) {
        gradient[i] = 2 * (outputs[i] - label.numbers[i]) / count;
      }
      break;
  }
  return gradient;
}

}  // namespace whyformer
