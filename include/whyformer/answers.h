// What a model answers, without explaining it: forward runs and nothing else.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "whyformer/model.h"
#include "whyformer/tables.h"

namespace whyformer {

struct AnswersRequest {
  std::optional<std::string> similar_to =
      {};  // encoders without a classifier, and CLIP: the similarity to this text
  Precision precision = Precision::kSingle;
  int64_t memory_bytes = int64_t{1} << 30;  // for inputs that run together
  Progress progress = {};                   // counts inputs
};

// To one input.
struct Answer {
  std::vector<double> values;  // one per label
  std::vector<double>
      probabilities;  // softmax or sigmoid of them; empty where the model is no classifier
  std::vector<std::string> notes;  // e.g. that the text was truncated
};

struct Answers {
  std::string space;                // as in Output
  std::vector<std::string> labels;  // as in Output
  std::vector<std::string> notes;   // on the text of similar_to
  std::vector<Answer> inputs;       // in their order
};

// The outputs that `explain` gives, of many inputs at once: those of one size run together, without
// padding, and each is in memory only while it waits and runs. Rows of a model whose rows attend to
// each other are answered live: in its context, or, without one, in blocks of the order given.
// Throws InvalidInput that tells the
// number, from 0, of an input that the model cannot take.
Answers answers(const Model& model, const std::vector<InputValue>& inputs,
                const AnswersRequest& request = {});

}  // namespace whyformer
