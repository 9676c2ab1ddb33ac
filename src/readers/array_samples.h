// Several inputs given together, of which an element of an output belongs to one.
#pragma once

#include <optional>
#include <vector>

#include "models/array_source.h"

namespace whyformer {

struct Samples {
  NamedArrays arrays;
  std::vector<int64_t> indices;      // of the element
  std::optional<double> value = {};  // what it was among the samples as they were given
};

// The arrays, as the file takes them, with the input of the element in front: methods look at the
// first. The others stay, for files that take a certain number. Throws InvalidInput where the
// element depends on another input of the batch too, as a similarity of every picture with every
// text does.
Samples with_sample_first(Samples samples, const OnnxProbe& probe, Value output);

}  // namespace whyformer
