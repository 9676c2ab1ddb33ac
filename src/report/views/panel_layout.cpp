#include "report/views/panel_layout.h"

namespace whyformer::report {
namespace {

template <class T>
void cut(std::vector<T>& values, const Panel& panel) {
  if (values.empty()) return;
  values.erase(values.begin() + panel.first_unit + panel.units, values.end());
  values.erase(values.begin(), values.begin() + panel.first_unit);
}

void cut_square(std::vector<double>& values, const Panel& panel, size_t units) {
  if (values.empty()) return;
  std::vector<double> inside;
  for (int64_t row = panel.first_unit; row < panel.first_unit + panel.units; ++row) {
    const auto first = values.begin() + row * static_cast<int64_t>(units) + panel.first_unit;
    inside.insert(inside.end(), first, first + panel.units);
  }
  values = std::move(inside);
}

void cut_units(Explanation& explanation, const Panel& panel) {
  const size_t units = explanation.units.size();
  cut(explanation.units, panel);
  for (Attribution& attribution : explanation.attributions) {
    cut(attribution.scores, panel);
    if (!attribution.estimate) continue;
    cut(attribution.estimate->errors, panel);
    cut_square(attribution.estimate->interactions, panel, units);
  }
  std::erase_if(explanation.attention, [&](const AttentionMap& map) {
    return map.first_unit != panel.first_unit || map.queries != panel.units;
  });
  for (AttentionMap& map : explanation.attention) map.first_unit = 0;
}

// The text beside a picture becomes the only one.
void keep_text(Explanation& explanation) {
  explanation.text = input_texts(explanation).back();
  explanation.pair = {};
  explanation.picture = {};
  for (Unit& unit : explanation.units) unit.segment = 0;
  for (Attribution& attribution : explanation.attributions) {
    attribution.pixels.clear();
    for (WordScore& word : attribution.words) word.segment = 0;
  }
}

void keep_picture(Explanation& explanation, const Panel& panel) {
  explanation.pair = {};
  explanation.picture->first_patch -= panel.first_unit;
  for (Attribution& attribution : explanation.attributions) attribution.words.clear();
}

// One of several panels.
Explanation part_of(const Explanation& explanation, const Panel& panel) {
  Explanation part = explanation;
  part.streams.clear();
  cut_units(part, panel);
  if (panel.picture == nullptr) {
    keep_text(part);
  } else {
    keep_picture(part, panel);
  }
  return part;
}

}  // namespace

PanelLayout layout_of(std::span<const Explanation> explanations) {
  PanelLayout layout{explanations, {}, {}};
  for (const Explanation& explanation : explanations) {
    const std::vector<Panel> panels = panels_of(explanation);
    for (const Panel& panel : panels) {
      (panel.picture == nullptr ? layout.tokens : layout.grids)
          .push_back(panels.size() == 1 ? explanation : part_of(explanation, panel));
    }
  }
  return layout;
}

}  // namespace whyformer::report
