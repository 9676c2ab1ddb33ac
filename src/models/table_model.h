// A model of table rows in an ONNX file: every input is [rows, columns].
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "models/config.h"
#include "models/model_graph.h"
#include "onnx/onnx_model.h"

namespace whyformer {

// Where some columns of an input enter the computation as real numbers: the input itself [rows,
// columns], or the vectors [rows, columns, width] (of one column also [rows, width]) that whole
// numbers pick from a table.
struct TablePlace {
  Value value;
  std::string input;
  int64_t first = 0;  // column of the input
  std::vector<bool> enters =
      {};  // for each column from there on; those that pick vectors enter elsewhere
};

struct TableGraph : ModelGraph {
  int64_t rows = 0;
  std::map<std::string, Value, std::less<>> inputs;
  std::vector<TablePlace> places;  // columns of which none is found have no gradient
};

// One number of a row.
struct TableColumn {
  std::string input;
  int64_t index = 0;   // in it
  bool whole = false;  // takes integers
};

class TableModel {
 public:
  // Null for a file whose inputs are not all rows of numbers. `output` names the one to explain;
  // empty: the logits.
  static std::shared_ptr<const TableModel> load_if_one(const std::filesystem::path& file,
                                                       const std::string& output = {});

  const std::string& name() const { return name_; }
  const std::string& architecture() const { return architecture_; }
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

  // Built once for each number of rows, and shared.
  std::shared_ptr<const TableGraph> graph(int64_t rows, int64_t columns, DType dtype) const;
  // `rows` as many as the graph takes, each with all columns. Throws InvalidInput for a part of a
  // number where an integer must be.
  Feeds feeds(const TableGraph& graph, const std::vector<std::vector<double>>& rows) const;

 private:
  TableModel(onnx::OnnxFile file, const FileLookup& files, std::string name,
             const std::string& output);
  onnx::BuildRequest request_for(int64_t rows, int64_t columns, DType dtype) const;
  int64_t output_width(int64_t columns) const;
  int64_t rows_that_stay_apart(int64_t columns) const;

  std::string name_, architecture_;
  Config config_;
  onnx::OnnxModel model_;
  std::string output_;
  int64_t most_rows_ = 1;
  mutable std::mutex mutex_;
  mutable std::map<int64_t, int64_t> most_rows_at_once_;  // by the number of columns
  mutable std::map<std::tuple<int64_t, int64_t, DType>, std::shared_ptr<const TableGraph>> graphs_;
};

}  // namespace whyformer
