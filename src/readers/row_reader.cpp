#include "readers/row_reader.h"

#include <fmt/format.h>

#include "readers/mixed_rows.h"
#include "whyformer/error.h"

namespace whyformer {

ModelInfo RowReader::info() const {
  throw InvalidInput(fmt::format(
      "'{}' reads rows of a table, whose number of columns it may leave open: inspect its file",
      source_->name()));
}

Answered RowReader::answered(const InputValue& value, const Question& question) const {
  if (question.similar_to) {
    throw InvalidInput("similarity to a text has no meaning for rows of a table");
  }
  const int64_t columns = layout_.count(std::get<RowInput>(value));
  const std::optional<Problem> problem = source_->problem(columns);
  return {.kind = {.dtype = question.dtype, .randomisation = question.randomisation},
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

std::vector<std::string> RowReader::default_methods(const InputValue* value,
                                                    const Question&) const {
  if (value == nullptr) {
    throw InvalidInput("which methods fit a model of tables depends on the row and its background");
  }
  const auto& given = std::get<RowInput>(*value);
  std::vector<std::string> notes;
  const PlacedRow row = layout_.placed(given, notes);
  const bool has_background = row.background.rows > 0;
  const RowPart part(source_, layout_.places(given), row, {});
  if (layout_.reads_words() && has_background) {
    if (part.attends_by_unit()) return {"shap", "gae", "raw-attention"};
    return {"shap", "leave-one-out"};
  }
  if (part.attends_by_unit()) return {"gae", "integrated-gradients"};
  // Baselines and hidden columns come from a background; whole numbers that pick nothing have no
  // gradient.
  const auto graph = source_->graph(source_->key_for(layout_.count(given)));
  const bool has_gradient = !graph->entries.empty();
  if (!has_background && has_gradient) return {"gradient-x-input", "saliency"};
  if (!has_gradient) return {"leave-one-out"};
  return {"integrated-gradients", "leave-one-out"};
}

}  // namespace whyformer
