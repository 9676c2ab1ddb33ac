// What roles of heads ask about the units of an input, whatever they are.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "run/input.h"

namespace whyformer {

struct PlaceInGrid {
  int64_t row = 0;
  int64_t column = 0;
};

// Of the units that are tokens, which come first in an input.
struct UnitFacts {
  std::vector<bool> special;
  bool in_sequence = false;  // units follow each other, as tokens of a text do
  std::vector<std::optional<PlaceInGrid>> places = {};  // by unit; empty where there is no grid
  std::vector<int64_t> word = {};                       // by unit, -1 for none; empty without words
  std::vector<std::string> spelling = {};               // of each unit's word, in lower case
  // Of each unit's word: how often the corpus has it. Empty where that was not counted.
  std::vector<int64_t> word_count = {};
  int64_t rarest = 0, most_common = 0;  // of these

  int64_t units() const { return static_cast<int64_t>(special.size()); }
  bool has_words() const { return !word.empty(); }
  bool has_grid() const { return !places.empty(); }
};

// Words that differ in the case of Latin letters alone are one.
std::string lowered_word(std::string text);

UnitFacts unit_facts(const Input& input);

// How often a corpus has each word.
class WordCounts {
 public:
  void add(const UnitFacts& facts);
  void count_words(UnitFacts& facts) const;

 private:
  std::map<std::string, int64_t, std::less<>> counts_;
};

}  // namespace whyformer
