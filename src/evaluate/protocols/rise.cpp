#include <algorithm>

#include "evaluate/protocols/pixel_maps.h"
#include "evaluate/ranks.h"

namespace whyformer {
namespace {

// (sum - first / 2 - last / 2) / steps; a last step of fewer pixels counts as the others do.
double normalised_area(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return (sum - values.front() / 2 - values.back() / 2) / static_cast<double>(values.size() - 1);
}

// As many pixels in each step as the picture is wide: 224 of 224 x 224.
std::vector<int64_t> step_counts(const PixelMaps& maps) {
  std::vector<int64_t> counts;
  for (int64_t count = 0; count < maps.pixels(); count += maps.width()) counts.push_back(count);
  counts.push_back(maps.pixels());
  return counts;
}

std::vector<MeasuredRow> measure_rise(const ProtocolCase& one,
                                      std::span<const ScoredInput> scored) {
  const PixelMaps maps(one.run, kRise.info.name);
  const OutputSpace space =
      one.run.has_probabilities() ? OutputSpace::kProbability : OutputSpace::kLogit;
  const std::vector<int64_t> counts = step_counts(maps);
  const auto area = [&](const Ranking& ranking, PixelMaps::Painted painted, const char* how) {
    std::vector<double> values;
    for (const std::vector<double>& outputs : maps.answers(ranking, counts, painted, how)) {
      values.push_back(one.run.in_space(space, outputs));
    }
    return normalised_area(values);
  };
  std::vector<MeasuredRow> all;
  for (const ScoredInput& method : scored) {
    const Ranking ranking = descending_order(maps.map_of(method));
    all.push_back({{area(ranking, PixelMaps::Painted::kFirst, "zero")},
                   {area(ranking, PixelMaps::Painted::kRest, "blur-11")}});
  }
  return all;
}

std::vector<EvaluationColumn> rise_columns() {
  const std::string paper = "Petsiuk et al., BMVC 2018";
  return {{.metric = "deletion",
           .hiding = "zero",
           .higher_is_better = false,
           .summary = "area under the probability of the predicted class while pixels are set to "
                      "0, the highest first",
           .paper = paper,
           .misleads = "rewards maps that find pictures which the model has never seen"},
          {.metric = "insertion",
           .hiding = "blur-11",
           .summary = "area under the probability of the predicted class while pixels are put into "
                      "the blurred picture, the highest first",
           .paper = paper,
           .misleads = "the blur leaves large shapes and colours, which the model may recognise "
                       "from the start"}};
}

}  // namespace

const Protocol kRise{
    .info = {.name = "rise",
             .summary = "deletion to 0 after normalisation and insertion into a blurred picture, a "
                        "row's number of pixels in each step",
             .paper = "Petsiuk et al., BMVC 2018",
             .data = "pictures"},
    .parts = {{ExplainedClass::kPredicted, rise_columns(), measure_rise}}};

}  // namespace whyformer
