#include "readers/describe_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace whyformer {
namespace {

std::string encoding_of(const ColumnSpec& column) {
  std::string steps;
  for (const ColumnStep& step : column.steps)
    steps += (steps.empty() ? "" : ", ") + std::string(op_of(step));
  if (column.kind == ColumnKind::kNumber) return steps.empty() ? "as it is" : steps;
  std::string words = fmt::format("{} words as {}", column.categories.size(),
                                  column.values.empty() ? "ids" : "numbers");
  if (column.unknown_id || column.unknown_value) words += ", others allowed";
  return steps.empty() ? words : words + ", " + steps;
}

std::string missing_of(const MissingCell& missing) {
  switch (missing.how) {
    case MissingCell::How::kRefuse:
      return "refused";
    case MissingCell::How::kValue:
      return fmt::format("{}", missing.value);
    case MissingCell::How::kId:
      return fmt::format("id {}", missing.id);
    case MissingCell::How::kMask:
      return "a vector of its own";
    case MissingCell::How::kNan:
      return "NaN";
  }
  return {};
}

}  // namespace

std::string context_of(const TableSpec& spec) {
  const ContextSpec context = spec.context.value_or(ContextSpec());
  const ContextRows rows =
      context.rows.value_or(context.file.empty() ? ContextRows::kBlock : ContextRows::kGiven);
  const std::string_view mode = word_of(context.mode);
  switch (rows) {
    case ContextRows::kAlone:
      return "none: rows attend to each other in this model, and each is answered alone";
    case ContextRows::kGiven:
      return fmt::format("rows of {}, {}", context.file, mode);
    case ContextRows::kBlock:
      return fmt::format("the other rows of the same block of {}, {}", context.block, mode);
  }
  return {};
}

void describe_columns(const TableSpec& spec, ModelInfo& info) {
  for (const ColumnSpec& column : spec.columns) {
    info.columns.push_back({.name = column.name,
                            .kind = column.kind == ColumnKind::kNumber ? "number" : "category",
                            .unit = column.unit,
                            .encoding = encoding_of(column),
                            .missing = missing_of(column.missing),
                            .input = column.input,
                            .at = column.at});
  }
  if (info.family.empty()) info.family = spec.model.family;
  const auto add = [&](bool absent, const char* what) {
    if (absent) info.not_told.emplace_back(what);
  };
  add(spec.task.kind != TaskSpec::Kind::kRegression && spec.task.labels.empty(),
      "labels: classes are called LABEL_0, LABEL_1, …");
  add(spec.background.empty(), "background: rows that hidden columns are taken from");
  add(spec.probe.rows.empty(),
      "probe: rows with the answers of the framework that the model was trained in, by which a "
      "wrong number of heads or a wrong encoding shows");
}

}  // namespace whyformer
