// table.json as people and other programs write it; nothing in it is trusted.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "formats/file_checks.h"
#include "formats/tables/parse_columns.h"
#include "formats/tables/spec_fields.h"
#include "formats/tables/spec_words.h"
#include "formats/tables/table_spec.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMostHeads = 4096;
constexpr int64_t kMostRows = 1'000'000;

// A number or a list of them; other options are for other programs.
std::map<std::string, std::vector<double>, std::less<>> options_of(const SpecFields& fields) {
  std::map<std::string, std::vector<double>, std::less<>> options;
  const Json* all = fields.find("options");
  if (all == nullptr) return options;
  const SpecFields checked = *fields.object("options");
  for (const auto& [name, value] : all->items()) {
    if (value.is_number()) options[name] = {value.get<double>()};
    if (value.is_boolean()) options[name] = {value.get<bool>() ? 1.0 : 0.0};
    const auto is_number = [](const Json& element) { return element.is_number(); };
    if (value.is_array() && std::ranges::all_of(value, is_number))
      options[name] = checked.numbers(name);
  }
  return options;
}

TableModelSpec model_of(const SpecFields& file) {
  const std::optional<SpecFields> fields = file.object("model");
  if (!fields) return {};
  TableModelSpec model{.family = fields->text_or("family", ""),
                       .weights = fields->file_name_or_none("weights"),
                       .activation = fields->text_or("activation", ""),
                       .head_activation = fields->text_or("head_activation", ""),
                       .numbers = options_of(*fields)};
  if (fields->find("heads") != nullptr) model.heads = fields->whole("heads", 1, kMostHeads);
  return model;
}

TaskSpec::Output default_output(TaskSpec::Kind kind) {
  if (kind == TaskSpec::Kind::kRegression) return TaskSpec::Output::kValue;
  if (kind == TaskSpec::Kind::kBinary) return TaskSpec::Output::kOneLogit;
  return TaskSpec::Output::kLogits;
}

void check_task(const SpecFields& fields, const TaskSpec& task) {
  const bool regression = task.kind == TaskSpec::Kind::kRegression;
  const bool binary = task.kind == TaskSpec::Kind::kBinary;
  if (regression != (task.output == TaskSpec::Output::kValue) ||
      (task.output == TaskSpec::Output::kOneLogit && !binary)) {
    fields.fail(fmt::format("a {} task has no output '{}'", word_of(kTaskKinds, task.kind),
                            word_of(kTaskOutputs, task.output)));
  }
  if (binary && !task.labels.empty() && task.labels.size() != 2)
    fields.fail(fmt::format("a binary task has two labels, not {}", task.labels.size()));
  if (task.kind == TaskSpec::Kind::kMulticlass && task.labels.size() == 1)
    fields.fail("a multiclass task has more than one label");
  if (regression && task.labels.size() > 1) fields.fail("a regression has no classes to label");
}

TaskSpec task_of(const SpecFields& file) {
  const std::optional<SpecFields> fields = file.object("task");
  if (!fields)
    file.fail("'task' is missing: {\"kind\": \"binary\", \"labels\": [\"no\", \"yes\"]}");
  TaskSpec task{.name = fields->text_or("name", ""), .labels = fields->texts("labels")};
  task.kind = kind_named(*fields, "kind", kTaskKinds);
  task.output = default_output(task.kind);
  if (fields->find("output") != nullptr) task.output = kind_named(*fields, "output", kTaskOutputs);
  check_task(*fields, task);
  if (const std::optional<SpecFields> scale = fields->object("scale")) {
    if (task.kind != TaskSpec::Kind::kRegression) scale->fail("only a regression has a scale");
    task.mean = scale->number_or("mean", 0);
    task.std = scale->positive("std");
  }
  return task;
}

std::optional<ContextSpec> context_of(const SpecFields& file) {
  const std::optional<SpecFields> fields = file.object("context");
  if (!fields) return std::nullopt;
  ContextSpec context{.file = fields->file_name_or_none("rows")};
  if (fields->find("block") != nullptr) context.block = fields->whole("block", 1, kMostRows);
  // "frozen", "live", "alone", "block live": which rows, and whether they see the explained one.
  std::istringstream words(fields->text_or("mode", ""));
  for (std::string word; words >> word;) {
    const auto mode = context_mode_named(word);
    if (mode)
      context.mode = *mode;
    else
      context.rows = context_rows_named(word);
    if (mode || context.rows) continue;
    fields->fail(fmt::format(
        "'mode' says which rows are seen (alone, rows or block) and whether they see the explained "
        "one (live) or not (frozen), not {}",
        in_quotes(word)));
  }
  if (context.rows == ContextRows::kGiven && context.file.empty())
    fields->fail("'mode' is rows, but 'rows' names no file");
  return context;
}

// A cell of the probe; numbers need no quotes, and null is a missing cell.
std::string cell_text(const SpecFields& probe, const Json& cell) {
  if (cell.is_string()) return cell.get<std::string>();
  if (cell.is_number()) return cell.dump();
  if (!cell.is_null()) probe.fail("'rows' must be lists of texts and numbers");
  return {};
}

TableProbe probe_of(const SpecFields& file, size_t columns) {
  const std::optional<SpecFields> fields = file.object("probe");
  if (!fields) return {};
  TableProbe probe;
  for (const Json& row : fields->list("rows")) {
    if (!row.is_array() || row.size() != columns) {
      fields->fail(fmt::format("each of 'rows' must list {} cells, one for each column", columns));
    }
    std::vector<std::string>& cells = probe.rows.emplace_back();
    for (const Json& cell : row) cells.push_back(cell_text(*fields, cell));
  }
  for (const Json& output : fields->list("outputs")) {
    const auto is_number = [](const Json& element) { return element.is_number(); };
    if (!output.is_array() || output.empty() || !std::ranges::all_of(output, is_number))
      fields->fail("each of 'outputs' must be a list of numbers");
    probe.outputs.push_back(output.get<std::vector<double>>());
    if (probe.outputs.back().size() != probe.outputs.front().size())
      fields->fail("all 'outputs' must have the same length");
  }
  if (probe.rows.size() != probe.outputs.size()) {
    fields->fail(
        fmt::format("there are {} rows but {} outputs", probe.rows.size(), probe.outputs.size()));
  }
  return probe;
}

}  // namespace

TableSpec parse_table_spec(const Bytes& file, std::string_view what) {
  const Json json = parse_spec_json(file.text(), what);
  const SpecFields fields(json, in_quotes(what));
  const std::string schema = fields.text("schema");
  if (schema != kTableSchema) {
    throw UnsupportedModel(fmt::format("{}: 'schema' is {}, but {} is what can be read",
                                       in_quotes(what), in_quotes(schema),
                                       in_quotes(kTableSchema)));
  }
  TableSpec spec;
  spec.model = model_of(fields);
  spec.task = task_of(fields);
  spec.columns = columns_of(fields);
  if (fields.find("missing_words") != nullptr) spec.missing_words = fields.texts("missing_words");
  spec.context = context_of(fields);
  if (const std::optional<SpecFields> background = fields.object("background"))
    spec.background = background->file_name_or_none("rows");
  spec.probe = probe_of(fields, spec.columns.size());
  return spec;
}

}  // namespace whyformer
