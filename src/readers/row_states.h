// Perturbed rows of a table take each cell from one of a few rows. What depends on one column alone
// is computed once for each value of that column, and picked for each perturbed row. Only for
// models whose columns stay apart until their tokens are made (RowSource::columns_stay_apart).
#pragma once

#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "readers/row_layout.h"
#include "run/unit_states.h"

namespace whyformer {

// The places of a row whose numbers make each token. `own` are those of the token's column, none of
// a class token; numbers that go to the tokens without being found in any of them may be in each.
std::vector<std::vector<int64_t>> places_of_tokens(const ModelGraph& graph,
                                                   const std::vector<TableColumn>& columns,
                                                   std::vector<std::vector<int64_t>> own);

class RowStates {
 public:
  using Rows = std::vector<std::vector<double>>;
  using MakeRows = std::function<Rows()>;
  using MakeRun = std::function<FedGraph(const Rows&)>;

  RowStates() = default;  // does nothing
  // See places_of_tokens; at most so many rows may run together.
  RowStates(std::vector<std::vector<int64_t>> places, int64_t max_at_once)
      : places_(std::move(places)),
        max_at_once_(static_cast<size_t>(max_at_once)),
        known_(places_.size()) {}

  const std::vector<std::vector<int64_t>>& places() const { return places_; }

  // Adds the values of single columns to the run's feeds, so that what makes them does not run.
  // `likely` gives rows that cells will be taken from, `make` the run of rows without this help.
  void feed(FedGraph& inputs, const Rows& rows, const MakeRows& likely, const MakeRun& make) const;

 private:
  uint64_t hash_of(const std::vector<double>& row, size_t token) const;
  bool are_equal(const std::vector<double>& a, const std::vector<double>& b, size_t token) const;
  // -1 where it is not known.
  int64_t state_of(const std::vector<double>& row, size_t token) const;
  PickedStates states_in(const Rows& rows) const;
  // Rows that have every cell of `rows` whose state is not known yet.
  Rows unknown_among(const Rows& rows) const;
  bool learn(const Rows& rows, const MakeRun& make) const;
  bool know_all(PickedStates& picked, const Rows& rows, const MakeRows& likely,
                const MakeRun& make) const;
  const std::vector<Value>& values_in(const std::shared_ptr<const ModelGraph>& graph) const;

  std::vector<std::vector<int64_t>> places_;
  size_t max_at_once_ = 0;
  mutable std::vector<std::unordered_map<uint64_t, int64_t>> known_;  // by token: hash to state
  mutable Rows rows_;                                                 // by state
  mutable std::vector<Tensor> states_;  // each [states, tokens, numbers]
  mutable bool may_help_ = true;
  mutable std::shared_ptr<const ModelGraph> graph_;  // the last one
  mutable std::vector<Value> values_;                // in it
};

// The row itself and those of its background.
RowStates::Rows with_background(const PlacedRow& row);

}  // namespace whyformer
