// Rows of tables.
#pragma once

#include "models/row_source.h"
#include "readers/reader.h"
#include "readers/row_contexts.h"
#include "readers/row_part.h"

namespace whyformer {

class RowReader final : public Reader {
 public:
  explicit RowReader(std::shared_ptr<const RowSource> source)
      : contexts_(source), layout_(std::move(source)) {}
  // Of a model with table.json, or in a context; `rows` are examples that come with it, as they
  // were written. `notes` must be known of each answer.
  RowReader(RowContexts contexts, RowLayout layout, NamedTable rows,
            std::vector<std::string> notes = {})
      : contexts_(std::move(contexts)),
        layout_(std::move(layout)),
        rows_(std::move(rows)),
        notes_(std::move(notes)) {}

  const RowSource& source() const override { return *contexts_.source(); }
  const GraphSource& answer_source() const override { return *contexts_.answering(); }
  int64_t answer_block() const override { return contexts_.block(); }
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
  // By columns, or by the rows of its context.
  void add_columns(const RowInput& given, std::shared_ptr<const RowSource> source,
                   const RowsSeen& seen, Reading& reading) const;
  void add_rows(const RowInput& given, std::shared_ptr<const RowSource> source,
                const RowsSeen& seen, Reading& reading) const;

  RowContexts contexts_;
  RowLayout layout_;
  NamedTable rows_ = {};
  std::vector<std::string> notes_ = {};
};

}  // namespace whyformer
