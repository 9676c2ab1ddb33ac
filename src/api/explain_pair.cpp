#include <cmath>

#include "api/prepare_pair.h"
#include "api/units.h"
#include "methods/jobs.h"
#include "readers/given_picture.h"
#include "run/pulse_question.h"

namespace whyformer {
namespace {

PairNeeds needs_of_pair(const std::vector<Job>& jobs) {
  PairNeeds needs{.each_side = {.attention = true}};  // reports show the maps
  for (const Job& job : jobs) {
    if (job.method->on_pairs == OnPairs::kTogether) {
      needs.together = needs.together.value_or(Needs{}) | job.method->needs;
    } else {
      needs.each_side = needs.each_side | job.method->needs;
    }
  }
  return needs;
}

// The job as it concerns one side.
Job job_for(PairSide side, const Job& job) {
  const std::string other_input = side == PairSide::kText ? "pixels" : "word-embeddings";
  Options options = job.options.all();
  for (auto& [name, value] : options) {
    auto* word = std::get_if<std::string>(&value);
    if (word == nullptr) continue;
    if (name == "at" && *word == other_input) *word = "input";
    if (name == "how" || name == "baseline") *word = word_for(side, *word);
  }
  return {job.method, OptionReader(std::move(options))};
}

Attribution joined(Attribution text, Attribution picture) {
  Attribution result = std::move(text);
  result.scores.insert(result.scores.end(), picture.scores.begin(), picture.scores.end());
  result.pixels = std::move(picture.pixels);
  // The worse of the two, where a method has one.
  if (picture.completeness_gap &&
      std::abs(*picture.completeness_gap) > std::abs(result.completeness_gap.value_or(0))) {
    result.completeness_gap = picture.completeness_gap;
  }
  result.cost.forwards += picture.cost.forwards;
  result.cost.backwards += picture.cost.backwards;
  result.cost.seconds += picture.cost.seconds;
  for (std::string& note : result.notes) note = "Text: " + note;
  for (const std::string& note : picture.notes) result.notes.push_back("Picture: " + note);
  return result;
}

Attribution run_on_pair(const Job& job, PreparedPair& pair) {
  if (job.method->on_pairs == OnPairs::kTogether) return run_method(job, *pair.together);
  Attribution result = joined(run_method(job_for(PairSide::kText, job), *pair.text),
                              run_method(job_for(PairSide::kPicture, job), *pair.picture));
  result.options = job.options.all();
  return result;
}

}  // namespace

Explanation explain(const Model& model, const PictureWithText& input,
                    const ExplainRequest& request) {
  const PulseScope pulses(pulse_question(request.progress));
  const std::vector<Job> jobs = jobs_of(request.methods);
  const Picture picture = pixels_of(input.picture);
  PreparedPair pair = prepare_pair(model, picture, input.text, request, needs_of_pair(jobs));
  const auto& of_picture = static_cast<const PictureSubject&>(pair.picture->subject());
  Explanation explanation;
  explanation.model = model.name();
  explanation.text = name_of(input.picture);
  explanation.pair = input.text;
  explanation.units = units_of(pair.text->text().encoding());
  for (Unit& unit : explanation.units) unit.segment = 1;  // they are of `pair`
  const auto tokens = static_cast<int64_t>(explanation.units.size());
  for (Unit& unit : units_of(of_picture)) explanation.units.push_back(std::move(unit));
  explanation.picture = view_of(of_picture, picture);
  explanation.picture->first_patch += tokens;
  explanation.output = std::move(pair.output);
  explanation.target = std::move(pair.target);
  explanation.notes = std::move(pair.notes);
  run_jobs(jobs,
           {.run = [&](const Job& job) { return run_on_pair(job, pair); },
            .stopped =
                [&] {
                  return pair.text->stopped() || pair.picture->stopped() ||
                         (pair.together && pair.together->stopped());
                }},
           explanation);
  for (Attribution& result : explanation.attributions) {
    result.words =
        fold_words(explanation.units, result.scores, {explanation.text, input.text}, request.fold);
  }
  explanation.attention = attention_maps(*pair.text);
  for (AttentionMap& map : attention_maps(*pair.picture)) {
    map.first_unit = tokens;
    explanation.attention.push_back(std::move(map));
  }
  return explanation;
}

}  // namespace whyformer
