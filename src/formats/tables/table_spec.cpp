// What a cell of a table becomes.
#include "formats/tables/table_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/edit_distance.h"
#include "formats/file_checks.h"
#include "formats/tables/spec_words.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

[[noreturn]] void refuse(const ColumnSpec& column, const std::string& problem) {
  throw InvalidInput(fmt::format("column {}: {}", in_quotes(column.name), problem));
}

std::string_view trimmed(std::string_view cell) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t begin = cell.find_first_not_of(kBlanks);
  if (begin == cell.npos) return {};
  return cell.substr(begin, cell.find_last_not_of(kBlanks) - begin + 1);
}

// Plain numbers only: no infinities, no separators of thousands.
std::optional<double> number_in(std::string_view cell) {
  if (cell.starts_with('+') && !cell.starts_with("+-")) cell.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
  if (cell.empty() || end != cell.data() + cell.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range)  // too small is 0
    number = std::strtod(std::string(cell).c_str(), nullptr);
  else if (error != std::errc())
    return std::nullopt;
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

// As it is written, then without blanks, then as a number.
std::optional<size_t> category_of(const ColumnSpec& column, std::string_view cell) {
  for (const std::string_view written : {cell, trimmed(cell)}) {
    const auto found = std::ranges::find(column.categories, written);
    if (found != column.categories.end()) return found - column.categories.begin();
  }
  const std::optional<double> number = number_in(trimmed(cell));
  if (!number) return std::nullopt;
  for (size_t i = 0; i < column.categories.size(); ++i) {
    if (number_in(column.categories[i]) == number) return i;
  }
  return std::nullopt;
}

// The words nearest to an unknown one, or the first of all where none is near.
std::string nearest_words(const std::vector<std::string>& words, std::string_view unknown) {
  constexpr size_t kLongest = 64, kMost = 3, kMostShown = 8;
  std::vector<std::pair<size_t, const std::string*>> near;
  for (const std::string& word : words) {
    if (word.size() > kLongest || unknown.size() > kLongest) continue;
    const size_t distance = edit_distance(word, unknown);
    if (distance <= std::max<size_t>(2, unknown.size() / 3)) near.emplace_back(distance, &word);
  }
  std::ranges::stable_sort(near, {}, [](const auto& pair) { return pair.first; });
  std::string list;
  for (size_t i = 0; i < std::min(near.size(), kMost); ++i)
    list += (list.empty() ? "" : ", ") + in_quotes(*near[i].second);
  if (!list.empty()) return fmt::format("the nearest are {}", list);
  for (size_t i = 0; i < std::min(words.size(), kMostShown); ++i)
    list += (list.empty() ? "" : ", ") + in_quotes(words[i]);
  return fmt::format("known are {}{}", list, words.size() > kMostShown ? ", …" : "");
}

// The number or id of a cell before the steps.
struct CellValue {
  double number = 0;
  bool missing = false;
  bool masked = false;  // the model has a vector of its own for it
};

CellValue missing_value(const ColumnSpec& column, std::string_view cell) {
  using How = MissingCell::How;
  switch (column.missing.how) {
    case How::kValue:
      return {column.missing.value, true};
    case How::kId:
      return {static_cast<double>(column.missing.id), true};
    case How::kMask:
      return {0, true, true};
    case How::kNan:
      return {kNan, true};
    case How::kRefuse:
      break;
  }
  refuse(column, fmt::format("{} is a missing value, and the model has none for it; fill it in "
                             "first",
                             in_quotes(cell)));
}

CellValue category_value(const ColumnSpec& column, std::string_view cell) {
  if (const std::optional<size_t> index = category_of(column, cell)) {
    const bool ids = column.values.empty();
    return {ids ? static_cast<double>(column.ids[*index]) : column.values[*index]};
  }
  if (column.unknown_id) return {static_cast<double>(*column.unknown_id)};
  if (column.unknown_value) return {*column.unknown_value};
  refuse(column, fmt::format("{} is no known category; {}", in_quotes(cell),
                             nearest_words(column.categories, trimmed(cell))));
}

CellValue number_value(const ColumnSpec& column, std::string_view cell) {
  const std::optional<double> number = number_in(trimmed(cell));
  if (!number) {
    const bool comma = cell.find(',') != cell.npos;
    refuse(column, fmt::format("{} is not a number{}", in_quotes(cell),
                               comma ? "; write it with a point and without other signs" : ""));
  }
  return {*number};
}

bool is_missing(const TableSpec& spec, const ColumnSpec& column, std::string_view cell) {
  // A category may be called "NA".
  const bool named = column.kind == ColumnKind::kCategory &&
                     std::ranges::find(column.categories, cell) != column.categories.end();
  return !named && std::ranges::find(spec.missing_words, trimmed(cell)) != spec.missing_words.end();
}

CellValue value_of(const TableSpec& spec, const ColumnSpec& column, std::string_view cell) {
  if (is_missing(spec, column, cell)) return missing_value(column, cell);
  const bool category = column.kind == ColumnKind::kCategory;
  return category ? category_value(column, cell) : number_value(column, cell);
}

double stepped(const ColumnSpec& column, std::string_view cell, double number) {
  for (const ColumnStep& step : column.steps) {
    const double next = after_step(step, number);
    if (!std::isfinite(next) && std::isfinite(number)) {
      refuse(column,
             fmt::format("{} has no finite result in the step '{}'", in_quotes(cell), op_of(step)));
    }
    number = next;
  }
  return number;
}

// One number, or one for each place of a one-hot step.
std::vector<double> spread(const ColumnSpec& column, double number, size_t places) {
  for (const ColumnStep& step : column.steps) {
    const auto* one_hot = std::get_if<OneHotStep>(&step);
    if (one_hot == nullptr) continue;
    std::vector<double> numbers = one_hot->off;
    numbers.resize(places, 0);
    if (number < static_cast<double>(places)) {
      const auto place = static_cast<size_t>(number);
      numbers[place] = one_hot->on.empty() ? 1 : one_hot->on[place];
    }
    return numbers;
  }
  return {number};
}

}  // namespace

