// A table's description as JSON.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "formats/tables/column_steps_json.h"
#include "formats/tables/spec_words.h"
#include "formats/tables/table_spec.h"

namespace whyformer {
namespace {

// Keys stay in the order of writing.
using OrderedJson = nlohmann::ordered_json;

OrderedJson model_json(const TableModelSpec& model) {
  OrderedJson json = OrderedJson::object();
  if (!model.family.empty()) json["family"] = model.family;
  if (!model.weights.empty()) json["weights"] = model.weights;
  if (model.heads) json["heads"] = *model.heads;
  if (!model.activation.empty()) json["activation"] = model.activation;
  if (!model.head_activation.empty()) json["head_activation"] = model.head_activation;
  for (const auto& [name, numbers] : model.numbers) json["options"][name] = numbers;
  return json;
}

OrderedJson task_json(const TaskSpec& task) {
  OrderedJson json = {{"kind", word_of(kTaskKinds, task.kind)}};
  if (!task.name.empty()) json["name"] = task.name;
  if (!task.labels.empty()) json["labels"] = task.labels;
  json["output"] = word_of(kTaskOutputs, task.output);
  if (task.kind == TaskSpec::Kind::kRegression)
    json["scale"] = {{"mean", task.mean}, {"std", task.std}};
  return json;
}

OrderedJson missing_json(const MissingCell& missing) {
  OrderedJson json = {{"how", word_of(kMissingHows, missing.how)}};
  if (missing.how == MissingCell::How::kValue) json["value"] = missing.value;
  if (missing.how == MissingCell::How::kId) json["id"] = missing.id;
  return json;
}

OrderedJson unknown_json(const ColumnSpec& column) {
  if (column.unknown_id) return {{"how", "id"}, {"id", *column.unknown_id}};
  if (column.unknown_value) return {{"how", "value"}, {"value", *column.unknown_value}};
  return {{"how", "refuse"}};
}

OrderedJson column_json(const ColumnSpec& column) {
  OrderedJson json = {{"name", column.name}, {"kind", word_of(kColumnKinds, column.kind)}};
  if (!column.input.empty()) json["input"] = column.input;
  json["at"] = column.at;
  if (!column.unit.empty()) json["unit"] = column.unit;
  if (column.kind == ColumnKind::kCategory) {
    json["categories"] = column.categories;
    json[column.values.empty() ? "ids" : "values"] =
        column.values.empty() ? OrderedJson(column.ids) : OrderedJson(column.values);
    json["unknown"] = unknown_json(column);
  }
  json["missing"] = missing_json(column.missing);
  for (const ColumnStep& step : column.steps) json["steps"].push_back(OrderedJson(json_of(step)));
  return json;
}

OrderedJson context_json(const ContextSpec& context) {
  OrderedJson json = {{"block", context.block}};
  if (!context.file.empty()) json["rows"] = context.file;
  json["mode"] = context.rows ? fmt::format("{} {}", word_of(*context.rows), word_of(context.mode))
                              : std::string(word_of(context.mode));
  return json;
}

std::string line_of(const OrderedJson& json) {
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace

// One line for each column, so that people can read it.
std::string to_json(const TableSpec& spec) {
  std::string text = fmt::format("{{\"schema\": \"{}\"", kTableSchema);
  const auto add = [&](std::string_view key, const OrderedJson& json) {
    text += fmt::format(",\n \"{}\": {}", key, line_of(json));
  };
  add("model", model_json(spec.model));
  add("task", task_json(spec.task));
  std::string columns;
  for (const ColumnSpec& column : spec.columns)
    columns += (columns.empty() ? "\n  " : ",\n  ") + line_of(column_json(column));
  text += fmt::format(",\n \"columns\": [{}]", columns);
  add("missing_words", spec.missing_words);
  if (spec.context) add("context", context_json(*spec.context));
  if (!spec.background.empty()) add("background", {{"rows", spec.background}});
  if (!spec.probe.rows.empty())
    add("probe", {{"rows", spec.probe.rows}, {"outputs", spec.probe.outputs}});
  return text + "}\n";
}

}  // namespace whyformer
