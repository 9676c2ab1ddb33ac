// A picture with a text, for models that compare the two. Units are the text's tokens, then those
// of the picture; the answer is the logit of the two.
#pragma once

#include "readers/picture_reader.h"
#include "readers/text_reader.h"

namespace whyformer {

class PairReader final : public Reader {
 public:
  PairReader(std::shared_ptr<const PictureReader> pictures,
             std::shared_ptr<const TextReader> texts);

  const GraphSource& source() const override { return *source_; }
  bool takes(const InputValue& value) const override {
    return std::holds_alternative<PictureWithText>(value);
  }
  std::string what() const override { return "pictures with texts"; }
  Remedy remedy() const override { return Remedy::kPicture; }
  ModelInfo info() const override { return pictures_->info(); }
  Answered answered(const InputValue& value, const Question& question) const override;
  Sample sample(const InputValue& value, DType dtype,
                std::vector<std::string>& notes) const override;
  // The text with the picture as it is, the picture with the text as it is, and both together.
  Reading read(const InputValue& value, const Question& question) const override;
  std::optional<TargetChoice> another_target(const InputValue&, const Explanation&,
                                             const DrawOther&) const override {
    return std::nullopt;  // a picture with a text has one answer
  }
  std::vector<std::string> default_methods(const InputValue* value,
                                           const Question& question) const override {
    return pictures_->default_methods(value, question);
  }

 private:
  Input together(const Encoding& text, const ProcessedPicture& picture, const TextInput& given,
                 const RunKind& kind) const;

  std::shared_ptr<const PictureReader> pictures_;
  std::shared_ptr<const TextReader> texts_;
  std::shared_ptr<const GraphSource> source_;
  double scale_ = 1;
};

}  // namespace whyformer
