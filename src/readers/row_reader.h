// Rows of tables.
#pragma once

#include "models/row_source.h"
#include "readers/reader.h"
#include "readers/row_part.h"

namespace whyformer {

class RowReader final : public Reader {
 public:
  explicit RowReader(std::shared_ptr<const RowSource> source) : source_(std::move(source)) {}

  const RowSource& source() const override { return *source_; }
  bool takes(const InputValue& value) const override {
    return std::holds_alternative<RowInput>(value);
  }
  std::string what() const override { return "rows of a table"; }
  ModelInfo info() const override;
  Answered answered(const InputValue& value, const Question& question) const override;
  Sample sample(const InputValue& value, DType dtype,
                std::vector<std::string>& notes) const override;
  int64_t most_at_once(const InputValue& value) const override;
  Reading read(const InputValue& value, const Question& question) const override;
  std::vector<std::string> default_methods(const InputValue* value,
                                           const Question& question) const override;

 private:
  std::shared_ptr<const RowSource> source_;
};

}  // namespace whyformer
