// Rows of CSV files (RFC 4180) that are in memory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "whyformer/tables.h"

namespace whyformer {

inline constexpr int64_t kMostCells = int64_t{1} << 28;

// Rows that cannot be read are added to `broken`, or thrown as FileError where it is null.
// Numbers, with or without names in the first line.
NamedTable read_csv(std::string_view text, const std::string& name, std::vector<BrokenRow>* broken);
// Words and numbers, with names in the first line.
NamedTable read_words(std::string_view text, const std::string& name,
                      std::vector<BrokenRow>* broken);

// A name that stands there twice; null where there is none.
const std::string* name_given_twice(const std::vector<std::string>& names);
std::vector<std::string> numbered_names(size_t count);

}  // namespace whyformer
