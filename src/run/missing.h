// What an input lacks that a method reads. Readers and runs say what; methods say which do without.
#pragma once

#include <string>

#include "whyformer/error.h"

namespace whyformer {

enum class Missing {
  kMaps,      // attention maps over the units
  kEntrance,  // values at the input that belong to units, and so gradients and relevance there
  kDepth,     // values deeper in the model that belong to units
  kHidden     // units that can be hidden
};

class MissingForMethod : public InvalidInput {
 public:
  MissingForMethod(Missing missing, const std::string& message)
      : InvalidInput(message), missing_(missing) {}

  Missing missing() const { return missing_; }

 private:
  Missing missing_;
};

}  // namespace whyformer
