// Sanity checks of explanations (Adebayo et al., "Sanity Checks for Saliency Maps", NeurIPS 2018):
// does what a method says depend on the model's weights, and on the class that is explained?
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "whyformer/model.h"

namespace whyformer {

// Which output is explained once weights are random.
enum class SanityTarget {
  kSame,    // the one that was explained before
  kHighest  // the highest of the model with random weights, as the paper's notebooks do
};

struct SanityRequest {
  std::vector<MethodRequest> methods = {};
  std::vector<std::string> names = {};  // of the inputs, in notes; else they have numbers
  TargetChoice target = {};             // of the explanations that all others are compared with
  std::optional<std::string> similar_to = {};
  bool cascading = true;     // weights replaced from the output down, layer by layer
  bool independent = true;   // one layer's weights replaced, all others as they are
  bool other_target = true;  // another output explained, drawn for each input
  SanityTarget randomised_target = SanityTarget::kSame;
  Precision precision = Precision::kSingle;
  int64_t seed = 0;  // of the weights, of the other outputs, of methods that draw, of intervals
  int64_t memory_bytes = int64_t{1} << 30;
  Progress progress = {};  // counts explained inputs; returning false ends with what there is then
};

// A similarity of two explanations of one input, averaged over inputs.
struct MeanSimilarity {
  std::optional<double> mean;       // nothing where no input has it
  std::optional<double> low, high;  // 95 % bootstrap interval; nothing for fewer than two inputs
  int64_t inputs = 0;               // that have it: constant scores have no ranks
};

enum class SanityChange { kCascading, kIndependent, kOtherTarget };

// Explanations before and after one change. Special tokens are left out of all similarities, as are
// units that have no score on one side.
struct SanityComparison {
  SanityChange change = SanityChange::kCascading;
  std::string step;              // the layer whose weights were replaced last; empty: none was
  MeanSimilarity magnitudes;     // Spearman's correlation of |scores|
  MeanSimilarity signed_scores;  // Spearman's correlation of scores
  // Of pictures: structural similarity (Wang et al., IEEE TIP 2004) of |scores| over the patches,
  // each map scaled to [0, 1]; Gaussian window of deviation 1.5.
  MeanSimilarity structure;
  int64_t inputs = 0;     // compared
  int64_t identical = 0;  // of those, inputs all of whose scores are the same bit by bit
};

// What the comparisons of a method say. Similarities are of scores for methods with a sign, else of
// |scores|; they are judged for kFewestSanityInputs inputs or more.
//
// Depends on the class:
//   no       scores are the same for another class, bit by bit, on every input;
//   partly   mean similarity of at least kNearlyTheSame;
//   yes      less than that.
// Depends on the weights:
//   no       scores are the same bit by bit once all weights are random, on every input; or the
//            mean similarity is then at least kNearlyTheSame;
//   partly   it is then at least kStillAlike, or scores are the same bit by bit on every input once
//            the weights behind the last layer are random;
//   yes      otherwise.
// Unknown: one output only, too few inputs, or stopped before.
inline constexpr int64_t kFewestSanityInputs = 5;
inline constexpr double kNearlyTheSame = 0.9;
inline constexpr double kStillAlike = 0.5;

struct MethodSanity {
  std::string method;
  Options options;
  bool is_signed = false;
  std::vector<SanityComparison> comparisons;
  SanityVerdict depends_on_class = SanityVerdict::kUnknown;
  SanityVerdict depends_on_weights = SanityVerdict::kUnknown;
  std::vector<std::string> findings;  // sentences: the verdicts with their numbers
};

// Weights that are replaced together, from the output down: "head", "layer L-1", …, "layer 0",
// "embeddings". Layers are those of attention; without attention, of matrices.
struct SanityStep {
  std::string name;
  int64_t weights = 0;  // numbers
};

// Also a model's sanity card.
struct SanityReport {
  static constexpr const char* kSchema = "whyformer.sanity/1";

  ModelName model;
  std::string hash;    // Model::hash
  std::string kind;    // of the inputs, as kInputNames calls them
  int64_t inputs = 0;  // explained
  int64_t seed = 0;
  SanityTarget randomised_target = SanityTarget::kSame;
  std::vector<SanityStep> steps;  // those that have weights
  int64_t window = 0;             // of the structural similarity, in patches; 0: no pictures
  std::vector<MethodSanity> methods;
  std::vector<Refusal> refused;  // methods that have no meaning for this model
  bool stopped_early = false;
  double seconds = 0;
  std::vector<std::string> notes;
};

// Explains every input once as it is, once for another class, and once for each step and way of
// replacing weights. Weights are drawn from N(0, 0.02²), biases are 0, weights of norms 1. Throws
// InvalidInput where there are no inputs or all methods are refused, and UnsupportedModel where the
// weights cannot be replaced, as those of quantised models.
SanityReport test_sanity(const Model& model, const std::vector<InputValue>& inputs,
                         const SanityRequest& request);

// What to_json (whyformer/report.h) wrote. Throws FileError for anything else.
SanityReport sanity_report_from_json(std::string_view json);

// Keeps a report in the user's cache ($XDG_CACHE_HOME, else ~/.cache) as
// whyformer/sanity/HASH.json; one that was stopped early is not kept. Throws FileError where it
// cannot be written.
void keep_sanity_card(const SanityReport& report);
// Nothing where there is no card of these weights, or none that can be read.
std::optional<SanityReport> find_sanity_card(const Model& model);
// What the model's card says of each method.
SanityFindings sanity_findings(const Model& model);

}  // namespace whyformer
