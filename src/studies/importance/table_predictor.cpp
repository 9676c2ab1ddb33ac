#include "studies/importance/table_predictor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graph/pass.h"
#include "studies/importance/scores.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr int64_t kRowsAtOnce = 256;

}  // namespace

TablePredictor::TablePredictor(const RowReader& reader, const NamedTable& table)
    : source_(reader.source()) {
  if (reader.layout().reads_words()) {
    take_words(reader, table);
  } else {
    table_ = table.table;
    names_ = table.names;
    places_ = source_.columns(table.table.columns);
    for (const int64_t column : source_.places_of(table.names)) {
      places_of_column_.push_back({column});
    }
  }
  const auto columns = static_cast<int64_t>(places_.size());
  problem_ = source_.problem(columns).value_or(Problem::kSingleLabel);
  width_ = static_cast<int64_t>(source_.output_names(columns).size());
}

void TablePredictor::take_words(const RowReader& reader, const NamedTable& table) {
  const RowLayout& layout = reader.layout();
  PlacedRow first = layout.placed(row_of(table, 0), notes_);
  places_ = layout.places(RowInput());
  for (const PlacedColumn& column : first.columns) {
    names_.push_back(column.name);
    places_of_column_.push_back(column.places);
  }
  table_ = {.rows = table.table.rows, .columns = static_cast<int64_t>(names_.size())};
  for (int64_t row = 0; row < table.table.rows; ++row) {
    encoded_.push_back(layout.numbers(row_of(table, row)));
    table_.values.insert(table_.values.end(), names_.size(), static_cast<double>(row));
  }
}

std::vector<double> TablePredictor::numbers_of(const double* row) const {
  std::vector<double> numbers(places_.size(), 0.0);
  if (encoded_.empty()) {
    for (size_t place = 0; place < places_.size(); ++place) {
      numbers[place] = row[places_of_column_[place][0]];
    }
    return numbers;
  }
  for (size_t column = 0; column < names_.size(); ++column) {
    const std::vector<double>& from = encoded_[static_cast<size_t>(row[column])];
    for (const int64_t place : places_of_column_[column]) numbers[place] = from[place];
  }
  return numbers;
}

std::vector<double> TablePredictor::operator()(const std::vector<double>& values, int64_t count) {
  std::vector<double> outputs;
  const int64_t step =
      std::min(kRowsAtOnce, source_.max_rows_at_once(static_cast<int64_t>(places_.size())));
  for (int64_t begin = 0; begin < count; begin += step) {
    std::vector<Sample> rows;
    for (int64_t row = begin; row < std::min(count, begin + step); ++row) {
      rows.push_back(RowSource::sample_of(places_, numbers_of(&values[row * table_.columns]),
                                          DType::kFloat32));
    }
    const FedGraph fed = source_.fed(rows, {});
    const Value output = fed.graph->output;
    const Pass pass = run(fed.graph->graph, fed.feeds, {.outputs = {output}});
    const std::vector<double> part = pass[output].to_doubles();
    outputs.insert(outputs.end(), part.begin(), part.end());
  }
  for (const double output : outputs) {
    if (std::isfinite(output)) continue;
    throw InvalidInput(
        fmt::format("the model answers {} for a row: look for huge numbers in the table", output));
  }
  predicted_ += count;
  to_predictions(outputs, width_, problem_);
  return outputs;
}

}  // namespace whyformer
