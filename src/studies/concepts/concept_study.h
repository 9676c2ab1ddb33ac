// Concept tests over examples of any kind: runs, inner products, tests, corrections.
#pragma once

#include "studies/concepts/concept_inputs.h"
#include "whyformer/concepts.h"

namespace whyformer {

// Examples [first, first + count) of the inputs.
struct ExampleRange {
  std::string name;
  int64_t first = 0;
  int64_t count = 0;
};

struct TargetExamples {
  ExampleRange examples;
  int64_t output = 0;
};

struct ConceptExamples {
  std::vector<ExampleRange> concepts;
  std::vector<ExampleRange> random;
  std::vector<TargetExamples> targets;
};

// Names of the model and of what the examples are, and notes, are the caller's to add.
ConceptReport study_concepts(const ConceptInputs& inputs, const ConceptExamples& examples,
                             const ConceptsRequest& request);

}  // namespace whyformer
