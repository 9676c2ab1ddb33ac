#pragma once

#include "studies/heads/head_examples.h"
#include "studies/heads/head_study.h"

namespace whyformer {

class TextHeadExamples final : public HeadExamples {
 public:
  TextHeadExamples(const TextModel& model, const std::vector<EncodedText>& corpus)
      : model_(model), corpus_(corpus) {}

  ModelName model() const override { return {model_.name(), model_.architecture()}; }
  std::string kind() const override { return "texts"; }
  std::optional<Problem> problem() const override { return model_.problem(); }
  const std::vector<std::string>& output_names() const override { return model_.output_names(); }
  int64_t count() const override { return static_cast<int64_t>(corpus_.size()); }
  const std::optional<std::vector<std::string>>& labels(int64_t example) const override {
    return corpus_[example].labels;
  }
  const std::string& place(int64_t example) const override { return corpus_[example].place; }
  std::unique_ptr<Explained> run(int64_t example, Explained::Settings settings) const override;
  std::vector<std::vector<int64_t>> batches(int64_t tokens_at_once) const override;
  Run run_together(std::span<const int64_t> examples, DType dtype) const override;
  std::vector<std::string> notes() const override;

 private:
  const TextModel& model_;
  const std::vector<EncodedText>& corpus_;
};

}  // namespace whyformer
