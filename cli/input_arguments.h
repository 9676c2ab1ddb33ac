// Arguments that give one input: a text, a picture, a picture with a text, or arrays; and the model
// that reads it.
#pragma once

#include <optional>

#include "array_arguments.h"
#include "model_arguments.h"

namespace whyformer::cli {

struct InputArguments {
  ModelArguments model;
  TextArguments text;
  PictureArguments picture;
  ArrayArguments arrays;

  // Nothing where no input is given. Throws InvalidInput where several are.
  std::optional<InputValue> given() const;
  // The built-in model for this kind of input where none is named.
  Model load(const InputValue& input) const;
};

// Also where it comes with a text.
bool is_picture(const InputValue& input);

}  // namespace whyformer::cli
