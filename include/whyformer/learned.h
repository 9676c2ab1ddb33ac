// What each layer knows: linear probes of labels on activations, with the controls without which
// their accuracy means nothing (Alain & Bengio 2017; Hewitt & Liang, EMNLP 2019).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "whyformer/concepts.h"
#include "whyformer/model.h"

namespace whyformer {

struct LabelledWord {
  int64_t start = 0;  // code points [start, end) of the text
  int64_t end = 0;
  std::string label;
};

// An input with one label, or a text with a label for each word.
struct LearnedExample {
  InputValue input;
  std::string label = {};
  std::vector<LabelledWord> words = {};
  std::string place = {};  // for messages, such as "line 7"
};

// Sentences as CoNLL shared tasks keep them: a word and its label on each line with a tab between
// them, a blank line behind each sentence. The text has blanks between its words. At most `limit`
// sentences; 0: all. Throws FileError, or InvalidInput that names the line.
std::vector<LearnedExample> read_labelled_words(const std::filesystem::path& path,
                                                int64_t limit = 0);

enum class ProbeKind {
  kRidge,    // least squares on one column per label; the penalty by leave-one-out residuals
  kLogistic  // one label against the rest
};

struct LearnedRequest {
  std::vector<int> layers = {};       // 0 is the first block; empty: every block
  TokenRows rows = TokenRows::kMean;  // of inputs with one label; words have the mean of theirs
  ProbeKind probe = ProbeKind::kRidge;
  double strength = 1;         // C of the logistic probe
  double held_out = 0.25;      // share of inputs
  int shuffles = 20;           // fits to shuffled labels
  bool random_weights = true;  // the same architecture with random weights beside it
  int64_t max_rows = 4000;     // that a probe is fitted to
  int64_t seed = 0;
  Precision precision = Precision::kSingle;
  Progress progress = {};  // counts runs and fits; returning false ends the work with the layers
                           // that are done by then
};

struct ProbeAccuracy {
  int64_t hits = 0;
  int64_t rows = 0;
  double low = 0, high = 1;  // binomial, 95 % (Clopper & Pearson)

  double share() const { return static_cast<double>(hits) / static_cast<double>(rows); }
};

// A direction per label: the label with the largest weights · activation + intercept is predicted.
struct ProbeDirections {
  int64_t labels = 0;
  int64_t width = 0;
  std::vector<float> weights = {};  // [labels, width]
  std::vector<float> intercepts = {};
};

struct LayerProbe {
  int layer = 0;  // -1: the embeddings, before any block
  ProbeAccuracy accuracy;
  std::optional<double> penalty = {};           // λ of ridge, over the mean variance of the rows
  double shuffled = 0, shuffled_deviation = 0;  // accuracy of fits to shuffled labels
  double p = 1;                                 // that shuffled labels do as well
  std::optional<ProbeAccuracy> random_weights = {};
  // Of words: a random label for each word type, drawn as often as the labels come.
  std::optional<ProbeAccuracy> control_task = {};
  std::optional<double> selectivity() const {
    if (!control_task) return std::nullopt;
    return accuracy.share() - control_task->share();
  }
  ProbeDirections directions = {};
};

struct LearnedReport {
  static constexpr const char* kSchema = "whyformer.learned/1";

  ModelName model;
  std::string unit;  // what has labels: "texts", "words", …
  ProbeKind probe = ProbeKind::kRidge;
  TokenRows rows = TokenRows::kMean;
  int64_t inputs = 0, held_out_inputs = 0;
  int64_t fitted_rows = 0;
  std::vector<std::pair<std::string, int64_t>> labels = {};  // with how many rows have them
  ProbeAccuracy majority;  // of the most common label among fitted rows
  int shuffles = 0;
  int64_t seed = 0;
  std::vector<LayerProbe> layers = {};  // the embeddings first, where they were found
  bool stopped_early = false;
  double run_seconds = 0, fit_seconds = 0;
  std::vector<std::string> notes = {};
};

// Inputs are split, never words of one. Throws InvalidInput for too few inputs or labels, for
// layers that the model does not have, and for inputs that it cannot take.
LearnedReport probe_layers(const Model& model, const std::vector<LearnedExample>& examples,
                           const LearnedRequest& request);

// The directions of every layer: "layer.3.weight" [labels, width] and "layer.3.bias" [labels];
// "embeddings.weight". For use as edits and as concept vectors.
std::string directions_in_safetensors(const LearnedReport& report);

}  // namespace whyformer
