// Edits as a user gives them made ready for one input.
#pragma once

#include <memory>
#include <vector>

#include "readers/reader.h"

namespace whyformer {

// With the numbers of what is frozen, which the unedited model tells, and the shapes of the input
// whose tokens the edits speak of. Throws InvalidInput for inputs of several parts, for values that
// the model has not, for copies without a run, and for edits of single copies of the input where
// the number of copies is not known (0).
std::shared_ptr<const AppliedEdits> edits_for(const Reader& reader, const InputValue& value,
                                              const Question& question,
                                              const std::vector<Edit>& edits, int64_t copies = 0);

// The names of the values of the model that an input runs in, before any edit.
NamedValues names_for(const Input& input);

// Numbers of a value as an edit takes them.
EditArray edit_array(const Tensor& told);

}  // namespace whyformer
