#include "evaluate/first_lines.h"

#include <fmt/format.h>

#include <algorithm>

namespace whyformer {

void add_first_lines(const std::vector<std::string>& lines, std::vector<std::string>& notes) {
  constexpr size_t kShown = 10;
  const size_t shown = std::min(lines.size(), kShown);
  notes.insert(notes.end(), lines.begin(), lines.begin() + static_cast<int64_t>(shown));
  if (shown < lines.size()) notes.push_back(fmt::format("and {} more.", lines.size() - shown));
}

}  // namespace whyformer
