#include "report/views/picture_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "whyformer/error.h"

namespace whyformer::report {
namespace {

bool same_patches(const PictureView& a, const PictureView& b) {
  return a.width == b.width && a.height == b.height && a.first_patch == b.first_patch &&
         a.rows == b.rows && a.columns == b.columns &&
         (a.rgb == b.rgb ||
          std::equal(a.rgb.get(), a.rgb.get() + 3 * a.width * a.height, b.rgb.get()));
}

bool same_panels(const Explanation& a, const Explanation& b) {
  const std::vector<Panel> panels = panels_of(a), others = panels_of(b);
  return panels.size() == others.size() &&
         same_patches(*panels.back().picture, *others.back().picture);
}

// The n-th attribution of a method: the same one may have run twice, with other options.
const Attribution* occurrence(const Explanation& explanation, const std::string& method, int n) {
  for (const Attribution& attribution : explanation.attributions) {
    if (attribution.method == method && n-- == 0) return &attribution;
  }
  return nullptr;
}

}  // namespace

void check_pictures(std::span<const Explanation> explanations) {
  if (explanations.empty()) throw InvalidInput("report of a picture: there is no explanation");
  for (const Explanation& explanation : explanations) {
    if (!has_grid(explanation)) {
      throw InvalidInput(
          fmt::format("report of a picture: '{}' is not a picture; several explanations are shown "
                      "together only where "
                      "they are of one picture",
                      explanation.text));
    }
    check_explanation(explanation);
    const Explanation& first = explanations.front();
    if (explanation.units.size() == first.units.size() && same_panels(explanation, first)) continue;
    throw InvalidInput(fmt::format(
        "report of a picture: '{}' and '{}' are not the same picture in the same patches",
        first.text, explanation.text));
  }
}

std::vector<MethodColumn> method_columns(std::span<const Explanation> explanations) {
  std::vector<MethodColumn> columns;
  const auto times_taken = [&](const std::string& name) {
    return std::count_if(columns.begin(), columns.end(),
                         [&](const MethodColumn& column) { return column.name == name; });
  };
  for (const Explanation& explanation : explanations) {
    for (const Attribution& attribution : explanation.attributions) {
      const std::string& name = attribution.method;
      const auto taken = static_cast<int>(times_taken(name));
      if (occurrence(explanation, name, taken) == nullptr) continue;
      MethodColumn& column = columns.emplace_back(MethodColumn{name, {}});
      for (const Explanation& other : explanations) {
        column.attributions.push_back(occurrence(other, name, taken));
      }
    }
  }
  return columns;
}

std::vector<LabelValue> explained_labels(std::span<const Explanation> explanations, size_t limit) {
  std::vector<LabelValue> answers = best_labels(explanations.front(), limit);
  if (answers.empty()) return answers;
  for (const Explanation& explanation : explanations) {
    const auto same = [&](const LabelValue& answer) {
      return answer.index == explanation.target.index;
    };
    const auto found = std::find_if(answers.begin(), answers.end(), same);
    if (found != answers.end()) {
      found->is_target = true;
    } else {
      answers.push_back(target_label(explanation));
      answers.back().is_target = true;
    }
  }
  std::stable_sort(answers.begin(), answers.end(),
                   [](const LabelValue& a, const LabelValue& b) { return a.value > b.value; });
  return answers;
}

MapSize patches_of(const PictureView& picture) { return {picture.rows, picture.columns}; }

std::vector<double> patch_scores(const PictureView& picture, std::span<const double> scores) {
  std::vector<double> patches;
  const std::span<const double> own =
      scores.subspan(static_cast<size_t>(picture.first_patch),
                     static_cast<size_t>(picture.rows * picture.columns));
  for (const double score : own) patches.push_back(std::isfinite(score) ? score : 0);
  return patches;
}

std::vector<PictureLayer> layers_over_units(const Explanation& explanation) {
  const auto units = static_cast<int64_t>(explanation.units.size());
  std::vector<PictureLayer> layers;
  for (size_t i = 0; i < explanation.attention.size(); ++i) {
    const AttentionMap& map = explanation.attention[i];
    if (map.queries == units && map.keys == units)
      layers.push_back({static_cast<int64_t>(i), &map});
  }
  return layers;
}

int64_t read_out_unit(const Explanation& explanation) {
  const auto found = std::find_if(explanation.units.begin(), explanation.units.end(),
                                  [](const Unit& unit) { return unit.special; });
  return found == explanation.units.end() ? -1 : found - explanation.units.begin();
}

std::vector<double> read_out_row(const Explanation& explanation, std::span<const float> weights) {
  const size_t units = explanation.units.size();
  const int64_t reader = read_out_unit(explanation);
  std::vector<double> row(units);
  if (reader >= 0) {
    const std::span<const float> own = weights.subspan(static_cast<size_t>(reader) * units, units);
    std::copy(own.begin(), own.end(), row.begin());
    return row;
  }
  for (size_t i = 0; i < weights.size(); ++i) row[i % units] += weights[i];
  for (double& weight : row) weight /= static_cast<double>(units);
  return row;
}

}  // namespace whyformer::report
