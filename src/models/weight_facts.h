// What the weights of a table package tell by themselves.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/tables/table_spec.h"
#include "formats/weights.h"

namespace whyformer {

// What weights tell of a table model before anything is told about it.
struct WeightFacts {
  std::string family, package;
  int64_t numbers = 0;
  std::vector<int64_t> category_counts = {};
  int64_t width = 0, blocks = 0, outputs = 0;
  std::vector<int64_t> possible_heads = {};
  std::optional<int64_t> heads = {};
  bool rows_attend = false;
  int64_t parameters = 0, tensors = 0;
  std::vector<std::string> notes = {};
};
// Throws UnsupportedModel for weights of no family, or of one whose counts of categories `spec`
// must tell.
WeightFacts weight_facts(const TableSpec& spec, const StoredTensors& tensors);
// The package whose tensors these are, by their names; nothing where none is known.
std::optional<std::string> table_package_of(const StoredTensors& tensors);

}  // namespace whyformer
