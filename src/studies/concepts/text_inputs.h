// Texts as examples of concepts.
#pragma once

#include "models/text_model.h"
#include "readers/tokenizers/tokenizer.h"
#include "studies/concepts/concept_inputs.h"

namespace whyformer {

class TextConceptInputs final : public ConceptInputs {
 public:
  // The model must outlive this.
  TextConceptInputs(const TextModel& model, std::vector<Encoding> texts, DType dtype)
      : model_(model), texts_(std::move(texts)), dtype_(dtype) {}

  int64_t count() const override { return static_cast<int64_t>(texts_.size()); }
  int64_t length(int64_t example) const override {
    return static_cast<int64_t>(texts_[example].ids.size());
  }
  BlockGraph graph(int64_t length, int64_t examples, LastBlock last) const override;
  int64_t most_at_once() const override { return model_.most_at_once(); }
  Feeds feeds(const BlockGraph& graph, std::span<const int64_t> examples) const override;

 private:
  const TextModel& model_;
  std::vector<Encoding> texts_;
  DType dtype_;
};

}  // namespace whyformer
