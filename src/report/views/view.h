// What every report draws: the text cut into pieces, the words, their strengths and the prediction.
// Computed here once, so that numbers, colours and bars agree in all outputs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "explanation/panels.h"
#include "explanation/text_pieces.h"
#include "report/views/palette.h"
#include "whyformer/report.h"

namespace whyformer::report {

bool is_shown(const Unit& unit, SpecialTokens special);

// A bar: a word, or a special token where those are shown. Methods without words get one per unit.
struct Item {
  std::string text;
  double score = 0;
  bool special = false;
  int segment = 0;
  int64_t first_unit = -1;  // -1 where no unit belongs to the word
  // Standard error where the method has one. A word of several units gets the sum of theirs, which
  // its own error never exceeds; infinite where it is not known.
  std::optional<double> error = {};
};
std::vector<Item> items_of(const Explanation& explanation, const Attribution& attribution,
                           SpecialTokens special);

// The largest finite |score|, which gets full colour and the longest bar; 0 where there is none.
struct Scale {
  double pieces = 0;
  double items = 0;
};
Scale scale_of(const Explanation& explanation, const Attribution& attribution,
               SpecialTokens special);

// The items of every method, row by row the same word; tokens where methods score different words.
struct AlignedItems {
  std::vector<std::vector<Item>> items;  // [method][row]
  std::vector<double> scales;            // [method]
};
AlignedItems aligned_items(const Explanation& explanation, SpecialTokens special);

// Every row with its mean |strength| over the methods as score: no method's scale outweighs
// another.
std::vector<Item> mean_strengths(const AlignedItems& aligned);

// score / scale within [-1, 1]; 0 for a zero scale and for scores that are not finite.
double strength(double score, double scale);

ScoreKind kind_of(const Attribution& attribution);

// Indices of the `limit` strongest items, strongest first; items that are not finite come last.
std::vector<size_t> strongest(const std::vector<Item>& items, size_t limit);

// Four significant digits of the scale, so that the scores of one method line up.
std::string format_score(double score, double scale, ScoreKind kind);
std::string format_error(const std::optional<double>& error,
                         double scale);          // "± 0.012", "± ?" or nothing
std::string format_percent(double probability);  // "98.7 %"
std::string format_option(const OptionValue& value);

// "steps=50 · 51 forward, 50 backward · 0.42 s · seed 7", as far as there is something to say.
std::string cost_line(const Attribution& attribution);

struct LabelValue {
  int64_t index = 0;
  std::string label;
  double value = 0;
  std::optional<double> probability;
  bool is_target = false;
};

std::string format_label(
    const LabelValue& answer);  // "positive 98.7 %"; the value without probability

// The labels with the largest values, best first, at most `limit`, the target always among them;
// none for embeddings and similarities.
std::vector<LabelValue> best_labels(const Explanation& explanation, size_t limit);

// What is explained, with its value: for outputs without labels.
LabelValue target_label(const Explanation& explanation);

// One sentence on special tokens that are not drawn; empty where all are.
std::string hidden_tokens_sentence(const Explanation& explanation, SpecialTokens special);

}  // namespace whyformer::report
