// Rows of tables, and other inputs that are arrays, as examples of concepts.
#pragma once

#include <filesystem>

#include "readers/array_file.h"
#include "run/concept_inputs.h"

namespace whyformer {

class ArrayConceptInputs final : public ConceptInputs {
 public:
  // The first axis of each array counts the examples, as many in each.
  ArrayConceptInputs(const OnnxArrays& file, NamedArrays arrays);

  int64_t count() const override { return count_; }
  int64_t length(int64_t) const override { return 0; }
  BlockGraph graph(int64_t length, int64_t examples, LastBlock last) const override;
  Feeds feeds(const BlockGraph& graph, std::span<const int64_t> examples) const override;

 private:
  const OnnxArrays& file_;
  NamedArrays arrays_;
  int64_t count_ = 0;
  mutable std::map<int64_t, BlockGraph> built_;  // by number of examples
};

// Arrays of several files one after the other. Throws InvalidInput where names or shapes differ.
NamedArrays joined(const std::vector<NamedArrays>& parts, const std::vector<std::string>& names);

// How many examples the arrays of a file hold. Throws InvalidInput where they do not agree.
int64_t example_count(const NamedArrays& arrays, const std::string& name);

// Targets are numbers of the main output, and every array holds several examples. Throws
// InvalidInput for other targets, and for arrays that do not fit together.
ListedConcepts listed_arrays(const OnnxArrays& file, const GivenConcepts& sets);

}  // namespace whyformer
