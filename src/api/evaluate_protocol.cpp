#include "api/evaluate_protocol.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/explained_input.h"
#include "evaluate/protocols/measure_protocol.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

char lower_case(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool begins_with(const std::string& label, const std::string& name) {
  return !name.empty() && name.size() <= label.size() &&
         std::equal(name.begin(), name.end(), label.begin(),
                    [](char a, char b) { return lower_case(a) == lower_case(b); });
}

// Data sets shorten names of classes: POS is the one label that begins so, positive.
TargetChoice as_the_model_says(const TargetChoice& label, const std::vector<std::string>& labels) {
  const auto* name = std::get_if<std::string>(&label);
  if (name == nullptr || std::ranges::find(labels, *name) != labels.end()) return label;
  std::vector<std::string> like;
  for (const std::string& one : labels) {
    if (begins_with(one, *name)) like.push_back(one);
  }
  return like.size() == 1 ? TargetChoice(like[0]) : label;
}

std::optional<int64_t> right_label(const ExplainedInput& explained, const EvaluationInput& input,
                                   const Protocol& protocol) {
  if (!std::holds_alternative<std::monostate>(input.label)) {
    return explained.target_named(as_the_model_says(input.label, explained.labels()));
  }
  if (!protocol.needs_label) return std::nullopt;
  throw InvalidInput(fmt::format("{} needs the right label of each input", protocol.info.name));
}

}  // namespace

void check_protocol(const EvaluationRequest& request) {
  const Protocol& protocol = find_protocol(request.protocol);
  if (!protocol.why_not.empty()) throw InvalidInput(protocol.why_not);
  if (!request.metrics.empty()) {
    throw InvalidInput(fmt::format("{} has metrics of its own: ask for it or for metrics, not both",
                                   protocol.info.name));
  }
}

void measure_by_protocol(const Model& model, const EvaluationInput& input,
                         const EvaluationRequest& request, int64_t seed, EvaluatedInput& result) {
  const Protocol& protocol = find_protocol(request.protocol);
  ExplainRequest explain = request.explain;
  explain.target = {};
  ExplainedInput explained(model, input.input, explain, WholeRun::kYes);
  const int64_t predicted = explained.targets()[0];
  const std::optional<int64_t> label = right_label(explained, input, protocol);
  for (const ProtocolPart& part : protocol.parts) {
    const bool of_label = part.explained == ExplainedClass::kLabel;
    const Explanation explanation = explained.explain(of_label ? *label : predicted);
    if (result.methods.empty()) {
      result.target = explanation.target.label;
      result.units = static_cast<int64_t>(explanation.units.size());
      result.refused = explanation.refused;
    }
    const ProtocolCase one{.input = input,
                           .explanation = explanation,
                           .label = label,
                           .run = explained.whole(),
                           .seed = seed,
                           .notes = result.notes};
    measure_protocol(part, one, request, result);
  }
}

}  // namespace whyformer
