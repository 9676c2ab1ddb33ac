// From a text and a request to a run that methods can read.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "formats/pictures/picture.h"
#include "run/explained.h"
#include "whyformer/explanation.h"
#include "whyformer/model.h"
#include "whyformer/tables.h"

namespace whyformer {

// A text about to be explained: everything that does not depend on the method.
struct Prepared {
  std::vector<std::string> notes;
  std::unique_ptr<Explained> explained;
  Output output;
  std::optional<Problem> problem;
  Target target;
};

Explained::Settings run_settings(const ExplainRequest& request, Needs needs);

// Throws InvalidInput for an empty text and for a target that the model does not have.
Prepared prepare(const TextModel& model, const TextInput& input, const ExplainRequest& request,
                 Needs needs);

// The highest output is the target at first, whatever the request says.
Prepared prepare(const Model& model, const Picture& picture, const ExplainRequest& request,
                 Needs needs);

Prepared prepare(const Model& model, const RowInput& row, const ExplainRequest& request,
                 Needs needs);

// What is asked for: the named outputs, or so many of the highest.
std::vector<int64_t> targets_of(const Output& output, const ExplainRequest& request);

// Makes output `index` the one that is explained.
void choose_target(Prepared& prepared, int64_t index);

}  // namespace whyformer
