#include "readers/mixed_rows.h"

#include <algorithm>

#include "graph/pass.h"

namespace whyformer {
namespace {

constexpr int64_t kMixedRowsAtOnce = 256;

}  // namespace

MixedRows::MixedRows(std::shared_ptr<const RowSource> source, const RowLayout& layout,
                     const NamedTable& table)
    : source_(std::move(source)) {
  if (layout.reads_words()) {
    take_words(layout, table);
  } else {
    facts_.table = table.table;
    facts_.names = table.names;
    places_ = source_->columns(table.table.columns);
    for (const int64_t column : source_->places_of(table.names)) {
      places_of_column_.push_back({column});
    }
  }
  const auto columns = static_cast<int64_t>(places_.size());
  facts_.problem = source_->problem(columns).value_or(Problem::kSingleLabel);
  facts_.width = static_cast<int64_t>(source_->output_names(columns).size());
}

void MixedRows::take_words(const RowLayout& layout, const NamedTable& table) {
  const PlacedRow first = layout.placed(row_of(table, 0), facts_.notes);
  places_ = layout.places(RowInput());
  for (const PlacedColumn& column : first.columns) {
    facts_.names.push_back(column.name);
    places_of_column_.push_back(column.places);
  }
  facts_.table = {.rows = table.table.rows, .columns = static_cast<int64_t>(facts_.names.size())};
  for (int64_t row = 0; row < table.table.rows; ++row) {
    encoded_.push_back(layout.numbers(row_of(table, row)));
    facts_.table.values.insert(facts_.table.values.end(), facts_.names.size(),
                               static_cast<double>(row));
  }
}

std::vector<double> MixedRows::numbers_of(const double* row) const {
  std::vector<double> numbers(places_.size(), 0.0);
  if (encoded_.empty()) {
    for (size_t place = 0; place < places_.size(); ++place) {
      numbers[place] = row[places_of_column_[place][0]];
    }
    return numbers;
  }
  for (size_t column = 0; column < facts_.names.size(); ++column) {
    const std::vector<double>& from = encoded_[static_cast<size_t>(row[column])];
    for (const int64_t place : places_of_column_[column]) numbers[place] = from[place];
  }
  return numbers;
}

std::vector<double> MixedRows::outputs(std::span<const double> values, int64_t count) const {
  std::vector<double> outputs;
  const int64_t step =
      std::min(kMixedRowsAtOnce, source_->max_rows_at_once(static_cast<int64_t>(places_.size())));
  for (int64_t begin = 0; begin < count; begin += step) {
    std::vector<Sample> rows;
    for (int64_t row = begin; row < std::min(count, begin + step); ++row) {
      rows.push_back(RowSource::sample_of(places_, numbers_of(&values[row * facts_.table.columns]),
                                          DType::kFloat32));
    }
    const FedGraph fed = source_->fed(rows, {.answer_only = true});
    const Value output = fed.graph->output;
    const Pass pass = run(fed.graph->graph, fed.feeds, {.outputs = {output}});
    const std::vector<double> part = pass[output].to_doubles();
    outputs.insert(outputs.end(), part.begin(), part.end());
  }
  return outputs;
}

}  // namespace whyformer
