#include "readers/row_states.h"

#include <algorithm>
#include <bit>

namespace whyformer {
namespace {

// Fewer rows cost less than the states do.
constexpr size_t kFewestRows = 24;
// A row of new cells costs about as much as this many perturbed ones gain.
constexpr size_t kRowsForNewOne = 2;
constexpr size_t kMostStates = 4096;

Tensor joined_states(const Tensor& a, const Tensor& b) {
  if (!a.defined()) return b;
  Shape shape = a.shape();
  shape[0] += b.dim(0);
  Tensor all = Tensor::empty(shape, a.dtype());
  all.slice(0, 0, a.dim(0)).copy_from(a);
  all.slice(0, a.dim(0), b.dim(0)).copy_from(b);
  return all;
}

// Few numbers of rows, so that few graphs are built; more than one, whose axes of length 1 could be
// taken for each other.
size_t padded_size(size_t rows) { return std::max<size_t>(2, std::bit_ceil(rows)); }

bool are_known(const PickedStates& picked) {
  return std::ranges::find(picked.numbers, -1) == picked.numbers.end();
}

}  // namespace

std::vector<std::vector<int64_t>> places_of_tokens(const ModelGraph& built,
                                                   const std::vector<TableColumn>& columns,
                                                   std::vector<std::vector<int64_t>> own) {
  const Graph& graph = built.graph;
  std::vector<bool> above(graph.value_count(), false);
  if (built.embeddings.valid()) above[built.embeddings.id] = true;
  for (size_t index = graph.nodes().size(); index-- > 0;) {
    const Node& node = graph.nodes()[index];
    if (std::ranges::none_of(node.outputs, [&](Value made) { return above[made.id]; })) continue;
    for (const Value input : node.inputs) above[input.id] = true;
  }
  std::vector<bool> has_token(columns.size(), false);
  for (const std::vector<int64_t>& places : own) {
    for (const int64_t place : places) has_token[place] = true;
  }
  for (size_t place = 0; place < columns.size(); ++place) {
    const Value input = built.input(columns[place].input);
    if (has_token[place] || !input.valid() || !above[input.id]) continue;
    for (std::vector<int64_t>& places : own) places.push_back(static_cast<int64_t>(place));
  }
  return own;
}

uint64_t RowStates::hash_of(const std::vector<double>& row, size_t token) const {
  uint64_t hash = 0;
  for (const int64_t place : places_[token]) {
    hash = (hash ^ std::bit_cast<uint64_t>(row[place])) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 32;
  }
  return hash;
}

bool RowStates::are_equal(const std::vector<double>& a, const std::vector<double>& b,
                          size_t token) const {
  return std::ranges::all_of(places_[token], [&](int64_t place) {
    return std::bit_cast<uint64_t>(a[place]) == std::bit_cast<uint64_t>(b[place]);
  });
}

int64_t RowStates::state_of(const std::vector<double>& row, size_t token) const {
  const auto found = known_[token].find(hash_of(row, token));
  if (found == known_[token].end() || !are_equal(rows_[found->second], row, token)) return -1;
  return found->second;
}

PickedStates RowStates::states_in(const Rows& rows) const {
  PickedStates picked{.units = static_cast<int64_t>(places_.size())};
  picked.numbers.reserve(rows.size() * places_.size());
  for (const std::vector<double>& row : rows) {
    for (size_t token = 0; token < places_.size(); ++token)
      picked.numbers.push_back(state_of(row, token));
  }
  return picked;
}

RowStates::Rows RowStates::unknown_among(const Rows& rows) const {
  Rows unknown;
  for (size_t token = 0; token < places_.size(); ++token) {
    std::unordered_map<uint64_t, size_t> fresh;
    for (const std::vector<double>& row : rows) {
      if (state_of(row, token) >= 0) continue;
      const auto [known, is_new] = fresh.try_emplace(hash_of(row, token), fresh.size());
      if (!is_new) continue;
      if (known->second == unknown.size()) unknown.push_back(rows[0]);
      for (const int64_t place : places_[token]) unknown[known->second][place] = row[place];
    }
  }
  return unknown;
}

const std::vector<Value>& RowStates::values_in(
    const std::shared_ptr<const ModelGraph>& graph) const {
  if (graph_ != graph) values_ = values_of_single_units(*graph);
  graph_ = graph;
  return values_;
}

bool RowStates::learn(const Rows& rows, const MakeRun& make) const {
  Rows padded = rows;
  padded.resize(padded_size(rows.size()), rows.back());
  const FedGraph run = make(padded);
  const std::vector<Value> values = values_of_single_units(*run.graph);
  if (values.empty() || (!states_.empty() && values.size() != states_.size())) return false;
  const Shape& shape = run.graph->graph.shape(values[0]);
  const auto is = [](int64_t count, size_t expected) {
    return count == static_cast<int64_t>(expected);
  };
  if (!is(shape[0], padded.size()) || !is(shape[1], places_.size())) return false;
  const std::vector<Tensor> made = run_up_to(run, values);
  states_.resize(made.size());
  for (size_t i = 0; i < made.size(); ++i) states_[i] = joined_states(states_[i], made[i]);
  for (const std::vector<double>& row : padded) {
    const auto state = static_cast<int64_t>(rows_.size());
    rows_.push_back(row);
    for (size_t token = 0; token < places_.size(); ++token)
      known_[token].try_emplace(hash_of(row, token), state);
  }
  return true;
}

bool RowStates::know_all(PickedStates& picked, const Rows& rows, const MakeRows& likely,
                         const MakeRun& make) const {
  picked = states_in(rows);
  if (are_known(picked)) return true;
  Rows all = rows;
  const bool first = rows_.empty();
  if (first) {
    const Rows more = likely();
    all.insert(all.end(), more.begin(), more.end());
  }
  const Rows unknown = unknown_among(all);
  const bool pays = first || unknown.size() * kRowsForNewOne <= rows.size();
  const size_t count = padded_size(unknown.size());
  if (!pays || count > max_at_once_ || rows_.size() + count > kMostStates) return false;
  may_help_ = learn(unknown, make);
  if (may_help_) picked = states_in(rows);
  return may_help_ && are_known(picked);
}

void RowStates::feed(FedGraph& inputs, const Rows& rows, const MakeRows& likely,
                     const MakeRun& make) const {
  if (places_.empty() || rows.size() < kFewestRows || !may_help_) return;
  PickedStates picked;
  if (!know_all(picked, rows, likely, make)) return;
  const std::vector<Value>& values = values_in(inputs.graph);
  if (values.size() != states_.size()) return;
  for (size_t i = 0; i < values.size(); ++i) inputs.feeds[values[i]] = pick(states_[i], picked);
}

RowStates::Rows with_background(const PlacedRow& row) {
  const Table& table = row.background;
  RowStates::Rows rows{row.values};
  for (int64_t other = 0; other < table.rows; ++other) {
    const auto first = table.values.begin() + other * table.columns;
    rows.emplace_back(first, first + table.columns);
  }
  return rows;
}

}  // namespace whyformer
