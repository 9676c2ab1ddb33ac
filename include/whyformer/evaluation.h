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
// explained one, 0 outside. It is read when the region is asked for, each time: it throws FileError
// then, and InvalidInput where the sizes differ.
KnownRegion region_of_mask(const PictureInput& mask);

// The same by pixel of the picture as the model saw it, row by row.
using KnownPixels = std::function<std::vector<bool>(const Explanation& explanation)>;
// Each pixel takes the nearest one of the mask. Throws as region_of_mask.
KnownPixels pixels_of_mask(const PictureInput& mask);

// The words of a text, as a data set counts them, and which are known to hold the reason.
struct MarkedWords {
  std::vector<TextSpan> words;
  std::vector<bool> marked;  // one for each word
};
using KnownWords = std::function<MarkedWords(const Explanation& explanation)>;
// Words of the first text by white space; those that overlap a span are marked. Throws InvalidInput
// where no unit stands for characters of a text.
KnownWords words_of_spans(std::vector<TextSpan> spans);

struct EvaluationInput {
  std::string name;  // for reports
  InputValue input;
  TargetChoice target = {};  // nothing: the highest
  KnownRegion region = {};   // empty where it is not known
  // What protocols read beside it.
  TargetChoice label = {};  // the right answer; nothing where it is not known
  KnownPixels pixels = {};
  KnownWords words = {};
  // Tells what region, pixels and words were made from, for content_hash.
  std::function<std::string()> known_from = {};
  // What is odd about them, or why they are not known.
  std::function<std::vector<std::string>(const Explanation& explanation)> oddities = {};
};
// The object of a picture: its region and pixels.
void add_known_mask(EvaluationInput& input, const PictureInput& mask);
// Characters of the input's text: its region and words. What lies outside the text is odd.
void add_known_spans(EvaluationInput& input, const std::vector<TextSpan>& spans);

// 64 hexadecimal digits of what an input holds, whatever it is called: texts, the bytes of files,
// pixels, cells, arrays. Throws FileError.
std::string content_hash(const InputValue& input);
// The same with the target, the label and what is known of it.
std::string content_hash(const EvaluationInput& input);

// An input of a corpus, or what is wrong with it.
struct EvaluationEntry {
  EvaluationInput input;
  std::string problem = {};
};

struct EvaluationRequest {
  // Methods with their options, seed, memory, precision, progress. Targets are those of the inputs.
  ExplainRequest explain = {};
  std::vector<std::string> metrics = {};  // names of metrics()
  // A name of protocols(), in place of metrics and ways of hiding; see whyformer/protocols.h.
  std::string protocol = {};
  std::vector<std::string> hidings = {"auto"};  // ways to hide units, each measured by itself
  int64_t random_rankings = 5;                  // that the baseline is the mean of, of each input
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
  // For columns that sum ratios over inputs, by column; empty where there are none.
  std::vector<std::vector<Ratio>> ratios = {};
  std::vector<std::vector<Ratio>> reversed_ratios = {};
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
  std::vector<std::string> notes = {};  // what must be known about its numbers
};

// An input that cannot be explained has a problem; throws InvalidInput for unknown methods, metrics
// and options and for a method that is asked for twice, and Interrupted.
EvaluatedInput evaluate(const Model& model, const EvaluationInput& input,
                        const EvaluationRequest& request);
// A broken entry keeps its problem.
EvaluatedInput evaluate(const Model& model, const EvaluationEntry& entry,
                        const EvaluationRequest& request);

// A value along a path, such as the accuracy with a share of the pixels hidden.
struct CurvePoint {
  std::string curve;
  double x = 0;
};

// A column of the table: a metric with one way of hiding, or what a protocol measures.
struct EvaluationColumn {
  std::string metric;
  std::string hiding;  // empty for metrics that hide nothing
  bool higher_is_better = true;
  std::string summary = {}, paper = {}, misleads = {};
  std::optional<CurvePoint> point = {};  // points of curves are neither ranked nor tested
  bool sums_ratios = false;              // over inputs, before the division
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
  std::optional<double> difference;  // mean of best minus other; nothing without common inputs
  std::optional<double> p_value;     // of Wilcoxon's signed-rank test, corrected by Holm
  int64_t inputs = 0;
};

struct Evaluation {
  static constexpr const char* kSchema = "whyformer.evaluation/1";

  ModelName model;
  std::string protocol;  // empty where metrics were asked for one by one
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
