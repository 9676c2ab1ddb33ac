// From a picture with a text to runs that methods can read.
#pragma once

#include "api/prepare.h"
#include "readers/pair_subject.h"

namespace whyformer {

// What methods that look at each side by itself read, and those that look at both.
struct PairNeeds {
  Needs each_side = {};
  std::optional<Needs> together = {};
};

// A picture with a text about to be explained. Each side has the other's vector as its reference,
// so all three answer the same logit.
struct PreparedPair {
  std::unique_ptr<Explained> text;
  std::unique_ptr<Explained> picture;
  std::unique_ptr<Explained> together;  // null where nobody needs it
  std::vector<std::string> notes;
  Output output;
  Target target;
};

// Throws UnsupportedModel for a model that does not compare pictures with texts, and InvalidInput
// for an empty text and for what a request asks beside the pair's one logit.
PreparedPair prepare_pair(const Model& model, const Picture& picture, const std::string& text,
                          const ExplainRequest& request, const PairNeeds& needs);

}  // namespace whyformer
