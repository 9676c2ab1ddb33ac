// Arguments of commands that take the inputs of an ONNX model as arrays.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "whyformer/arrays.h"

namespace whyformer::cli {

struct ArrayArguments {
  std::string inputs, output;
  std::vector<int64_t> element;

  void add_to(CLI::App& command);
  bool given() const { return !inputs.empty(); }
  // Throws InvalidInput if there is no model to go with them.
  void check(const std::string& model) const;
  ArrayTarget target() const { return {output, element}; }
};

// Scores of every stream: JSON, or the highest ones with bars.
std::string to_json(const ArrayExplanation& explanation);
std::string to_terminal(const ArrayExplanation& explanation);

}  // namespace whyformer::cli
