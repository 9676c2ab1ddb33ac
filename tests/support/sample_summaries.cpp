#include "tests/support/sample_summaries.h"

#include <fmt/format.h>

#include <sstream>

namespace whyformer::report {

Explanation sentence(const std::string& text, const std::vector<double>& scores) {
  Explanation explanation;
  explanation.model = {"tiny", "bert"};
  explanation.text = text;
  explanation.units.push_back({"[CLS]", 0, 0, true, 0, -1});
  int64_t start = 0;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const int64_t end = start + static_cast<int64_t>(word.size());
    explanation.units.push_back(
        {word, start, end, false, 0, static_cast<int64_t>(explanation.units.size()) - 1});
    start = end + 1;
  }
  explanation.units.push_back({"[SEP]", 0, 0, true, 0, -1});
  Attribution attribution;
  attribution.method = "partition-shap";
  attribution.is_signed = true;
  attribution.scores = scores;
  attribution.estimate = Estimate{.space = "logit"};
  explanation.attributions.push_back(attribution);
  explanation.output = {"logit", {0, 1}, {"negative", "positive"}};
  explanation.target = {1, "positive", 1, std::nullopt};
  return explanation;
}

std::vector<Explanation> five_sentences() {
  return {
      sentence("I like the movie",
               {-0.1295938, 0.56973486, 2.80113666, -0.14384789, 0.32744559, 0.17642172}),
      sentence("She hates the book",
               {0.04401805, 0.04553582, -3.53780551, -0.05805362, 0.00513234, 0.29313125}),
      sentence("This is so boring",
               {0.30843912, 0.25726233, 0.28962884, 0.28991709, -4.94576939, 0.3164889}),
      sentence("I cannot wait for next time", {-0.10001853, 0.30019138, 1.07011396, 1.28322518,
                                               0.11099461, 0.42985061, 0.22122911, -0.22297784}),
      sentence("You look extremely confused",
               {0.59630368, 0.48589848, 0.27857004, -0.05426301, -4.83736869, 0.56557564})};
}

Explanation table_row(double age, double hours, const std::vector<double>& scores) {
  Explanation explanation = sentence("x", {0, 0, 0});
  explanation.text = fmt::format("age = {:g}, hours = {:g}", age, hours);
  const std::string first = fmt::format("age = {:g}", age),
                    second = fmt::format("hours = {:g}", hours);
  const auto split = static_cast<int64_t>(first.size());
  const auto size = static_cast<int64_t>(explanation.text.size());
  explanation.units = {{first, 0, split, false, 0, 0, "age", age},
                       {second, split + 2, size, false, 0, 1, "hours", hours}};
  explanation.attributions[0].scores = scores;
  return explanation;
}

// 60 rows whose scores follow the columns, many of them the same.
std::vector<Explanation> table_rows() {
  std::vector<Explanation> rows;
  for (int i = 0; i < 60; ++i) {
    rows.push_back(table_row(20 + i % 7, 40 - i % 3, {0.5 * (i % 7) - 1, 0.25 * (i % 3)}));
  }
  return rows;
}

}  // namespace whyformer::report
