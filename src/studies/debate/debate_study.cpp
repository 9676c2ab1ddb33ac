#include "studies/debate/debate_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "run/labels.h"
#include "run/pulse_question.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr int64_t kFewDebateInputs = 30;  // fewer say little about a corpus

using DebateClock = std::chrono::steady_clock;

constexpr Needs kDebateNeeds{
    .attention = true, .attention_gradient = true, .embedding_gradient = true, .values = true};

double seconds_after(DebateClock::time_point start) {
  return std::chrono::duration<double>(DebateClock::now() - start).count();
}

void check(const DebateRequest& request) {
  for (const DebatePart* part : parts_asked(request)) {
    if (part->check != nullptr) part->check(request);
  }
}

DType debate_dtype(const DebateRequest& request) {
  return request.precision == Precision::kDouble ? DType::kFloat64 : DType::kFloat32;
}

Problem problem_of(const Answered& answered) {
  if (answered.problem && *answered.problem != Problem::kRegression) return *answered.problem;
  throw InvalidInput(
      "the debate is about the probabilities of a classifier, and this model is none");
}

void describe(const Run& run, const Reading& reading, const DebateExample& example,
              DebateInput& result) {
  for (const Unit& unit : reading.shown.units) result.units.push_back(unit.text);
  result.units.resize(run.tokens());
  const std::vector<bool>& special = run.input().special();
  result.special.assign(special.begin(), special.begin() + run.tokens());
  result.notes = reading.notes;
  if (example.label) result.label = label_index(reading.answered.labels, *example.label, "label");
}

// The read-out row that all parts speak of.
void describe_attention(DebateRun& debate, DebateInput& result) {
  result.predicted = debate.run().target();
  result.probabilities = debate.probabilities();
  if (!debate.run().read_out_row()) return;
  result.attention = debate.attention_row(debate.last_layer());
  const std::vector<double> shares = debate.compared_share(result.attention);
  if (shares.empty()) return;
  result.max_attention = *std::ranges::max_element(shares);
  result.entropy = entropy_of(shares);
  for (size_t unit = 0; unit < result.special.size(); ++unit) {
    if (result.special[unit]) result.special_share += result.attention[unit];
  }
}

void measure_parts(DebateRun& debate, DebateInput& result) {
  for (const DebatePart* part : parts_asked(debate.request())) {
    if (part->measure == nullptr) continue;
    try {
      part->measure(debate, result);
    } catch (const InvalidInput& error) {
      result.refused.push_back({part->info.name, error.what()});
    } catch (const UnsupportedModel& error) {
      result.refused.push_back({part->info.name, error.what()});
    }
  }
}

void measure_all(const DebateModels& models, const DebateExample& example, int64_t number,
                 const DebateRequest& request, DebateInput& result) {
  Reading reading = models.reader.read(example.input, {.dtype = debate_dtype(request)});
  if (reading.inputs.size() != 1)
    throw InvalidInput("the debate is about inputs of one part, a text or a picture");
  const Problem problem = problem_of(reading.answered);
  Run run(std::move(reading.inputs[0]), {.problem = problem,
                                         .needs = kDebateNeeds,
                                         .seed = request.seed,
                                         .memory_bytes = request.memory_bytes,
                                         .progress = request.progress});
  run.require_maps_of_units();
  run.require_one_stream("the debate", "it compares rows of attention over one stream");
  const std::vector<double>& outputs = run.outputs();
  run.set_target(std::ranges::max_element(outputs) - outputs.begin());
  describe(run, reading, example, result);
  DebateRun debate(run, example.input, models, request, problem, number);
  describe_attention(debate, result);
  measure_parts(debate, result);
}

// Refusals of single inputs, each reason once with its count.
void gather_refusals(DebateReport& report) {
  std::map<std::pair<std::string, std::string>, int64_t> counts;
  for (const DebateInput& input : report.inputs) {
    for (const Refusal& refusal : input.refused) ++counts[{refusal.method, refusal.reason}];
  }
  for (const auto& [which, count] : counts) {
    report.refused.push_back({which.first, fmt::format("{} ({} of {} inputs)", which.second, count,
                                                       report.inputs.size())});
  }
}

