// Explanations of a model beside those with other weights and of another target.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "models/randomisation.h"
#include "whyformer/sanity.h"

namespace whyformer {

// Explains the first target of a request with other weights than the model's own, where a
// randomisation says so.
using ExplainRandomised =
    std::function<Explanation(const InputValue& input, const ExplainRequest& request,
                              const std::optional<Randomisation>& randomisation)>;

SanityReport study_sanity(const Model& model, const std::vector<InputValue>& inputs,
                          const SanityRequest& request, const ExplainRandomised& explain);

}  // namespace whyformer
