// What an edit must say, and may: the same for its text and for JSON.
#pragma once

#include <string>

#include "whyformer/edits.h"

namespace whyformer {

// Which of its fields an edit was given.
struct EditFields {
  bool number = false, array = false, source = false, axis = false, seed = false;
};

// What is missing or too much, such as "needs a number"; empty where nothing is. The run that a
// copy is from may come later.
std::string fault_of(const Edit& edit, const EditFields& given);

}  // namespace whyformer
