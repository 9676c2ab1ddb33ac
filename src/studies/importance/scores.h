// How good a table model's answers are.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/config.h"
#include "whyformer/importance.h"

namespace whyformer {

// What kAuto stands for. Throws InvalidInput for a score that the model's answers do not have.
ImportanceScore chosen_score(ImportanceScore asked, ImportanceMethod method, Problem problem);
std::string score_name(ImportanceScore score);

// Outputs as what is scored: probabilities of classes, or the number itself. [rows × outputs], in
// place.
void to_predictions(std::vector<double>& outputs, int64_t width, Problem problem);

// Of one row: 0 or 1, minus the log-probability of the right class, or the squared difference.
double loss_of(ImportanceScore score, std::span<const double> prediction, double answer);

// Of all rows, higher is better: the negative mean loss, except for accuracy and r2. `answers` are
// those of the rows.
double score_of(ImportanceScore score, const std::vector<double>& predictions, int64_t width,
                const std::vector<double>& answers);

}  // namespace whyformer
