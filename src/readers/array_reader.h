// Arrays by name, for ONNX files of any kind: one element of an output is explained.
#pragma once

#include "models/array_source.h"
#include "readers/reader.h"

namespace whyformer {

class ArrayReader final : public Reader {
 public:
  // `why_alone`: why the model has no other reader, where it could have one.
  ArrayReader(OnnxDocument document, std::string name, BatchAxes batch_axes,
              std::exception_ptr why_alone = nullptr);

  const OnnxArrays& arrays() const { return arrays_; }
  const GraphSource& source() const override;
  const SourceFacts& facts() const override { return facts_; }
  bool takes(const InputValue& value) const override {
    return std::holds_alternative<ArrayViews>(value);
  }
  std::string what() const override { return "arrays"; }
  Remedy remedy() const override { return Remedy::kArrays; }
  ModelInfo info() const override;
  Answered answered(const InputValue& value, const Question& question) const override;
  int64_t max_at_once(const InputValue& value) const override;  // throws InvalidInput
  Sample sample(const InputValue& value, DType dtype,
                std::vector<std::string>& notes) const override;
  Reading read(const InputValue& value, const Question& question) const override;
  std::optional<Trace> trace(const InputValue& value, const Question& question) const override;
  ListedConcepts concepts_of(const GivenConcepts& sets, DType dtype) const override;
  std::optional<TargetChoice> another_target(const InputValue& value,
                                             const Explanation& explanation,
                                             const DrawOther& draw) const override;
  std::vector<std::string> default_methods(const InputValue* value,
                                           const Question& question) const override;

  std::vector<std::string> outputs() const;
  ModelInfo info(const ArrayViews& views) const;
  std::map<std::string, OutputArray, std::less<>> run(const ArrayViews& views) const;

 private:
  OnnxArrays arrays_;
  SourceFacts facts_;
  std::exception_ptr why_alone_;
};

// The element that is asked for: by name and indices. Throws InvalidInput for a label.
OutputElement element_asked(const TargetChoice& target);
// "logits[0,3]".
std::string label_of(const OutputElement& element);

}  // namespace whyformer
