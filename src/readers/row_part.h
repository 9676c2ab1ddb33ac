// A row of a table with its model. Units are the model's tokens where each is one column (and a
// class token, if there is one), then columns that attention does not go over; else the columns.
#pragma once

#include "models/row_source.h"
#include "readers/row_layout.h"
#include "readers/row_states.h"
#include "run/part.h"

namespace whyformer {

class RowPart final : public Part, public PartEntrance {
 public:
  RowPart(std::shared_ptr<const RowSource> source, std::vector<TableColumn> places, PlacedRow row,
          RunKind kind);

  // The row as a text, "age = 39, hours = 40".
  const std::string& shown_text() const { return shown_text_; }
  bool attends_by_unit() const { return attends_by_unit_; }
  // A class token, where attention goes over units.
  bool reads_one_token() const { return graph_->found.read_out.kind == ReadOut::Kind::kRow; }
  // Units that are tokens, and what the others are; where units are several tokens, whose each is.
  int64_t token_count() const { return tokens_; }
  const std::vector<int64_t>& unit_of_token() const { return unit_of_token_; }
  std::string beside_tokens() const;
  std::string why_no_maps() const;
  Sample sample() const { return RowSource::sample_of(places_, row_.values, kind_.dtype); }
  std::vector<double> background_weights() const;
  std::vector<int64_t> out_of_reach() const;

  const PartTraits& traits() const override;
  const std::vector<Unit>& units() const override { return units_; }
  // Columns as in a "background" row, at the background's "mean", or "zero".
  Variant hiding(const std::vector<bool>& hidden, const std::string& how,
                 std::optional<int64_t> background) const override;
  FedGraph run_of(std::span<const Variant> inputs) const override;
  std::vector<int64_t> players() const override;
  std::vector<bool> can_hide(const std::string& how) const override;
  PlayerTree player_tree() const override;
  const PartEntrance& entrance() const override { return *this; }
  // At the input: numbers as they are, and the vectors that whole numbers pick.
  Tensor rows(Depth depth, const std::vector<Tensor>& values) const override;
  std::vector<Tensor> from_rows(Depth depth, const Tensor& rows) const override;
  std::vector<double> ranges(Depth depth,
                             const Tensor& rows) const override;  // of what enters together
  // The background's "mean" row, or "zero".
  Tensor baseline(Depth depth, const std::string& name) const override;

 private:
  int64_t unit_count() const { return static_cast<int64_t>(units_.size()); }
  int64_t column_count() const { return static_cast<int64_t>(row_.columns.size()); }
  void learn_columns(const std::vector<int64_t>& shown, const std::vector<int64_t>& tokens);
  void choose_units(const FedGraph& own);
  void name_units();
  // The place of each token: as the graph tells, and as it shows when numbers change.
  std::vector<int64_t> places_by_segments(const Discovery& found) const;
  std::vector<int64_t> places_by_changes(const FedGraph& own) const;
  std::vector<std::vector<int64_t>> column_places(const std::vector<int64_t>& tokens) const;
  FedGraph run_rows(const RowStates::Rows& rows, const RunKind& kind) const;
  std::vector<double> mean_row() const;
  // The most frequent numbers of a column in the background.
  void take_mode(const PlacedColumn& column, std::vector<double>& row) const;
  std::vector<double> hidden_row(const std::string& how, int64_t background) const;
  const std::vector<Entry>& entries() const { return graph_->entries; }
  int64_t place_of(const Entry& entry, size_t index) const;
  // Calls visit(unit, index of the number in the entry) for every number that enters there.
  template <class Visit>
  void for_each_unit(const Entry& entry, Visit visit) const;

  std::shared_ptr<const RowSource> source_;
  std::vector<TableColumn> places_;
  PlacedRow row_;
  std::vector<int64_t> column_of_place_;
  RunKind kind_;
  std::shared_ptr<const ModelGraph> graph_;  // of one row
  std::vector<int64_t> columns_;             // behind each unit; -1 for class tokens
  int64_t tokens_ = 0;
  std::vector<int64_t> unit_of_token_;  // empty: token i is unit i
  size_t first_beside_ = 0;             // the first unit that is no token
  std::vector<Unit> units_;
  std::string shown_text_;
  bool attends_by_unit_ = false;
  RowStates states_;
};

}  // namespace whyformer
