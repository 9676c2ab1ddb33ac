// What a graph with edits is built for: which values are changed and how, without the numbers.
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "discovery/named_values.h"

namespace whyformer {

enum class EditForm {
  kReplace,  // by what is given
  kAdd,      // what is given
  kScale,    // by what is given
  kMean,     // replace by the mean over the tokens
  kPick      // from given places along an axis
};

struct EditShape {
  std::string value;
  EditForm form = EditForm::kReplace;
  std::vector<std::string> at = {};  // axes of which some places are changed, in order
  bool is_number = false;            // what is given is one number, else one for each element
  std::string axis = {};             // of kPick
  auto operator<=>(const EditShape&) const = default;
};

// Inputs of the graph that one edit is fed with; `given` is invalid for kMean.
struct EditInputs {
  Value places;  // 1 where the value is changed
  Value given;
  NamedValue value;  // in front of the edit
};

}  // namespace whyformer
