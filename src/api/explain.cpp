#include <fmt/format.h>

#include <algorithm>

#include "api/prepare.h"
#include "api/units.h"
#include "methods/jobs.h"
#include "readers/given_picture.h"
#include "readers/picture_subject.h"
#include "run/pulse_question.h"

namespace whyformer {
Explanation explain(const Model& model, const TextInput& input, const ExplainRequest& request) {
  const PulseScope pulses(pulse_question(request.progress));
  const std::vector<Job> jobs = jobs_of(request.methods);
  Prepared prepared = prepare(model.text_model(), input, request, needs_of(jobs));
  Explanation explanation;
  explanation.model = model.name();
  explanation.text = input.text;
  explanation.pair = input.pair;
  explanation.units = units_of(prepared.explained->text().encoding());
  explanation.output = std::move(prepared.output);
  explanation.target = std::move(prepared.target);
  explanation.notes = std::move(prepared.notes);
  run_jobs(jobs, *prepared.explained, explanation);
  for (Attribution& result : explanation.attributions) {
    result.words = fold_words(explanation.units, result.scores, input, request.fold);
  }
  explanation.attention = attention_maps(*prepared.explained);
  return explanation;
}

std::vector<Explanation> explain(const Model& model, const PictureInput& given,
                                 const ExplainRequest& request) {
  const PulseScope pulses(pulse_question(request.progress));
  const std::vector<Job> jobs = jobs_of(request.methods);
  const Picture picture = pixels_of(given);
  Prepared prepared = prepare(model, picture, request, needs_of(jobs));
  const auto& subject = static_cast<const PictureSubject&>(prepared.explained->subject());
  Explanation common;
  common.model = model.name();
  common.text = name_of(given);
  common.picture = view_of(subject, picture);
  common.units = units_of(subject);
  common.output = prepared.output;
  common.notes = prepared.notes;
  common.attention = attention_maps(*prepared.explained);
  std::vector<Explanation> explanations;
  for (const int64_t target : targets_of(prepared.output, request)) {
    choose_target(prepared, target);
    Explanation explanation = common;
    explanation.target = prepared.target;
    if (!explanations.empty() && !prepared.explained->goes_on(0, 1)) break;  // keeps what there is
    try {
      run_jobs(jobs, *prepared.explained, explanation);
    } catch (const Interrupted&) {
      if (explanations.empty()) throw;
      break;
    }
    explanations.push_back(std::move(explanation));
  }
  return explanations;
}

namespace {

Trace trace_of(Prepared prepared, std::vector<Unit> units) {
  Trace result;
  const PulseScope pulses(prepared.explained->pulse_question());
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
  if (prepared.explained->layers() == 0)
    result.notes.push_back("No attention was found in this model: there are no maps.");
  return result;
}

constexpr Needs kMapsAndGradients{.attention = true, .attention_gradient = true};

}  // namespace

Trace trace(const Model& model, const TextInput& input, const ExplainRequest& request) {
  Prepared prepared = prepare(model.text_model(), input, request, kMapsAndGradients);
  std::vector<Unit> units = units_of(prepared.explained->text().encoding());
  return trace_of(std::move(prepared), std::move(units));
}

Trace trace(const Model& model, const PictureInput& given, const ExplainRequest& request) {
  Prepared prepared = prepare(model, pixels_of(given), request, kMapsAndGradients);
  choose_target(prepared, targets_of(prepared.output, request)[0]);
  std::vector<Unit> units =
      units_of(static_cast<const PictureSubject&>(prepared.explained->subject()));
  return trace_of(std::move(prepared), std::move(units));
}

}  // namespace whyformer
