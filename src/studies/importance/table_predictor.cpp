#include "studies/importance/table_predictor.h"

#include <fmt/format.h>

#include <cmath>

#include "studies/importance/scores.h"
#include "whyformer/error.h"

namespace whyformer {

std::vector<double> TablePredictor::operator()(const std::vector<double>& values, int64_t count) {
  std::vector<double> outputs = source_->outputs(values, count);
  for (const double output : outputs) {
    if (std::isfinite(output)) continue;
    throw InvalidInput(
        fmt::format("the model answers {} for a row: look for huge numbers in the table", output));
  }
  predicted_ += count;
  to_predictions(outputs, facts().width, facts().problem);
  return outputs;
}

}  // namespace whyformer
