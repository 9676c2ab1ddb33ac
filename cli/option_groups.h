// The headings that --help lists options under.
#pragma once

#include <CLI/CLI.hpp>

namespace whyformer::cli {

enum class OptionGroup { kInput, kModel, kMethods, kTarget, kOutput };

// For all options that are added from here on.
inline void start_group(CLI::App& command, OptionGroup group) {
  const auto name = [&] {
    switch (group) {
      case OptionGroup::kInput:
        return "Input";
      case OptionGroup::kModel:
        return "Model";
      case OptionGroup::kMethods:
        return "Methods";
      case OptionGroup::kTarget:
        return "Target";
      case OptionGroup::kOutput:
        return "Output";
    }
    return "";
  };
  command.option_defaults()->group(name());
}

}  // namespace whyformer::cli
