// The models inside the program.
#pragma once

#include "base/bytes.h"

namespace whyformer {

// models/sentiment of the source tree, embedded when the program is built.
FileLookup built_in_sentiment();
// models/pictures.
FileLookup built_in_pictures();
// models/income.
FileLookup built_in_income();

}  // namespace whyformer
