#include "readers/row_reader.h"

#include <fmt/format.h>

#include <cmath>

#include "whyformer/error.h"

namespace whyformer {
namespace {

int64_t columns_of(const InputValue& value) {
  return static_cast<int64_t>(std::get<RowInput>(value).values.size());
}

void check_weights(const RowInput& row) {
  constexpr double kRounding = 1e-6;
  if (row.weights.empty()) return;
  if (static_cast<int64_t>(row.weights.size()) != row.background.rows) {
    throw InvalidInput(fmt::format("the background has {} rows, but {} weights",
                                   row.background.rows, row.weights.size()));
  }
  double sum = 0;
  for (size_t i = 0; i < row.weights.size(); ++i) {
    const double weight = row.weights[i];
    if (!std::isfinite(weight) || weight < 0) {
      throw InvalidInput(fmt::format(
          "the weight of background row {} is {}: expected a number of 0 or more", i, weight));
    }
    sum += weight;
  }
  if (std::abs(sum - 1) <= kRounding) return;
  throw InvalidInput(fmt::format("the weights of the background sum to {:g}, not to 1", sum));
}

void check(const RowInput& row) {
  if (row.names.size() != row.values.size()) {
    throw InvalidInput(
        fmt::format("a row of {} numbers with {} names", row.values.size(), row.names.size()));
  }
  const Table& background = row.background;
  if (background.rows < 0 ||
      static_cast<int64_t>(background.values.size()) != background.rows * background.columns) {
    throw InvalidInput(fmt::format("a background of {} rows and {} columns has {} numbers",
                                   background.rows, background.columns, background.values.size()));
  }
  check_weights(row);
}

// Columns in the order in which the model takes them.
RowInput in_order(const RowSource& source, const RowInput& given) {
  check(given);
  RowInput row = given;
  const std::vector<int64_t> places = source.places_of(given.names);
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

ModelInfo RowReader::info() const {
  throw InvalidInput(fmt::format(
      "'{}' reads rows of a table, whose number of columns it may leave open: inspect its file",
      source_->name()));
}

Answered RowReader::answered(const InputValue& value, const Question& question) const {
  if (question.similar_to) {
    throw InvalidInput("similarity to a text has no meaning for rows of a table");
  }
  const int64_t columns = columns_of(value);
  const std::optional<Problem> problem = source_->problem(columns);
  return {.kind = {.dtype = question.dtype, .randomisation = question.randomisation},
          .problem = problem,
          .space = problem == Problem::kRegression ? "value" : "logit",
          .labels = source_->output_names(columns)};
}

Sample RowReader::sample(const InputValue& value, DType dtype, std::vector<std::string>&) const {
  const auto& row = std::get<RowInput>(value);
  check(row);
  const std::vector<int64_t> places = source_->places_of(row.names);
  std::vector<double> values;
  for (const int64_t place : places) values.push_back(row.values[place]);
  return RowSource::sample_of(source_->columns(columns_of(value)), values, dtype);
}

int64_t RowReader::most_at_once(const InputValue& value) const {
  return source_->most_rows_at_once(columns_of(value));
}

Reading RowReader::read(const InputValue& value, const Question& question) const {
  const RowInput row = in_order(*source_, std::get<RowInput>(value));
  Reading reading;
  reading.answered = answered(value, question);
  auto part = std::make_unique<RowPart>(source_, row, reading.answered.kind);
  reading.shown.text = part->shown_text();
  reading.shown.units = part->units();
  InputFacts facts{.source = source_,
                   .kind = reading.answered.kind,
                   .sample = part->sample(),
                   .most_at_once = most_at_once(value),
                   .why_no_maps = part->attends_by_unit() ? "" : part->why_no_maps(),
                   .background_weights = part->background_weights(),
                   .out_of_reach = part->out_of_reach()};
  std::vector<std::unique_ptr<const Part>> parts;
  parts.push_back(std::move(part));
  reading.inputs.emplace_back(std::move(facts), std::move(parts));
  return reading;
}

std::vector<std::string> RowReader::default_methods(const InputValue* value,
                                                    const Question&) const {
  if (value == nullptr) {
    throw InvalidInput("which methods fit a model of tables depends on the row and its background");
  }
  const RowInput row = in_order(*source_, std::get<RowInput>(*value));
  const RowPart part(source_, row, {});
  if (part.attends_by_unit()) return {"gae", "integrated-gradients"};
  // Baselines and hidden columns come from a background; whole numbers that pick nothing have no
  // gradient.
  const auto graph = source_->graph(source_->key_for(columns_of(*value)));
  const bool has_gradient = !graph->entries.empty();
  if (row.background.rows == 0 && has_gradient) return {"gradient-x-input", "saliency"};
  if (!has_gradient) return {"leave-one-out"};
  return {"integrated-gradients", "leave-one-out"};
}

}  // namespace whyformer
