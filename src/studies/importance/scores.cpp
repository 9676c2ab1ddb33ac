#include "studies/importance/scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "run/output_space.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// As scikit-learn clips probabilities of a double.
constexpr double kSmallest = 2.220446049250313e-16;

double class_of(std::span<const double> prediction) {
  if (prediction.size() == 1) return prediction[0] > 0.5 ? 1 : 0;
  return static_cast<double>(std::max_element(prediction.begin(), prediction.end()) -
                             prediction.begin());
}

double probability_of(std::span<const double> prediction, double answer) {
  if (prediction.size() == 1) return answer == 1 ? prediction[0] : 1 - prediction[0];
  return prediction[static_cast<size_t>(answer)];
}

}  // namespace

ImportanceScore chosen_score(ImportanceScore asked, ImportanceMethod method, Problem problem) {
  const bool number = problem == Problem::kRegression;
  if (asked == ImportanceScore::kAuto) {
    if (method == ImportanceMethod::kSage) {
      return number ? ImportanceScore::kSquaredError : ImportanceScore::kCrossEntropy;
    }
    return number ? ImportanceScore::kR2 : ImportanceScore::kAccuracy;
  }
  const bool of_numbers = asked == ImportanceScore::kR2 || asked == ImportanceScore::kSquaredError;
  if (of_numbers != number) {
    throw InvalidInput(fmt::format("the score '{}' is for {}, and this model gives {}",
                                   score_name(asked), of_numbers ? "numbers" : "classes",
                                   number ? "a number" : "classes"));
  }
  if (method == ImportanceMethod::kSage && asked == ImportanceScore::kR2) {
    throw InvalidInput("SAGE decomposes a per-row loss: choose squared-error instead of r2");
  }
  return asked;
}

std::string score_name(ImportanceScore score) {
  switch (score) {
    case ImportanceScore::kAccuracy:
      return "accuracy";
    case ImportanceScore::kCrossEntropy:
      return "cross-entropy";
    case ImportanceScore::kR2:
      return "r2";
    case ImportanceScore::kSquaredError:
      return "squared-error";
    case ImportanceScore::kAuto:
      break;
  }
  return "auto";
}

void to_predictions(std::vector<double>& outputs, int64_t width, Problem problem) {
  if (problem == Problem::kRegression) return;
  for (auto row = outputs.begin(); row != outputs.end(); row += width) {
    const std::vector<double> probabilities = probabilities_of({row, row + width}, problem);
    std::copy(probabilities.begin(), probabilities.end(), row);
  }
}

double loss_of(ImportanceScore score, std::span<const double> prediction, double answer) {
  if (score == ImportanceScore::kAccuracy) return class_of(prediction) == answer ? 0 : 1;
  if (score == ImportanceScore::kCrossEntropy) {
    return -std::log(std::clamp(probability_of(prediction, answer), kSmallest, 1 - kSmallest));
  }
  return (prediction[0] - answer) * (prediction[0] - answer);
}

double score_of(ImportanceScore score, const std::vector<double>& predictions, int64_t width,
                const std::vector<double>& answers) {
  const auto rows = static_cast<double>(answers.size());
  double loss = 0;
  for (size_t row = 0; row < answers.size(); ++row) {
    loss += loss_of(score, {predictions.data() + row * width, static_cast<size_t>(width)},
                    answers[row]);
  }
  if (score == ImportanceScore::kAccuracy) return 1 - loss / rows;
  if (score != ImportanceScore::kR2) return -loss / rows;
  const double mean = std::accumulate(answers.begin(), answers.end(), 0.0) / rows;
  double spread = 0;
  for (const double answer : answers) spread += (answer - mean) * (answer - mean);
  return spread > 0 ? 1 - loss / spread : loss > 0 ? 0 : 1;
}

}  // namespace whyformer
