#include <fmt/format.h>

#include <algorithm>

#include "studies/debate/debate_part.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

DebateOtherModel compare_with(DebateRun& debate, const Reader& reader, const ModelName& name) {
  Reading reading = reader.read(debate.value(), {.dtype = debate.run().input().kind().dtype});
  Run other(std::move(reading.inputs[0]), {.problem = reading.answered.problem,
                                           .needs = {.attention = true},
                                           .seed = debate.request().seed,
                                           .memory_bytes = debate.request().memory_bytes});
  if (other.tokens() != debate.run().tokens() ||
      other.outputs().size() != debate.run().outputs().size() ||
      other.input().special() != debate.run().input().special()) {
    throw InvalidInput(fmt::format(
        "'{}' reads the input as {} tokens with {} answers, this model as {} with {}: models of "
        "several seeds must be alike",
        name.name, other.tokens(), other.outputs().size(), debate.run().tokens(),
        debate.run().outputs().size()));
  }
  const DebateRun own(other, debate.value(), debate.models(), debate.request(),
                      reading.answered.problem.value_or(debate.problem()), 0);
  return {js_divergence(own.compared_share(own.attention_row(own.last_layer())),
                        debate.compared_share(debate.attention_row(debate.last_layer()))),
          debate.change(other.outputs())};
}

void measure_seeds(DebateRun& debate, DebateInput& result) {
  const DebateModels& models = debate.models();
  for (size_t i = 0; i < models.others.size(); ++i)
    result.others.push_back(compare_with(debate, *models.others[i], models.names[i]));
}

void conclude_seeds(const DebateCorpus& corpus, DebateReport& report) {
  const size_t count = corpus.models.others.size();
  if (count == 0)
    throw InvalidInput(
        "one model was given: the spread over seeds needs models trained from other seeds");
  std::vector<double> medians;
  for (size_t model = 0; model < count; ++model) {
    std::vector<double> jsd, tvd;
    for (const DebateInput& input : report.inputs) {
      if (input.others.size() != count) continue;
      jsd.push_back(input.others[model].jsd);
      tvd.push_back(input.others[model].tvd);
    }
    report.models.push_back({corpus.models.names[model].name, debate_mean(jsd), debate_mean(tvd)});
  }
  for (const DebateInput& input : report.inputs) {
    if (input.others.size() != count) continue;
    std::vector<double> jsd;
    for (const DebateOtherModel& other : input.others) jsd.push_back(other.jsd);
    medians.push_back(median_of(jsd));
  }
  if (medians.empty()) throw InvalidInput("the other models read no input");
  report.median_jsd_of_models = debate_mean(medians);
  std::string says = fmt::format(
      "Trained from other seeds, the read-out row differs by a Jensen–Shannon divergence of {:.2f} "
      "(median over {} models, mean over inputs).",
      report.median_jsd_of_models->mean, count);
  for (const AdversarySummary& one : report.adversaries) {
    if (one.scope != "joint" || one.last_iterate ||
        one.epsilon != std::ranges::max(report.request.adversary.epsilons))
      continue;
    says += one.jsd.mean > report.median_jsd_of_models->mean
                ? " Adversarial attention is further away than training by chance takes it."
                : " Adversarial attention is no further away than training by chance takes it.";
  }
  report.verdicts.push_back(
      {"seeds", std::move(says),
       "A few seeds are no distribution: more models make the spread more certain."});
}

}  // namespace

const DebatePart kSeedsPart{{.name = "seeds",
                             .question = "How much does attention vary between trained models?",
                             .paper = "Wiegreffe & Pinter, EMNLP 2019, 3.3"},
                            nullptr,
                            measure_seeds,
                            conclude_seeds};

}  // namespace whyformer
