// Lengths of a model's inputs that do not fit it.
#pragma once

#include <string>

#include "whyformer/error.h"

namespace whyformer {

// An ONNX file leaves lengths of its inputs open, and does not take those that were chosen or told.
// `input` is one of them.
class LengthsDoNotFit : public InvalidInput {
 public:
  LengthsDoNotFit(const std::string& message, std::string input)
      : InvalidInput(message), input(std::move(input)) {}

  std::string input;
};

}  // namespace whyformer
