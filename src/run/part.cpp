#include "run/part.h"

#include <algorithm>

namespace whyformer {

std::vector<double> PartEntrance::ranges(Depth, const Tensor& rows) const {
  return std::vector<double>(rows.dim(0), range_of(rows.to_doubles()));
}

std::string word_for(const Part& part, const std::vector<const Part*>& all,
                     const std::string& word) {
  const bool another_knows = std::ranges::any_of(all, [&](const Part* other) {
    return other != &part && std::ranges::count(other->traits().words, word) > 0;
  });
  return another_knows ? "auto" : word;
}

std::vector<bool> special_units(const std::vector<Unit>& units) {
  std::vector<bool> special;
  for (const Unit& unit : units) special.push_back(unit.special);
  return special;
}

double range_of(const std::vector<double>& numbers) {
  const auto [smallest, largest] = std::minmax_element(numbers.begin(), numbers.end());
  return *largest - *smallest;
}

}  // namespace whyformer
