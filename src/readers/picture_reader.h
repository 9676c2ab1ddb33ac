// Pictures, through the processor of their model; for models that compare pictures with texts
// (CLIP) also the similarity to a text.
#pragma once

#include <exception>

#include "models/picture_source.h"
#include "readers/picture_part.h"
#include "readers/reader.h"
#include "readers/text_reader.h"

namespace whyformer {

class PictureReader final : public Reader {
 public:
  // `texts` reads the texts of a model that compares both; null for all others, or for the reason
  // `why_no_texts`.
  PictureReader(std::shared_ptr<const PictureSource> source,
                std::shared_ptr<const PictureProcessor> processor,
                std::shared_ptr<const TextReader> texts, std::exception_ptr why_no_texts = nullptr);

  const PictureSource& source() const override { return *source_; }
  const PictureProcessor& processor() const { return *processor_; }
  bool takes(const InputValue& value) const override {
    return std::holds_alternative<PictureInput>(value);
  }
  void tell_why_not(const InputValue& value) const override;
  std::string what() const override { return "pictures"; }
  Remedy remedy() const override { return Remedy::kPicture; }
  ModelInfo info() const override;
  Answered answered(const InputValue& value, const Question& question) const override;
  Sample sample(const InputValue& value, DType dtype,
                std::vector<std::string>& notes) const override;
  std::optional<SampleShapes> fixed_shapes() const override;
  Reading read(const InputValue& value, const Question& question) const override;
  std::vector<std::string> default_methods(const InputValue* value,
                                           const Question& question) const override;

  // As the model reads it. Throws InvalidInput where its processor gives pixels of a size that it
  // does not take.
  ProcessedPicture processed(const Picture& picture) const;
  std::unique_ptr<const PicturePart> part_of(ProcessedPicture picture, const RunKind& kind) const;
  Input input_of(ProcessedPicture picture, const RunKind& kind) const;
  // The same model as a classifier among texts. Throws UnsupportedModel for all others.
  std::shared_ptr<const PictureReader> among(const std::vector<std::string>& texts) const;

 private:
  std::vector<int64_t> ids_of(const std::string& text) const;

  std::shared_ptr<const PictureSource> source_;
  std::shared_ptr<const PictureProcessor> processor_;
  std::shared_ptr<const TextReader> texts_;
  std::exception_ptr why_no_texts_;
};

// The processor beside a model's files; without one, as ViT's does by itself, to the model's own
// size.
std::shared_ptr<const PictureProcessor> processor_of(const FileLookup& files,
                                                     const PictureSource& source);

}  // namespace whyformer
