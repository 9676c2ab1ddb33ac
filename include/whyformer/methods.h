// The catalogue of explanation methods, read by the command line, the documentation and the tests.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "whyformer/explanation.h"

namespace whyformer {

// One typed option of a method. The default's type is the option's type.
struct OptionInfo {
  std::string name;
  std::string summary;
  OptionValue fallback;
  std::vector<std::string> choices = {};  // for words: what is allowed
  double least = -1e18;                   // for numbers
  double most = 1e18;
};

// Named settings that reproduce a reference implementation.
struct PresetInfo {
  std::string name;
  std::string summary;
  Options values;
};

struct MethodInfo {
  std::string name;
  std::string summary;
  std::string paper;
  std::string cost;  // in words
  bool class_specific = true;
  bool is_signed = false;
  std::vector<OptionInfo> options;
  std::vector<PresetInfo> presets;
};

// Every method, in the order they are listed to people.
std::span<const MethodInfo> methods();

// Throws InvalidInput that lists the known names, nearest first.
const MethodInfo& method_named(std::string_view name);

// Reads "NAME=VALUE" as an option of the method; "preset=NAME" gives all options of a preset.
// Throws InvalidInput that says what is allowed.
Options parse_option(const MethodInfo& method, std::string_view assignment);

}  // namespace whyformer
