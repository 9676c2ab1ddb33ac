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

RelevanceReport relevance_report(const Model& model, const InputValue& input,
                                 const std::string& policy, const ExplainRequest& request) {
  Prepared prepared = prepare(model.reader_of(input), input, request, {.alone = {.values = true}});
  choose_target(prepared, targets_of(prepared, request)[0]);
  Run& run = prepared.run();
  const PulseScope pulses(run.pulse_question());
  const Run::RelevanceKind kind{.policy = policy, .notes = RelevanceWalk::Notes::kFlows};
  RelevanceReport report;
  report.model = model.name();
  report.policy = policy;
  report.target = std::move(prepared.target);
  report.notes = std::move(prepared.common.notes);
  for (const NodeFlow& flow : run.relevance_flows(kind)) {
    const Node& node = run.graph().graph.nodes()[flow.node];
    report.steps.push_back({node.name, std::string(node.op->kind()),
                            std::string(node.op->moves_data() ? "move" : name_of(flow.rule)),
                            flow.entering.plain, flow.leaving.plain, flow.entering.magnitude,
                            flow.leaving.magnitude});
  }
  if (!report.steps.empty()) report.seed = report.steps[0].entering;
  report.at_first_layer = sums_of(run.embedding_relevance(kind, Depth::kFirstLayer)).plain;
  report.at_words = sums_of(run.embedding_relevance(kind, Depth::kInput)).plain;
  for (std::string& note : run.policy_notes(policy)) report.notes.push_back(std::move(note));
  return report;
}

}  // namespace whyformer
