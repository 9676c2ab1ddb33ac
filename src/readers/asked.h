// What is asked of a model: which answer, what it is called, and the text as the model reads it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/picture_model.h"
#include "models/table_model.h"
#include "models/text_model.h"
#include "run/subject.h"
#include "whyformer/model.h"

namespace whyformer {

struct Asked {
  RunKind kind;
  std::optional<Problem> problem;  // that a classifier solves
  Output output;                   // space and labels, without values
  std::vector<std::string> notes;  // on the model's head and on the text to compare with
};

// The model's own answer, or the similarity to a text. Throws InvalidInput where the model has
// none.
Asked asked_of(const TextModel& model, const std::optional<std::string>& similar_to,
               Precision precision);
Asked asked_of(const PictureModel& model, const std::optional<std::string>& similar_to,
               Precision precision);
Asked asked_of(const TableModel& model, int64_t columns,
               const std::optional<std::string>& similar_to, Precision precision);

// Cut off where the model's longest input ends, which is noted. Throws InvalidInput for an empty
// text.
Encoding encode(const TextModel& model, const TextInput& input, std::vector<std::string>& notes);

}  // namespace whyformer
