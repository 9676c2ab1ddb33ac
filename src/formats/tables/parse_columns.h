// The columns of table.json.
#pragma once

#include <fmt/format.h>

#include <vector>

#include "formats/file_checks.h"
#include "formats/tables/spec_fields.h"
#include "formats/tables/table_spec.h"

namespace whyformer {

// Throws FileError for columns that do not fit: two of one name, two at one place, a place that no
// column fills, ids and categories that are not equally many.
std::vector<ColumnSpec> columns_of(const SpecFields& file);

// The kind that a field names. Throws FileError that lists the known words.
template <typename Words>
auto kind_named(const SpecFields& fields, std::string_view key, const Words& words) {
  const std::string given = fields.text(key);
  std::string known;
  for (const auto& [word, kind] : words) {
    if (word == given) return kind;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", word);
  }
  fields.fail(fmt::format("'{}' is {}; known are {}", key, in_quotes(given), known));
}

}  // namespace whyformer
