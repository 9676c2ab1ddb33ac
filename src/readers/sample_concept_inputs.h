// Inputs of one reader as examples of concepts.
#pragma once

#include <optional>

#include "readers/reader.h"
#include "run/concept_inputs.h"

namespace whyformer {

// Which values of the graph are the blocks, and of which weights.
struct BlockChoice {
  bool embeddings = false;  // as one more block in front, where the graph has them
  std::optional<Randomisation> randomisation = {};
};

class SampleConceptInputs final : public ConceptInputs {
 public:
  // Inputs of one size are read when they are needed, so that not all of them are in memory at
  // once; others are read now. Throws InvalidInput for inputs that the model cannot take.
  SampleConceptInputs(const Reader& reader, std::vector<InputValue> inputs, DType dtype,
                      BlockChoice choice = {});

  int64_t count() const override { return static_cast<int64_t>(inputs_.size()); }
  int64_t length(int64_t example) const override;
  BlockGraph graph(int64_t length, int64_t examples, LastBlock last) const override;
  int64_t max_at_once() const override { return reader_.max_at_once(inputs_[0]); }
  Feeds feeds(const BlockGraph& graph, std::span<const int64_t> examples) const override;

  std::vector<std::string> notes() const override { return notes_; }

 private:
  Sample sample(int64_t example) const;

  const Reader& reader_;
  std::vector<InputValue> inputs_;
  DType dtype_;
  BlockChoice choice_;
  std::vector<Sample> samples_;             // of inputs of any size
  std::map<int64_t, SampleShapes> shapes_;  // by length
  mutable std::vector<std::string> notes_;
};

// Targets are labels of the model. Throws InvalidInput for others.
ListedConcepts listed_samples(const Reader& reader, const GivenConcepts& sets, DType dtype);

}  // namespace whyformer
