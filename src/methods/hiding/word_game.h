// A text as a game whose players are words, as LIME sees it: a hidden word is taken out of the
// text, which is then tokenized again.
#pragma once

#include "methods/hiding/input_game.h"

namespace whyformer {

struct WordGameOptions {
  bool types =
      true;  // all occurrences of a word are one player; else each is its own, and becomes UNKWORDZ
  OutputSpace space = OutputSpace::kProbability;
};

class WordGame final : public Game {
 public:
  WordGame(Run& run, WordGameOptions options);

  int64_t players() const override { return players_; }
  int64_t max_at_once() const override { return run_.most_inputs_at_once(); }
  std::vector<double> values(const std::vector<Coalition>& coalitions) override;

  // A word's number is shared evenly by the tokens of each place where it stands.
  std::vector<double> by_unit(const std::vector<double>& by_player) const;
  // The same of standard errors: not a number for tokens of no word, which are never hidden.
  std::vector<double> errors_by_unit(const std::vector<double>& by_player) const;

 private:
  // A part of a text: a word, or what is between two.
  struct TextSpan {
    std::string text = {};
    int64_t start = 0, end = 0;  // code points
    int64_t player = -1;
  };
  const Part& part() const { return *run_.input().parts()[0]; }
  const PartText& text() const { return *part().as_text(); }
  std::vector<TextSpan> spans_of(const std::string& text, int segment);
  std::vector<size_t> tokens_of(const TextSpan& span, int segment) const;
  std::string shown(const std::vector<TextSpan>& spans, const Coalition& visible) const;

  Run& run_;
  WordGameOptions options_;
  std::vector<TextSpan> spans_[2];  // of the text and its pair
  int64_t players_ = 0;
  std::map<std::string, int64_t> known_[2];  // words of each text
};

}  // namespace whyformer
