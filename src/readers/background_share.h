// Where the cells of a row lie among the rows of its background.
#pragma once

#include <optional>
#include <span>

#include "readers/row_layout.h"
#include "whyformer/explanation.h"

namespace whyformer {

// `weights` has one share for each row of the background. Nothing where the background is empty.
std::optional<BackgroundShare> background_share(const PlacedRow& row, const PlacedColumn& column,
                                                std::span<const double> weights);

}  // namespace whyformer
