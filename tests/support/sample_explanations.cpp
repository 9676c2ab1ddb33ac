#include "tests/support/sample_explanations.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "report/views/text.h"
#include "tests/support/sample_pictures.h"
#include "tests/support/sample_rows.h"
#include "tests/support/sample_sequence.h"
#include "tests/support/sample_streams.h"
#include "tests/support/sample_trust.h"

namespace whyformer::report {
namespace {

constexpr int64_t kLongestPiece = 7;

struct MethodShape {
  const char* name;
  bool is_signed;
  Options options;
};

const std::vector<MethodShape>& method_shapes() {
  static const std::vector<MethodShape> shapes{
      {"integrated_gradients", true, {{"steps", int64_t{50}}, {"baseline", std::string("pad")}}},
      {"attention_rollout", false, {{"residual", 0.5}}},
      {"occlusion", true, {}},
      {"gradient_x_input", true, {}},
      {"saliency", false, {{"norm", std::string("l2")}}},
      {"transformer_attribution", false, {}},
      {"generic_attention", false, {}},
      {"attn_lrp", true, {{"epsilon", 1e-6}}},
      {"kernel_shap", true, {{"samples", int64_t{512}}}},
      {"lime", true, {{"samples", int64_t{512}}}},
      {"smooth_grad", true, {{"noise", 0.1}}}};
  return shapes;
}

bool is_letter(const std::string& code_point) {
  const auto first = static_cast<unsigned char>(code_point[0]);
  return first >= 0x80 || std::isalnum(first) != 0;
}

void add_special(Explanation& explanation, const std::string& token, int segment) {
  explanation.units.push_back({token, 0, 0, true, segment, -1});
}

void add_word(Explanation& explanation, const CodePointText& text, int64_t start, int64_t end,
              int segment, int64_t word) {
  for (int64_t from = start; from < end; from += kLongestPiece) {
    const int64_t to = std::min(end, from + kLongestPiece);
    explanation.units.push_back(
        {(from > start ? "##" : "") + text.slice(from, to), from, to, false, segment, word});
  }
}

int64_t add_text(Explanation& explanation, const std::string& source, int segment, int64_t word) {
  const CodePointText text(source);
  for (int64_t i = 0; i < text.size();) {
    if (text.slice(i, i + 1) == " " || text.slice(i, i + 1) == "\n") {
      ++i;
      continue;
    }
    int64_t end = i + 1;
    while (is_letter(text.slice(i, i + 1)) && end < text.size() &&
           is_letter(text.slice(end, end + 1))) {
      ++end;
    }
    add_word(explanation, text, i, end, segment, word++);
    i = end;
  }
  return word;
}

double importance(const Unit& unit, double random) {
  if (unit.text == "wonderf" || unit.text == "##ul") return 0.9;
  if (unit.text == "unbeara" || unit.text == "slow") return -0.6;
  if (unit.special) return 0.25 * random;
  return 0.5 * std::pow(2 * random - 1, 3);
}

std::vector<WordScore> fold(const Explanation& explanation, const std::vector<double>& scores) {
  std::vector<WordScore> words;
  for (size_t i = 0; i < scores.size(); ++i) {
    const Unit& unit = explanation.units[i];
    if (unit.word < 0) continue;
    if (unit.word == static_cast<int64_t>(words.size())) {
      words.push_back({"", unit.start, unit.end, 0, unit.segment});
    }
    words.back().end = unit.end;
    words.back().score += scores[i];
  }
  for (WordScore& word : words) {
    const CodePointText text(word.segment == 1 ? *explanation.pair : explanation.text);
    word.text = text.slice(word.start, word.end);
  }
  return words;
}

Attribution make_attribution(const Explanation& explanation, int index) {
  const MethodShape& shape = method_shapes()[static_cast<size_t>(index) % method_shapes().size()];
  Sequence random(static_cast<uint64_t>(index) + 5);
  Attribution attribution;
  attribution.method = shape.name;
  attribution.options = shape.options;
  attribution.is_signed = shape.is_signed;
  for (const Unit& unit : explanation.units) {
    const double score = importance(unit, random.next()) * (0.7 + 0.5 * random.next());
    attribution.scores.push_back(shape.is_signed ? score : std::abs(score) / 8);
  }
  attribution.words = fold(explanation, attribution.scores);
  attribution.cost = {51, shape.is_signed ? 50 : 0, 0.4213};
  if (index == 0) attribution.completeness_gap = 0.0031;
  if (shape.name == std::string("kernel_shap")) attribution.seed = 7;
  return attribution;
}

// Softmax over random logits, with weight on the diagonal, its neighbours and the first token.
AttentionMap make_map(int layer, int64_t heads, int64_t tokens) {
  Sequence random(static_cast<uint64_t>(layer) + 99);
  auto values = std::make_shared<float[]>(static_cast<size_t>(heads * tokens * tokens));
  float* row = values.get();
  for (int64_t head = 0; head < heads; ++head) {
    const int64_t shift = head % 5 - 2;
    for (int64_t query = 0; query < tokens; ++query, row += tokens) {
      double sum = 0;
      for (int64_t key = 0; key < tokens; ++key) {
        double logit = 2 * random.next();
        if (key == query + shift) logit += 4;
        if (key == 0) logit += 0.5 * layer;
        row[key] = static_cast<float>(std::exp(logit));
        sum += row[key];
      }
      for (int64_t key = 0; key < tokens; ++key) row[key] /= static_cast<float>(sum);
    }
  }
  return {fmt::format("encoder.layer.{}", layer), heads, tokens, tokens, values};
}

void set_output(Explanation& explanation, const std::vector<std::string>& labels) {
  Sequence random(3);
  double sum = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    explanation.output.values.push_back(i == 1 ? 4.25 : 3 * random.next() - 1.5);
    sum += std::exp(explanation.output.values.back());
  }
  explanation.output.space = "logit";
  explanation.output.labels = labels;
  const size_t target = labels.size() > 1 ? 1 : 0;
  const double value = explanation.output.values[target];
  explanation.target = {static_cast<int64_t>(target), labels[target], value, std::exp(value) / sum};
  add_probabilities(explanation);
}

}  // namespace

