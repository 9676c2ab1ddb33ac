// All tests of one layer from one Gram matrix: concepts against random counterparts, random against
// random, relabelled examples, and every pair of concepts.
#pragma once

#include "studies/concepts/sensitivity.h"

namespace whyformer {

// Rows of the activations that belong to each set.
struct LayerTestSets {
  std::vector<ExampleRows> concepts;
  std::vector<ExampleRows> random;
};

struct ConceptTestSettings {
  int counterparts = 50;  // 0: the random sets as they are
  int permutations = 1000;
  double level = 0.05;
  JobSettings jobs = {};
};

// Fits that test_layer makes, held-out ones not counted.
int64_t fit_count(const LayerTestSets& sets, const ConceptTestSettings& settings);

struct LayerTests {
  std::vector<std::vector<ConceptTest>> tests;  // [target][concept], without names and corrections
  std::vector<std::vector<ConceptPair>> pairs;  // [target][pair], the first concept's pairs first
};

// Throws InvalidInput where a set has fewer examples than a fit takes.
LayerTests test_layer(const InnerProducts& products, const std::vector<TargetRange>& targets,
                      const LayerTestSets& sets, const ConceptTestSettings& settings);

// Least examples of a concept, and of all random sets together.
constexpr int64_t kFewestExamples = 6, kFewestRandom = 12;

}  // namespace whyformer
