// What was measured of scores, by column, and how the values of random rankings become one.
#pragma once

#include <span>
#include <vector>

#include "whyformer/evaluation.h"

namespace whyformer {

struct MeasuredValue {
  MetricValue value;
  std::vector<Ratio> ratios = {};  // of columns that sum them over inputs
};
using MeasuredRow = std::vector<MeasuredValue>;

// Values are the mean over the rows that have one; ratios are summed, so that each row counts
// alike. There is at least one row.
MeasuredRow mean_of_rows(std::span<const MeasuredRow> rows);

// Adds a row to the values and the ratios of a method.
void append_measured(const MeasuredRow& row, std::vector<MetricValue>& values,
                     std::vector<std::vector<Ratio>>& ratios);

}  // namespace whyformer
