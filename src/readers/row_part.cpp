#include "readers/row_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "readers/column_tokens.h"
#include "whyformer/error.h"

namespace whyformer {

RowPart::RowPart(std::shared_ptr<const RowSource> source, RowInput row, RunKind kind)
    : source_(std::move(source)), row_(std::move(row)), kind_(std::move(kind)) {
  const auto count = static_cast<int64_t>(row_.values.size());
  all_columns_ = source_->columns(count);
  if (row_.background.rows > 0 && row_.background.columns != count) {
    throw InvalidInput(fmt::format("the background has {} columns, but the row has {}",
                                   row_.background.columns, count));
  }
  // Which unit a column is, is told by what its numbers change in the model as it is.
  RunKind own_weights = kind_;
  own_weights.randomisation.reset();
  const FedGraph own = source_->fed(
      std::vector{RowSource::sample_of(all_columns_, row_.values, kind_.dtype)}, own_weights);
  graph_ = own.graph;
  choose_units(own);
  name_units();
}

std::vector<int64_t> RowPart::columns_by_segments(const Discovery& found) const {
  std::vector<int64_t> tokens;
  if (found.streams.empty()) return tokens;
  for (const StreamSegment& segment : found.streams[0].segments) {
    for (int64_t i = 0; i < segment.length; ++i) {
      const auto column = std::find_if(
          all_columns_.begin(), all_columns_.end(),
          [&](const TableColumn& one) { return one.input == segment.input && one.index == i; });
      tokens.push_back(column == all_columns_.end() ? kNoColumn : column - all_columns_.begin());
    }
  }
  return tokens;
}

std::vector<int64_t> RowPart::columns_by_changes(const FedGraph& own) const {
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
        if (entry.enters[index] && changed[column_of(entry, index)])
          numbers[i] += 1 + 0.5 * static_cast<double>(i % 3);
      }
      const Tensor& like = pass[entry.value];
      feeds[entry.value] =
          Tensor::of<double>(like.shape(), std::span<const double>(numbers)).cast(like.dtype());
    }
    return run(graph_->graph, feeds, {.outputs = {tokens}})[tokens];
  };
  return columns_of_tokens(static_cast<int64_t>(all_columns_.size()), run_changed);
}

void RowPart::choose_units(const FedGraph& own) {
  const auto count = static_cast<int64_t>(all_columns_.size());
  const Discovery& found = graph_->found;
  std::vector<int64_t> tokens = columns_by_segments(found);
  const auto size = static_cast<int64_t>(tokens.size());
  const std::vector<int64_t> shown =
      found.sites.empty() ? std::vector<int64_t>() : columns_by_changes(own);
  bool one_each = true;
  for (size_t token = 0; token < tokens.size() && shown.size() == tokens.size(); ++token) {
    one_each &= shown[token] != kSeveralColumns;
    if (shown[token] >= 0) tokens[token] = shown[token];
  }
  attends_by_unit_ = !found.sites.empty() && one_each;
  for (const AttentionSite& site : found.sites) {
    attends_by_unit_ &= site.windows == 1 && found.covers_tokens(site, size);
  }
  for (int64_t column = 0; column < count; ++column) {
    attends_by_unit_ &= std::count(tokens.begin(), tokens.end(), column) == 1;
  }
  columns_ = tokens;
  if (!attends_by_unit_) {
    columns_.resize(count);
    for (int64_t column = 0; column < count; ++column) columns_[column] = column;
  }
}

std::string RowPart::why_no_maps() const {
  return "this model's attention does not go over all columns of the table, so there is no map of "
         "them; shap and its relatives, lime, leave-one-out, saliency and gradient-x-input explain "
         "it";
}

void RowPart::name_units() {
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
    const std::string cell = fmt::format("{} = {:.6g}", row_.names[column], row_.values[column]);
    // Offsets count code points.
    const int64_t size =
        std::count_if(cell.begin(), cell.end(), [](char c) { return (c & 0xC0) != 0x80; });
    units_.push_back({.text = cell,
                      .start = length,
                      .end = length + size,
                      .word = word++,
                      .column = row_.names[column],
                      .value = row_.values[column]});
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

FedGraph RowPart::run_rows(const std::vector<std::vector<double>>& rows) const {
  std::vector<Sample> samples;
  for (const std::vector<double>& row : rows) {
    samples.push_back(RowSource::sample_of(all_columns_, row, kind_.dtype));
  }
  return source_->fed(samples, kind_);
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
  for (int64_t i = 0; i < table.rows * table.columns; ++i) {
    mean[i % table.columns] += weights[i / table.columns] * table.values[i];
  }
  for (size_t column = 0; column < mean.size(); ++column) {
    if (all_columns_[column].whole) mean[column] = std::round(mean[column]);
  }
  return mean;
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
    if (hidden[unit] && columns_[unit] >= 0) row[columns_[unit]] = other[columns_[unit]];
  }
  Variant variant{0};
  for (const double number : row) variant.push_back(std::bit_cast<int64_t>(number));
  return variant;
}

