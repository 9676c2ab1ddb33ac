// From an input and a request to runs that methods can read.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "readers/reader.h"
#include "run/run.h"

namespace whyformer {

// An input about to be explained: everything that does not depend on the method.
struct Prepared {
  // One; or the parts of the input, each by itself, and then all together, which may be null.
  std::vector<std::unique_ptr<Run>> runs;
  Answered answered;
  Explanation common;              // what all explanations of the input share
  std::optional<int64_t> element;  // among the run's answers: the only one that is told
  Target target;
  std::function<ContextFacts()> context;  // see Reading

  Run& run() { return *runs[0]; }
  bool has_several_parts() const { return runs.size() > 1; }
};

// What runs must keep.
struct PreparedNeeds {
  Needs alone;                         // of an input of one part
  std::optional<Needs> each = {};      // of several parts, each by itself; else they are refused
  std::optional<Needs> together = {};  // and all together
};

// Reads the input and runs it, with other weights than the model's own where a randomisation says
// so; the highest output is the target at first. Throws InvalidInput for an input that the model
// cannot take, and for what the request asks of it in vain.
Prepared prepare(const Reader& reader, const InputValue& value, const ExplainRequest& request,
                 const PreparedNeeds& needs,
                 const std::optional<Randomisation>& randomisation = std::nullopt);

// What is asked for: the named outputs, or so many of the highest.
std::vector<int64_t> targets_of(const Prepared& prepared, const ExplainRequest& request);

// Makes output `index` the one that is explained.
void choose_target(Prepared& prepared, int64_t index);

// The output that is asked for, the highest where none is; and what is told about it.
int64_t target_index(const Output& output, const TargetChoice& asked);
Target target_of(const Output& output, int64_t index);

// Throws InvalidInput for an input of several parts, for work that looks at one.
void check_one_part(const Reading& reading);

}  // namespace whyformer
