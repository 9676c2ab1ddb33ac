// Reading a value: the places that were asked for, and what a reducer leaves of them.
#pragma once

#include <string>
#include <vector>

#include "models/graph_source.h"
#include "whyformer/probe.h"

namespace whyformer {

struct ReadArray {
  std::string suffix;  // behind the value's name: "", ".norm", ".topk", ".topk.indices"
  std::vector<std::string> axes;
  Tensor numbers;      // contiguous
  bool exact = false;  // see RecordedArray
};

// What the read gives of a value as it is told; sums are in double.
std::vector<ReadArray> read_of(const Tensor& told, const NamedValue& value, const Read& read);

// Bytes of that, before anything runs.
int64_t bytes_of_read(const Graph& graph, const NamedValue& value, const Read& read);

// The places of a tensor, in order; the tensor itself where all are asked for.
Tensor at_places(const Tensor& told, const std::vector<std::vector<int64_t>>& places);

}  // namespace whyformer
