// CSV files that are in memory, as those of a built-in model.
#pragma once

#include <string>

#include "base/bytes.h"
#include "whyformer/tables.h"

namespace whyformer {

// As read_cells; `name` names the file in messages.
NamedTable cells_in(const Bytes& file, const std::string& name);

}  // namespace whyformer
