// Tokens under a name where a reader would have a text: for texts that are known by their ids
// alone.
#pragma once

#include <map>
#include <string>

#include "readers/text_reader.h"
#include "tests/support/golden_model.h"

namespace whyformer {

class TokenReader final : public Reader {
 public:
  // The inputs of a case by their names.
  explicit TokenReader(const GoldenModel& golden) : texts_(golden.model->reader()) {
    for (const GoldenInput& input : golden.inputs) tokens_[input.name] = input.encoding();
  }
  // By their numbers; `inputs` gives them all.
  TokenReader(const GoldenModel& golden, const std::vector<Encoding>& texts)
      : texts_(golden.model->reader()) {
    for (size_t i = 0; i < texts.size(); ++i) tokens_[std::to_string(i)] = texts[i];
  }
  std::vector<InputValue> inputs() const {
    std::vector<InputValue> all;
    for (size_t i = 0; i < tokens_.size(); ++i) all.push_back(TextInput{std::to_string(i), {}});
    return all;
  }

  const GraphSource& source() const override { return texts_.source(); }
  bool takes(const InputValue& value) const override { return texts_.takes(value); }
  std::string what() const override { return texts_.what(); }
  Remedy remedy() const override { return Remedy::kText; }
  ModelInfo info() const override { return texts_.info(); }
  Answered answered(const InputValue& value, const Question& question) const override {
    return texts_.answered(value, question);
  }
  Sample sample(const InputValue& value, DType, std::vector<std::string>&) const override {
    const Encoding& tokens = tokens_of(value);
    return samples_of({{tokens.ids}, {tokens.type_ids}, {}})[0];
  }
  Reading read(const InputValue& value, const Question& question) const override {
    Reading reading;
    reading.answered = answered(value, question);
    reading.inputs.push_back(texts_.input_of({tokens_of(value), {}}, reading.answered.kind));
    return reading;
  }
  std::vector<std::string> default_methods(const InputValue* value,
                                           const Question& question) const override {
    return texts_.default_methods(value, question);
  }

 private:
  const Encoding& tokens_of(const InputValue& value) const {
    return tokens_.at(std::get<TextInput>(value).text);
  }

  const TextReader& texts_;
  std::map<std::string, Encoding> tokens_;
};

}  // namespace whyformer
