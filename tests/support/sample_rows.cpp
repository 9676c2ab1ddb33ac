#include "tests/support/sample_rows.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <memory>

#include "tests/support/sample_explanations.h"

namespace whyformer::report {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Sets texts and offsets from columns and cells.
void name_units(Explanation& explanation) {
  explanation.text.clear();
  int64_t word = 0;
  for (Unit& unit : explanation.units) {
    if (unit.special) continue;
    if (word > 0) explanation.text += ", ";
    const auto code_points = [](const std::string& text) {
      int64_t count = 0;
      for (const char c : text) count += (c & 0xC0) != 0x80 ? 1 : 0;
      return count;
    };
    unit.start = code_points(explanation.text);
    unit.text = unit.column + " = " + (unit.missing ? "missing" : unit.cell);
    explanation.text += unit.text;
    unit.end = code_points(explanation.text);
    unit.word = word++;
  }
}

void add_words(Explanation& explanation) {
  for (Attribution& attribution : explanation.attributions) {
    attribution.words.clear();
    for (size_t i = 0; i < explanation.units.size(); ++i) {
      const Unit& unit = explanation.units[i];
      if (unit.special) continue;
      attribution.words.push_back({unit.text, unit.start, unit.end, attribution.scores[i]});
    }
  }
}

AttentionMap even_map(int64_t tokens) {
  std::shared_ptr<float[]> weights(new float[static_cast<size_t>(2 * tokens * tokens)]);
  for (int64_t i = 0; i < 2 * tokens * tokens; ++i)
    weights[static_cast<size_t>(i)] = static_cast<float>(1 + i % 3) / (2.0f * tokens);
  return {.name = "layer.0", .heads = 2, .queries = tokens, .keys = tokens, .values = weights};
}

}  // namespace

Explanation row_sample() {
  Explanation explanation;
  explanation.model = {"income", "ft-transformer"};
  explanation.units = {
      {.text = "[CLS]", .special = true},
      {.column = "age", .value = 39, .cell = "39", .background = BackgroundShare{0.5, 0.03}},
      {.column = "town",
       .cell = "Saint-Rémy",
       .category = true,
       .background = BackgroundShare{0, 0.15}},
      {.column = "capital-gain", .missing = true, .background = BackgroundShare{0, 0.9}},
      {.column = "hours", .value = 40, .cell = "40.0", .background = BackgroundShare{0, 1}},
      {.column = "married", .cell = "no", .category = true, .background = BackgroundShare{0, 0.4}}};
  name_units(explanation);
  Attribution shap{.method = "kernel-shap", .scores = {0, 0.5, -0.25, 0, 0.125, 1}};
  shap.is_signed = true;
  shap.estimate = Estimate{.space = "logit",
                           .base = -1,
                           .value = 0.375,
                           .errors = {kNaN, 0.01, 0.02, 0, 0.01, 0.03},
                           .evaluations = 32};
  shap.completeness_gap = 0;
  Attribution gae{.method = "gae", .scores = {0.2, kNaN, 0.5, kNaN, kNaN, 0.3}};
  gae.notes = {"Numerical columns have no token: 3 of 5 columns have no score."};
  explanation.attributions = {shap, gae};
  add_words(explanation);
  explanation.output = {"logit", {-0.375, 0.375}, {"<=50K", ">50K"}};
  explanation.target = {1, ">50K", 0.375, 0.68};
  add_probabilities(explanation);
  explanation.attention = {even_map(6)};
  return explanation;
}

Explanation wide_row_sample(int columns) {
  Explanation explanation = row_sample();
  explanation.attention.clear();
  explanation.units.clear();
  Attribution& shap = explanation.attributions[0];
  explanation.attributions.resize(1);
  shap.scores.clear();
  shap.estimate->errors.clear();
  for (int i = 0; i < columns; ++i) {
    explanation.units.push_back(
        {.column = fmt::format("column {}", i), .value = i, .cell = std::to_string(i)});
    shap.scores.push_back((i % 2 == 0 ? 1.0 : -0.5) / (i + 1));
  }
  double value = shap.estimate->base;
  for (const double score : shap.scores) value += score;
  shap.estimate->value = value;
  name_units(explanation);
  add_words(explanation);
  return explanation;
}

Explanation hostile_row_sample() {
  Explanation explanation = row_sample();
  explanation.units[1].column = "<img src=x onerror=alert(1)>\x1b[2J";
  explanation.units[1].cell = "</script><script>alert(2)</script>\n";
  explanation.units[2].cell = "\"'><svg onload=alert(3)>\xff";
  explanation.units[5].column = std::string("a\0b\r\t", 5) + "\u202e" + std::string(300, 'x');
  name_units(explanation);
  add_words(explanation);
  return explanation;
}

}  // namespace whyformer::report
