// A case of tests/golden/tables/models: a tiny model of a table package and what PyTorch says about
// it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "models/checkpoint_row_source.h"

namespace whyformer {

struct GoldenTable {
  StoredTensors tensors;  // of the file
  StoredTensors weights;
  TableSpec spec;

  explicit GoldenTable(const std::string& name);
  std::shared_ptr<const RowSource> source() const {
    return checkpoint_row_source(spec, weights, "golden");
  }
  bool has(const std::string& name) const { return tensors.contains(name); }
  std::vector<double> values(const std::string& name) const;
  const std::vector<int64_t>& shape(const std::string& name) const {
    return tensors.at(name).shape;
  }
  int64_t rows() const { return shape("answers")[0]; }
  // The encoded rows, as the model takes them.
  std::vector<Sample> samples(DType type) const;
  // The same as people have them: a folder with table.json and the weights, and the rows as CSV.
  void save(const std::filesystem::path& folder) const;
  std::string csv() const;
};

// Names of all cases.
std::vector<std::string> golden_tables();

}  // namespace whyformer
