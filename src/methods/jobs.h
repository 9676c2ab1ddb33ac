// Methods that were asked for, with their options, and running them one after the other.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "methods/method.h"

namespace whyformer {

struct Job {
  const Method* method;
  OptionReader options;
  std::string name = method->info.name;  // as asked for, with the preset
};

// Throws InvalidInput for unknown methods and options.
std::vector<Job> jobs_of(const std::vector<MethodRequest>& methods);

// For results over many inputs, which find a method by its name: two of one name, with different
// options, would be taken for one. Different presets are different names. Throws InvalidInput.
void require_each_once(const std::vector<MethodRequest>& methods);

// What the shared run must keep for all of them.
Needs needs_of(const std::vector<Job>& jobs);

// Adds what each gives. A method that refuses the input becomes a Refusal and a note beside the
// others; where none gives anything, the first refusal is thrown. Where the caller stops, what
// there is by then is kept and a note names the methods that are missing; where there is nothing,
// Interrupted is thrown.
void run_jobs(const std::vector<Job>& jobs, Run& run, Explanation& explanation);
struct JobRunner {
  std::function<Attribution(const Job&)> run;
  std::function<bool()> stopped;  // by the caller
};
void run_jobs(const std::vector<Job>& jobs, const JobRunner& runner, Explanation& explanation);
Attribution run_method(const Job& job, Run& run);

// One per layer; none where maps do not go over the units.
std::vector<AttentionMap> attention_maps(const Run& run);
AttentionMap map_of(const std::string& name, const Tensor& maps);

}  // namespace whyformer
