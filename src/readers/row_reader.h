// Rows of tables.
#pragma once

#include "models/row_source.h"
#include "readers/reader.h"
#include "readers/row_part.h"

namespace whyformer {

class RowReader final : public Reader {
 public:
  explicit RowReader(std::shared_ptr<const RowSource> source)
      : source_(std::move(source)), layout_(source_) {}
  // Of a model with table.json; `rows` are examples that come with it, as they were written.
  // `notes` must be known of each answer.
  RowReader(std::shared_ptr<const RowSource> source, RowLayout layout, NamedTable rows,
            std::vector<std::string> notes = {})
      : source_(std::move(source)),
        layout_(std::move(layout)),
        rows_(std::move(rows)),
        notes_(std::move(notes)) {}

  const RowSource& source() const override { return *source_; }
  const RowLayout& layout() const { return layout_; }
  const NamedTable& rows() const { return rows_; }
  bool takes(const InputValue& value) const override {
    return std::holds_alternative<RowInput>(value);
  }
  std::string what() const override { return "rows of a table"; }
  Remedy remedy() const override { return Remedy::kRow; }
  ModelInfo info() const override;
  Answered answered(const InputValue& value, const Question& question) const override;
  Sample sample(const InputValue& value, DType dtype,
                std::vector<std::string>& notes) const override;
  int64_t max_at_once(const InputValue& value) const override;
  Reading read(const InputValue& value, const Question& question) const override;
  std::unique_ptr<const ColumnSource> columns_of(const NamedTable& table) const override;
  std::vector<std::string> default_methods(const InputValue* value,
                                           const Question& question) const override;

 private:
  std::shared_ptr<const RowSource> source_;
  RowLayout layout_;
  NamedTable rows_ = {};
  std::vector<std::string> notes_ = {};
};

}  // namespace whyformer
