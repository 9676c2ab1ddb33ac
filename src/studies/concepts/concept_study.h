// Concept tests over examples of any kind: runs, inner products, tests, corrections.
#pragma once

#include "run/concept_inputs.h"
#include "whyformer/concepts.h"

namespace whyformer {

// Names of the model and of what the examples are, and notes, are the caller's to add.
ConceptReport study_concepts(const ConceptInputs& inputs, const ConceptExamples& examples,
                             const ConceptsRequest& request);

}  // namespace whyformer
