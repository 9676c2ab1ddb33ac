// A row of a table with its model. Units are the model's tokens where attention goes over all
// columns (a class token and one for each column), else the columns.
#pragma once

#include "models/table_model.h"
#include "run/subject.h"
#include "whyformer/tables.h"

namespace whyformer {

class TableSubject final : public Subject {
 public:
  TableSubject(const TableModel& model, RowInput row, RunKind kind);

  const RowInput& row() const { return row_; }
  // The column behind each unit; -1 for class tokens.
  const std::vector<int64_t>& columns() const { return columns_; }

  std::string kind() const override { return "table"; }
  const std::vector<bool>& special() const override { return special_; }
  bool attends_by_unit() const override { return attends_by_unit_; }
  std::string why_no_maps() const override;
  int64_t most_at_once() const override {
    return model_.most_rows_at_once(static_cast<int64_t>(row_.values.size()));
  }
  Run copies(int64_t count) const override;
  // Columns as in a "background" row, at the background's "mean", or "zero".
  Variant hiding(const std::vector<bool>& hidden, const std::string& how) const override;
  Variant hiding(const std::vector<bool>& hidden, const std::string& how,
                 int64_t background) const override;
  std::vector<double> background_weights() const override;
  Run run_of(std::span<const Variant> inputs) const override;
  std::vector<int64_t> players() const override;
  std::vector<bool> can_hide(const std::string& how) const override;
  PlayerTree player_tree() const override;
  Cells cells() const override;
  Variant hiding_cells(const std::vector<bool>& hidden, const std::string& how) const override;
  std::vector<double> unit_means(const std::vector<double>& cells) const override;
  // At the input: numbers as they are, and the vectors that whole numbers pick.
  std::vector<Value> values_at(const ModelGraph& graph, Place place) const override;
  Tensor rows(Place place, const std::vector<Tensor>& values) const override;
  std::vector<Tensor> from_rows(Place place, const Tensor& rows) const override;
  std::vector<double> ranges(Place place,
                             const Tensor& all) const override;  // of what enters together
  std::vector<int64_t> units_out_of_reach(Place place) const override;
  // The background's "mean" row, or "zero".
  Tensor baseline(Place place, const std::string& name) const override;
  std::string usual_baseline() const override { return "mean"; }

 private:
  void choose_units(const Run& own);
  // The column of each token: as the graph tells, and as it shows when columns change.
  std::vector<int64_t> columns_by_segments(const Discovery& found) const;
  std::vector<int64_t> columns_by_changes(const Run& own) const;
  Run run_rows(const std::vector<std::vector<double>>& rows) const;
  std::vector<double> mean_row() const;
  std::vector<double> hidden_row(const std::string& how, int64_t background) const;
  const std::vector<TablePlace>& places() const;
  int64_t column_of(const TablePlace& place, size_t index) const;
  // Calls visit(unit, index of the column in the place) for every column that enters there.
  template <class Visit>
  void for_each_unit(const TablePlace& place, Visit visit) const;

  const TableModel& model_;
  RowInput row_;
  RunKind kind_;
  std::vector<TableColumn> all_columns_;
  std::shared_ptr<const TableGraph> graph_;  // of one row
  std::vector<int64_t> columns_;
  std::vector<bool> special_;
  bool attends_by_unit_ = false;
};

}  // namespace whyformer
