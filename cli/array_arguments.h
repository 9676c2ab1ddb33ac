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
  int64_t hiding_id = 0;
  CLI::Option* has_hiding_id = nullptr;  // where the command hides tokens

  void add_to(CLI::App& command);
  void add_hiding_to(CLI::App& command);
  bool given() const { return !inputs.empty(); }
  // Throws InvalidInput if there is no model to go with them.
  void check(const std::string& model) const;
  ArrayTarget target() const { return {output, element}; }
};

}  // namespace whyformer::cli
