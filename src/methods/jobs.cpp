#include "methods/jobs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <set>
#include <span>

#include "base/pulse.h"
#include "methods/other_methods.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

AttentionMap map_of(const std::string& name, const Tensor& maps) {
  const Tensor owned = maps.contiguous().cast(DType::kFloat32);
  return {name, owned.dim(0), owned.dim(1), owned.dim(2),
          std::shared_ptr<const float[]>(owned.storage(), owned.data<float>())};
}

std::vector<Job> jobs_of(const std::vector<MethodRequest>& methods) {
  if (methods.empty()) throw InvalidInput("no method was asked for");
  std::vector<Job> jobs;
  for (const MethodRequest& asked : methods) {
    const Method& method = find_method(asked.name);
    Options options = preset_in(asked.name);
    options.insert(options.end(), asked.options.begin(), asked.options.end());
    jobs.push_back({&method, complete_options(method, options), asked.name});
  }
  return jobs;
}

void require_each_once(const std::vector<MethodRequest>& methods) {
  std::set<std::string> seen;
  for (const MethodRequest& method : methods) {
    if (seen.insert(method.name).second) continue;
    throw InvalidInput(fmt::format("the method '{}' was asked for twice", method.name));
  }
}

Needs needs_of(const std::vector<Job>& jobs) {
  Needs needs{.attention = true};  // reports show the maps
  for (const Job& job : jobs) needs = needs | job.method->needs;
  return needs;
}

namespace {

bool gives_signed_scores(const Job& job) {
  if (job.method->info.is_signed) return true;
  for (const auto& [name, value] : job.options.all()) {
    if (name == "of" && std::get<std::string>(value) == "gradient-x-input") return true;
  }
  return false;
}

void note_scores_not_computed(Attribution& attribution) {
  const auto lost =
      std::ranges::count_if(attribution.scores, [](double score) { return !std::isfinite(score); });
  if (lost == 0) return;
  attribution.notes.push_back(
      fmt::format("{} of {} scores could not be computed: outputs or gradients of the model are "
                  "not finite (NaN or infinite) here. Check its weights, or try double precision.",
                  lost, attribution.scores.size()));
}

// 0 would say that they do not matter.
void take_scores_out_of_reach(const Run& run, Attribution& attribution) {
  if (!run.read_input()) return;
  const std::vector<int64_t> out = run.input().out_of_reach();
  if (out.empty()) return;
  for (const int64_t unit : out)
    attribution.scores[unit] = std::numeric_limits<double>::quiet_NaN();
  attribution.notes.push_back(fmt::format(
      "{} of {} units have no score: they are ids whose embedding was not "
      "recognised, so there is no gradient to read. Methods by attention and by hiding score them.",
      out.size(), attribution.scores.size()));
}

// They stay in every input that such methods ask about.
void take_scores_never_hidden(const Job& job, const Run& run, Attribution& attribution) {
  if (!job.method->info.model_agnostic) return;
  for (const int64_t unit : run.input().never_hidden())
    attribution.scores[unit] = std::numeric_limits<double>::quiet_NaN();
}

// Units that attention does not go over have no score by attention, which is not 0.
void add_units_beside_tokens(const Run& run, Attribution& attribution) {
  const int64_t units = run.input().units(), tokens = run.tokens();
  if (tokens == units || !run.input().unit_of_token().empty() ||
      static_cast<int64_t>(attribution.scores.size()) != tokens)
    return;
  attribution.scores.resize(units, std::numeric_limits<double>::quiet_NaN());
  attribution.notes.push_back(
      fmt::format("{} do not take part in this model's attention: {} of {} units have no score.",
                  run.input().beside_tokens(), units - tokens,
                  std::ranges::count(run.input().special(), false)));
}

// A unit that is several tokens has their sum.
void add_up_tokens(const Job& job, const Run& run, Attribution& attribution) {
  const std::vector<int64_t>& units = run.input().unit_of_token();
  if (units.empty() || !job.method->needs.attention) return;
  std::vector<double> scores(static_cast<size_t>(run.input().units()),
                             std::numeric_limits<double>::quiet_NaN());
  std::vector<int> tokens(scores.size(), 0);
  for (size_t token = 0; token < units.size(); ++token) {
    const auto unit = static_cast<size_t>(units[token]);
    scores[unit] = attribution.scores[token] + (tokens[unit]++ > 0 ? scores[unit] : 0);
  }
  attribution.scores = std::move(scores);
  attribution.notes.push_back(fmt::format(
      "{} columns are several tokens of the model: the score of each is the sum over them.",
      std::ranges::count_if(tokens, [](int count) { return count > 1; })));
}

Attribution run_checked(const Job& job, Run& run) {
  const auto start = Clock::now();
  const Cost before = run.spent();
  const double shared_before = run.shared_seconds();
  run.forget_walks_read();
  if (job.method->needs.attention) run.require_maps();
  const PulseScope pulses(run.pulse_question());
  Scores scores = job.method->run(run, job.options);
  const double own = std::chrono::duration<double>(Clock::now() - start).count() -
                     (run.shared_seconds() - shared_before);
  Attribution result;
  result.method = job.name;
  result.options = job.options.all();
  result.scores = std::move(scores.values);
  result.pixels.assign(scores.pixels.begin(), scores.pixels.end());
  result.is_signed = gives_signed_scores(job);
  result.completeness_gap = scores.completeness_gap;
  result.seed = scores.seed;
  result.estimate = std::move(scores.estimate);
  result.notes = std::move(scores.notes);
  // The shared run and walk count for every method that reads them.
  result.cost.forwards = 1 + run.spent().forwards - before.forwards;
  result.cost.backwards = run.walks_read() + run.spent().backwards - before.backwards;
  result.cost.seconds = own + run.seconds_read();
  if (!scores.stopped) note_scores_not_computed(result);
  take_scores_out_of_reach(run, result);
  take_scores_never_hidden(job, run, result);
  add_up_tokens(job, run, result);
  add_units_beside_tokens(run, result);
  return result;
}

}  // namespace

