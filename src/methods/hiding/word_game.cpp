#include "methods/hiding/word_game.h"

#include <limits>

#include "readers/token_segments.h"
#include "readers/tokenizers/characters.h"

namespace whyformer {

WordGame::WordGame(Run& run, WordGameOptions options) : run_(run), options_(options) {
  const TextInput& input = text().text();
  spans_[0] = spans_of(input.text, 0);
  if (input.pair) spans_[1] = spans_of(*input.pair, 1);
}

std::vector<WordGame::TextSpan> WordGame::spans_of(const std::string& original, int segment) {
  const std::string text = tokenization::replace_ill_formed_utf8(original).text;
  std::vector<TextSpan> spans;
  int64_t character = 0;
  for (size_t at = 0; at < text.size(); ++character) {
    const size_t begin = at;
    const bool in_word = is_word_character(tokenization::next_character(text, at));
    if (spans.empty() || (spans.back().player >= 0) != in_word) {
      spans.push_back({.start = character, .player = in_word ? 0 : -1});
    }
    spans.back().text.append(text, begin, at - begin);
    spans.back().end = character + 1;
  }
  for (TextSpan& span : spans) {
    if (span.player < 0) continue;
    const auto known = options_.types ? known_[segment].find(span.text) : known_[segment].end();
    span.player = known != known_[segment].end() ? known->second : players_++;
    known_[segment].try_emplace(span.text, span.player);
  }
  return spans;
}

std::string WordGame::shown(const std::vector<TextSpan>& spans, const Coalition& visible) const {
  std::string text;
  for (const TextSpan& span : spans) {
    const bool hidden = span.player >= 0 && !visible[span.player];
    text += !hidden ? span.text : options_.types ? "" : "UNKWORDZ";
  }
  return text;
}

std::vector<double> WordGame::values(const std::vector<Coalition>& coalitions) {
  std::vector<Variant> inputs;
  for (const Coalition& visible : coalitions) {
    TextInput input{shown(spans_[0], visible), {}};
    if (text().text().pair) input.pair = shown(spans_[1], visible);
    inputs.push_back(text().of_text(input));
  }
  std::vector<double> values;
  for (const std::vector<double>& outputs : run_.answers(inputs, Run::Report::kNo)) {
    values.push_back(run_.in_space(options_.space, outputs));
  }
  return values;
}

std::vector<size_t> WordGame::tokens_of(const TextSpan& span, int segment) const {
  const std::vector<Unit>& units = part().units();
  std::vector<size_t> tokens;
  for (size_t i = 0; i < units.size(); ++i) {
    const Unit& unit = units[i];
    if (unit.special || unit.segment != segment) continue;
    if (unit.start < span.end && unit.end > span.start) tokens.push_back(i);
  }
  return tokens;
}

std::vector<double> WordGame::by_unit(const std::vector<double>& by_player) const {
  std::vector<double> result(part().units().size(), 0.0);
  if (by_player.empty()) return {};
  for (int segment = 0; segment < 2; ++segment) {
    for (const TextSpan& span : spans_[segment]) {
      if (span.player < 0) continue;
      const std::vector<size_t> tokens = tokens_of(span, segment);
      for (const size_t token : tokens) {
        result[token] += by_player[span.player] / static_cast<double>(tokens.size());
      }
    }
  }
  return result;
}

std::vector<double> WordGame::errors_by_unit(const std::vector<double>& by_player) const {
  std::vector<double> result = by_unit(by_player);
  std::vector<bool> of_word(result.size(), false);
  for (int segment = 0; segment < 2; ++segment) {
    for (const TextSpan& span : spans_[segment]) {
      if (span.player < 0) continue;
      for (const size_t token : tokens_of(span, segment)) of_word[token] = true;
    }
  }
  for (size_t unit = 0; unit < result.size(); ++unit) {
    if (!of_word[unit]) result[unit] = std::numeric_limits<double>::quiet_NaN();
  }
  return result;
}

}  // namespace whyformer
