// A source of graphs that read rows of a table: an ONNX file whose inputs are all rows of numbers.
// Samples have the file's inputs by name, [columns] each.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "models/graph_source.h"
#include "onnx/onnx_model.h"

namespace whyformer {

// One number of a row.
struct TableColumn {
  std::string input;
  int64_t index = 0;   // in it
  bool whole = false;  // takes integers
};

class RowSource final : public GraphSource {
 public:
  RowSource(std::shared_ptr<const onnx::OnnxModel> model, const Config& config, std::string name,
            const std::string& output);

  // The model's inputs one after the other. `total` is how many columns there are, which tells the
  // width of an input that may have any. Throws InvalidInput where they do not fit.
  std::vector<TableColumn> columns(int64_t total) const;
  // Names of the outputs, and what they mean.
  std::vector<std::string> output_names(int64_t columns) const;
  std::optional<Problem> problem(int64_t columns) const;
  // How many rows may run together: 1 where it is not sure that each gets the answer it has alone.
  // Throws UnsupportedModel where rows attend to each other.
  int64_t most_rows_at_once(int64_t columns) const;
  // Where the model's columns stand in a table with these names: by "INPUT.INDEX" where they are so
  // called, else in their order. Throws InvalidInput for a name that is given twice.
  std::vector<int64_t> places_of(const std::vector<std::string>& names) const;

  // A row with all of these columns. Throws InvalidInput for a part of a number where an integer
  // must be.
  static Sample sample_of(const std::vector<TableColumn>& columns, const std::vector<double>& row,
                          DType dtype);
  ShapeKey key_for(int64_t columns, ShapeKey key = {}) const;

  int64_t parameter_count() const override { return model_->file().parameters().numbers; }
  int64_t tensor_count() const override { return model_->file().parameters().tensors; }

 private:
  std::shared_ptr<const ModelGraph> build(const ShapeKey& key) const override;
  onnx::BuildRequest request_for(const ShapeKey& key) const;
  int64_t output_width(int64_t columns) const;
  int64_t rows_that_stay_apart(int64_t columns) const;

  Config config_;
  std::shared_ptr<const onnx::OnnxModel> model_;
  std::string output_;
  int64_t most_rows_ = 1;
  mutable std::mutex mutex_;
  mutable std::map<int64_t, int64_t> most_rows_at_once_;  // by the number of columns
};

}  // namespace whyformer
