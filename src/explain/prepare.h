// From a text and a request to a run that methods can read.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "explain/explained.h"
#include "whyformer/explanation.h"
#include "whyformer/model.h"

namespace whyformer {

// A text about to be explained: everything that does not depend on the method.
struct Prepared {
  std::vector<std::string> notes;
  std::unique_ptr<Explained> explained;
  Output output;
  Target target;
};

// Throws InvalidInput for an empty text and for a target that the model does not have.
Prepared prepare(const TextModel& model, const TextInput& input, const ExplainRequest& request,
                 Needs needs);

}  // namespace whyformer
