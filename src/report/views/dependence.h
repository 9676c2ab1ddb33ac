// How the scores of one column follow its values, and which other column they seem to depend on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/views/axis.h"
#include "whyformer/summary.h"

namespace whyformer::report {

struct DependencePoint {
  double x = 0;  // the value, or the place of the category; not a number where the cell is missing
  double score = 0;
  std::optional<double> level = {};  // of the colouring column, from 0 to 1
};

struct Dependence {
  std::string column;
  std::vector<std::string> words = {};  // of a category, from the lowest mean score to the highest
  size_t missing = 0;                   // points whose cell is missing
  AxisRange x = {}, y = {};
  std::string coloured_by = {};          // empty: no column seems to interact
  std::vector<std::string> shades = {};  // its categories by growing level; empty for numbers
  std::string low = {}, high = {};       // its least and largest number
  std::vector<DependencePoint> points = {};
};

// An empty name: the strongest column. Throws InvalidInput for other names and without a table.
Dependence dependence_of(const Summary& summary, const std::string& column);

}  // namespace whyformer::report
