// Notes about many inputs: the first few, and how many there are more.
#pragma once

#include <string>
#include <vector>

namespace whyformer {

void add_first_lines(const std::vector<std::string>& lines, std::vector<std::string>& notes);

}  // namespace whyformer
