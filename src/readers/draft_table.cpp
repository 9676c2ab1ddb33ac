// A table.json to go on from, of weights that have none.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/files.h"
#include "models/model_files.h"
#include "models/table_files.h"
#include "models/weight_facts.h"
#include "readers/describe_table.h"
#include "whyformer/error.h"
#include "whyformer/model.h"
#include "whyformer/table_spec.h"
#include "whyformer/tables.h"

namespace whyformer {
namespace {

// A column of the user's file.
struct FileColumn {
  std::string name;
  std::set<std::string> words;  // empty for a column of numbers
};

std::vector<FileColumn> columns_in(const NamedTable& table, const TableSpec& spec) {
  std::vector<FileColumn> columns;
  const auto count = table.names.size();
  for (size_t c = 0; c < count; ++c) {
    FileColumn column{.name = table.names[c]};
    std::set<std::string> cells;
    bool number = true;
    for (size_t at = c; at < table.cells.size(); at += count) {
      const std::string& cell = table.cells[at];
      if (std::ranges::count(spec.missing_words, cell) > 0) continue;
      number &= !std::isnan(table.table.values[at]);
      cells.insert(cell);
    }
    if (!number) column.words = std::move(cells);
    columns.push_back(std::move(column));
  }
  return columns;
}

std::vector<FileColumn> of_kind(const std::vector<FileColumn>& columns, ColumnKind kind) {
  std::vector<FileColumn> found;
  for (const FileColumn& column : columns) {
    if (column.words.empty() == (kind == ColumnKind::kNumber)) found.push_back(column);
  }
  return found;
}

ColumnSpec category_column(const FileColumn& column, int64_t at) {
  ColumnSpec spec{.name = column.name,
                  .kind = ColumnKind::kCategory,
                  .input = "x_cat",
                  .at = {at},
                  .categories = {column.words.begin(), column.words.end()}};
  for (size_t id = 0; id < spec.categories.size(); ++id)
    spec.ids.push_back(static_cast<int64_t>(id));
  return spec;
}

// Words that nobody has told, for as many as the model knows.
FileColumn numbered_words(std::string name, int64_t count) {
  constexpr int64_t kMostWords = 10'000;
  FileColumn column{.name = std::move(name)};
  for (int64_t id = 0; id < std::min(count, kMostWords); ++id)
    column.words.insert(fmt::format("word {:04}", id));
  return column;
}

class Draft {
 public:
  Draft(const std::filesystem::path& weights, const std::filesystem::path& rows)
      : name_(weights.filename().string()), tensors_(table_weights_in(map_file(weights), name_)) {
    spec_.model.weights = name_;
    if (!rows.empty()) columns_ = columns_in(read_cells(rows), spec_);
    given_ = !rows.empty();
    info_->model.name = name_of_model(weights);
  }

  TableDraft write() {
    const std::vector<FileColumn> words = of_kind(columns_, ColumnKind::kCategory);
    for (size_t at = 0; at < words.size(); ++at)
      spec_.columns.push_back(category_column(words[at], static_cast<int64_t>(at)));
    const WeightFacts facts = facts_of();
    spec_.columns.clear();
    spec_.model.family = facts.family;
    add_numbers(facts);
    add_categories(facts, words);
    add_task(facts);
    add_model(facts);
    describe_columns(spec_, *info_);
    return {info_, to_json(spec_)};
  }

 private:
  void not_told(std::string what) { info_->not_told.push_back(std::move(what)); }

  WeightFacts facts_of() const {
    try {
      return weight_facts(spec_, tensors_);
    } catch (const UnsupportedModel& error) {
      if (given_ || !table_package_of(tensors_)) throw;
      throw UnsupportedModel(
          fmt::format("'{}': {}; give rows of the table, whose words tell", name_, error.what()),
          Remedy::kRow);
    }
  }

  void add_numbers(const WeightFacts& facts) {
    const std::vector<FileColumn> numbers = of_kind(columns_, ColumnKind::kNumber);
    const bool fits = static_cast<int64_t>(numbers.size()) == facts.numbers;
    for (int64_t at = 0; at < facts.numbers; ++at) {
      spec_.columns.push_back({.name = fits ? numbers[at].name : fmt::format("number {}", at),
                               .input = "x_cont",
                               .at = {at}});
    }
    if (given_ && !fits) {
      not_told(fmt::format("names of numbers: the table has {} columns of numbers, the model {}",
                           numbers.size(), facts.numbers));
    }
    if (!given_ && facts.numbers > 0) not_told("names of columns: they are numbered");
    if (facts.numbers > 0)
      not_told("steps: how numbers were scaled and missing ones filled in; none are drafted");
  }

  void add_categories(const WeightFacts& facts, const std::vector<FileColumn>& words) {
    const auto count = static_cast<int64_t>(facts.category_counts.size());
    const bool fits = static_cast<int64_t>(words.size()) == count;
    for (int64_t at = 0; at < count; ++at) {
      const int64_t known = facts.category_counts[at];
      const bool enough = fits && static_cast<int64_t>(words[at].words.size()) <= known;
      const std::string name = fits ? words[at].name : fmt::format("category {}", at);
      spec_.columns.push_back(
          category_column(enough ? words[at] : numbered_words(name, known), at));
      if (fits && !enough) {
        not_told(fmt::format("words of '{}': the table has {}, the model {}", name,
                             words[at].words.size(), known));
      }
    }
    if (given_ && !fits) {
      not_told(fmt::format("names of categories: the table has {} columns of words, the model {}",
                           words.size(), count));
    }
    if (count > 0)
      not_told("ids of words: drafted in the order of sorting, as OrdinalEncoder numbers them");
  }

  void add_task(const WeightFacts& facts) {
    if (facts.outputs > 1) return;
    spec_.task.kind = TaskSpec::Kind::kRegression;
    spec_.task.output = TaskSpec::Output::kValue;
    not_told(
        "task: the one output is drafted as a regression; of two classes it would be \"kind\": "
        "\"binary\", \"output\": \"one-logit\"");
  }

  void add_model(const WeightFacts& facts) {
    spec_.model.heads = facts.heads;
    if (!facts.heads)
      not_told(fmt::format("heads: one of {}", fmt::join(facts.possible_heads, ", ")));
    info_->model.architecture = facts.package;
    info_->family = facts.family;
    info_->parameters = facts.parameters;
    info_->tensors = facts.tensors;
    if (facts.numbers > 0) info_->inputs.push_back({"x_cont", "float", {facts.numbers}});
    const auto categories = static_cast<int64_t>(facts.category_counts.size());
    if (categories > 0) info_->inputs.push_back({"x_cat", "int64", {categories}});
    for (int64_t i = 0; i < facts.outputs; ++i)
      info_->outputs.push_back(fmt::format("output {}", i));
    if (facts.rows_attend) info_->context = context_of(spec_);
    info_->notes = facts.notes;
    info_->notes.push_back(
        fmt::format("{} blocks, tokens of width {}. The graph is shown once a "
                    "table.json says how it is read.",
                    facts.blocks, facts.width));
  }

  std::string name_;
  StoredTensors tensors_;
  TableSpec spec_;
  std::vector<FileColumn> columns_;
  bool given_ = false;  // a table
  std::shared_ptr<ModelInfo> info_ = std::make_shared<ModelInfo>();
};

}  // namespace

TableDraft draft_table(const std::filesystem::path& weights, const std::filesystem::path& rows) {
  return Draft(weights, rows).write();
}

}  // namespace whyformer
