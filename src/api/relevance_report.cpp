#include "whyformer/relevance.h"

#include <algorithm>
#include <cmath>

#include "api/prepare.h"
#include "base/pulse.h"
#include "tensor/map.h"

namespace whyformer {

double RelevanceStep::loss() const {
  const double size = std::max(entering_magnitude, leaving_magnitude);
  return size == 0 ? 0 : (entering - leaving) / size;
}

std::vector<std::string> relevance_policies() { return policy_names(); }

RelevanceReport relevance_report(const Model& model, const TextInput& input,
                                 const std::string& policy, const ExplainRequest& request) {
  Prepared prepared = prepare(model.text_model(), input, request, {.values = true});
  Explained& explained = *prepared.explained;
  const PulseScope pulses(explained.pulse_question());
  const Explained::RelevanceKind kind{.policy = policy, .notes = RelevanceWalk::Notes::kFlows};
  RelevanceReport report;
  report.model = model.name();
  report.policy = policy;
  report.target = std::move(prepared.target);
  report.notes = std::move(prepared.notes);
  for (const NodeFlow& flow : explained.relevance_flows(kind)) {
    const Node& node = explained.graph().graph.nodes()[flow.node];
    report.steps.push_back({node.name, std::string(node.op->kind()),
                            std::string(node.op->moves_data() ? "move" : name_of(flow.rule)),
                            flow.entering.plain, flow.leaving.plain, flow.entering.magnitude,
                            flow.leaving.magnitude});
  }
  if (!report.steps.empty()) report.seed = report.steps[0].entering;
  report.at_first_layer = sums_of(explained.embedding_relevance(kind, Place::kFirstLayer)).plain;
  report.at_words = sums_of(explained.embedding_relevance(kind, Place::kInput)).plain;
  for (std::string& note : explained.policy_notes(policy)) report.notes.push_back(std::move(note));
  return report;
}

}  // namespace whyformer
