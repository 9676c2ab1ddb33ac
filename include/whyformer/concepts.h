// Testing with concept activation vectors (Kim et al., ICML 2018): does a model's answer lean on a
// concept that people name by examples?
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "whyformer/model.h"

namespace whyformer {

// What of a block's output [tokens, width] makes one row of activations.
enum class TokenRows {
  kFirst,  // the first token's row: [CLS]
  kLast,   // the last token's, which has seen all others where tokens see only earlier ones
  kMean,   // the mean over tokens; a shift of it shifts every token alike
  kAll     // all rows, flattened: inputs of one length
};

struct ConceptsRequest {
  std::vector<int> layers = {};  // 0 is the first block; empty: every block
  TokenRows rows = TokenRows::kMean;
  // Random sets that stand against each concept, drawn from all random examples; 0: the random sets
  // as they were given.
  int counterparts = 50;
  int permutations = 1000;  // relabellings behind each permutation test; 0: none
  double strength = 1;      // inverse regularisation strength (C) of the logistic regression
  double level = 0.05;      // significance level
  int64_t seed = 0;
  Precision precision = Precision::kSingle;
  int64_t memory_bytes = int64_t{2}
                         << 30;  // for activations; those of more layers go to a temporary file
  Progress progress = {};        // counts runs and fits; returning false stops with Interrupted
};

// How the examples of a target answer to a concept's direction, for one direction.
struct Sensitivity {
  double score = 0;      // share of examples whose directional derivative is above 0
  double zero = 0;       // share of examples where it is exactly 0
  double magnitude = 0;  // mean of the derivative along w as the regression gives it, as in Captum
  double unit_magnitude = 0;  // mean of the derivative along w / |w|
};

enum class Verdict {
  kSignificant,  // both tests, corrected
  kNotSignificant,
  kNotLearnt,  // held-out accuracy is not above chance: there is no direction to score
  kUndefined   // no score varies, so no test can be made
};

// One p-value of a family of tests.
struct CorrectedP {
  double p = 1;
  double bonferroni = 1;
  double benjamini_hochberg = 1;
};

// How well concept and counterpart are told apart, on images the fit has not seen.
struct HeldOut {
  double accuracy = 0;   // mean over the counterparts
  double deviation = 0;  // over the counterparts
  int64_t examples = 0;  // held out for each counterpart
  double p = 1;          // of so many hits by chance, for one counterpart
};

// A concept at a layer, for a target.
struct ConceptTest {
  std::string concept_name;
  int layer = 0;
  std::string target;
  Verdict verdict = Verdict::kUndefined;
  HeldOut held_out;
  int64_t set_size = 0;  // examples on each side of a fit
  // Means over the counterparts. Not to be read where the verdict is kNotLearnt.
  Sensitivity mean;
  double deviation = 0;  // of the score, over the counterparts; NaN where fewer than two differ
  double standard_error = 0;  // of the score, for the number of the target's examples (binomial)
  std::vector<double> scores = {};         // one per counterpart that differs from the others
  std::vector<double> random_scores = {};  // random against random, sets that share no example
  double random_mean = 0;
  double random_deviation = 0;
  std::optional<double> t;  // of the two-sided test; nothing where it is undefined
  double freedom = 0;
  std::optional<CorrectedP> t_test;
  std::optional<CorrectedP> score_permutation;      // of |score − ½|
  std::optional<CorrectedP> magnitude_permutation;  // of |unit magnitude|
};

// One concept against another. For the other way round magnitudes change their sign, and the score
// is 1 − score − zero.
struct ConceptPair {
  std::string concept_name, against;
  int layer = 0;
  std::string target;
  bool learnt = false;  // held-out accuracy is above chance; otherwise the rest is not to be read
  HeldOut held_out;
  Sensitivity sensitivity;
  double standard_error = 0;
};

struct ConceptReport {
  static constexpr const char* kSchema = "whyformer.tcav/1";

  ModelName model;
  std::string unit;  // what examples are: "texts", "pictures", "rows"
  TokenRows rows = TokenRows::kMean;
  int layers = 0;  // of the model
  std::vector<std::pair<std::string, int64_t>> concepts = {}, random = {},
                                               targets = {};  // examples of each
  int64_t counterparts = 0;
  int64_t permutations = 0;
  double strength = 1;
  double level = 0.05;
  int64_t seed = 0;
  std::vector<ConceptTest> tests = {};  // by target, then layer, then concept
  std::vector<ConceptPair> pairs = {};
  int64_t runs = 0;  // forward runs of one example each
  int64_t fits = 0;
  double run_seconds = 0;
  double fit_seconds = 0;
  std::vector<std::string> notes = {};
};

// Examples of a concept, or random ones. Arrays hold several examples each: their first axis counts
// them.
struct ExampleSet {
  std::string name;
  std::vector<InputValue> inputs;
};

struct TargetSet {
  std::string label;  // name or index of the output whose logit is differentiated
  std::vector<InputValue> inputs;
};

// Throws InvalidInput for unknown labels and layers, for sets that are too small, and for examples
// that the model cannot take.
ConceptReport test_concepts(const Model& model, const std::vector<ExampleSet>& concepts,
                            const std::vector<ExampleSet>& random,
                            const std::vector<TargetSet>& targets, const ConceptsRequest& request);

}  // namespace whyformer