Attribution run_method(const Job& job, Run& run) {
  try {
    return run_checked(job, run);
  } catch (const MissingForMethod& error) {
    throw InvalidInput(
        fmt::format("{}; {}", error.what(), other_methods(error.missing(), run.input())));
  }
}

void run_jobs(const std::vector<Job>& jobs, Run& run, Explanation& explanation) {
  run_jobs(jobs,
           {.run = [&run](const Job& job) { return run_method(job, run); },
            .stopped = [&run] { return run.stopped(); }},
           explanation);
}

namespace {

// `running`: the one that was given up; `left`: those that did not begin.
void note_interruption(const Job* running, std::span<const Job> left, Explanation& explanation) {
  std::vector<std::string> names, when;
  for (const Job& job : left) names.push_back(job.name);
  if (running != nullptr) when.push_back("during " + running->name);
  if (!names.empty()) when.push_back(fmt::format("before {}", fmt::join(names, ", ")));
  if (when.empty()) return;
  explanation.notes.push_back(fmt::format("Interrupted {}.", fmt::join(when, ", ")));
}

}  // namespace

void run_jobs(const std::vector<Job>& jobs, const JobRunner& runner, Explanation& explanation) {
  std::exception_ptr first_refusal;
  for (size_t i = 0; i < jobs.size(); ++i) {
    const std::string& name = jobs[i].name;
    const auto refuse = [&](const Error& error) {
      if (!first_refusal) first_refusal = std::current_exception();
      explanation.refused.push_back({name, error.what()});
      explanation.notes.push_back(fmt::format("{} was left out: {}.", name, error.what()));
    };
    try {
      explanation.attributions.push_back(runner.run(jobs[i]));
    } catch (const InvalidInput& error) {
      refuse(error);
    } catch (const UnsupportedModel& error) {
      refuse(error);
    } catch (const Interrupted&) {
      if (explanation.attributions.empty()) throw;
      return note_interruption(&jobs[i], std::span(jobs).subspan(i + 1), explanation);
    }
    if (runner.stopped() && !explanation.attributions.empty()) {
      return note_interruption(nullptr, std::span(jobs).subspan(i + 1), explanation);
    }
  }
  if (explanation.attributions.empty() && first_refusal) std::rethrow_exception(first_refusal);
}

namespace {

// What a unit's tokens give in the mean, and what they get in all: rows still sum to 1.
Tensor map_between_units(const Tensor& maps, const std::vector<int64_t>& unit_of_token) {
  const auto tokens = static_cast<int64_t>(unit_of_token.size());
  const int64_t units = 1 + *std::ranges::max_element(unit_of_token);
  std::vector<double> share(static_cast<size_t>(units), 0.0);
  for (const int64_t unit : unit_of_token) ++share[unit];
  const std::vector<double> all = maps.to_doubles();
  std::vector<double> sums(static_cast<size_t>(maps.dim(0) * units * units), 0.0);
  for (size_t i = 0; i < all.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const int64_t head = at / (tokens * tokens);
    const int64_t query = unit_of_token[at / tokens % tokens], key = unit_of_token[at % tokens];
    sums[(head * units + query) * units + key] += all[i] / share[query];
  }
  return Tensor::of<double>({maps.dim(0), units, units}, std::span<const double>(sums));
}

}  // namespace

std::vector<AttentionMap> attention_maps(const Run& run) {
  std::vector<AttentionMap> maps;
  if (!run.input().has_maps()) return maps;
  const std::vector<int64_t>& units = run.input().unit_of_token();
  for (int layer = 0; layer < run.layers(); ++layer) {
    const Tensor map = run.attention(layer);
    maps.push_back(
        map_of(run.found().sites[layer].name, units.empty() ? map : map_between_units(map, units)));
  }
  return maps;
}

}  // namespace whyformer
