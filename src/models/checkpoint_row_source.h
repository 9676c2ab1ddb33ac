// The weights of a table package as a source of graphs. Its inputs are "x_cont", the numbers, and
// "x_cat", the ids of categories; where table.json gives cells without a value a vector of the
// model's own, also "x_missing": for each of the numbers and then each of the categories whether it
// is missing.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "formats/tables/table_spec.h"
#include "formats/weights.h"
#include "models/row_source.h"

namespace whyformer {

// Throws UnsupportedModel for weights of no known family, and where the number of heads is neither
// told nor stored; FileError for tensors that do not fit together.
std::shared_ptr<const RowSource> checkpoint_row_source(const TableSpec& spec, StoredTensors tensors,
                                                       std::string name);

// The numbers of attention heads that the shapes allow, the stored one or the package's default
// first.
std::vector<int64_t> possible_heads(const TableSpec& spec, const StoredTensors& tensors);

}  // namespace whyformer
