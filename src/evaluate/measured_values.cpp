#include "evaluate/measured_values.h"

#include <algorithm>

namespace whyformer {

MeasuredRow mean_of_rows(std::span<const MeasuredRow> rows) {
  MeasuredRow result(rows[0].size());
  for (size_t column = 0; column < result.size(); ++column) {
    double sum = 0, count = 0;
    for (const MeasuredRow& row : rows) {
      const MeasuredValue& own = row[column];
      if (own.value) {
        sum += *own.value;
        count += 1;
      }
      std::vector<Ratio>& ratios = result[column].ratios;
      ratios.resize(std::max(ratios.size(), own.ratios.size()));
      for (size_t i = 0; i < own.ratios.size(); ++i) {
        ratios[i].part += own.ratios[i].part;
        ratios[i].whole += own.ratios[i].whole;
      }
    }
    if (count > 0) result[column].value = sum / count;
  }
  return result;
}

void append_measured(const MeasuredRow& row, std::vector<MetricValue>& values,
                     std::vector<std::vector<Ratio>>& ratios) {
  for (const MeasuredValue& one : row) {
    values.push_back(one.value);
    ratios.push_back(one.ratios);
  }
}

}  // namespace whyformer
