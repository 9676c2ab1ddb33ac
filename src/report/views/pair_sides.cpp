#include "report/views/pair_sides.h"

#include <algorithm>

namespace whyformer::report {
namespace {

// Units [begin, end) of the explanation.
struct Range {
  size_t begin, end;
  size_t size() const { return end - begin; }
};

size_t tokens_of(const Explanation& explanation) {
  const auto& units = explanation.units;
  return static_cast<size_t>(
      std::find_if(units.begin(), units.end(), [](const Unit& unit) { return unit.segment == 0; }) -
      units.begin());
}

template <class T>
void cut(std::vector<T>& values, const Range& range) {
  if (values.empty()) return;
  values.erase(values.begin() + static_cast<int64_t>(range.end), values.end());
  values.erase(values.begin(), values.begin() + static_cast<int64_t>(range.begin));
}

void cut_square(std::vector<double>& values, const Range& range, size_t units) {
  if (values.empty()) return;
  std::vector<double> inside;
  for (size_t row = range.begin; row < range.end; ++row) {
    const auto first = values.begin() + static_cast<int64_t>(row * units);
    inside.insert(inside.end(), first + static_cast<int64_t>(range.begin),
                  first + static_cast<int64_t>(range.end));
  }
  values = std::move(inside);
}

Explanation side(const Explanation& explanation, const Range& range) {
  Explanation result = explanation;
  const size_t units = explanation.units.size();
  cut(result.units, range);
  for (Attribution& attribution : result.attributions) {
    cut(attribution.scores, range);
    if (!attribution.estimate) continue;
    cut(attribution.estimate->errors, range);
    cut_square(attribution.estimate->interactions, range, units);
  }
  std::erase_if(result.attention, [&](const AttentionMap& map) {
    return map.first_unit != static_cast<int64_t>(range.begin) ||
           map.queries != static_cast<int64_t>(range.size());
  });
  for (AttentionMap& map : result.attention) map.first_unit = 0;
  return result;
}

}  // namespace

bool is_pair(const Explanation& explanation) { return explanation.picture && explanation.pair; }

Explanation text_side(const Explanation& explanation) {
  Explanation result = side(explanation, {0, tokens_of(explanation)});
  result.text = *explanation.pair;
  result.pair = {};
  result.picture = {};
  for (Unit& unit : result.units) unit.segment = 0;
  for (Attribution& attribution : result.attributions) {
    attribution.pixels.clear();
    for (WordScore& word : attribution.words) word.segment = 0;
  }
  return result;
}

Explanation picture_side(const Explanation& explanation) {
  const size_t tokens = tokens_of(explanation);
  Explanation result = side(explanation, {tokens, explanation.units.size()});
  result.picture->first_patch -= static_cast<int64_t>(tokens);
  for (Attribution& attribution : result.attributions) attribution.words.clear();
  return result;
}

std::vector<Explanation> text_sides(std::span<const Explanation> explanations) {
  std::vector<Explanation> sides;
  for (const Explanation& explanation : explanations) {
    if (is_pair(explanation)) sides.push_back(text_side(explanation));
  }
  return sides;
}

std::vector<Explanation> picture_sides(std::span<const Explanation> explanations) {
  std::vector<Explanation> sides;
  for (const Explanation& explanation : explanations) {
    sides.push_back(is_pair(explanation) ? picture_side(explanation) : explanation);
  }
  return sides;
}

}  // namespace whyformer::report
