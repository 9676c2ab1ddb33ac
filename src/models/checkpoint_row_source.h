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

// Whether the rows of a context see the explained row too.
enum class ContextMode {
  kFrozen,  // they have the keys and values that they have among themselves
  kLive     // they do; a run has the context's rows for each explained one
};

// The model with a context: each explained row attends to itself and to these rows, which are
// encoded as samples are; explained rows never see each other. Without rows it is the model itself.
// Throws UnsupportedModel where rows do not attend to each other, or the source is another kind.
std::shared_ptr<const RowSource> with_context(const std::shared_ptr<const RowSource>& source,
                                              std::vector<Sample> context, ContextMode mode);

// The numbers of attention heads that the shapes allow, the stored one or the package's default
// first.
std::vector<int64_t> possible_heads(const TableSpec& spec, const StoredTensors& tensors);

}  // namespace whyformer
