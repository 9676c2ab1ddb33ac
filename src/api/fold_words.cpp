#include "api/fold_words.h"

#include <algorithm>

#include "base/code_points.h"
#include "run/not_a_number.h"

namespace whyformer {
std::vector<WordScore> fold_words(const std::vector<Unit>& units, const std::vector<double>& scores,
                                  const TextInput& input, WordFold fold) {
  std::vector<WordScore> words;
  int64_t current = -1;
  int64_t pieces = 0;
  const auto finish = [&] {
    if (words.empty()) return;
    WordScore& word = words.back();
    if (fold == WordFold::kMean && pieces > 0) word.score /= static_cast<double>(pieces);
    const std::string_view source =
        word.segment == 1 && input.pair ? std::string_view(*input.pair) : input.text;
    word.text = code_points(source, word.start, word.end);
    pieces = 0;
  };
  for (size_t i = 0; i < units.size(); ++i) {
    const Unit& unit = units[i];
    if (unit.special || unit.word < 0) continue;
    if (unit.word != current) {
      finish();
      current = unit.word;
      words.push_back({"", unit.start, unit.end, scores[i], unit.segment});
    } else {
      WordScore& word = words.back();
      word.start = std::min(word.start, unit.start);
      word.end = std::max(word.end, unit.end);
      word.score =
          fold == WordFold::kMax ? larger_of(word.score, scores[i]) : word.score + scores[i];
    }
    ++pieces;
  }
  finish();
  return words;
}

}  // namespace whyformer
