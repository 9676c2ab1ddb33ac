// Models for tests of metrics: the answer to every group of hidden players stands in a table.
#pragma once

#include <functional>
#include <vector>

#include "evaluate/metric.h"

namespace whyformer {

struct AnswerTable {
  int64_t players = 0;
  // By coalition: bit i of its number says whether player i is visible.
  std::vector<HiddenAnswer> rows = {};

  static AnswerTable of(int64_t players,
                        const std::function<double(const std::vector<bool>& visible)>& value) {
    AnswerTable table{.players = players};
    for (int64_t row = 0; row < int64_t{1} << players; ++row) {
      std::vector<bool> visible(players);
      for (int64_t i = 0; i < players; ++i) visible[i] = row >> i & 1;
      const double answer = value(visible);
      table.rows.push_back({.value = answer, .output = answer});
    }
    return table;
  }

  const HiddenAnswer& operator()(const HiddenAnswers::Hidden& hidden) const {
    int64_t row = 0;
    for (int64_t i = 0; i < players; ++i) row |= int64_t{!hidden.at(i)} << i;
    return rows.at(row);
  }
  // Refers to the table.
  HiddenAnswers answers() const {
    return {players, [this](const std::vector<HiddenAnswers::Hidden>& questions) {
              std::vector<HiddenAnswer> found;
              for (const HiddenAnswers::Hidden& question : questions) {
                found.push_back((*this)(question));
              }
              return found;
            }};
  }
};

struct MeasureOptions {
  bool of_probability = false;
  std::vector<NoisyScores> noisy = {};
  int64_t seed = 0;
};

inline std::optional<double> measured(const Metric& metric, const std::vector<double>& scores,
                                      const AnswerTable& table,
                                      const MeasureOptions& options = {}) {
  HiddenAnswers answers = table.answers();
  double sum = 0;
  for (const double score : scores) sum += score;
  const Evidence evidence{.scores = scores,
                          .answers = answers,
                          .sum_of_all = sum,
                          .of_probability = options.of_probability,
                          .noisy = options.noisy,
                          .seed = options.seed};
  return answers.complete([&] { return metric.measure(evidence); });
}

}  // namespace whyformer