void add_probabilities(Explanation& explanation) {
  Output& output = explanation.output;
  double sum = 0;
  for (const double value : output.values) sum += std::exp(value);
  for (const double value : output.values) output.probabilities.push_back(std::exp(value) / sum);
}

Explanation sample_explanation(const SampleOptions& options) {
  Explanation explanation;
  explanation.model = {"distilbert-base-uncased-finetuned-sst-2-english", "distilbert"};
  explanation.text = options.text;
  explanation.pair = options.pair;
  add_special(explanation, "[CLS]", 0);
  const int64_t words = add_text(explanation, options.text, 0, 0);
  add_special(explanation, "[SEP]", 0);
  if (options.pair) {
    add_text(explanation, *options.pair, 1, words);
    add_special(explanation, "[SEP]", 1);
  }
  set_output(explanation, options.labels);
  for (int i = 0; i < options.methods; ++i) {
    explanation.attributions.push_back(make_attribution(explanation, i));
  }
  const auto tokens = static_cast<int64_t>(explanation.units.size());
  for (int layer = 0; layer < options.layers; ++layer) {
    explanation.attention.push_back(make_map(layer, options.heads, tokens));
  }
  return explanation;
}

Explanation documented_sample() {
  Explanation explanation;
  explanation.model = {"cross-encoder/nli-deberta-v3-small", "deberta-v2"};
  explanation.text = "It rains.";
  explanation.pair = "It is wet.";
  explanation.units = {{"[CLS]", 0, 0, true, 0, -1}, {"▁It", 0, 2, false, 0, 0},
                       {"▁rain", 3, 7, false, 0, 1}, {"s", 7, 8, false, 0, 1},
                       {".", 8, 9, false, 0, 2},     {"[SEP]", 0, 0, true, 0, -1},
                       {"▁wet", 6, 9, false, 1, 3},  {"[SEP]", 0, 0, true, 1, -1}};
  explanation.output = {"logit", {-2.5, 3.25, 0.5}, {"contradiction", "entailment", "neutral"}};
  explanation.target = {1, "entailment", 3.25, 0.9372};
  add_probabilities(explanation);
  Attribution attribution;
  attribution.method = "kernel_shap";
  attribution.options = {{"samples", int64_t{512}}, {"mask", std::string("[MASK]")}};
  attribution.scores = {0.125, -0.25, 0.75, 0.5, 0.0625, 0.0, 1.5, 0.03};
  attribution.words = {{"It", 0, 2, -0.25, 0},
                       {"rains", 3, 8, 1.25, 0},
                       {".", 8, 9, 0.0625, 0},
                       {"wet", 6, 9, 1.5, 1}};
  attribution.is_signed = true;
  attribution.completeness_gap = 0.0004;
  attribution.seed = 7;
  attribution.estimate = Estimate{.space = "logit",
                                  .base = 0.5329,
                                  .value = 3.25,
                                  .errors = {0.004, 0.01, 0.02, 0.01, 0.003, 0.0, 0.02, 0.004},
                                  .evaluations = 254};
  attribution.cost = {512, 0, 0.81};
  attribution.notes = {"Special tokens were never masked."};
  explanation.attributions.push_back(attribution);
  explanation.refused = {{"decompx", "the blocks of this model have another form"}};
  explanation.notes = {"The second text was cut to fit 8 tokens.",
                       "decompx was left out: the blocks of this model have another form."};
  return explanation;
}

