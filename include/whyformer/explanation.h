// What an explanation is: scores over named input units, with where they came from.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "whyformer/options.h"
#include "whyformer/trust.h"

namespace whyformer {

// Where a cell of a table lies among the rows that hidden columns are taken from: shares of these
// rows, in which numbers and words are compared as the model reads them.
struct BackgroundShare {
  double below = 0;  // with a smaller number; 0 for categories
  double equal = 0;  // with the same number or category
};

// A piece of the input that gets a score: a token, or a patch of a picture. Offsets count code
// points of the original text (of the second text where segment is 1); a token that stands for no
// text has start == end. Where a picture is compared with a text, the text's tokens come first,
// with segment 1.
struct Unit {
  std::string text;
  int64_t start = 0;
  int64_t end = 0;
  bool special = false;
  int segment = 0;
  int64_t word = -1;  // index among the words of all segments; -1 for special tokens
  // Of a row of a table: the name of the column, its number where it is one, and the cell as it was
  // written.
  std::string column = {};
  std::optional<double> value = {};
  std::string cell = {};
  bool category = false;
  bool missing = false;                            // the cell has no value
  std::optional<BackgroundShare> background = {};  // nothing without a background
  // Of a row of a context its number, from 0; -1 for the explained row itself. `column` is then
  // what it is called, and `cell` all its cells.
  std::optional<int64_t> row = {};
};

// Pieces of one word, folded.
struct WordScore {
  std::string text;  // as it stands in the original text
  int64_t start = 0;
  int64_t end = 0;
  double score = 0;
  int segment = 0;
};

struct Cost {
  int forwards = 0;   // runs of the model, one per input
  int backwards = 0;  // backward walks, one per input
  double seconds = 0;
};

// How scores were reached that come from hiding parts of the input. The scores and the base add up
// to the value, except for methods that do not share out the whole difference.
struct Estimate {
  std::string space =
      {};            // "logit", "probability" or "log-odds": of everything here, and of the scores
  double base = 0;   // with everything hidden; a fit's intercept
  double value = 0;  // of the whole input
  // Standard errors, one per unit; empty where nothing was sampled. Infinite where the sample does
  // not tell, not a number where nothing was estimated, as of special tokens.
  std::vector<double> errors = {};
  int64_t evaluations = 0;  // coalitions that were asked for; equal inputs run once, see Cost
  bool finished = true;     // false: stopped before the end, by the user or the budget
  std::optional<double> r_squared = {};   // of a linear fit
  std::vector<double> interactions = {};  // [units × units], where the method gives them
};

// The scores of one method.
struct Attribution {
  std::string method;            // as it was asked for, with its preset
  Options options;               // every option with the value that was used
  std::vector<double> scores;    // one per unit
  std::vector<WordScore> words;  // special tokens belong to no word; empty for pictures
  std::vector<float> pixels;     // [height, width] of the picture, where the method scores pixels
  bool is_signed = false;        // negative scores mean evidence against the target
  std::optional<double> completeness_gap;  // sum of scores minus what it should be, where defined
  std::optional<int64_t> seed;             // of methods that draw random numbers
  std::optional<Estimate> estimate;        // of methods that hide parts of the input
  Cost cost;
  std::optional<Trust> trust;      // where it was asked for
  std::vector<std::string> notes;  // what the reader must know, in sentences
};

// A method that was asked for and has no meaning for this input or model.
struct Refusal {
  std::string method;
  std::string reason;
};

// Everything the model answered. `space` is "logit", "value" (regression), "embedding" or
// "similarity".
struct Output {
  std::string space;
  std::vector<double> values;
  std::vector<std::string> labels;
  std::vector<double> probabilities = {};  // softmax or sigmoid of them; empty without a classifier
};

// One element of an output of a model given arrays.
struct OutputElement {
  std::string output = {};            // by name; empty: the logits, or the first output
  std::vector<int64_t> indices = {};  // one per axis of the output; empty: its largest element

  bool operator==(const OutputElement&) const = default;
};

// The explained output.
struct Target {
  int64_t index = 0;
  std::string label;
  double value = 0;
  std::optional<double> probability;          // softmax or sigmoid, where the model is a classifier
  std::optional<OutputElement> element = {};  // of arrays, whose outputs are not numbered
};

// One attention layer's maps [heads, queries, keys], shared, never copied.
struct AttentionMap {
  std::string name;
  int64_t heads = 0;
  int64_t queries = 0;
  int64_t keys = 0;
  std::shared_ptr<const float[]> values;
  int64_t first_unit =
      0;              // of its rows and columns; the picture's maps begin behind a text's tokens
  int64_t stack = 1;  // windows, or inputs given together: maps [stack, heads, queries, keys]

  std::span<const float> head(int64_t index) const {
    const int64_t size = queries * keys;
    return {values.get() + index * size, static_cast<size_t>(size)};
  }
};

// The picture behind an explanation as the model saw it, and where its patches are among the units.
struct PictureView {
  int64_t width = 0;  // pixels
  int64_t height = 0;
  std::shared_ptr<const uint8_t[]> rgb;  // [height, width, 3]
  int64_t first_patch = 0;               // the unit at the top left; the others follow row by row
  int64_t rows = 0;                      // of patches
  int64_t columns = 0;
  int64_t file_width = 0;  // of the picture as it was given
  int64_t file_height = 0;
  // The part of that picture which the model saw, in its pixels.
  double left = 0, top = 0, right = 0, bottom = 0;
};

// What the units of one token stream stand for, and which they are.
struct UnitStream {
  std::string units;
  int64_t first = 0;
  int64_t count = 0;
};

struct ModelName {
  std::string name;
  std::string architecture;
};

// The rows beside an explained one, of a model whose rows attend to each other, and what the model
// answers in other contexts: values of all outputs.
struct ContextFacts {
  int64_t rows = 0;
  std::string from;               // a file's name; "block"
  std::string mode;               // "frozen", "live"
  std::string hash;               // SHA-256 of the numbers that the model reads
  std::vector<double> live;       // the model's answer: the context sees the row too
  std::vector<double> explained;  // what scores explain: the same, or with a frozen context
  std::vector<double> alone;
  int64_t equal_rows = 0;  // of the context, with the numbers of the explained one
  // Of as many rows, drawn at random from `drawn_from` rows, which are none of the equal ones; 0
  // where there are no others.
  int64_t contexts = 0;
  int64_t drawn_from = 0;
  std::vector<double> lowest, highest;  // in these
};

struct Explanation {
  static constexpr const char* kSchema = "whyformer.explanation/1";

  ModelName model;
  std::string text;                 // or the name of the picture or its file
  std::optional<int64_t> row;       // of a table, its number there, from 0
  std::optional<std::string> pair;  // the second text; the text that a picture is compared with
  std::optional<PictureView> picture;
  std::vector<Unit> units;
  std::vector<UnitStream> streams;  // in the order of the units; empty where all are one stream
  std::optional<ContextFacts> context;
  std::string read_out;  // how the output reads the tokens, in words; empty: not told
  Output output;
  Target target;
  std::vector<Attribution> attributions;
  std::vector<Refusal> refused;         // methods asked for beside those that gave scores
  std::vector<AttentionMap> attention;  // layer 0 is nearest the input
  std::optional<TrustSetting> trust;    // where it was asked for and could be measured
  std::vector<std::string> edits;       // of the model that is explained, see to_text(Edit)
  std::vector<std::string> notes;       // e.g. that the text was truncated, or a method refused
};

}  // namespace whyformer
