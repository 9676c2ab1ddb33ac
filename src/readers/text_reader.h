// Texts, or pairs of them, through a tokenizer.
#pragma once

#include "readers/reader.h"
#include "readers/text_part.h"

namespace whyformer {

class TextReader final : public Reader {
 public:
  explicit TextReader(TextReading reading) : reading_(std::move(reading)) {}

  const TextReading& reading() const { return reading_; }
  const TextSource& source() const override { return *reading_.source; }
  bool takes(const InputValue& value) const override {
    return std::holds_alternative<TextInput>(value);
  }
  std::string what() const override { return "texts"; }
  Remedy remedy() const override { return Remedy::kText; }
  ModelInfo info() const override;
  Answered answered(const InputValue& value, const Question& question) const override;
  Sample sample(const InputValue& value, DType dtype,
                std::vector<std::string>& notes) const override;
  Reading read(const InputValue& value, const Question& question) const override;
  std::vector<std::string> default_methods(const InputValue* value,
                                           const Question& question) const override;

  // Cut off where the model's longest input ends, which is noted. Throws InvalidInput for an empty
  // text.
  Encoding encode(const TextInput& input, std::vector<std::string>& notes) const;
  // Of tokens, whatever text they come from.
  Input input_of(ReadText text, const RunKind& kind) const;
  // The text's vector of length 1, the other side of a similarity.
  std::vector<double> unit_vector(const std::string& text, const Question& question,
                                  std::vector<std::string>& notes) const;

 private:
  TextReading reading_;
};

// What a text source must know of a tokenizer.
TokenizerFacts facts_of(const Tokenizer& tokenizer);

}  // namespace whyformer
