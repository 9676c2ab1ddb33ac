#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "evaluate/ordered_path.h"
#include "evaluate/protocols/removal.h"
#include "evaluate/ranks.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// The authors' steps for LXMERT; they are not equidistant.
constexpr std::array<double, 9> kRemovedShares{0, 0.25, 0.5, 0.75, 0.8, 0.85, 0.9, 0.95, 1};

// The ordinary units of one side of a pair.
using Side = std::vector<int64_t>;

std::vector<Side> sides_of(const ProtocolCase& one) {
  const std::vector<Unit>& units = one.explanation.units;
  const std::vector<bool> can_hide = one.run.input().can_hide("auto");
  const bool by_stream = one.explanation.streams.size() > 1;
  std::vector<Side> sides(by_stream ? one.explanation.streams.size() : 2);
  for (size_t unit = 0; unit < units.size(); ++unit) {
    if (units[unit].special || !can_hide[unit]) continue;
    size_t side = static_cast<size_t>(units[unit].segment);
    if (by_stream) {
      const auto found =
          std::ranges::find_if(one.explanation.streams, [&](const UnitStream& stream) {
            return static_cast<int64_t>(unit) < stream.first + stream.count;
          });
      side = static_cast<size_t>(found - one.explanation.streams.begin());
    }
    if (side < sides.size()) sides[side].push_back(static_cast<int64_t>(unit));
  }
  if (sides.size() == 2 && !sides[0].empty() && !sides[1].empty()) return sides;
  throw InvalidInput(
      "vqa-perturbation takes units out of each side of a pair: give a picture with a text, two "
      "texts, or a model with two streams of tokens");
}

// Sets of removed units, one for each step: all but the ⌊(1 - step) · units⌋ highest. A step of
// 0.8 keeps ⌊0.19999999999999996 · units⌋, as in the authors' script.
void add_steps(const Side& side, const std::vector<double>& scores, size_t units,
               std::vector<std::vector<bool>>& removed) {
  const std::vector<int64_t> order = descending_order(scores);
  for (const double share : kRemovedShares) {
    const auto kept = static_cast<size_t>((1 - share) * static_cast<double>(side.size()));
    std::vector<bool> step(units, false);
    for (size_t i = kept; i < order.size(); ++i) step[side[order[i]]] = true;
    removed.push_back(std::move(step));
  }
}

// Accuracies in per cent and answers along one path.
struct PairCurve {
  std::optional<std::vector<double>> accuracy;
  std::vector<double> answer;
};

PairCurve curve_of(const ProtocolCase& one, std::span<const std::vector<double>> outputs) {
  const OutputSpace space =
      one.run.has_probabilities() ? OutputSpace::kProbability : OutputSpace::kLogit;
  PairCurve curve;
  if (one.label) curve.accuracy.emplace();
  for (const std::vector<double>& step : outputs) {
    curve.answer.push_back(one.run.in_space(space, step));
    const auto says = one.label ? says_label(one.run, step, *one.label) : std::nullopt;
    if (!says) {
      curve.accuracy.reset();
    } else if (curve.accuracy) {
      curve.accuracy->push_back(*says ? 100 : 0);
    }
  }
  return curve;
}

// First side positive, negative, second side positive, negative: accuracy, answer, curves.
MeasuredRow values_of_curves(const std::vector<PairCurve>& curves) {
  MeasuredRow values;
  for (const PairCurve& curve : curves) {
    values.push_back(
        {curve.accuracy ? MetricValue(area_under(kRemovedShares, *curve.accuracy)) : std::nullopt});
  }
  for (const PairCurve& curve : curves) {
    values.push_back({area_under(kRemovedShares, curve.answer)});
  }
  for (const PairCurve& curve : curves) {
    for (size_t i = 0; i < kRemovedShares.size(); ++i) {
      values.push_back({curve.accuracy ? MetricValue((*curve.accuracy)[i]) : std::nullopt});
    }
  }
  return values;
}

std::vector<MeasuredRow> measure_pair(const ProtocolCase& one,
                                      std::span<const ScoredInput> scored) {
  const std::vector<Side> sides = sides_of(one);
  std::vector<MeasuredRow> all;
  for (const ScoredInput& method : scored) {
    std::vector<PairCurve> curves;
    for (const Side& side : sides) {
      // What stays is the highest; the positive test negates the scores, so that they go first.
      for (const double sign : {-1.0, 1.0}) {
        std::vector<double> scores;
        for (const int64_t unit : side) scores.push_back(sign * method.scores[unit]);
        std::vector<std::vector<bool>> removed;
        add_steps(side, scores, method.scores.size(), removed);
        curves.push_back(curve_of(one, answers_without(one, removed)));
      }
    }
    all.push_back(values_of_curves(curves));
  }
  return all;
}

std::vector<EvaluationColumn> pair_columns() {
  std::vector<EvaluationColumn> areas, answers, curves;
  for (const char* side : {"first", "second"}) {
    for (const bool negative : {false, true}) {
      EvaluationColumn column{
          .metric = fmt::format("{}-{}", negative ? "negative" : "positive", side),
          .hiding = "removal",
          .higher_is_better = negative,
          .summary = fmt::format("area under the accuracy in per cent while the {} units of the {} "
                                 "side are taken out, from none to all",
                                 negative ? "lowest" : "highest", side),
          .paper = "Chefer et al., ICCV 2021",
          .misleads = "the steps crowd at the end, but the area weighs them by their width"};
      areas.push_back(column);
      EvaluationColumn curve = column;
      curve.metric = "accuracy-" + column.metric;
      curve.summary = "accuracy in per cent at each share that was taken out";
      add_curve(curves, curve, kRemovedShares);
      column.metric = "answer-" + column.metric;
      column.summary =
          "the same area under the answer: the probability, or the similarity, for "
          "pairs without a label";
      answers.push_back(column);
    }
  }
  areas.insert(areas.end(), answers.begin(), answers.end());
  areas.insert(areas.end(), curves.begin(), curves.end());
  return areas;
}

}  // namespace

const Protocol kVqaPerturbation{
    .info = {.name = "vqa-perturbation",
             .summary = "accuracy while the highest (positive) or lowest (negative) units of one "
                        "side of a pair are taken out",
             .paper = "Chefer et al., ICCV 2021",
             .data = "pictures with texts, pairs of texts, or arrays of a model with two streams; "
                     "labels where there are any"},
    .parts = {{ExplainedClass::kPredicted, pair_columns(), measure_pair}}};

}  // namespace whyformer
