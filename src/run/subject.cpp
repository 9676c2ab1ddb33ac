#include "run/subject.h"

#include <algorithm>

namespace whyformer {
namespace {

// What belongs to ordinary units, spread over all; special ones get `other`.
template <class T>
std::vector<T> spread(const std::vector<bool>& special, const std::vector<T>& ordinary, T other) {
  std::vector<T> all;
  size_t next = 0;
  for (const bool is_special : special) all.push_back(is_special ? other : T(ordinary[next++]));
  return all;
}

}  // namespace

Subject::Cells Subject::cells() const {
  return {.width = std::count(special().begin(), special().end(), false)};
}

Variant Subject::hiding_cells(const std::vector<bool>& hidden, const std::string& how) const {
  return hiding(spread(special(), hidden, false), how);
}

std::vector<double> Subject::unit_means(const std::vector<double>& cells) const {
  return spread(special(), cells, 0.0);
}

std::vector<double> Subject::ranges(Place, const Tensor& all) const {
  const std::vector<double> numbers = all.to_doubles();
  const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  return std::vector<double>(units(), *most - *least);
}

}  // namespace whyformer
