#include "formats/tables/parse_columns.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "formats/tables/column_steps_json.h"
#include "formats/tables/spec_words.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMostPlaces = 1'000'000;
constexpr int64_t kHighestId = 10'000'000;

template <typename Step>
int64_t count_of(const ColumnSpec& column) {
  return std::ranges::count_if(
      column.steps, [](const ColumnStep& step) { return std::holds_alternative<Step>(step); });
}

// Throws FileError for a word that is listed twice.
std::set<std::string_view> words_in(const SpecFields& fields, std::string_view key,
                                    const std::vector<std::string>& list) {
  std::set<std::string_view> words;
  for (const std::string& word : list) {
    if (!words.insert(word).second)
      fields.fail(fmt::format("{} is listed twice in '{}'", in_quotes(word), key));
  }
  return words;
}

// Categories that a one-hot step drops have the id behind its last place.
std::vector<int64_t> ids_without(const SpecFields& step, const std::vector<std::string>& categories,
                                 const std::vector<std::string>& drop) {
  const std::set<std::string_view> dropped = words_in(step, "drop", drop);
  if (dropped.size() >= categories.size()) step.fail("'drop' leaves no category");
  const auto places = static_cast<int64_t>(categories.size() - dropped.size());
  std::vector<int64_t> ids;
  int64_t next = 0;
  for (const std::string& word : categories)
    ids.push_back(dropped.contains(word) ? places : next++);
  if (next != places) step.fail("'drop' lists a word that is no category");
  return ids;
}

// The one-hot step may list the categories in place of the column.
void read_one_hot_words(const SpecFields& step, ColumnSpec& column) {
  const std::vector<std::string> words = step.texts("categories");
  if (column.categories.empty()) column.categories = words;
  if (!words.empty() && words != column.categories)
    step.fail("'categories' differ from those of the column");
  const std::vector<std::string> dropped = step.texts("drop");
  if (dropped.empty()) return;
  if (!column.ids.empty()) step.fail("give 'drop', or 'ids' of the column, not both");
  column.ids = ids_without(step, column.categories, dropped);
}

void read_steps(const SpecFields& fields, ColumnSpec& column) {
  if (fields.find("steps") == nullptr) return;
  for (const Json& json : fields.list("steps")) {
    const SpecFields step(json,
                          fmt::format("{}, step {}", fields.place(), column.steps.size() + 1));
    column.steps.push_back(step_of(step));
    if (std::holds_alternative<OneHotStep>(column.steps.back())) read_one_hot_words(step, column);
  }
}

void read_categories(const SpecFields& fields, ColumnSpec& column) {
  if (column.categories.empty()) fields.fail("a category column needs its 'categories'");
  words_in(fields, "categories", column.categories);
  const size_t count = column.categories.size();
  column.values = fields.numbers("values");
  if (!column.values.empty() && !column.ids.empty())
    fields.fail("give 'ids' or 'values' of the categories, not both");
  if (!column.values.empty() && column.values.size() != count) {
    fields.fail(fmt::format("there are {} categories but {} values", count, column.values.size()));
  }
  if (column.ids.empty()) {
    column.ids.resize(count);
    std::iota(column.ids.begin(), column.ids.end(), 0);
  }
  if (column.ids.size() != count)
    fields.fail(fmt::format("there are {} categories but {} ids", count, column.ids.size()));
}

void read_missing(const SpecFields& fields, ColumnSpec& column) {
  const std::optional<SpecFields> missing = fields.object("missing");
  if (!missing) return;
  using How = MissingCell::How;
  column.missing.how = kind_named(*missing, "how", kMissingHows);
  const bool ids = column.kind == ColumnKind::kCategory && column.values.empty();
  if (column.missing.how == How::kId) {
    if (!ids) missing->fail("only a category with ids has an id for missing cells");
    column.missing.id = missing->whole("id", 0, kHighestId);
  }
  if (column.missing.how == How::kValue) column.missing.value = missing->number("value");
  if (ids && (column.missing.how == How::kValue || column.missing.how == How::kNan))
    missing->fail("a category with ids has an id for missing cells, not a number");
}

void read_unknown(const SpecFields& fields, ColumnSpec& column) {
  const std::optional<SpecFields> unknown = fields.object("unknown");
  if (!unknown) return;
  const std::string how = unknown->text("how");
  if (how == "refuse") return;
  if (how == "id" && column.values.empty())
    column.unknown_id = unknown->whole("id", 0, kHighestId);
  else if (how == "value" && !column.values.empty())
    column.unknown_value = unknown->number("value");
  else
    unknown->fail(fmt::format("'how' is {}; it must be refuse or {}", in_quotes(how),
                              column.values.empty() ? "id" : "value"));
}