FedGraph RowPart::run_of(std::span<const Variant> inputs) const {
  std::vector<std::vector<double>> rows;
  for (const Variant& input : inputs) {
    rows.emplace_back();
    for (size_t i = 1; i < input.size(); ++i)
      rows.back().push_back(std::bit_cast<double>(input[i]));
  }
  return run_rows(rows);
}

std::vector<int64_t> RowPart::players() const {
  std::vector<int64_t> units(row_.values.size());
  for (size_t unit = 0; unit < columns_.size(); ++unit) {
    if (columns_[unit] >= 0) units[columns_[unit]] = static_cast<int64_t>(unit);
  }
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
      const double own = row_.values[columns_[unit]], hidden = other[columns_[unit]];
      can[unit] = can[unit] || !(std::abs(own - hidden) <= 1e-8 + 1e-5 * std::abs(hidden));
    }
  }
  return can;
}

// Neighbouring columns first, halves last.
PlayerTree RowPart::player_tree() const {
  PlayerTree tree;
  const auto count = static_cast<int64_t>(row_.values.size());
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

int64_t RowPart::column_of(const Entry& entry, size_t index) const {
  for (size_t column = 0; column < all_columns_.size(); ++column) {
    const TableColumn& one = all_columns_[column];
    if (one.input == entry.input && one.index == entry.first + static_cast<int64_t>(index)) {
      return static_cast<int64_t>(column);
    }
  }
  throw Error(fmt::format("the input '{}' has no column {}", entry.input,
                          entry.first + static_cast<int64_t>(index)));
}

template <class Visit>
void RowPart::for_each_unit(const Entry& entry, Visit visit) const {
  const std::vector<int64_t> unit_of = players();
  for (size_t index = 0; index < entry.enters.size(); ++index) {
    if (entry.enters[index]) visit(unit_of[column_of(entry, index)], index);
  }
}

Tensor RowPart::rows(Depth depth, const std::vector<Tensor>& values) const {
  if (depth != Depth::kInput) {
    if (attends_by_unit_) return values[0];
    throw InvalidInput(why_no_maps());
  }
  if (values.empty()) {
    throw InvalidInput(
        "the model takes whole numbers, and where they become vectors was not found: methods by "
        "attention and by hiding columns explain it");
  }
  size_t width = 1;
  for (size_t k = 0; k < values.size(); ++k) {
    width = std::max(width, static_cast<size_t>(values[k].size()) / entries()[k].enters.size());
  }
  std::vector<double> all(unit_count() * width, 0.0);  // what a column has less than others stays 0
  for (size_t k = 0; k < values.size(); ++k) {
    const std::vector<double> numbers = values[k].to_doubles();
    const size_t own = numbers.size() / entries()[k].enters.size();
    for_each_unit(entries()[k], [&](int64_t unit, size_t index) {
      std::copy_n(numbers.begin() + static_cast<int64_t>(index * own), own,
                  all.begin() + unit * static_cast<int64_t>(width));
    });
  }
  return Tensor::of<double>({unit_count(), static_cast<int64_t>(width)},
                            std::span<const double>(all))
      .cast(values[0].dtype());
}

std::vector<Tensor> RowPart::from_rows(Depth depth, const Tensor& rows) const {
  if (depth != Depth::kInput) return {rows};
  const std::vector<double> all = rows.to_doubles();
  std::vector<Tensor> values;
  for (const Entry& one : entries()) {
    const Shape& together = graph_->graph.shape(one.value);
    const Shape shape(together.begin() + 1, together.end());
    int64_t size = 1;
    for (const int64_t length : shape) size *= length;
    const auto own = size / static_cast<int64_t>(one.enters.size());
    std::vector<double> numbers;
    // Columns that enter elsewhere keep their number.
    for (size_t index = 0; index < one.enters.size(); ++index) {
      numbers.insert(numbers.end(), own, row_.values[column_of(one, index)]);
    }
    for_each_unit(one, [&](int64_t unit, size_t index) {
      std::copy_n(all.begin() + unit * rows.dim(1), own,
                  numbers.begin() + static_cast<int64_t>(index) * own);
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
  const FedGraph other = run_rows({hidden_row(name, 0)});
  const std::vector<Value> values = other.graph->values_at(depth);
  const Pass pass = run(other.graph->graph, other.feeds, {.outputs = values});
  std::vector<Tensor> found;
  for (const Value value : values) found.push_back(pass[value].select(0, 0).contiguous());
  return rows(depth, found);
}

}  // namespace whyformer
