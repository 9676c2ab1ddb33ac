// Several inputs given together, of which an element of an output belongs to one.
#pragma once

#include <vector>

#include "models/array_model.h"

namespace whyformer {

// The arrays, as the file takes them, with the input of the element in front: methods look at the first. The others stay,
// for files that take a certain number. `indices` then name the element there. Throws InvalidInput where the element depends
// on another input of the batch too, as a similarity of every picture with every text does.
NamedArrays with_sample_first(NamedArrays arrays, const OnnxProbe& probe, Value output, std::vector<int64_t>& indices);

}  // namespace whyformer
