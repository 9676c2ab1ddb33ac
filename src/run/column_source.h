// A model of tables as importance sees it: columns of a table, and answers for rows whose cells are
// mixed, shuffled or taken from other rows.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "models/config.h"
#include "whyformer/games.h"

namespace whyformer {

struct ColumnFacts {
  std::vector<std::string> names;
  // What is mixed, [rows, columns]: the table's numbers; or, for a model that reads words, which
  // row each cell comes from. Columns that the model does not read are left out.
  Table table;
  Problem problem = Problem::kSingleLabel;
  int64_t width = 0;  // outputs of a row
  std::vector<std::string> notes = {};
};

class ColumnSource {
 public:
  virtual ~ColumnSource() = default;

  virtual const ColumnFacts& facts() const = 0;
  // The model's outputs for `count` rows like those of the table, [count, width].
  virtual std::vector<double> outputs(std::span<const double> values, int64_t count) const = 0;
};

}  // namespace whyformer
