#include "readers/row_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>

#include "readers/background_share.h"
#include "readers/column_tokens.h"
#include "run/missing.h"
#include "whyformer/error.h"

namespace whyformer {

RowPart::RowPart(std::shared_ptr<const RowSource> source, std::vector<TableColumn> places,
                 PlacedRow row, RunKind kind)
    : source_(std::move(source)),
      places_(std::move(places)),
      row_(std::move(row)),
      column_of_place_(places_.size(), kNoColumn),
      kind_(std::move(kind)) {
  for (size_t column = 0; column < row_.columns.size(); ++column) {
    for (const int64_t place : row_.columns[column].places)
      column_of_place_[place] = static_cast<int64_t>(column);
  }
  // Which unit a column is, is told by what its numbers change in the model as it is.
  RunKind own_weights = kind_;
  own_weights.randomisation.reset();
  own_weights.edits.reset();
  const FedGraph own = source_->fed(std::vector{sample()}, own_weights);
  graph_ = own.graph;
  choose_units(own);
  name_units();
}

std::vector<int64_t> RowPart::places_by_segments(const Discovery& found) const {
  std::vector<int64_t> tokens;
  if (found.streams.empty()) return tokens;
  for (const StreamSegment& segment : found.streams[0].segments) {
    for (int64_t i = 0; i < segment.length; ++i) {
      const auto place = std::ranges::find_if(places_, [&](const TableColumn& one) {
        return one.input == segment.input && one.index == i;
      });
      tokens.push_back(place == places_.end() ? kNoColumn : place - places_.begin());
    }
  }
  return tokens;
}

std::vector<int64_t> RowPart::places_by_changes(const FedGraph& own) const {
  const Value tokens = graph_->layers_input;
  if (graph_->graph.shape(tokens).size() != 3 || entries().empty()) return {};
  std::vector<Value> values;
  for (const Entry& entry : entries()) values.push_back(entry.value);
  const Pass pass = run(graph_->graph, own.feeds, {.outputs = values});
  const auto run_changed = [&](const std::vector<bool>& changed) {
    Feeds feeds = own.feeds;
    for (const Entry& entry : entries()) {
      std::vector<double> numbers = pass[entry.value].to_doubles();
      const size_t width = numbers.size() / entry.enters.size();
      for (size_t i = 0; i < numbers.size(); ++i) {
        const size_t index = i / width;
        if (entry.enters[index] && changed[place_of(entry, index)])
          numbers[i] += 1 + 0.5 * static_cast<double>(i % 3);
      }
      const Tensor& like = pass[entry.value];
      feeds[entry.value] =
          Tensor::of<double>(like.shape(), std::span<const double>(numbers)).cast(like.dtype());
    }
    return run(graph_->graph, feeds, {.outputs = {tokens}})[tokens];
  };
  return columns_of_tokens(static_cast<int64_t>(places_.size()), run_changed);
}

std::vector<std::vector<int64_t>> RowPart::column_places(const std::vector<int64_t>& tokens) const {
  std::vector<std::vector<int64_t>> places;
  for (const int64_t token : tokens) {
    const int64_t column = token < 0 ? kNoColumn : column_of_place_[token];
    places.push_back(column < 0 ? std::vector<int64_t>() : row_.columns[column].places);
  }
  return places;
}

// Where columns stay apart, this row shows for all which token is whose.
void RowPart::learn_columns(const std::vector<int64_t>& shown, const std::vector<int64_t>& tokens) {
  if (!source_->columns_stay_apart()) return;
  const std::vector<std::vector<int64_t>> own_places = column_places(tokens);
  RowStates states(places_of_tokens(*graph_, places_, own_places),
                   source_->max_rows_at_once(static_cast<int64_t>(places_.size())));
  // Where no number was lost sight of.
  if (states.places() == own_places && source_->token_columns().find(graph_->key) == nullptr)
    source_->token_columns().add(graph_->key, std::make_shared<std::vector<int64_t>>(shown));
  // Edits may join tokens in front of the first block.
  if (kind_.edits == nullptr) states_ = std::move(states);
}

// Columns that no token stands for follow the tokens: attention says nothing about them.
void RowPart::choose_units(const FedGraph& own) {
  const Discovery& found = graph_->found;
  std::vector<int64_t> tokens = places_by_segments(found);
  const auto known = source_->token_columns().find(graph_->key);
  const std::vector<int64_t> shown = known != nullptr      ? *known
                                     : found.sites.empty() ? std::vector<int64_t>()
                                                           : places_by_changes(own);
  bool one_each = true;
  for (size_t token = 0; token < tokens.size() && shown.size() == tokens.size(); ++token) {
    one_each &= shown[token] != kSeveralColumns;
    if (shown[token] >= 0) tokens[token] = shown[token];
  }
  if (one_each && !shown.empty() && shown.size() == tokens.size()) learn_columns(shown, tokens);
  attends_by_unit_ = !found.sites.empty() && one_each && source_->why_no_maps().empty();
  tokens_ = static_cast<int64_t>(tokens.size());
  for (const AttentionSite& site : found.sites)
    attends_by_unit_ &= site.windows == 1 && found.covers_tokens(site, tokens_);
  std::vector<int64_t> beside;
  std::vector<int64_t> token_columns;
  for (const int64_t place : tokens)
    token_columns.push_back(place < 0 ? kNoColumn : column_of_place_[place]);
  UnitsOfTokens units = units_of_tokens(token_columns);
  columns_ = std::move(units.columns);
  unit_of_token_ = std::move(units.unit_of_token);
  first_beside_ = columns_.size();
  for (int64_t column = 0; column < column_count(); ++column) {
    if (std::ranges::count(columns_, column) == 0) beside.push_back(column);
  }
  // Without table.json, numbers that no token was found for are more likely to have been missed.
  attends_by_unit_ &= beside.empty() || (row_.named && beside.size() < row_.columns.size());
  if (attends_by_unit_) {
    columns_.insert(columns_.end(), beside.begin(), beside.end());
    return;
  }
  columns_.resize(column_count());
  unit_of_token_.clear();
  tokens_ = column_count();
  for (int64_t column = 0; column < column_count(); ++column) columns_[column] = column;
}

std::string RowPart::beside_tokens() const {
  bool numbers = true;
  for (size_t unit = first_beside_; unit < columns_.size(); ++unit)
    numbers &= !row_.columns[columns_[unit]].category;
  return numbers ? "Numerical columns" : "Some columns";
}

std::string RowPart::why_no_maps() const {
  if (const std::string why = source_->why_no_maps(); !why.empty()) return why;
  return "this model's attention does not go over all columns of the table, so there is no map of "
         "them";
}

void RowPart::name_units() {
  const std::vector<double> weights = background_weights();
  int64_t length = 0, word = 0;
  for (const int64_t column : columns_) {
    if (column < 0) {
      units_.push_back({.text = "[CLS]", .special = true});
      continue;
    }
    if (word > 0) {
      shown_text_ += ", ";
      length += 2;
    }
    const PlacedColumn& own = row_.columns[column];
    const std::string cell = fmt::format("{} = {}", own.name, own.missing ? "missing" : own.shown);
    // Offsets count code points.
    const int64_t size =
        std::count_if(cell.begin(), cell.end(), [](char c) { return (c & 0xC0) != 0x80; });
    units_.push_back({.text = cell,
                      .start = length,
                      .end = length + size,
                      .word = word++,
                      .column = own.name,
                      .value = own.number,
                      .cell = own.shown,
                      .category = own.category,
                      .missing = own.missing,
                      .background = background_share(row_, own, weights)});
    shown_text_ += cell;
    length += size;
  }
}

const PartTraits& RowPart::traits() const {
  static const PartTraits kTraits{.name = "table",
                                  .side = "Row",
                                  .hiding = "background",
                                  .baseline = "mean",
                                  .few_players = true};
  return kTraits;
}

FedGraph RowPart::run_rows(const RowStates::Rows& rows, const RunKind& kind) const {
  std::vector<Sample> samples;
  for (const std::vector<double>& row : rows)
    samples.push_back(RowSource::sample_of(places_, row, kind.dtype));
  return source_->fed(samples, kind);
}

std::vector<double> RowPart::background_weights() const {
  if (!row_.weights.empty()) return row_.weights;
  const int64_t rows = std::max<int64_t>(1, row_.background.rows);
  return std::vector<double>(rows, 1 / static_cast<double>(rows));
}

std::vector<double> RowPart::mean_row() const {
  const Table& table = row_.background;
  if (table.rows == 0) {
    throw InvalidInput(
        "hidden columns take their values from a background: give rows of the table, or hide by "
        "'zero'");
  }
  const std::vector<double> weights = background_weights();
  std::vector<double> mean(table.columns, 0.0);
  for (int64_t i = 0; i < table.rows * table.columns; ++i)
    mean[i % table.columns] += weights[i / table.columns] * table.values[i];
  for (size_t place = 0; place < mean.size(); ++place)
    if (places_[place].whole) mean[place] = std::round(mean[place]);
  for (const PlacedColumn& column : row_.columns)
    if (column.category) take_mode(column, mean);
  return mean;
}

void RowPart::take_mode(const PlacedColumn& column, std::vector<double>& row) const {
  const Table& table = row_.background;
  const std::vector<double> weights = background_weights();
  std::map<std::vector<double>, double> share;
  for (int64_t other = 0; other < table.rows; ++other) {
    std::vector<double> numbers;
    for (const int64_t place : column.places)
      numbers.push_back(table.values[other * table.columns + place]);
    share[numbers] += weights[other];
  }
  const auto most = std::ranges::max_element(
      share, [](const auto& a, const auto& b) { return a.second < b.second; });
  for (size_t i = 0; i < column.places.size(); ++i) row[column.places[i]] = most->first[i];
}

std::vector<double> RowPart::hidden_row(const std::string& how, int64_t background) const {
  if (how == "zero") return std::vector<double>(row_.values.size(), 0.0);
  if (how == "mean") return mean_row();
  if (how != "auto" && how != "background") {
    throw InvalidInput(
        fmt::format("columns of a table are hidden by background, mean or zero, not by '{}'", how));
  }
  const Table& table = row_.background;
  if (table.rows == 0) return mean_row();  // says what is missing
  const auto first = table.values.begin() + background * table.columns;
  return {first, first + table.columns};
}

Variant RowPart::hiding(const std::vector<bool>& hidden, const std::string& how,
                        std::optional<int64_t> background) const {
  std::vector<double> row = row_.values;
  const bool one_way = how == "auto" && !background;
  const std::vector<double> other = hidden_row(one_way ? "mean" : how, background.value_or(0));
  for (size_t unit = 0; unit < hidden.size(); ++unit) {
    if (!hidden[unit] || columns_[unit] < 0) continue;
    for (const int64_t place : row_.columns[columns_[unit]].places) row[place] = other[place];
  }
  Variant variant{0};
  for (const double number : row) variant.push_back(std::bit_cast<int64_t>(number));
  return variant;
}

FedGraph RowPart::run_of(std::span<const Variant> inputs) const {
  RowStates::Rows rows;
  for (const Variant& input : inputs) {
    rows.emplace_back();
    for (size_t i = 1; i < input.size(); ++i)
      rows.back().push_back(std::bit_cast<double>(input[i]));
  }
  RunKind kind = kind_;
  kind.answer_only = true;
  FedGraph together = run_rows(rows, kind);
  const auto plain = [&](const RowStates::Rows& others) { return run_rows(others, kind); };
  states_.feed(together, rows, [&] { return with_background(row_); }, plain);
  return together;
}

std::vector<int64_t> RowPart::players() const {
  std::vector<int64_t> units(row_.columns.size());
  for (size_t unit = 0; unit < columns_.size(); ++unit)
    if (columns_[unit] >= 0) units[columns_[unit]] = static_cast<int64_t>(unit);
  return units;
}

// A column that looks the same when it is hidden (as near as shap's test goes) changes nothing.
std::vector<bool> RowPart::can_hide(const std::string& how) const {
  const bool by_rows = how == "auto" || how == "background";
  const int64_t ways = by_rows ? std::max<int64_t>(1, row_.background.rows) : 1;
  std::vector<bool> can(columns_.size(), false);
  for (int64_t way = 0; way < ways; ++way) {
    const std::vector<double> other = hidden_row(how, way);
    for (size_t unit = 0; unit < columns_.size(); ++unit) {
      if (columns_[unit] < 0) continue;
      for (const int64_t place : row_.columns[columns_[unit]].places) {
        const double own = row_.values[place], hidden = other[place];
        const bool both_missing = std::isnan(own) && std::isnan(hidden);
        const bool alike = both_missing || std::abs(own - hidden) <= 1e-8 + 1e-5 * std::abs(hidden);
        can[unit] = can[unit] || !alike;
      }
    }
  }
  return can;
}

// Neighbouring columns first, halves last.
PlayerTree RowPart::player_tree() const {
  PlayerTree tree;
  const int64_t count = column_count();
  std::vector<int64_t> nodes(count);
  for (int64_t i = 0; i < count; ++i) nodes[i] = i;
  while (nodes.size() > 1) {
    std::vector<int64_t> merged;
    for (size_t i = 0; i < nodes.size(); i += 2) {
      if (i + 1 == nodes.size()) {
        merged.push_back(nodes[i]);
        continue;
      }
      tree.merges.push_back({nodes[i], nodes[i + 1]});
      merged.push_back(count + static_cast<int64_t>(tree.merges.size()) - 1);
    }
    nodes = std::move(merged);
  }
  return tree;
}

int64_t RowPart::place_of(const Entry& entry, size_t index) const {
  for (size_t place = 0; place < places_.size(); ++place) {
    const TableColumn& one = places_[place];
    if (one.input == entry.input && one.index == entry.first + static_cast<int64_t>(index))
      return static_cast<int64_t>(place);
  }
  throw Error(fmt::format("the input '{}' has no column {}", entry.input,
                          entry.first + static_cast<int64_t>(index)));
}

template <class Visit>
void RowPart::for_each_unit(const Entry& entry, Visit visit) const {
  const std::vector<int64_t> unit_of = players();
  for (size_t index = 0; index < entry.enters.size(); ++index)
    if (entry.enters[index]) visit(unit_of[column_of_place_[place_of(entry, index)]], index);
}

Tensor RowPart::rows(Depth depth, const std::vector<Tensor>& values) const {
  if (depth != Depth::kInput) {
    const bool one_each = unit_of_token_.empty();
    if (attends_by_unit_ && one_each && tokens_ == unit_count()) return values[0];
    throw MissingForMethod(Missing::kDepth,
                           attends_by_unit_ && !one_each
                               ? "some columns of this table are several tokens of the model"
                               : why_no_maps());
  }
  if (values.empty()) {
    throw MissingForMethod(Missing::kEntrance,
                           "the model takes ids whose embedding was not recognised");
  }
  // A column of several numbers has them one behind the other; what it has less than others stays
  // 0.
  std::vector<std::vector<double>> by_unit(unit_count());
  for (size_t k = 0; k < values.size(); ++k) {
    const std::vector<double> numbers = values[k].to_doubles();
    const auto own = static_cast<int64_t>(numbers.size() / entries()[k].enters.size());
    for_each_unit(entries()[k], [&](int64_t unit, size_t index) {
      const auto first = numbers.begin() + static_cast<int64_t>(index) * own;
      by_unit[unit].insert(by_unit[unit].end(), first, first + own);
    });
  }
  size_t width = 1;
  for (const std::vector<double>& row : by_unit) width = std::max(width, row.size());
  std::vector<double> all;
  for (std::vector<double>& row : by_unit) {
    row.resize(width, 0.0);
    all.insert(all.end(), row.begin(), row.end());
  }
  return Tensor::of<double>({unit_count(), static_cast<int64_t>(width)},
                            std::span<const double>(all))
      .cast(values[0].dtype());
}

std::vector<Tensor> RowPart::from_rows(Depth depth, const Tensor& rows) const {
  if (depth != Depth::kInput) return {rows};
  const std::vector<double> all = rows.to_doubles();
  std::vector<int64_t> taken(unit_count(), 0);  // numbers of each unit
  std::vector<Tensor> values;
  for (const Entry& one : entries()) {
    const Shape& together = graph_->graph.shape(one.value);
    const Shape shape(together.begin() + 1, together.end());
    int64_t size = 1;
    for (const int64_t length : shape) size *= length;
    const auto own = size / static_cast<int64_t>(one.enters.size());
    std::vector<double> numbers;
    // Columns that enter elsewhere keep their number.
    for (size_t index = 0; index < one.enters.size(); ++index)
      numbers.insert(numbers.end(), own, row_.values[place_of(one, index)]);
    for_each_unit(one, [&](int64_t unit, size_t index) {
      std::copy_n(all.begin() + unit * rows.dim(1) + taken[unit], own,
                  numbers.begin() + static_cast<int64_t>(index) * own);
      taken[unit] += own;
    });
    values.push_back(
        Tensor::of<double>(shape, std::span<const double>(numbers)).cast(rows.dtype()));
  }
  return values;
}

std::vector<double> RowPart::ranges(Depth depth, const Tensor& all) const {
  if (depth != Depth::kInput) return PartEntrance::ranges(depth, all);
  std::vector<double> ranges(unit_count(), 0.0);
  const std::vector<Tensor> values = from_rows(depth, all);
  for (size_t k = 0; k < values.size(); ++k) {
    const std::vector<double> numbers = values[k].to_doubles();
    const auto own = static_cast<int64_t>(numbers.size() / entries()[k].enters.size());
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for_each_unit(entries()[k], [&](int64_t, size_t index) {
      const auto first = numbers.begin() + static_cast<int64_t>(index) * own;
      least = std::min(least, *std::min_element(first, first + own));
      most = std::max(most, *std::max_element(first, first + own));
    });
    for_each_unit(entries()[k], [&](int64_t unit, size_t) { ranges[unit] = most - least; });
  }
  return ranges;
}

std::vector<int64_t> RowPart::out_of_reach() const {
  std::vector<int64_t> out = players();
  for (const Entry& one : entries()) {
    for_each_unit(one, [&](int64_t unit, size_t) { std::erase(out, unit); });
  }
  return out;
}

Tensor RowPart::baseline(Depth depth, const std::string& name) const {
  if (name != "mean" && name != "zero") {
    throw InvalidInput(
        fmt::format("a row's baseline is the background's mean or zero, not '{}'", name));
  }
  const FedGraph other = run_rows({hidden_row(name, 0)}, kind_);
  const std::vector<Value> values = other.graph->values_at(depth);
  const Pass pass = run(other.graph->graph, other.feeds, {.outputs = values});
  std::vector<Tensor> found;
  for (const Value value : values) found.push_back(pass[value].select(0, 0).contiguous());
  return rows(depth, found);
}

}  // namespace whyformer
