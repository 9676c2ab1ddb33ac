#include <algorithm>

#include "evaluate/column_agreement.h"
#include "whyformer/method_agreement.h"

namespace whyformer {
namespace {

std::optional<AgreementSpread> spread_of(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  AgreementSpread spread{.deviation = sample_deviation(values),
                         .least = std::ranges::min(values),
                         .most = std::ranges::max(values),
                         .models = static_cast<int64_t>(values.size())};
  for (const double value : values) spread.mean += value / static_cast<double>(values.size());
  return spread;
}

AgreementSpreads spreads_of(const std::vector<const AgreementCells*>& models) {
  AgreementSpreads spreads;
  for (size_t measure = 0; measure < spreads.size(); ++measure) {
    std::vector<double> values;
    for (const AgreementCells* cells : models) {
      if ((*cells)[measure].mean) values.push_back(*(*cells)[measure].mean);
    }
    spreads[measure] = spread_of(values);
  }
  return spreads;
}

size_t index_of(const AgreementReport& report, const std::string& method) {
  return std::ranges::find(report.methods, method) - report.methods.begin();
}

std::vector<std::string> common_methods(const std::vector<AgreementReport>& models) {
  std::vector<std::string> methods =
      models.empty() ? std::vector<std::string>{} : models[0].methods;
  std::erase_if(methods, [&](const std::string& method) {
    return std::ranges::any_of(models, [&](const AgreementReport& report) {
      return index_of(report, method) == report.methods.size();
    });
  });
  return methods;
}

}  // namespace

AgreementOverModels over_models(std::vector<AgreementReport> models) {
  AgreementOverModels found{.models = std::move(models)};
  found.methods = common_methods(found.models);
  for (const std::string& a : found.methods) {
    std::vector<AgreementSpreads> pairs, columns;
    for (const std::string& b : found.methods) {
      std::vector<const AgreementCells*> by_input, by_column;
      for (const AgreementReport& report : found.models) {
        by_input.push_back(&report.pairs[index_of(report, a)][index_of(report, b)]);
        if (report.by_column.empty()) continue;
        by_column.push_back(&report.by_column[index_of(report, a)][index_of(report, b)].means);
      }
      pairs.push_back(spreads_of(by_input));
      columns.push_back(spreads_of(by_column));
    }
    found.pairs.push_back(std::move(pairs));
    found.columns.push_back(std::move(columns));
  }
  return found;
}

}  // namespace whyformer
