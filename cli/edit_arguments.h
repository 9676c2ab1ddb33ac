// Arguments of commands that change values inside the model.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "whyformer/probe.h"

namespace whyformer::cli {

struct EditArguments {
  std::vector<std::string> edits;
  std::string file, other;

  void add_to(CLI::App& command);
  bool given() const { return !edits.empty() || !file.empty(); }
  // In the order of the file, then of the command line. What is copied is read from a run of
  // --other, an input of the same kind. Throws InvalidInput.
  std::vector<Edit> read(const Model& model, const InputValue& input) const;
};

}  // namespace whyformer::cli
