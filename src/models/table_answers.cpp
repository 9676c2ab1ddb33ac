#include "models/table_answers.h"

#include <fmt/format.h>

#include <cmath>

#include "ops/ops.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

Value number_like(GraphBuilder& graph, Value like, double number, const char* name) {
  const Tensor one = Tensor::of<double>({1}, {number});
  return graph.constant(one.cast(graph.type(like).dtype), name);
}

// Where a probability is rounded to 0 or 1, its log-odds are those of the nearest one that is not.
double smallest_probability(DType type) { return type == DType::kFloat64 ? 1e-12 : 1e-7; }

}  // namespace

TableAnswers::TableAnswers(TaskSpec task, int64_t outputs)
    : task_(std::move(task)), outputs_(outputs) {
  if (task_.output == TaskSpec::Output::kOneLogit && !is_one_logit()) {
    throw UnsupportedModel(fmt::format(
        "table.json declares one logit for two classes, but the task is {} and the model has {} "
        "outputs",
        task_.kind == TaskSpec::Kind::kBinary ? "binary" : "another", outputs_));
  }
  const auto labels = static_cast<int64_t>(task_.labels.size());
  if (labels > 0 && labels != shown()) {
    throw UnsupportedModel(fmt::format("table.json has {} labels, but the model has {} outputs{}",
                                       labels, outputs_,
                                       is_one_logit() ? ", one for two classes" : ""));
  }
}

bool TableAnswers::gives_probabilities() const {
  return task_.output == TaskSpec::Output::kProbabilities &&
         task_.kind != TaskSpec::Kind::kRegression;
}

Problem TableAnswers::problem() const {
  if (task_.kind == TaskSpec::Kind::kRegression) return Problem::kRegression;
  if (task_.kind == TaskSpec::Kind::kMultilabel) return Problem::kMultiLabel;
  return is_one_logit() ? Problem::kOneLogit : Problem::kSingleLabel;
}

std::vector<std::string> TableAnswers::names() const {
  if (!task_.labels.empty()) return task_.labels;
  if (outputs_ == 1 && !task_.name.empty() && !is_one_logit()) return {task_.name};
  std::vector<std::string> names;
  for (int64_t i = 0; i < shown(); ++i) names.push_back(fmt::format("LABEL_{}", i));
  return names;
}

Value TableAnswers::log_odds(GraphBuilder& graph, Value p) const {
  const double least = smallest_probability(graph.type(p).dtype);
  p = binary(graph, p, number_like(graph, p, least, "least"), BinaryFunction::kMaximum, "at_least");
  p = binary(graph, p, number_like(graph, p, 1 - least, "most"), BinaryFunction::kMinimum,
             "at_most");
  const Value own = unary(graph, p, UnaryFunction::kLog, "log_probability");
  if (!apart()) return own;  // their softmax are the probabilities
  const Value one = number_like(graph, p, 1, "one");
  const Value other = unary(graph, subtract(graph, one, p, "other_probability"),
                            UnaryFunction::kLog, "log_other_probability");
  return subtract(graph, own, other, "log_odds");
}

Value TableAnswers::presented(GraphBuilder& graph, Value answer) const {
  if (gives_probabilities()) answer = log_odds(graph, answer);
  if (is_one_logit()) {
    const Value other = unary(graph, answer, UnaryFunction::kNegate, "other_class");
    return concat(graph, other, answer, 1, "both_classes");
  }
  if (task_.kind != TaskSpec::Kind::kRegression || (task_.mean == 0 && task_.std == 1))
    return answer;
  const Value scaled = binary(graph, answer, number_like(graph, answer, task_.std, "std"),
                              BinaryFunction::kMultiply, "unit/std");
  return add(graph, scaled, number_like(graph, answer, task_.mean, "mean"), "unit/mean");
}

std::vector<double> TableAnswers::raw(std::vector<double> shown) const {
  if (is_one_logit() && shown.size() == 2) shown = {shown[1]};
  for (double& value : shown) {
    if (gives_probabilities())
      value = apart() ? 1 / (1 + std::exp(-value)) : std::exp(value);
    else if (task_.kind == TaskSpec::Kind::kRegression)
      value = (value - task_.mean) / task_.std;
  }
  return shown;
}

std::vector<std::string> TableAnswers::notes() const {
  std::vector<std::string> notes;
  if (gives_probabilities()) {
    notes.emplace_back(apart() ? "The model gives probabilities: their log-odds are explained."
                               : "The model gives probabilities: their logarithms are explained.");
  }
  if (is_one_logit() && task_.labels.empty()) {
    notes.emplace_back(
        "table.json names no labels: LABEL_1 is the class that the model's one logit speaks for.");
  }
  return notes;
}

}  // namespace whyformer
