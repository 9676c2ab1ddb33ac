// The catalogue of explanation methods, read by the command line, the documentation and the tests.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "whyformer/explanation.h"

namespace whyformer {

// One typed option of a method. Its type is that of the default value.
struct OptionInfo {
  std::string name;
  std::string summary;
  OptionValue default_value;
  std::vector<std::string> choices = {};  // for words: what is allowed
  double min = -1e18;                     // for numbers
  double max = 1e18;
};

// Named settings that reproduce a reference implementation.
struct PresetInfo {
  std::string name;
  std::string summary;
  Options values;
};

// What is explained: one prediction, or the model over many inputs.
enum class Scope { kLocal, kGlobal };

// A catalogue entry, with the usual taxonomy of explanation methods.
struct MethodInfo {
  std::string name;
  std::string summary;
  std::string paper;
  std::string cost;             // with default options; M is the number of units
  bool class_specific = true;   // scores depend on the target
  bool is_signed = false;       // a negative score is evidence against the target
  bool model_agnostic = false;  // needs outputs only: no gradients, no look inside the model
  Scope scope = Scope::kLocal;
  std::vector<OptionInfo> options = {};
  std::vector<PresetInfo> presets = {};
};

// Every method of explain(), in the order of listings.
std::span<const MethodInfo> methods();

// Every study over many inputs (heads.h, importance.h, concepts.h), in the order of listings.
std::span<const MethodInfo> studies();

// By "NAME" or "NAME:PRESET". Throws InvalidInput that lists the known names, nearest first.
const MethodInfo& method_named(std::string_view name);

// Reads "NAME=VALUE" as an option of the method; "preset=NAME" gives all options of a preset.
// Throws InvalidInput that says what is allowed.
Options parse_option(const MethodInfo& method, std::string_view assignment);

}  // namespace whyformer
