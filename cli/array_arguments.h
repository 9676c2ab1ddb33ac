// Arguments of commands that take the inputs of an ONNX model as arrays.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "model_arguments.h"

namespace whyformer::cli {

// --batch-axis NAME=1.
struct BatchAxisArguments {
  std::vector<std::string> told;

  void add_to(CLI::App& command);
  // Throws InvalidInput for what is not NAME=0, NAME=1 or NAME=none.
  BatchAxes batch_axes() const;
};

struct ArrayArguments {
  std::string inputs;
  BatchAxisArguments batch_axis;
  std::vector<int64_t> element;
  int64_t hiding_id = 0;
  CLI::Option* has_inputs = nullptr;
  CLI::Option* has_hiding_id = nullptr;  // where the command hides tokens

  void add_to(CLI::App& command);
  void add_element_to(CLI::App& command);
  void add_hiding_to(CLI::App& command);
  bool given() const { return !inputs.empty(); }
  // Throws InvalidInput if there is no model to go with them.
  void check(const ModelArguments& model) const;
  Model load(const ModelArguments& model) const;
  // The explained element, and what hides a token.
  void fill(ExplainRequest& request, const ModelArguments& model) const;
};

}  // namespace whyformer::cli
