#include "studies/heads/roles/unit_facts.h"

#include <algorithm>

#include "base/code_points.h"

namespace whyformer {

std::string lowered_word(std::string text) {
  for (char& letter : text) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return text;
}

namespace {

// The word's characters in the text where that is known, otherwise the names of its tokens.
void spell_words(const Part& part, const PartText& read, UnitFacts& facts) {
  const std::vector<Unit>& units = part.units();
  const CodePointText first(read.text().text), second(read.text().pair.value_or(""));
  const size_t before = facts.word.size();
  std::map<int64_t, std::string> spelling;
  std::map<int64_t, std::pair<int64_t, int64_t>> range;
  std::map<int64_t, int> segment;
  for (const Unit& unit : units) {
    facts.word.push_back(unit.word);
    if (unit.word < 0) continue;
    spelling[unit.word] += unit.text;
    const auto [known, added] = range.try_emplace(unit.word, unit.start, unit.end);
    known->second = {std::min(known->second.first, unit.start),
                     std::max(known->second.second, unit.end)};
    segment[unit.word] = unit.segment;
  }
  for (auto& [word, letters] : spelling) {
    const auto [start, end] = range.at(word);
    std::string written = (segment.at(word) == 0 ? first : second).slice(start, end);
    letters = lowered_word(written.empty() ? std::move(letters) : std::move(written));
  }
  for (size_t i = 0; i < units.size(); ++i) {
    const int64_t word = facts.word[before + i];
    facts.spelling.push_back(word < 0 ? "" : spelling.at(word));
  }
}

void place_units(const Part& part, const Cells& cells, UnitFacts& facts) {
  facts.places.resize(part.units().size());
  for (int64_t y = 0; y < cells.height; y += cells.unit_height) {
    for (int64_t x = 0; x < cells.width; x += cells.unit_width) {
      const int64_t unit = cells.unit[y * cells.width + x];
      if (unit >= 0) facts.places[unit] = {y / cells.unit_height, x / cells.unit_width};
    }
  }
}

}  // namespace

UnitFacts unit_facts(const Input& input) {
  UnitFacts facts{.special = input.special()};
  facts.special.resize(input.tokens());
  if (input.parts().size() != 1) return facts;  // of several parts no order is known
  const Part& part = *input.parts()[0];
  if (const PartText* text = part.as_text()) {
    facts.in_sequence = true;
    spell_words(part, *text, facts);
  }
  if (const PartCells* cells = part.as_cells()) place_units(part, cells->cells(), facts);
  return facts;
}

void WordCounts::add(const UnitFacts& facts) {
  for (int64_t unit = 0; unit < static_cast<int64_t>(facts.word.size()); ++unit) {
    const bool begins = unit == 0 || facts.word[unit] != facts.word[unit - 1];
    if (facts.word[unit] >= 0 && begins) ++counts_[facts.spelling[unit]];
  }
}

void WordCounts::count_words(UnitFacts& facts) const {
  bool first = true;
  for (size_t unit = 0; unit < facts.word.size(); ++unit) {
    const auto known = counts_.find(facts.spelling[unit]);
    const int64_t count = known == counts_.end() ? 0 : known->second;
    facts.word_count.push_back(count);
    if (facts.word[unit] < 0) continue;
    facts.rarest = first ? count : std::min(facts.rarest, count);
    facts.most_common = std::max(facts.most_common, count);
    first = false;
  }
}

}  // namespace whyformer
