#include <algorithm>
#include <cmath>

#include "api/fold_words.h"
#include "api/prepare.h"
#include "methods/jobs.h"
#include "run/pulse_question.h"

namespace whyformer {
namespace {

PreparedNeeds needs_of_all(const std::vector<Job>& jobs) {
  PreparedNeeds needs{.alone = needs_of(jobs),
                      .each = Needs{.attention = true}};  // reports show the maps
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

Attribution run_on(const Job& job, Prepared& prepared) {
  if (!prepared.has_several_parts()) return run_method(job, prepared.run());
  Run* together = prepared.runs.back().get();
  if (job.method->on_parts == OnSeveralParts::kTogether) return run_method(job, *together);
  Attribution all;
  const std::vector<const Part*> parts = parts_of(prepared);
  for (size_t i = 0; i < parts.size(); ++i) {
    const Part& part = *parts[i];
    Attribution one = run_method(job_for(part, parts, job), *prepared.runs[i]);
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

bool was_stopped(const Prepared& prepared) {
  return std::ranges::any_of(prepared.runs,
                             [](const auto& run) { return run != nullptr && run->stopped(); });
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

}  // namespace

std::vector<Explanation> explain(const Model& model, const InputValue& input,
                                 const ExplainRequest& request) {
  const PulseScope pulses(pulse_question(request.progress));
  const std::vector<Job> jobs = jobs_of(request.methods);
  Prepared prepared = prepare(model.reader_of(input), input, request, needs_of_all(jobs));
  if (prepared.common.model.name.empty()) prepared.common.model = model.name();
  prepared.common.attention = maps_of(prepared);
  const JobRunner runner{.run = [&](const Job& job) { return run_on(job, prepared); },
                         .stopped = [&] { return was_stopped(prepared); }};
  std::vector<Explanation> explanations;
  for (const int64_t target : targets_of(prepared, request)) {
    choose_target(prepared, target);
    Explanation explanation = prepared.common;
    explanation.target = prepared.target;
    if (!explanations.empty() && !prepared.run().goes_on(0, 1)) break;  // keeps what there is
    try {
      run_jobs(jobs, runner, explanation);
    } catch (const Interrupted&) {
      if (explanations.empty()) throw;
      break;
    }
    for (Attribution& result : explanation.attributions) {
      result.words = fold_words(explanation.units, result.scores,
                                {explanation.text, explanation.pair}, request.fold);
    }
    explanations.push_back(std::move(explanation));
  }
  return explanations;
}

}  // namespace whyformer
