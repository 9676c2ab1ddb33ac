#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "explain/method.h"
#include "explain/picture_subject.h"
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

Attribution run_method(const Job& job, Explained& explained) {
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

std::vector<AttentionMap> maps_of(const Explained& explained) {
  std::vector<AttentionMap> maps;
  if (!explained.subject().attends_by_unit()) return maps;
  for (int layer = 0; layer < explained.layers(); ++layer) {
    maps.push_back(map_of(explained.found().sites[layer].name, explained.attention(layer)));
  }
  return maps;
}

PictureView view_of(const PictureSubject& subject, const Picture& file) {
  const Picture& seen = subject.seen();
  const std::shared_ptr<uint8_t[]> rgb(new uint8_t[seen.pixels.size()]);
  std::copy(seen.pixels.begin(), seen.pixels.end(), rgb.get());
  const PictureRegion& region = subject.region();
  return {.width = seen.width,
          .height = seen.height,
          .rgb = rgb,
          .first_patch = subject.grid().first,
          .rows = subject.grid().rows,
          .columns = subject.grid().columns,
          .file_width = file.width,
          .file_height = file.height,
          .left = region.left,
          .top = region.top,
          .right = region.left + region.width,
          .bottom = region.top + region.height};
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
    Attribution result = run_method(job, *prepared.explained);
    result.words = fold_words(explanation.units, result.scores, input, request.fold);
    explanation.attributions.push_back(std::move(result));
  }
  explanation.attention = maps_of(*prepared.explained);
  return explanation;
}

std::vector<Explanation> explain(const Model& model, const PictureFile& file,
                                 const ExplainRequest& request) {
  const std::vector<Job> jobs = jobs_of(request);
  Needs needs{.attention = true};  // reports show the maps
  for (const Job& job : jobs) needs = needs | job.method->needs;
  const Picture picture = read_picture(file.path);
  Prepared prepared = prepare(model, picture, request, needs);
  const auto& subject = static_cast<const PictureSubject&>(prepared.explained->subject());
  Explanation common;
  common.model = model.name();
  common.text = file.path.filename().string();
  common.picture = view_of(subject, picture);
  common.units = units_of(subject);
  common.output = prepared.output;
  common.notes = prepared.notes;
  common.attention = maps_of(*prepared.explained);
  std::vector<Explanation> explanations;
  for (const int64_t target : targets_of(prepared.output, request)) {
    choose_target(prepared, target);
    Explanation explanation = common;
    explanation.target = prepared.target;
    for (const Job& job : jobs) {
      explanation.attributions.push_back(run_method(job, *prepared.explained));
    }
    explanations.push_back(std::move(explanation));
  }
  return explanations;
}

namespace {

Trace trace_of(Prepared prepared, std::vector<Unit> units) {
  Trace result;
  for (int layer = 0; layer < prepared.explained->layers(); ++layer) {
    const std::string& name = prepared.explained->found().sites[layer].name;
    result.attention.push_back(map_of(name, prepared.explained->attention(layer)));
    result.attention_gradient.push_back(
        map_of(name, prepared.explained->attention_gradient(layer)));
  }
  result.units = std::move(units);
  result.output = std::move(prepared.output);
  result.target = std::move(prepared.target);
  result.notes = std::move(prepared.notes);
  return result;
}

constexpr Needs kMapsAndGradients{.attention = true, .attention_gradient = true};

}  // namespace

Trace trace(const Model& model, const TextInput& input, const ExplainRequest& request) {
  Prepared prepared = prepare(model.text_model(), input, request, kMapsAndGradients);
  std::vector<Unit> units = units_of(prepared.explained->text().encoding());
  return trace_of(std::move(prepared), std::move(units));
}

Trace trace(const Model& model, const PictureFile& file, const ExplainRequest& request) {
  Prepared prepared = prepare(model, read_picture(file.path), request, kMapsAndGradients);
  choose_target(prepared, targets_of(prepared.output, request)[0]);
  std::vector<Unit> units = units_of(static_cast<const PictureSubject&>(prepared.explained->subject()));
  return trace_of(std::move(prepared), std::move(units));
}

}  // namespace whyformer