Explanation long_sample(int tokens, int methods, int layers, int heads) {
  const std::vector<std::string> words{"the",  "film",  "is",         "wonderful", "and",
                                       "slow", "but",   "unbearable", ",",         "somehow",
                                       "it",   "works", "."};
  Sequence random(1);
  std::string text;
  int pieces = 2;
  while (pieces < tokens) {
    const std::string& word = words[static_cast<size_t>(random.next() * 12.99)];
    const int cost = word.size() > kLongestPiece ? 2 : 1;
    if (pieces + cost > tokens) continue;
    pieces += cost;
    text += (text.empty() || word == "," || word == "." ? "" : " ") + word;
  }
  Explanation explanation =
      sample_explanation({.text = text, .methods = methods, .layers = layers, .heads = heads});
  explanation.notes.push_back("The text was cut to 512 tokens; 37 more were left out.");
  return explanation;
}

Explanation pair_sample() {
  return sample_explanation({.text = "A wonderful man plays the guitar on stage.",
                             .pair = "Someone is making music.",
                             .labels = {"contradiction", "entailment", "neutral"},
                             .methods = 4});
}

Explanation unicode_sample() {
  return sample_explanation(
      {.text =
           "我爱这部电影 👩‍👩‍👧 Привет שלום עולם مرحبا café "
           "naïve "
           "한국어 🇫🇷 ❤️ e\u0301\tend",
       .labels = {"否定的", "肯定的 🎉"},
       .methods = 2});
}

Explanation hostile_sample() {
  const std::string attack = "</script><img src=x onerror=\"document.title='owned'\">&amp;'\"<b>";
  const std::string escape =
      "\x1b[2J\x1b]0;owned\x07\xc2\x9b"
      "31m\u202etxt\r\n\xff\xfe";
  Explanation explanation =
      sample_explanation({.text = attack + " film " + escape, .labels = {escape, attack}});
  explanation.model = {attack, escape};
  explanation.units[0].text = attack;
  explanation.units.back().text = escape;
  for (Attribution& attribution : explanation.attributions) {
    attribution.method += attack + escape;
    attribution.options.push_back({attack, escape});
    attribution.notes = {attack, escape};
  }
  for (AttentionMap& map : explanation.attention) map.name = attack;
  explanation.notes = {attack + escape};
  return explanation;
}

// Without numbers, with huge ones, and with names that steer terminals.
Explanation hostile_estimate_sample() {
  Explanation explanation = hostile_sample();
  const size_t units = explanation.units.size();
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  for (size_t i = 0; i < explanation.attributions.size(); ++i) {
    Attribution& attribution = explanation.attributions[i];
    const double base = i == 0 ? kNaN : i == 1 ? 1e308 : -1e-300;
    attribution.estimate = Estimate{.space = explanation.model.name, .base = base, .value = -base};
    attribution.estimate->errors.assign(units, i == 0 ? kNaN : 1e300);
    attribution.estimate->interactions.assign(units * units, i == 0 ? kNaN : -1e300);
  }
  for (double& score : explanation.attributions[1].scores) score *= 1e308;
  return explanation;
}

Explanation broken_scores_sample() {
  Explanation explanation = sample_explanation({.methods = 3});
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  explanation.attributions[0].scores[2] = kNaN;
  explanation.attributions[0].words[1].score = kNaN;
  explanation.attributions[0].words[2].score = -std::numeric_limits<double>::infinity();
  for (double& score : explanation.attributions[1].scores) score = 0;
  for (WordScore& word : explanation.attributions[1].words) word.score = 0;
  for (double& score : explanation.attributions[2].scores) score = kNaN;
  for (WordScore& word : explanation.attributions[2].words) word.score = kNaN;
  return explanation;
}

Explanation regression_sample() {
  Explanation explanation = sample_explanation({.labels = {"score"}});
  explanation.output = {"value", {3.4183}, {"score"}};
  explanation.target = {0, "score", 3.4183, std::nullopt};
  return explanation;
}

