#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "explain/method.h"
#include "explain/prepare.h"
#include "explain/units.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using Clock = std::chrono::steady_clock;

AttentionMap map_of(const std::string& name, const Tensor& maps) {
  const Tensor owned = maps.contiguous().cast(DType::kFloat32);
  return {name, owned.dim(0), owned.dim(1), owned.dim(2),
          std::shared_ptr<const float[]>(owned.storage(), owned.data<float>())};
}

struct Job {
  const Method* method;
  OptionReader options;
};

std::vector<Job> jobs_of(const ExplainRequest& request) {
  if (request.methods.empty()) throw InvalidInput("no method was asked for");
  std::vector<Job> jobs;
  for (const MethodRequest& asked : request.methods) {
    const Method& method = find_method(asked.name);
    jobs.push_back({&method, complete_options(method, asked.options)});
  }
  return jobs;
}

bool gives_signed_scores(const Job& job) {
  if (job.method->info.is_signed) return true;
  for (const auto& [name, value] : job.options.all()) {
    if (name == "of" && std::get<std::string>(value) == "gradient-x-input") return true;
  }
  return false;
}

Attribution run_method(const Job& job, Explained& explained, const TextInput& input,
                       const std::vector<Unit>& units, WordFold fold) {
  const auto start = Clock::now();
  const Cost before = explained.spent();
  const double shared_before = explained.shared_seconds();
  explained.forget_walks_read();
  Scores scores = job.method->run(explained, job.options);
  const double own = std::chrono::duration<double>(Clock::now() - start).count() -
                     (explained.shared_seconds() - shared_before);
  Attribution result;
  result.method = job.method->info.name;
  result.options = job.options.all();
  result.words = fold_words(units, scores.values, input, fold);
  result.scores = std::move(scores.values);
  result.pixels.assign(scores.pixels.begin(), scores.pixels.end());
  result.is_signed = gives_signed_scores(job);
  result.completeness_gap = scores.completeness_gap;
  result.seed = scores.seed;
  result.notes = std::move(scores.notes);
  // The shared run and walk count for every method that reads them.
  result.cost.forwards = 1 + explained.spent().forwards - before.forwards;
  result.cost.backwards = explained.walks_read() + explained.spent().backwards - before.backwards;
  result.cost.seconds = own + explained.seconds_read();
  return result;
}

}  // namespace

Explanation explain(const Model& model, const TextInput& input, const ExplainRequest& request) {
  const std::vector<Job> jobs = jobs_of(request);
  Needs needs{.attention = true};  // reports show the maps
  for (const Job& job : jobs) needs = needs | job.method->needs;
  Prepared prepared = prepare(model.text_model(), input, request, needs);
  Explanation explanation;
  explanation.model = model.name();
  explanation.text = input.text;
  explanation.pair = input.pair;
  explanation.units = units_of(prepared.explained->text().encoding());
  explanation.output = std::move(prepared.output);
  explanation.target = std::move(prepared.target);
  explanation.notes = std::move(prepared.notes);
  for (const Job& job : jobs) {
    explanation.attributions.push_back(
        run_method(job, *prepared.explained, input, explanation.units, request.fold));
  }
  for (int layer = 0; layer < prepared.explained->layers(); ++layer) {
    explanation.attention.push_back(map_of(prepared.explained->found().sites[layer].name,
                                           prepared.explained->attention(layer)));
  }
  return explanation;
}

Trace trace(const Model& model, const TextInput& input, const ExplainRequest& request) {
  Prepared prepared = prepare(model.text_model(), input, request,
                              {.attention = true, .attention_gradient = true});
  Trace result;
  for (int layer = 0; layer < prepared.explained->layers(); ++layer) {
    const std::string& name = prepared.explained->found().sites[layer].name;
    result.attention.push_back(map_of(name, prepared.explained->attention(layer)));
    result.attention_gradient.push_back(
        map_of(name, prepared.explained->attention_gradient(layer)));
  }
  result.units = units_of(prepared.explained->text().encoding());
  result.output = std::move(prepared.output);
  result.target = std::move(prepared.target);
  result.notes = std::move(prepared.notes);
  return result;
}

}  // namespace whyformer
