#include <algorithm>

#include "methods/jobs.h"
#include "whyformer/error.h"
#include "whyformer/method_agreement.h"

namespace whyformer {
namespace {

std::vector<double> ordinary(const Explanation& explanation, const Attribution& attribution) {
  std::vector<double> scores;
  for (size_t unit = 0; unit < explanation.units.size(); ++unit) {
    if (!explanation.units[unit].special) scores.push_back(attribution.scores[unit]);
  }
  return scores;
}

// None unless every unit is one.
std::vector<std::string> columns_of(const Explanation& explanation) {
  std::vector<std::string> columns;
  for (const Unit& unit : explanation.units) {
    if (unit.special) continue;
    if (unit.column.empty()) return {};
    columns.push_back(unit.column);
  }
  return columns;
}

// Methods that draw, with another seed.
void add_again(const Model& model, const InputValue& input, const Explanation& first,
               ExplainRequest request, AgreementInput& result) {
  std::vector<MethodRequest> drawing;
  for (const MethodRequest& asked : request.methods) {
    const auto found = std::ranges::find_if(
        first.attributions, [&](const Attribution& one) { return one.method == asked.name; });
    if (found != first.attributions.end() && found->seed) drawing.push_back(asked);
  }
  result.again.resize(result.methods.size());
  if (drawing.empty()) return;
  request.methods = drawing;
  ++request.seed;
  const Explanation second = explain(model, input, request)[0];
  for (const Attribution& attribution : second.attributions) {
    const auto method = std::ranges::find(result.methods, attribution.method);
    result.again[method - result.methods.begin()] = ordinary(second, attribution);
  }
}

}  // namespace

AgreementInput agreement_input(const Model& model, const std::string& name, const InputValue& input,
                               const AgreementRequest& request) {
  if (jobs_of(request.explain.methods).size() < 2) {
    throw InvalidInput("agreement needs two methods at least");
  }
  require_each_once(request.explain.methods);
  AgreementInput result{.name = name};
  try {
    const Explanation first = explain(model, input, request.explain)[0];
    result.columns = columns_of(first);
    for (const Attribution& attribution : first.attributions) {
      result.methods.push_back(attribution.method);
      result.is_signed.push_back(attribution.is_signed);
      result.scores.push_back(ordinary(first, attribution));
    }
    add_again(model, input, first, request.explain, result);
  } catch (const Error& error) {
    return {.name = name, .problem = error.what()};
  }
  return result;
}

}  // namespace whyformer