Explanation estimate_sample() {
  Explanation explanation = sample_explanation({.methods = 3});
  const size_t units = explanation.units.size();
  Attribution& shap = explanation.attributions[0];
  shap.method = "kernel-shap";
  shap.options.clear();
  double sum = 0;
  for (const double score : shap.scores) sum += score;
  const double value = explanation.target.value;
  shap.estimate = Estimate{.space = "logit", .base = value - sum, .value = value};
  for (size_t i = 0; i < units; ++i) {
    shap.estimate->errors.push_back(0.02 + 0.01 * static_cast<double>(i % 3));
  }
  shap.estimate->errors[4] = std::numeric_limits<double>::infinity();
  shap.completeness_gap = 0.0;

  Attribution& fit = explanation.attributions[1];
  fit.method = "lime";
  fit.options.clear();
  fit.is_signed = true;
  fit.estimate = Estimate{.space = "probability",
                          .base = 0.4375,
                          .value = 0.996,
                          .errors = std::vector<double>(units, 0.005),
                          .finished = false,
                          .r_squared = 0.8125};

  // Halves of a pair's value stand in both of its cells; a row sums up to the unit's score.
  Attribution& pairs = explanation.attributions[2];
  pairs.method = "shapley-taylor";
  pairs.options.clear();
  Sequence random(17);
  std::vector<double> matrix(units * units, 0.0);
  pairs.scores.assign(units, 0.0);
  sum = 0;
  for (size_t row = 1; row + 1 < units; ++row) {
    for (size_t column = 1; column <= row; ++column) {
      const double cell = (row == column ? 1.2 : 0.4) * std::pow(2 * random.next() - 1, 3);
      matrix[row * units + column] = matrix[column * units + row] = cell;
      pairs.scores[row] += cell;
      if (row != column) pairs.scores[column] += cell;
      sum += row == column ? cell : 2 * cell;
    }
  }
  pairs.words = fold(explanation, pairs.scores);
  pairs.estimate = Estimate{
      .space = "logit", .base = value - sum, .value = value, .interactions = std::move(matrix)};
  return explanation;
}

Explanation single_token_sample() {
  Explanation explanation;
  explanation.model = {"tiny", "bert"};
  explanation.units.push_back({"[CLS]", 0, 0, true, 0, -1});
  explanation.output = {"logit", {1.5}, {"yes"}};
  explanation.target = {0, "yes", 1.5, 1.0};
  add_probabilities(explanation);
  Attribution& attribution = explanation.attributions.emplace_back();
  attribution.method = "occlusion";
  attribution.scores = {0.5};
  attribution.is_signed = true;
  explanation.attention.push_back(make_map(0, 1, 1));
  return explanation;
}

Explanation many_labels_sample(int labels) {
  SampleOptions options{.methods = 1};
  options.labels.clear();
  for (int i = 0; i < labels; ++i) options.labels.push_back(fmt::format("category {}", i));
  Explanation explanation = sample_explanation(options);
  explanation.target.index = 17 % labels;
  explanation.target.label = options.labels[static_cast<size_t>(explanation.target.index)];
  explanation.target.value =
      explanation.output.values[static_cast<size_t>(explanation.target.index)];
  double sum = 0;
  for (const double value : explanation.output.values) sum += std::exp(value);
  explanation.target.probability = std::exp(explanation.target.value) / sum;
  return explanation;
}

std::vector<NamedSample> all_samples() {
  return {{"plain", sample_explanation()},
          {"documented", documented_sample()},
          {"no methods", sample_explanation({.methods = 0})},
          {"no maps", sample_explanation({.layers = 0})},
          {"eleven methods", sample_explanation({.methods = 11})},
          {"long", long_sample(512, 2, 2, 2)},
          {"pair", pair_sample()},
          {"unicode", unicode_sample()},
          {"hostile", hostile_sample()},
          {"broken", broken_scores_sample()},
          {"regression", regression_sample()},
          {"estimates", estimate_sample()},
          {"hostile estimates", hostile_estimate_sample()},
          {"single token", single_token_sample()},
          {"thousand labels", many_labels_sample(1000)},
          {"picture", picture_sample()},
          {"small wide picture",
           picture_sample({.width = 48, .height = 16, .patch = 8, .class_token = false})},
          {"documented picture", documented_picture_sample()},
          {"picture with windows", window_picture_sample()},
          {"hostile picture", hostile_picture_sample()},
          {"streams", documented_streams_sample()},
          {"trust", trust_sample()},
          {"row", row_sample()},
          {"row of one column", wide_row_sample(1)},
          {"row of 500 columns", wide_row_sample(500)},
          {"hostile row", hostile_row_sample()},
          {"nothing", Explanation()}};
}

}  // namespace whyformer::report
