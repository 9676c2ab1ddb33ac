#include "explanation/panels.h"

#include <fmt/format.h>

#include <algorithm>

#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr int64_t kLargestSide = 1 << 14;  // pixels; what is beyond is no picture of a model

void check_grid(const Explanation& explanation, const PictureView& picture) {
  const auto within = [](int64_t side) { return side > 0 && side <= kLargestSide; };
  if (!picture.rgb || !within(picture.width) || !within(picture.height)) {
    throw InvalidInput(fmt::format("report of a picture: {} x {} pixels cannot be drawn",
                                   picture.width, picture.height));
  }
  const auto units = static_cast<int64_t>(explanation.units.size());
  if (!within(picture.rows) || !within(picture.columns) || picture.first_patch < 0 ||
      picture.first_patch > units - picture.rows * picture.columns) {
    throw InvalidInput(
        fmt::format("report of a picture: {} x {} patches from unit {} on do not fit {} units",
                    picture.rows, picture.columns, picture.first_patch, units));
  }
  for (const Attribution& attribution : explanation.attributions) {
    const auto pixels = static_cast<int64_t>(attribution.pixels.size());
    if (pixels == 0 || pixels == picture.width * picture.height) continue;
    throw InvalidInput(fmt::format("report of method '{}': it scores {} pixels of {} x {}",
                                   attribution.method, pixels, picture.width, picture.height));
  }
}

void check_estimate(const Explanation& explanation, const Attribution& attribution) {
  if (!attribution.estimate) return;
  const size_t units = explanation.units.size();
  const auto expect = [&](const char* what, size_t count, size_t expected) {
    if (count == 0 || count == expected) return;
    throw InvalidInput(fmt::format("report of method '{}': it has {} {} for {} units",
                                   attribution.method, count, what, units));
  };
  expect("standard errors", attribution.estimate->errors.size(), units);
  expect("interactions", attribution.estimate->interactions.size(), units * units);
}

void check_streams(const Explanation& explanation) {
  const auto units = static_cast<int64_t>(explanation.units.size());
  for (const UnitStream& stream : explanation.streams) {
    if (stream.first >= 0 && stream.count >= 0 && stream.first <= units - stream.count) continue;
    throw InvalidInput(
        fmt::format("report of stream '{}': {} units from unit {} on do not fit {} units",
                    stream.units, stream.count, stream.first, units));
  }
}

}  // namespace

std::vector<Panel> panels_of(const Explanation& explanation) {
  const auto units = static_cast<int64_t>(explanation.units.size());
  if (!explanation.picture) return {{0, units, nullptr}};
  const PictureView* picture = &*explanation.picture;
  if (!explanation.pair) return {{0, units, picture}};
  // The text's tokens come first, with segment 1.
  const auto patch = std::find_if(explanation.units.begin(), explanation.units.end(),
                                  [](const Unit& unit) { return unit.segment == 0; });
  const int64_t tokens = patch - explanation.units.begin();
  return {{0, tokens, nullptr}, {tokens, units - tokens, picture}};
}

bool has_grid(const Explanation& explanation) { return explanation.picture.has_value(); }

bool has_characters(const Explanation& explanation) {
  return std::ranges::any_of(explanation.units, [](const Unit& unit) {
    return unit.segment == 0 && unit.start < unit.end;
  });
}

std::vector<std::string> input_texts(const Explanation& explanation) {
  std::vector<std::string> texts{explanation.text};
  if (explanation.pair) texts.push_back(*explanation.pair);
  return texts;
}

void check_explanation(const Explanation& explanation) {
  for (const Panel& panel : panels_of(explanation)) {
    if (panel.picture != nullptr) check_grid(explanation, *panel.picture);
  }
  check_streams(explanation);
  for (const Attribution& attribution : explanation.attributions) {
    check_estimate(explanation, attribution);
    if (attribution.scores.size() == explanation.units.size()) continue;
    throw InvalidInput(fmt::format("report of method '{}': it has {} scores for {} units",
                                   attribution.method, attribution.scores.size(),
                                   explanation.units.size()));
  }
  for (const AttentionMap& map : explanation.attention) {
    if (map.values && map.heads > 0 && map.queries > 0 && map.keys > 0) continue;
    throw InvalidInput(fmt::format("report of attention map '{}': it is empty ({} heads, {} x {})",
                                   map.name, map.heads, map.queries, map.keys));
  }
}

}  // namespace whyformer
