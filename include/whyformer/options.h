// Options of methods, by name.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace whyformer {

using OptionValue = std::variant<bool, int64_t, double, std::string>;
using Options = std::vector<std::pair<std::string, OptionValue>>;

}  // namespace whyformer
