#include "readers/row_reader.h"

#include <fmt/format.h>

#include "readers/describe.h"
#include "readers/describe_table.h"
#include "readers/mixed_rows.h"
#include "whyformer/error.h"

namespace whyformer {

ModelInfo RowReader::info() const {
  const std::optional<int64_t> count =
      layout_.reads_words() ? layout_.count(RowInput()) : source_->column_count();
  if (!count) {
    throw InvalidInput(fmt::format(
        "'{}' reads rows of a table, whose number of columns it may leave open: inspect its file",
        source_->name()));
  }
  ModelInfo info = describe(*source_, "row", *source_->graph(source_->key_for(*count)));
  info.task = task_of(source_->problem(*count), "row");
  info.outputs = source_->output_names(*count);
  for (const TableColumn& column : source_->columns(*count)) {
    if (column.index == 0)
      info.inputs.push_back({column.input, column.whole ? "int64" : "float", {0}});
    info.inputs.back().shape[0] = column.index + 1;
  }
  info.family = source_->family();
  if (const TableSpec* spec = layout_.spec()) describe_columns(*spec, info);
  if (source_->rows_attend() && layout_.spec() != nullptr)
    info.context = context_of(*layout_.spec());
  info.notes.insert(info.notes.end(), notes_.begin(), notes_.end());
  return info;
}

Answered RowReader::answered(const InputValue& value, const Question& question) const {
  if (question.similar_to) {
    throw InvalidInput("similarity to a text has no meaning for rows of a table");
  }
  const int64_t columns = layout_.count(std::get<RowInput>(value));
  const std::optional<Problem> problem = source_->problem(columns);
  return {.kind = kind_of(question),
          .problem = problem,
          .space = problem == Problem::kRegression ? "value" : "logit",
          .labels = source_->output_names(columns)};
}

Sample RowReader::sample(const InputValue& value, DType dtype, std::vector<std::string>&) const {
  const auto& row = std::get<RowInput>(value);
  const std::vector<double> numbers = layout_.numbers(row);
  return RowSource::sample_of(layout_.places(row), numbers, dtype);
}

int64_t RowReader::max_at_once(const InputValue& value) const {
  return source_->max_rows_at_once(layout_.count(std::get<RowInput>(value)));
}

Reading RowReader::read(const InputValue& value, const Question& question) const {
  const auto& given = std::get<RowInput>(value);
  Reading reading;
  reading.notes = notes_;
  PlacedRow row = layout_.placed(given, reading.notes);
  reading.answered = answered(value, question);
  auto part = std::make_unique<RowPart>(source_, layout_.places(given), std::move(row),
                                        reading.answered.kind);
  reading.shown.text = part->shown_text();
  reading.shown.units = part->units();
  InputFacts facts{.source = source_,
                   .kind = reading.answered.kind,
                   .sample = part->sample(),
                   .max_at_once = max_at_once(value),
                   .why_no_maps = part->attends_by_unit() ? "" : part->why_no_maps(),
                   .tokens = part->token_count(),
                   .beside_tokens = part->beside_tokens(),
                   .background_weights = part->background_weights(),
                   .out_of_reach = part->out_of_reach()};
  std::vector<std::unique_ptr<const Part>> parts;
  parts.push_back(std::move(part));
  reading.inputs.emplace_back(std::move(facts), std::move(parts));
  return reading;
}

std::unique_ptr<const ColumnSource> RowReader::columns_of(const NamedTable& table) const {
  return std::make_unique<MixedRows>(source_, layout_, table);
}

namespace {

// What Kernel SHAP's coalitions cost with the background that comes with a model; so many rows run
// quickly.
constexpr int64_t kMostRowsExactly = 1 << 18;

const char* shapley_method(size_t players, int64_t background) {
  const bool few = players < 18 && (background << players) <= kMostRowsExactly;
  return few ? "exact-shap" : "kernel-shap";
}

}  // namespace

std::vector<std::string> RowReader::default_methods(const InputValue* value,
                                                    const Question&) const {
  if (value == nullptr) {
    throw InvalidInput("which methods fit a model of tables depends on the row and its background");
  }
  const auto& given = std::get<RowInput>(*value);
  std::vector<std::string> notes;
  const PlacedRow row = layout_.placed(given, notes);
  const RowPart part(source_, layout_.places(given), row, {});
  if (row.background.rows > 0) {
    const std::string shapley = shapley_method(row.columns.size(), row.background.rows);
    if (!part.attends_by_unit()) return {shapley, "leave-one-out"};
    return {shapley, "gae",
            part.reads_one_token() ? "raw-attention:gorishniy" : "raw-attention:widedeep"};
  }
  // Baselines and hidden columns come from a background; whole numbers that pick nothing have no
  // gradient.
  if (part.attends_by_unit()) return {"gae", "integrated-gradients"};
  const auto graph = source_->graph(source_->key_for(layout_.count(given)));
  if (!graph->entries.empty()) return {"gradient-x-input", "saliency"};
  return {"leave-one-out"};
}

}  // namespace whyformer
