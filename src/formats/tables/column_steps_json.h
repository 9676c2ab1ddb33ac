// Steps as objects of table.json.
#pragma once

#include <nlohmann/json.hpp>

#include "formats/tables/column_steps.h"
#include "formats/tables/spec_fields.h"

namespace whyformer {

// Throws FileError for fields that do not fit, UnsupportedModel for a step that is not known.
ColumnStep step_of(const SpecFields& fields);
nlohmann::json json_of(const ColumnStep& step);

}  // namespace whyformer
