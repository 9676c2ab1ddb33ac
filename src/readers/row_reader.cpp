#include "readers/row_reader.h"

#include <fmt/format.h>

#include "readers/context_part.h"
#include "readers/describe.h"
#include "readers/describe_table.h"
#include "readers/mixed_rows.h"
#include "whyformer/error.h"

namespace whyformer {

ModelInfo RowReader::info() const {
  const std::optional<int64_t> count =
      layout_.reads_words() ? layout_.count(RowInput()) : source().column_count();
  if (!count) {
    throw InvalidInput(fmt::format(
        "'{}' reads rows of a table, whose number of columns it may leave open: inspect its file",
        source().name()));
  }
  ModelInfo info = describe(source(), "row", *source().graph(source().key_for(*count)));
  info.task = task_of(source().problem(*count), "row");
  info.outputs = source().output_names(*count);
  for (const TableColumn& column : source().columns(*count)) {
    if (column.index == 0)
      info.inputs.push_back({column.input, column.whole ? "int64" : "float", {0}});
    info.inputs.back().shape[0] = column.index + 1;
  }
  info.family = source().family();
  if (const TableSpec* spec = layout_.spec()) describe_columns(*spec, info);
  if (source().rows_attend() && layout_.spec() != nullptr)
    info.context = context_of(*layout_.spec());
  info.notes.insert(info.notes.end(), notes_.begin(), notes_.end());
  return info;
}

Answered RowReader::answered(const InputValue& value, const Question& question) const {
  if (question.similar_to) {
    throw InvalidInput("similarity to a text has no meaning for rows of a table");
  }
  const int64_t columns = layout_.count(std::get<RowInput>(value));
  const std::optional<Problem> problem = source().problem(columns);
  return {.kind = kind_of(question),
          .problem = problem,
          .space = problem == Problem::kRegression ? "value" : "logit",
          .labels = source().output_names(columns)};
}

Sample RowReader::sample(const InputValue& value, DType dtype, std::vector<std::string>&) const {
  const auto& row = std::get<RowInput>(value);
  const std::vector<double> numbers = layout_.numbers(row);
  return RowSource::sample_of(layout_.places(row), numbers, dtype);
}

int64_t RowReader::max_at_once(const InputValue& value) const {
  return contexts_.answering()->max_rows_at_once(layout_.count(std::get<RowInput>(value)));
}

namespace {

std::vector<Sample> samples_in(const Table& table, const std::vector<TableColumn>& places) {
  std::vector<Sample> samples;
  for (int64_t row = 0; row < table.rows; ++row) {
    const auto first = table.values.begin() + row * table.columns;
    samples.push_back(
        RowSource::sample_of(places, {first, first + table.columns}, DType::kFloat64));
  }
  return samples;
}

}  // namespace

Reading RowReader::read(const InputValue& value, const Question& question) const {
  const auto& given = std::get<RowInput>(value);
  const RowsSeen seen = contexts_.seen_by(layout_, given);
  std::shared_ptr<const RowSource> source = contexts_.source_of(seen);
  Reading reading;
  reading.notes = notes_;
  if (source->rows_attend() && seen.count() == 0 && !question.by_rows) {
    reading.notes.push_back(
        "The rows of this model attend to each other; this one is explained alone, without "
        "others.");
  }
  reading.answered = answered(value, question);
  reading.shown.row = given.number;
  if (!layout_.reads_words() && reading.answered.labels == std::vector<std::string>{"LABEL_0"}) {
    reading.notes.push_back(
        "The model gives one number, and nothing tells what it is: it is explained as a value. "
        "Where it is the logit of two classes, a table.json beside the file says so (output "
        "one-logit, and labels).");
  }
  if (question.by_rows && source->rows_attend()) {
    add_rows(given, std::move(source), seen, reading);
  } else {
    add_columns(given, std::move(source), seen, reading);
  }
  return reading;
}

void RowReader::add_columns(const RowInput& given, std::shared_ptr<const RowSource> source,
                            const RowsSeen& seen, Reading& reading) const {
  PlacedRow row = layout_.placed(given, reading.notes);
  const std::vector<TableColumn> places = layout_.places(given);
  if (seen.count() > 0) {
    const DType dtype = reading.answered.kind.dtype;
    reading.context = [alone = contexts_.alone(), seen, dtype, places,
                       own = RowSource::sample_of(places, row.values, dtype),
                       background = row.background] {
      return facts_of_context(*alone, seen, own, samples_in(background, places), dtype);
    };
  }
  auto part = std::make_unique<RowPart>(source, places, std::move(row), reading.answered.kind);
  reading.shown.text = part->shown_text();
  reading.shown.units = part->units();
  const int64_t most = source->max_rows_at_once(layout_.count(given));
  InputFacts facts{.source = std::move(source),
                   .kind = reading.answered.kind,
                   .sample = part->sample(),
                   .max_at_once = most,
                   .why_no_maps = part->attends_by_unit() ? "" : part->why_no_maps(),
                   .tokens = part->token_count(),
                   .beside_tokens = part->beside_tokens(),
                   .unit_of_token = part->unit_of_token(),
                   .background_weights = part->background_weights(),
                   .out_of_reach = part->out_of_reach()};
  std::vector<std::unique_ptr<const Part>> parts;
  parts.push_back(std::move(part));
  reading.inputs.emplace_back(std::move(facts), std::move(parts));
}

void RowReader::add_rows(const RowInput& given, std::shared_ptr<const RowSource> source,
                         const RowsSeen& seen, Reading& reading) const {
  if (seen.count() == 0) {
    throw InvalidInput(
        "this row is explained alone: without a context there are no rows that could count");
  }
  const RunKind kind = reading.answered.kind;
  const Sample row =
      RowSource::sample_of(layout_.places(given), layout_.numbers(given), kind.dtype);
  const RowsExplained sources = source->by_rows();
  auto part = std::make_unique<ContextPart>(sources, row, seen, layout_.told(given), kind);
  reading.by_rows = true;
  reading.shown.text = part->units()[0].cell;
  reading.shown.units = part->units();
  reading.context = [alone = contexts_.alone(), seen, row, dtype = kind.dtype] {
    return facts_of_context(*alone, seen, row, {}, dtype);
  };
  InputFacts facts{.source = sources.attending,
                   .kind = kind,
                   .sample = part->sample(),
                   .max_at_once = sources.leaving_out->max_rows_at_once(0),
                   .never_hidden = {0}};
  std::vector<std::unique_ptr<const Part>> parts;
  parts.push_back(std::move(part));
  reading.inputs.emplace_back(std::move(facts), std::move(parts));
}

std::unique_ptr<const ColumnSource> RowReader::columns_of(const NamedTable& table) const {
  return std::make_unique<MixedRows>(contexts_.source(), layout_, table);
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
  const RowPart part(contexts_.source(), layout_.places(given), row, {});
  const char* attention =
      part.reads_one_token() ? "raw-attention:gorishniy" : "raw-attention:widedeep";
  if (row.background.rows > 0) {
    const std::string shapley = shapley_method(row.columns.size(), row.background.rows);
    if (!part.attends_by_unit()) return {shapley, "leave-one-out"};
    return {shapley, "gae", attention};
  }
  // Baselines and hidden columns come from a background; whole numbers that pick nothing have no
  // gradient.
  if (part.attends_by_unit()) return {"gae", attention, "gradient-x-input"};
  const auto graph = source().graph(source().key_for(layout_.count(given)));
  if (!graph->entries.empty()) return {"gradient-x-input", "saliency"};
  return {"leave-one-out"};
}

}  // namespace whyformer
