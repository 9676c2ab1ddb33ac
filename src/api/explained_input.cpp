#include "api/explained_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "api/context_notes.h"
#include "run/output_space.h"

namespace whyformer {
namespace {

PreparedNeeds needs_of_all(const std::vector<Job>& jobs, WholeRun whole) {
  PreparedNeeds needs{.alone = needs_of(jobs),
                      .each = Needs{.attention = true}};  // reports show the maps
  if (whole == WholeRun::kYes) needs.together = Needs{};
  for (const Job& job : jobs) {
    if (job.method->on_parts == OnSeveralParts::kTogether) {
      needs.together = needs.together.value_or(Needs{}) | job.method->needs;
    } else {
      needs.each = *needs.each | job.method->needs;
    }
  }
  return needs;
}

std::vector<const Part*> parts_of(const Prepared& prepared) {
  std::vector<const Part*> parts;
  for (size_t i = 0; i + 1 < prepared.runs.size(); ++i) {
    parts.push_back(prepared.runs[i]->input().parts()[0].get());
  }
  return parts;
}

// The job as it concerns one of several parts.
Job job_for(const Part& part, const std::vector<const Part*>& all, const Job& job) {
  Options options = job.options.all();
  for (auto& [name, value] : options) {
    auto* word = std::get_if<std::string>(&value);
    if (word == nullptr) continue;
    if (name == "at" && *word != "embedding-block" && *word != "first-layer") *word = "input";
    if (name == "how" || name == "baseline") *word = word_for(part, all, *word);
  }
  return {job.method, OptionReader(std::move(options))};
}

// Scores of the parts one after the other.
void join(Attribution& all, Attribution next) {
  all.scores.insert(all.scores.end(), next.scores.begin(), next.scores.end());
  if (!next.pixels.empty()) all.pixels = std::move(next.pixels);
  // The worst, where a method has one.
  if (next.completeness_gap &&
      std::abs(*next.completeness_gap) > std::abs(all.completeness_gap.value_or(0))) {
    all.completeness_gap = next.completeness_gap;
  }
  all.cost.forwards += next.cost.forwards;
  all.cost.backwards += next.cost.backwards;
  all.cost.seconds += next.cost.seconds;
  all.notes.insert(all.notes.end(), next.notes.begin(), next.notes.end());
}

// Of each part that attends within itself, behind the units of those before.
std::vector<AttentionMap> maps_of(const Prepared& prepared) {
  std::vector<AttentionMap> maps;
  int64_t first = 0;
  for (const auto& run : prepared.runs) {
    if (run == nullptr || run->several_streams()) continue;
    for (AttentionMap& map : attention_maps(*run)) {
      map.first_unit = first;
      maps.push_back(std::move(map));
    }
    first += run->tokens();
  }
  return maps;
}

std::string note_of(const ContextFacts& facts, int64_t target) {
  std::string note = fmt::format("In a context of {} rows ({}) the answer is {:.4g}; alone {:.4g}",
                                 facts.rows, facts.from, facts.live[target], facts.alone[target]);
  note += facts.contexts == 0
              ? "; there are no other rows to draw contexts from."
              : fmt::format("; in {} contexts of as many rows, drawn from {}, {:.4g} to {:.4g}.",
                            facts.contexts, facts.drawn_from, facts.lowest[target],
                            facts.highest[target]);
  if (facts.equal_rows > 0) {
    note += fmt::format(
        " {} of the context's rows {} this one's numbers: where it is the same row, it attends to "
        "itself twice.",
        facts.equal_rows, facts.equal_rows == 1 ? "has" : "have");
  }
  if (facts.mode == "live") return note + " The context sees the row, too (live).";
  return note + fmt::format(
                    " Scores explain the answer to a frozen context, which does not see the row: "
                    "|frozen − live| = {:.2g}.",
                    std::abs(facts.explained[target] - facts.live[target]));
}

}  // namespace

ExplainedInput::ExplainedInput(const Model& model, const InputValue& input,
                               const ExplainRequest& request, WholeRun whole,
                               const std::optional<Randomisation>& randomisation)
    : request_(request),
      jobs_(jobs_of(request.methods)),
      prepared_(prepare(model.reader_of(input), input, request, needs_of_all(jobs_, whole),
                        randomisation)) {
  if (prepared_.common.model.name.empty()) prepared_.common.model = model.name();
  prepared_.common.attention = maps_of(prepared_);
}

ExplainedInput::ExplainedInput(const Model& model, Reading reading, const ExplainRequest& request,
                               WholeRun whole, const MakeRun& make_run)
    : request_(request),
      jobs_(jobs_of(request.methods)),
      prepared_(prepare(std::move(reading), request, needs_of_all(jobs_, whole), make_run)) {
  if (prepared_.common.model.name.empty()) prepared_.common.model = model.name();
  prepared_.common.attention = maps_of(prepared_);
}

Attribution ExplainedInput::run(const Job& job) {
  if (!prepared_.has_several_parts()) return run_method(job, prepared_.run());
  Run* together = prepared_.runs.back().get();
  if (job.method->on_parts == OnSeveralParts::kTogether) return run_method(job, *together);
  Attribution all;
  const std::vector<const Part*> parts = parts_of(prepared_);
  for (size_t i = 0; i < parts.size(); ++i) {
    const Part& part = *parts[i];
    Attribution one = run_method(job_for(part, parts, job), *prepared_.runs[i]);
    for (std::string& note : one.notes) note = part.traits().side + ": " + note;
    if (i == 0) {
      all = std::move(one);
    } else {
      join(all, std::move(one));
    }
  }
  all.options = job.options.all();
  return all;
}

bool ExplainedInput::was_stopped() const {
  return std::ranges::any_of(prepared_.runs,
                             [](const auto& run) { return run != nullptr && run->stopped(); });
}

Run& ExplainedInput::whole() {
  return prepared_.has_several_parts() ? *prepared_.runs.back() : prepared_.run();
}

int64_t ExplainedInput::target_named(const TargetChoice& name) const {
  ExplainRequest request = request_;
  request.target = name;
  request.other_targets = {};
  return targets_of(prepared_, request)[0];
}

void ExplainedInput::look_at_context() {
  if (!prepared_.context) return;
  if (!request_.edits.empty()) {
    prepared_.common.notes.push_back(
        "The answer is that of the changed model in the context as scores see it; what other "
        "contexts would give is not told.");
    return;
  }
  prepared_.common.context = prepared_.context();
  Output& output = prepared_.common.output;
  output.values = prepared_.common.context->live;
  if (!output.probabilities.empty())
    output.probabilities = probabilities_of(output.values, *prepared_.answered.problem);
}

Explanation ExplainedInput::explain(int64_t target) {
  choose_target(prepared_, target);
  Explanation explanation = prepared_.common;
  explanation.target = prepared_.target;
  if (explanation.context) explanation.notes.push_back(note_of(*explanation.context, target));
  const JobRunner runner{.run = [&](const Job& job) { return run(job); },
                         .stopped = [&] { return was_stopped(); }};
  run_jobs(jobs_, runner, explanation);
  // What a model answers by itself is no logit where it is a value or a similarity.
  for (Attribution& one : explanation.attributions) {
    if (one.estimate && one.estimate->space == "logit")
      one.estimate->space = explanation.output.space;
  }
  if (!prepared_.has_several_parts()) {
    const ContextPart* rows = as_context(*prepared_.run().input().parts()[0]);
    if (rows != nullptr) add_notes_on_rows(*rows, explanation);
  }
  return explanation;
}

std::optional<std::vector<double>> ExplainedInput::scores_again(const Explanation& explanation,
                                                                size_t index) {
  const Attribution& own = explanation.attributions[index];
  const auto job = std::ranges::find_if(jobs_, [&](const Job& one) {
    return one.name == own.method && one.options.all() == own.options;
  });
  if (job->method->info.model_agnostic || prepared_.has_several_parts()) return std::nullopt;
  return run(*job).scores;
}

}  // namespace whyformer
