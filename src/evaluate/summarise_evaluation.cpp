#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "evaluate/bootstrap.h"
#include "evaluate/first_lines.h"
#include "evaluate/paired_tests.h"
#include "whyformer/evaluation.h"

namespace whyformer {
namespace {

// Values of one column by input; nothing where it was not measured, is not defined or not finite.
using MetricColumn = std::vector<MetricValue>;

const MeasuredMethod* measured_in(const EvaluatedInput& input, const std::string& name) {
  const auto found =
      std::ranges::find_if(input.methods, [&](const auto& one) { return one.method == name; });
  return found == input.methods.end() ? nullptr : &*found;
}

MetricColumn values_of_column(const std::vector<EvaluatedInput>& inputs, const std::string& method,
                              size_t column, std::vector<MetricValue> MeasuredMethod::*values) {
  MetricColumn result;
  for (const EvaluatedInput& input : inputs) {
    const MeasuredMethod* measured = measured_in(input, method);
    const bool known = measured != nullptr && column < (measured->*values).size();
    const MetricValue value = known ? (measured->*values)[column] : std::nullopt;
    result.push_back(value && std::isfinite(*value) ? value : std::nullopt);
  }
  return result;
}

std::vector<double> defined(const MetricColumn& column) {
  std::vector<double> values;
  for (const MetricValue& value : column) {
    if (value) values.push_back(*value);
  }
  return values;
}

std::optional<double> mean_over_inputs(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// Ratios of one column by input, for those that have some.
using SummedRatios = std::vector<std::vector<Ratio>>;

SummedRatios ratios_of_column(const std::vector<EvaluatedInput>& inputs, const std::string& method,
                              size_t column,
                              std::vector<std::vector<Ratio>> MeasuredMethod::*ratios) {
  SummedRatios found;
  for (const EvaluatedInput& input : inputs) {
    const MeasuredMethod* measured = measured_in(input, method);
    if (measured == nullptr || column >= (measured->*ratios).size()) continue;
    const std::vector<Ratio>& own = (measured->*ratios)[column];
    if (!own.empty()) found.push_back(own);
  }
  return found;
}

// The mean of Σ parts / Σ wholes over these inputs, which may repeat. Nothing where a ratio has no
// whole.
std::optional<double> ratio_of_sums(const SummedRatios& ratios, std::span<const int64_t> inputs) {
  if (ratios.empty()) return std::nullopt;
  std::vector<Ratio> totals(ratios[0].size());
  for (const int64_t input : inputs) {
    for (size_t i = 0; i < totals.size(); ++i) {
      totals[i].part += ratios[input][i].part;
      totals[i].whole += ratios[input][i].whole;
    }
  }
  double sum = 0;
  for (const Ratio& total : totals) {
    if (total.whole <= 0) return std::nullopt;
    sum += total.part / total.whole;
  }
  return sum / static_cast<double>(totals.size());
}

EvaluationCell cell_of_ratios(const std::vector<EvaluatedInput>& inputs, const std::string& method,
                              size_t column, int64_t seed) {
  const SummedRatios own = ratios_of_column(inputs, method, column, &MeasuredMethod::ratios);
  const SummedRatios reversed =
      ratios_of_column(inputs, method, column, &MeasuredMethod::reversed_ratios);
  const auto of_all = [](const SummedRatios& ratios) {
    std::vector<int64_t> all(ratios.size());
    std::iota(all.begin(), all.end(), 0);
    return ratio_of_sums(ratios, all);
  };
  const auto count = static_cast<int64_t>(own.size());
  return {.interval = bootstrap_interval(
              count, [&](std::span<const int64_t> some) { return ratio_of_sums(own, some); },
              {.seed = seed}),
          .mean = of_all(own),
          .reversed = of_all(reversed),
          .inputs = count};
}

EvaluationCell evaluation_cell(const std::vector<EvaluatedInput>& inputs, const std::string& method,
                               size_t column, int64_t seed) {
  const std::vector<double> values =
      defined(values_of_column(inputs, method, column, &MeasuredMethod::values));
  return {.interval = mean_interval(values, {.seed = seed}),
          .mean = mean_over_inputs(values),
          .reversed = mean_over_inputs(
              defined(values_of_column(inputs, method, column, &MeasuredMethod::reversed))),
          .inputs = static_cast<int64_t>(values.size())};
}

bool is_better(double a, double b, bool higher_is_better) {
  return higher_is_better ? a > b : a < b;
}

// Equal means share the better rank.
void add_ranks(Evaluation& evaluation, size_t column) {
  const bool higher = evaluation.columns[column].higher_is_better;
  for (size_t i = 0; i < evaluation.methods.size(); ++i) {
    EvaluationCell& own = evaluation.cells[i][column];
    if (!own.mean || evaluation.methods[i] == kRandomBaseline) continue;
    own.rank = 1;
    for (size_t k = 0; k < evaluation.methods.size(); ++k) {
      const EvaluationCell& other = evaluation.cells[k][column];
      if (evaluation.methods[k] == kRandomBaseline || !other.mean) continue;
      if (is_better(*other.mean, *own.mean, higher)) ++*own.rank;
    }
  }
}

EvaluationTest compared(const Evaluation& evaluation, size_t column, const std::string& best,
                        const std::string& other) {
  const MetricColumn a = values_of_column(evaluation.inputs, best, column, &MeasuredMethod::values);
  const MetricColumn b =
      values_of_column(evaluation.inputs, other, column, &MeasuredMethod::values);
  std::vector<double> of_best, of_other;
  double difference = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!a[i] || !b[i]) continue;
    of_best.push_back(*a[i]);
    of_other.push_back(*b[i]);
    difference += *a[i] - *b[i];
  }
  EvaluationTest test{.column = column,
                      .best = best,
                      .other = other,
                      .inputs = static_cast<int64_t>(of_best.size())};
  if (of_best.empty()) return test;
  test.difference = difference / static_cast<double>(of_best.size());
  if (const auto found = wilcoxon(of_best, of_other)) test.p_value = found->p_value;
  return test;
}

// The best method against each other one and the baseline; p-values are corrected for that many.
void add_tests(Evaluation& evaluation, size_t column) {
  const auto best = std::ranges::find_if(evaluation.cells, [&](const auto& row) {
    return row[column].rank && *row[column].rank == 1;
  });
  if (best == evaluation.cells.end()) return;
  const std::string& name = evaluation.methods[best - evaluation.cells.begin()];
  std::vector<EvaluationTest> tests;
  std::vector<double> p_values;
  for (const std::string& other : evaluation.methods) {
    if (other == name) continue;
    tests.push_back(compared(evaluation, column, name, other));
    if (tests.back().p_value) p_values.push_back(*tests.back().p_value);
  }
  const std::vector<double> corrected = holm(p_values);
  size_t next = 0;
  for (EvaluationTest& test : tests) {
    if (test.p_value) test.p_value = corrected[next++];
    evaluation.tests.push_back(std::move(test));
  }
}

std::vector<std::string> methods_in(const std::vector<EvaluatedInput>& inputs) {
  std::vector<std::string> methods;
  bool has_baseline = false;
  for (const EvaluatedInput& input : inputs) {
    for (const MeasuredMethod& one : input.methods) {
      has_baseline = has_baseline || one.method == kRandomBaseline;
      if (one.method == kRandomBaseline) continue;
      if (std::ranges::find(methods, one.method) == methods.end()) methods.push_back(one.method);
    }
  }
  if (has_baseline) methods.push_back(kRandomBaseline);
  return methods;
}

Cost cost_of(const std::vector<EvaluatedInput>& inputs, const std::string& method) {
  Cost cost;
  for (const EvaluatedInput& input : inputs) {
    const MeasuredMethod* measured = measured_in(input, method);
    if (measured == nullptr) continue;
    cost.forwards += measured->cost.forwards;
    cost.backwards += measured->cost.backwards;
    cost.seconds += measured->cost.seconds;
  }
  return cost;
}

void add_evaluation_notes(Evaluation& evaluation) {
  std::vector<std::string> problems, remarks;
  int64_t noted = 0;
  for (const EvaluatedInput& input : evaluation.inputs) {
    if (!input.problem.empty())
      problems.push_back(fmt::format("{}: {}", input.name, input.problem));
    if (!input.notes.empty()) ++noted;
    for (const std::string& note : input.notes)
      remarks.push_back(fmt::format("{}: {}", input.name, note));
  }
  const auto broken = static_cast<int64_t>(problems.size());
  if (broken > 0) {
    evaluation.notes.push_back(
        fmt::format("{} of {} inputs could not be evaluated:", broken, evaluation.inputs.size()));
    add_first_lines(problems, evaluation.notes);
  }
  if (noted > 0) {
    evaluation.notes.push_back(
        fmt::format("{} of {} inputs have notes:", noted, evaluation.inputs.size()));
    add_first_lines(remarks, evaluation.notes);
  }
  std::vector<std::string> undefined;
  for (size_t column = 0; column < evaluation.columns.size(); ++column) {
    const bool any = std::ranges::any_of(
        evaluation.cells, [&](const auto& row) { return row[column].mean.has_value(); });
    if (!any && !evaluation.columns[column].point) {
      undefined.push_back(evaluation.columns[column].metric);
    }
  }
  if (!undefined.empty()) {
    evaluation.notes.push_back(
        fmt::format("Not defined for any input: {}. Localisation needs regions that are known to "
                    "hold the reason; kept labels need a classifier.",
                    fmt::join(undefined, ", ")));
  }
  if (evaluation.inputs.size() - broken < 6) {
    evaluation.notes.push_back(
        "With fewer than 6 inputs no difference between methods can reach p = 0.05, and intervals "
        "are too narrow.");
  }
}

}  // namespace

Evaluation summarise(const ModelName& model, const std::vector<EvaluatedInput>& inputs,
                     const EvaluationRequest& request) {
  Evaluation evaluation{.model = model,
                        .protocol = request.protocol,
                        .columns = columns_of(request),
                        .methods = methods_in(inputs),
                        .inputs = inputs,
                        .seed = request.explain.seed};
  for (const std::string& method : evaluation.methods) {
    std::vector<EvaluationCell> row;
    for (size_t column = 0; column < evaluation.columns.size(); ++column) {
      const auto cell = evaluation.columns[column].sums_ratios ? cell_of_ratios : evaluation_cell;
      row.push_back(cell(inputs, method, column, request.explain.seed));
    }
    evaluation.cells.push_back(std::move(row));
    evaluation.costs.push_back(cost_of(inputs, method));
  }
  for (size_t column = 0; column < evaluation.columns.size(); ++column) {
    if (evaluation.columns[column].point) continue;
    add_ranks(evaluation, column);
    add_tests(evaluation, column);
  }
  add_evaluation_notes(evaluation);
  return evaluation;
}

}  // namespace whyformer
