// Where relevance goes: what enters and leaves every operator on its way back, so that the one that
// loses it or lets it explode has a name.
#pragma once

#include <string>
#include <vector>

#include "whyformer/model.h"

namespace whyformer {

struct RelevanceStep {
  std::string node;
  std::string op;
  std::string rule;
  double entering = 0;            // sum over the operator's output
  double leaving = 0;             // sum over its inputs
  double entering_magnitude = 0;  // the same of absolute values
  double leaving_magnitude = 0;

  // Share of what entered that was lost (negative: that was added), relative to the magnitudes.
  double loss() const;
};

struct RelevanceReport {
  ModelName model;
  std::string policy;
  Target target;
  double seed = 0;                   // what the walk started with
  std::vector<RelevanceStep> steps;  // from the output to the embeddings
  double at_first_layer = 0;
  double at_words = 0;
  std::vector<std::string> notes;
};

// Names of the policies that are part of the program.
std::vector<std::string> relevance_policies();

// `policy` is a name or the path of a JSON file. Reads target, similar_to and precision of the
// request.
RelevanceReport relevance_report(const Model& model, const InputValue& input,
                                 const std::string& policy, const ExplainRequest& request = {});

}  // namespace whyformer
