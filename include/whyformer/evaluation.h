// Which explanations to believe: methods measured by metrics over many inputs.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "whyformer/agreement.h"
#include "whyformer/evaluate.h"
#include "whyformer/model.h"

namespace whyformer {

// The units that are known to hold the reason, one entry for each unit of the explanation.
using KnownRegion = std::function<std::vector<bool>(const Explanation& explanation)>;

// Code points [start, end) of a text, or of the second text.
struct TextSpan {
  int64_t start = 0;
  int64_t end = 0;
  int segment = 0;
};
// Tokens that overlap one of the spans.
KnownRegion region_of_spans(std::vector<TextSpan> spans);
// Patches at least half of which the mask covers. The mask is a picture of the size of the
// explained one, 0 outside. Throws FileError, and InvalidInput where the sizes differ.
KnownRegion region_of_mask(const PictureInput& mask);

struct EvaluationInput {
  std::string name;  // for reports
  InputValue input;
  TargetChoice target = {};  // nothing: the highest
  KnownRegion region = {};   // empty where it is not known
};

struct EvaluationRequest {
  // Methods with their options, seed, memory, precision, progress. Targets are those of the inputs.
  ExplainRequest explain = {};
  std::vector<std::string> metrics = {};        // names of metrics()
  std::vector<std::string> hidings = {"auto"};  // ways to hide units, each measured by itself
  int64_t random_rankings = 5;                  // that the baseline is the mean of
  bool reversed_rankings = true;                // beside each method; about half of the work
  int64_t noisy_inputs = 10;                    // of metrics of robustness
  double radius = 0.02;                         // of their noise, see TrustRequest
};

// The name of the baseline: scores drawn at random.
inline constexpr const char* kRandomBaseline = "random";

// A metric of a method for one input; nothing where it is not defined there.
using MetricValue = std::optional<double>;

struct MeasuredMethod {
  std::string method;
  // One for each way of hiding and each metric, hiding by hiding.
  std::vector<MetricValue> values;
  // The same of the scores with their sign changed, so that the ranking is reversed; empty where it
  // was not asked for.
  std::vector<MetricValue> reversed;
  std::vector<double> scores;  // of all units; empty for the baseline
  Cost cost;
};

// What was measured for one input.
struct EvaluatedInput {
  std::string name;
  std::string target;
  int64_t units = 0;                    // that can be hidden
  std::vector<MeasuredMethod> methods;  // in the order asked for, then the random baseline
  std::vector<Refusal> refused;
  std::string problem;      // why nothing was measured; empty otherwise
  int64_t evaluations = 0;  // inputs with hidden units that metrics asked for
  double seconds = 0;
};

// An input that cannot be explained has a problem; throws InvalidInput for unknown methods, metrics
// and options, and Interrupted.
EvaluatedInput evaluate(const Model& model, const EvaluationInput& input,
                        const EvaluationRequest& request);

// A column of the table: a metric with one way of hiding.
struct EvaluationColumn {
  std::string metric;
  std::string hiding;  // empty for metrics that hide nothing
  bool higher_is_better = true;
};
std::vector<EvaluationColumn> columns_of(const EvaluationRequest& request);

struct EvaluationCell {
  std::optional<Interval> interval;  // of the mean over inputs; nothing with fewer than two
  std::optional<double> mean;        // over the inputs where the metric is defined
  std::optional<double> reversed;    // mean of the reversed rankings
  int64_t inputs = 0;                // where it is defined
  std::optional<int64_t> rank;       // among the methods, 1 for the best; the baseline has none
};

// The best method of a column against another one, over the inputs that both have.
struct EvaluationTest {
  size_t column = 0;
  std::string best, other;
  double difference = 0;          // mean of best minus other
  std::optional<double> p_value;  // of Wilcoxon's signed-rank test, corrected by Holm
  int64_t inputs = 0;
};

struct Evaluation {
  static constexpr const char* kSchema = "whyformer.evaluation/1";

  ModelName model;
  std::vector<EvaluationColumn> columns;
  std::vector<std::string> methods;                // the baseline last
  std::vector<std::vector<EvaluationCell>> cells;  // [method][column]
  std::vector<EvaluationTest> tests;
  std::vector<Cost> costs;  // of each method, over all inputs
  std::vector<EvaluatedInput> inputs;
  int64_t seed = 0;
  std::vector<std::string> notes;
};

Evaluation summarise(const ModelName& model, const std::vector<EvaluatedInput>& inputs,
                     const EvaluationRequest& request);

}  // namespace whyformer