// That each step can read what the one before gives.
void check_order(const SpecFields& fields, const ColumnSpec& column) {
  bool number = column.kind == ColumnKind::kNumber || !column.values.empty();
  bool id = !number;
  for (const ColumnStep& step : column.steps) {
    if (std::holds_alternative<IndicatorStep>(step)) continue;
    const bool one_hot = std::holds_alternative<OneHotStep>(step);
    if (one_hot ? !id : !number) {
      fields.fail(fmt::format("a step '{}' is not possible {}", op_of(step),
                              one_hot ? "here; it reads the ids of categories, or bins"
                              : id    ? "on ids; give 'values' of the categories"
                                      : "after one-hot"));
    }
    id = std::holds_alternative<BinsStep>(step);
    number = !one_hot;
  }
}

void check_one_hot(const SpecFields& fields, const ColumnSpec& column, const OneHotStep& step,
                   int64_t places) {
  if (!step.on.empty() && static_cast<int64_t>(step.on.size()) != places) {
    fields.fail(fmt::format("one-hot gives {} numbers for {} places", step.on.size(), places));
  }
  for (size_t i = 0; i < column.ids.size(); ++i) {
    if (column.ids[i] <= places) continue;
    fields.fail(fmt::format("category {} has id {}, but 'at' has {} places for the categories",
                            in_quotes(column.categories[i]), column.ids[i], places));
  }
}

void check_places_of(const SpecFields& fields, const ColumnSpec& column) {
  const auto indicators = count_of<IndicatorStep>(column);
  const int64_t places = static_cast<int64_t>(column.at.size()) - indicators;
  if (places < 1 || (places > 1 && count_of<OneHotStep>(column) == 0)) {
    fields.fail(fmt::format("'at' lists {} places, but the column fills {}", column.at.size(),
                            1 + indicators));
  }
  for (const ColumnStep& step : column.steps) {
    if (const auto* one_hot = std::get_if<OneHotStep>(&step))
      check_one_hot(fields, column, *one_hot, places);
  }
}

ColumnSpec column_of(const Json& json, const std::string& file, size_t index) {
  const SpecFields unnamed(json, fmt::format("{}, column {}", file, index + 1));
  ColumnSpec column{.name = unnamed.text("name")};
  if (column.name.empty()) unnamed.fail("'name' is empty");
  const SpecFields fields(json, fmt::format("{}, column {}", file, in_quotes(column.name)));
  column.kind = kind_named(fields, "kind", kColumnKinds);
  column.unit = fields.text_or("unit", "");
  column.input = fields.text_or("input", "");
  column.at = fields.wholes("at", 0, kMostPlaces - 1);
  column.categories = fields.texts("categories");
  column.ids = fields.wholes("ids", 0, kHighestId);
  read_steps(fields, column);
  if (column.kind == ColumnKind::kCategory)
    read_categories(fields, column);
  else if (!column.categories.empty() || !column.ids.empty())
    fields.fail("a number column has no categories");
  read_missing(fields, column);
  if (column.kind == ColumnKind::kCategory) read_unknown(fields, column);
  check_order(fields, column);
  check_places_of(fields, column);
  return column;
}

// Every place of an input has one column.
void check_places(const SpecFields& file, const std::vector<ColumnSpec>& columns) {
  std::map<std::string_view, std::map<int64_t, std::string_view>> places;
  for (const ColumnSpec& column : columns) {
    for (const int64_t place : column.at) {
      const auto [taken, is_new] = places[column.input].try_emplace(place, column.name);
      if (is_new) continue;
      file.fail(fmt::format("columns {} and {} are both at place {} of input {}",
                            in_quotes(taken->second), in_quotes(column.name), place,
                            in_quotes(column.input)));
    }
  }
  for (const auto& [input, filled] : places) {
    int64_t next = 0;
    for (const auto& [place, name] : filled) {
      if (place != next++) {
        file.fail(fmt::format("no column is at place {} of input {}", next - 1, in_quotes(input)));
      }
    }
  }
}

}  // namespace

std::vector<ColumnSpec> columns_of(const SpecFields& file) {
  std::vector<ColumnSpec> columns;
  std::set<std::string> names;
  for (const Json& json : file.list("columns")) {
    columns.push_back(column_of(json, file.place(), columns.size()));
    if (!names.insert(columns.back().name).second)
      file.fail(fmt::format("two columns are called {}", in_quotes(columns.back().name)));
  }
  if (columns.empty()) file.fail("'columns' is empty");
  check_places(file, columns);
  return columns;
}

}  // namespace whyformer
