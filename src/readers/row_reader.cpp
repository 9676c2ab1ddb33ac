#include "readers/row_reader.h"

#include <fmt/format.h>

#include "readers/context_part.h"
#include "readers/mixed_rows.h"
#include "whyformer/error.h"

namespace whyformer {

ModelInfo RowReader::info() const {
  throw InvalidInput(fmt::format(
      "'{}' reads rows of a table, whose number of columns it may leave open: inspect its file",
      source().name()));
}

Answered RowReader::answered(const InputValue& value, const Question& question) const {
  if (question.similar_to) {
    throw InvalidInput("similarity to a text has no meaning for rows of a table");
  }
  const int64_t columns = layout_.count(std::get<RowInput>(value));
  const std::optional<Problem> problem = source().problem(columns);
  return {.kind = {.dtype = question.dtype, .randomisation = question.randomisation},
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
  return source().max_rows_at_once(layout_.count(std::get<RowInput>(value)));
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
  InputFacts facts{.source = std::move(source),
                   .kind = reading.answered.kind,
                   .sample = part->sample(),
                   .max_at_once = max_at_once(given),
                   .why_no_maps = part->attends_by_unit() ? "" : part->why_no_maps(),
                   .tokens = part->token_count(),
                   .beside_tokens = part->beside_tokens(),
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

std::vector<std::string> RowReader::default_methods(const InputValue* value,
                                                    const Question&) const {
  if (value == nullptr) {
    throw InvalidInput("which methods fit a model of tables depends on the row and its background");
  }
  const auto& given = std::get<RowInput>(*value);
  std::vector<std::string> notes;
  const PlacedRow row = layout_.placed(given, notes);
  const bool has_background = row.background.rows > 0;
  const RowPart part(contexts_.source(), layout_.places(given), row, {});
  if (layout_.reads_words() && has_background) {
    if (part.attends_by_unit()) return {"shap", "gae", "raw-attention"};
    return {"shap", "leave-one-out"};
  }
  if (part.attends_by_unit()) return {"gae", "integrated-gradients"};
  // Baselines and hidden columns come from a background; whole numbers that pick nothing have no
  // gradient.
  const auto graph = source().graph(source().key_for(layout_.count(given)));
  const bool has_gradient = !graph->entries.empty();
  if (!has_background && has_gradient) return {"gradient-x-input", "saliency"};
  if (!has_gradient) return {"leave-one-out"};
  return {"integrated-gradients", "leave-one-out"};
}

}  // namespace whyformer