void gather_notes(DebateReport& report) {
  std::map<std::string, int64_t> counts;
  for (const DebateInput& input : report.inputs) {
    if (!input.problem.empty())
      report.notes.push_back(fmt::format("{} was left out: {}.", input.name, input.problem));
    for (const std::string& note : input.notes) ++counts[note];
  }
  for (const auto& [note, count] : counts)
    report.notes.push_back(count == 1 ? note : fmt::format("{} ({} inputs)", note, count));
  if (report.request.special == SpecialAttention::kStays) {
    double share = 0, inputs = 0;
    for (const DebateInput& input : report.inputs) {
      if (input.attention.empty()) continue;
      share += input.special_share;
      ++inputs;
    }
    if (inputs > 0) {
      report.notes.push_back(
          fmt::format("Special tokens have {:.0f} % of the read-out row's attention. Their weights "
                      "stay as they "
                      "are; distributions are compared over the other tokens.",
                      100 * share / inputs));
    }
  }
}

void conclude_parts(const DebateCorpus& corpus, DebateReport& report) {
  for (const DebatePart* part : parts_asked(report.request)) {
    const auto refuse = [&](const std::string& reason) {
      report.refused.push_back({part->info.name, reason});
    };
    if (report.stopped_early) {
      refuse("stopped before it began");
      continue;
    }
    try {
      part->conclude(corpus, report);
    } catch (const InvalidInput& error) {
      refuse(error.what());
    } catch (const UnsupportedModel& error) {
      refuse(error.what());
    } catch (const Interrupted&) {
      report.stopped_early = true;
      refuse("stopped before its end");
    }
  }
}

void describe_layers(const DebateModels& models, const DebateExample& example,
                     DebateReport& report) {
  Reading reading = models.reader.read(example.input, {});
  const auto& sites = reading.inputs[0].copies(1).graph->found.sites;
  report.layers = static_cast<int64_t>(sites.size());
  if (!sites.empty()) report.heads = sites.back().heads;
}

}  // namespace

DebateInput study_debate_input(const DebateModels& models, const DebateExample& example,
                               int64_t number, const DebateRequest& request) {
  check(request);
  const auto start = DebateClock::now();
  const PulseScope pulses(pulse_question(request.progress));
  DebateInput result{.name = example.name};
  try {
    measure_all(models, example, number, request, result);
  } catch (const Error& error) {
    result = {.name = example.name, .problem = error.what()};
  }
  result.seconds = seconds_after(start);
  return result;
}

DebateReport conclude_debate(const DebateModels& models, const std::vector<DebateExample>& examples,
                             const std::vector<DebateInput>& inputs, const DebateRequest& request) {
  check(request);
  if (inputs.empty() || inputs.size() > examples.size())
    throw InvalidInput("a debate needs inputs, and the example of each");
  const auto works = [](const DebateInput& one) { return one.problem.empty(); };
  const auto first = std::ranges::find_if(inputs, works);
  if (first == inputs.end()) {
    throw InvalidInput(fmt::format("none of the inputs could be looked at; the first, {}: {}",
                                   inputs[0].name, inputs[0].problem));
  }
  const auto start = DebateClock::now();
  const PulseScope pulses(pulse_question(request.progress));
  const DebateExample& example = examples[first - inputs.begin()];
  const Answered answered = models.reader.answered(example.input, {});
  DebateReport report{.labels = answered.labels, .inputs = inputs, .request = request};
  describe_layers(models, example, report);
  conclude_parts({models, examples, answered}, report);
  gather_refusals(report);
  gather_notes(report);
  const auto looked_at = std::ranges::count_if(inputs, works);
  if (looked_at < kFewDebateInputs) {
    report.notes.push_back(fmt::format(
        "Few inputs ({}): the sentences are about them, not about the model.", looked_at));
  }
  report.request.progress = {};
  for (const DebateInput& input : inputs) report.seconds += input.seconds;
  report.seconds += seconds_after(start);
  return report;
}

}  // namespace whyformer
