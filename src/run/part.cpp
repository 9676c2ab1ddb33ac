#include "run/part.h"

#include <algorithm>

#include "whyformer/error.h"

namespace whyformer {

Cells Part::cells() const {
  Cells cells;
  for (const int64_t unit : players()) {
    if (!units()[unit].special) cells.unit.push_back(unit);
  }
  cells.width = static_cast<int64_t>(cells.unit.size());
  return cells;
}

Variant Part::hiding_cells(const std::vector<bool>& hidden, const std::string& how) const {
  std::vector<bool> by_unit(units().size(), false);
  const Cells all = cells();
  for (size_t cell = 0; cell < hidden.size(); ++cell) by_unit[all.unit[cell]] = hidden[cell];
  return hiding(by_unit, how, std::nullopt);
}

std::vector<double> Part::ranges(Depth, const Tensor& rows) const {
  return std::vector<double>(units().size(), range_of(rows.to_doubles()));
}

const TextInput& Part::text() const { throw Error("only texts have words"); }

Variant Part::of_text(const TextInput&) const { throw Error("only texts have words"); }

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
