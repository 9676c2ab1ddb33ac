#include <array>

#include "evaluate/protocols/pixel_maps.h"
#include "evaluate/ranks.h"

namespace whyformer {
namespace {

// The steps of the authors' script, and x = 0, which their figure includes.
constexpr std::array<double, 10> kShares{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};

// Accuracies of one input in per cent, at each share; nothing where the model gives no labels.
std::optional<std::vector<double>> accuracies(const ProtocolCase& one, const PixelMaps& maps,
                                              const Ranking& ranking) {
  std::vector<int64_t> counts;
  for (const double share : kShares) {
    counts.push_back(static_cast<int64_t>(static_cast<double>(maps.pixels()) * share));
  }
  std::vector<double> right;
  for (const std::vector<double>& outputs :
       maps.answers(ranking, counts, PixelMaps::Painted::kFirst, "black")) {
    const std::optional<bool> says = says_label(one.run, outputs, *one.label);
    if (!says) return std::nullopt;
    right.push_back(*says ? 100 : 0);
  }
  return right;
}

std::vector<MeasuredRow> measure_perturbation(const ProtocolCase& one,
                                              std::span<const ScoredInput> scored) {
  const PixelMaps maps(one.run, kCvpr21Perturbation.info.name);
  std::vector<MeasuredRow> all;
  for (const ScoredInput& method : scored) {
    std::vector<double> map = maps.map_of(method);
    const auto positive = accuracies(one, maps, descending_order(map));
    for (double& score : map) score = -score;
    const auto negative = accuracies(one, maps, descending_order(map));
    MeasuredRow values;
    for (const auto* curve : {&positive, &negative}) {
      values.push_back({*curve ? MetricValue(area_under(kShares, **curve)) : std::nullopt});
    }
    for (const auto* curve : {&positive, &negative}) {
      for (size_t i = 0; i < kShares.size(); ++i) {
        values.push_back({*curve ? MetricValue((**curve)[i]) : std::nullopt});
      }
    }
    all.push_back(std::move(values));
  }
  return all;
}

std::vector<EvaluationColumn> perturbation_columns(const std::string& explained) {
  const auto column = [&](const std::string& sign, bool higher) {
    return EvaluationColumn{
        .metric = sign + "-" + explained,
        .hiding = "black",
        .higher_is_better = higher,
        .summary = "area under the accuracy (in per cent, so at most 90) while the " +
                   std::string(higher ? "lowest" : "highest") +
                   " 0 to 90 % of the pixels are painted black; maps of the " + explained +
                   " class",
        .paper = "Chefer et al., CVPR 2021",
        .misleads =
            "black pixels are unlike what the model was trained on, and only the label "
            "counts, not its probability"};
  };
  std::vector<EvaluationColumn> columns{column("positive", false), column("negative", true)};
  for (const bool higher : {false, true}) {
    EvaluationColumn curve = column(higher ? "negative" : "positive", higher);
    curve.metric = (higher ? "accuracy-negative-" : "accuracy-positive-") + explained;
    curve.summary = "accuracy in per cent at each share of black pixels";
    add_curve(columns, curve, kShares);
  }
  return columns;
}

}  // namespace

const Protocol kCvpr21Perturbation{
    .info = {.name = "cvpr21-perturbation",
             .summary = "accuracy while the highest (positive) or lowest (negative) 10 to 90 % of "
                        "the pixels are painted black, for the predicted and for the right class",
             .paper = "Chefer et al., CVPR 2021",
             .data = "pictures with their labels"},
    .parts = {{ExplainedClass::kPredicted, perturbation_columns("predicted"), measure_perturbation},
              {ExplainedClass::kLabel, perturbation_columns("target"), measure_perturbation}},
    .needs_label = true};

}  // namespace whyformer
