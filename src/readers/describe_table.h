// What is told of a table model's columns, in words.
#pragma once

#include "formats/tables/table_spec.h"
#include "whyformer/model.h"

namespace whyformer {

void describe_columns(const TableSpec& spec, ModelInfo& info);
// Rows that attend to each other, and what they attend to.
std::string context_of(const TableSpec& spec);

}  // namespace whyformer
