// A tokenised text with its model.
#pragma once

#include "explain/subject.h"
#include "models/text_model.h"

namespace whyformer {

class TextSubject : public Subject {
 public:
  TextSubject(const TextModel& model, Encoding encoding, RunKind kind);

  const TextModel& model() const { return model_; }
  const Encoding& encoding() const { return encoding_; }
  // Other inputs of one length.
  Run run_of(const TokenBatch& batch) const;

  std::string kind() const override { return "text"; }
  const std::vector<bool>& special() const override { return encoding_.special; }
  Run copies(int64_t count) const override;
  // "mask" in place, "delete" (later positions move up), or "drop" from attention in every layer.
  Run hiding(const std::vector<std::vector<bool>>& hidden, const std::string& how) const override;
  Cells cells() const override;
  Run hiding_cells(const std::vector<std::vector<bool>>& hidden, const std::string& how) const override;
  std::vector<double> unit_means(const std::vector<double>& cells) const override;
  Value value_at(const ModelGraph& graph, Place place) const override;
  // Every ordinary token replaced by "pad", "mask" or "unk", special tokens kept; or "zero" vectors.
  Tensor baseline(Place place, const std::string& name) const override;
  std::string usual_baseline() const override { return "pad"; }

 private:
  TokenBatch repeated(int64_t count) const;
  Tensor value_of(Place place, const std::vector<int64_t>& ids) const;

  const TextModel& model_;
  Encoding encoding_;
  RunKind kind_;
};

}  // namespace whyformer
