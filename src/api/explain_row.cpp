#include <fmt/format.h>

#include <algorithm>

#include "api/prepare.h"
#include "api/units.h"
#include "base/numpy_random.h"
#include "methods/jobs.h"
#include "readers/table_subject.h"
#include "run/pulse_question.h"
#include "whyformer/error.h"
#include "whyformer/tables.h"

namespace whyformer {
namespace {

// The row as a text, "age = 39, hours = 40", and where each column stands in it. Columns come in
// the order of the model's tokens, which reports draw one after the other.
struct WrittenRow {
  std::string text;
  std::vector<Unit> units;
};

WrittenRow written(const TableSubject& subject) {
  const RowInput& row = subject.row();
  WrittenRow result;
  int64_t length = 0, word = 0;
  for (const int64_t column : subject.columns()) {
    if (column < 0) {
      result.units.push_back({.text = "[CLS]", .special = true});
      continue;
    }
    if (word > 0) {
      result.text += ", ";
      length += 2;
    }
    const std::string cell = fmt::format("{} = {:.6g}", row.names[column], row.values[column]);
    // Offsets count code points.
    const int64_t size =
        std::count_if(cell.begin(), cell.end(), [](char c) { return (c & 0xC0) != 0x80; });
    result.units.push_back({.text = cell, .start = length, .end = length + size, .word = word++});
    result.text += cell;
    length += size;
  }
  return result;
}

}  // namespace

Table background_of(const Table& table, int64_t most_rows) {
  if (table.rows <= most_rows) return table;
  std::vector<int64_t> order = NumpyRandom(0).permutation(table.rows);
  Table chosen{.rows = most_rows, .columns = table.columns};
  for (int64_t i = 0; i < most_rows; ++i) {
    const auto first = table.values.begin() + order[i] * table.columns;
    chosen.values.insert(chosen.values.end(), first, first + table.columns);
  }
  return chosen;
}

namespace {

// Columns in the order in which the model takes them.
RowInput in_order(const TableModel& model, const RowInput& given) {
  RowInput row = given;
  const std::vector<int64_t> places = model.places_of(given.names);
  const auto count = static_cast<int64_t>(places.size());
  for (int64_t column = 0; column < count; ++column) {
    row.names[column] = given.names[places[column]];
    row.values[column] = given.values[places[column]];
    for (int64_t other = 0; given.background.columns == count && other < given.background.rows;
         ++other) {
      row.background.values[other * count + column] =
          given.background.values[other * count + places[column]];
    }
  }
  return row;
}

}  // namespace

Explanation explain(const Model& model, const RowInput& row, const ExplainRequest& request) {
  if (row.names.size() != row.values.size()) {
    throw InvalidInput(
        fmt::format("a row of {} numbers with {} names", row.values.size(), row.names.size()));
  }
  const PulseScope pulses(pulse_question(request.progress));
  const std::vector<Job> jobs = jobs_of(request.methods);
  Prepared prepared = prepare(model, in_order(model.table_model(), row), request, needs_of(jobs));
  const auto& subject = static_cast<const TableSubject&>(prepared.explained->subject());
  WrittenRow text = written(subject);
  Explanation explanation;
  explanation.model = model.name();
  explanation.text = std::move(text.text);
  explanation.units = std::move(text.units);
  explanation.output = std::move(prepared.output);
  explanation.target = std::move(prepared.target);
  explanation.notes = std::move(prepared.notes);
  run_jobs(jobs, *prepared.explained, explanation);
  for (Attribution& result : explanation.attributions) {
    result.words =
        fold_words(explanation.units, result.scores, {explanation.text, {}}, WordFold::kSum);
  }
  explanation.attention = attention_maps(*prepared.explained);
  return explanation;
}

}  // namespace whyformer
