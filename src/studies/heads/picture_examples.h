#pragma once

#include "models/picture_model.h"
#include "readers/pictures/picture_processor.h"
#include "studies/heads/head_examples.h"

namespace whyformer {

// Pictures are read when they are run: a corpus may not fit in memory.
class PictureHeadExamples final : public HeadExamples {
 public:
  PictureHeadExamples(const Model& model, const std::vector<LabelledPicture>& corpus)
      : whole_(model), model_(model.picture_model()), corpus_(corpus) {}

  ModelName model() const override { return whole_.name(); }
  std::string kind() const override { return "pictures"; }
  std::optional<Problem> problem() const override { return model_.problem(); }
  const std::vector<std::string>& output_names() const override { return model_.output_names(); }
  int64_t count() const override { return static_cast<int64_t>(corpus_.size()); }
  const std::optional<std::vector<std::string>>& labels(int64_t example) const override {
    return corpus_[example].labels;
  }
  const std::string& place(int64_t example) const override { return corpus_[example].place; }
  // Throws InvalidInput where attention does not go over all patches, or the picture cannot be
  // read.
  std::unique_ptr<Explained> run(int64_t example, Explained::Settings settings) const override;
  std::vector<std::vector<int64_t>> batches(int64_t tokens_at_once) const override;
  Run run_together(std::span<const int64_t> examples, DType dtype) const override;

 private:
  ProcessedPicture read(int64_t example) const;

  const Model& whole_;
  const PictureModel& model_;
  const std::vector<LabelledPicture>& corpus_;
};

}  // namespace whyformer