std::optional<ContextRows> context_rows_named(std::string_view word) {
  for (const auto& [name, rows] : kContextRowsWords) {
    if (name == word) return rows;
  }
  return std::nullopt;
}

std::optional<ContextMode> context_mode_named(std::string_view word) {
  for (const auto& [name, mode] : kContextModes) {
    if (name == word) return mode;
  }
  return std::nullopt;
}

std::string_view word_of(ContextRows rows) { return word_of(kContextRowsWords, rows); }
std::string_view word_of(ContextMode mode) { return word_of(kContextModes, mode); }

int64_t ColumnSpec::id_count() const {
  int64_t highest = -1;
  for (const int64_t id : ids) highest = std::max(highest, id);
  if (missing.how == MissingCell::How::kId) highest = std::max(highest, missing.id);
  if (unknown_id) highest = std::max(highest, *unknown_id);
  return highest + 1;
}

std::optional<std::string> about_unknown_category(const TableSpec& spec, const ColumnSpec& column,
                                                  std::string_view cell) {
  if (column.kind != ColumnKind::kCategory || is_missing(spec, column, cell) ||
      category_of(column, cell))
    return std::nullopt;
  return nearest_words(column.categories, trimmed(cell));
}

EncodedCell encoded(const TableSpec& spec, const ColumnSpec& column, std::string_view cell) {
  const CellValue value = value_of(spec, column, cell);
  std::vector<double> indicators;
  for (const ColumnStep& step : column.steps) {
    if (const auto* indicator = std::get_if<IndicatorStep>(&step))
      indicators.push_back(value.missing ? indicator->on : indicator->off);
  }
  const size_t places = column.at.size() - std::min(column.at.size(), indicators.size());
  if (value.masked) return {std::vector<double>(column.at.size()), true};
  EncodedCell result{spread(column, stepped(column, cell, value.number), places)};
  result.numbers.insert(result.numbers.end(), indicators.begin(), indicators.end());
  return result;
}

}  // namespace whyformer
