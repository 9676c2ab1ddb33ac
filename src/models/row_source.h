// A source of graphs that read rows of a table: an ONNX file whose inputs are all rows of numbers,
// or the weights of a table package. Samples have the model's inputs by name, [columns] each.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/tables/table_spec.h"
#include "models/graph_source.h"

namespace whyformer {

// One number of a row.
struct TableColumn {
  std::string input;
  int64_t index = 0;            // in it
  bool whole = false;           // takes integers
  bool may_be_missing = false;  // takes NaN
};

class RowSource;

// [rows of the context]: 1, or 0 for rows that nobody sees.
inline constexpr const char* kRowsSeen = "rows_seen";

// A model with a context for explanations by rows.
struct RowsExplained {
  // Tokens are rows: the explained one, then its context.
  std::shared_ptr<const RowSource> attending;
  std::shared_ptr<const RowSource> leaving_out;  // the same answers without maps of the context
};

class RowSource : public GraphSource {
 public:
  // The model's inputs one after the other. `total` is how many columns there are, which tells the
  // width of an input that may have any. Throws InvalidInput where they do not fit.
  virtual std::vector<TableColumn> columns(int64_t total) const = 0;
  // How many columns that are, where the model tells.
  virtual std::optional<int64_t> column_count() const { return std::nullopt; }
  // Names of the outputs, and what they mean.
  virtual std::vector<std::string> output_names(int64_t columns) const = 0;
  virtual std::optional<Problem> problem(int64_t columns) const = 0;
  // How many rows may run together: 1 where it is not sure that each gets the answer it has alone.
  // Throws UnsupportedModel where rows attend to each other.
  virtual int64_t max_rows_at_once(int64_t columns) const = 0;
  // Rows attend to each other (SAINT): an answer is that of a row among others, or alone.
  virtual bool rows_attend() const { return false; }
  // Whether each token is made of its own column alone, whatever the others are: known of families,
  // and not of graphs that come as they are.
  virtual bool columns_stay_apart() const { return false; }
  // The family of table models, where the weights are of one.
  virtual std::string family() const { return {}; }
  // Of these: the model with a context. Each explained row attends to itself and to these rows,
  // which are encoded as samples are; explained rows never see each other. Without rows it is the
  // model itself. Throws UnsupportedModel where rows do not attend to each other, or in a way that
  // is not known.
  virtual std::shared_ptr<const RowSource> in_context(std::vector<Sample> rows,
                                                      ContextMode mode) const;
  // Whether rows of a context can be kept from seeing the explained one.
  virtual bool can_freeze() const { return true; }
  // The model with all rows of a run attending to each other, as its own evaluation does: for
  // answers of whole blocks. Throws likewise.
  virtual std::shared_ptr<const RowSource> in_blocks() const;
  // Of a model with a context: what tells which of these rows count. Samples have one more tensor,
  // kRowsSeen. Throws likewise.
  virtual RowsExplained by_rows() const;
  // Why attention maps are none of columns, where the graph does not tell; else empty.
  virtual std::string why_no_maps() const { return {}; }

  // Where the model's columns stand in a table with these names: by "INPUT.INDEX" where they are so
  // called, else in their order. Throws InvalidInput for a name that is given twice.
  std::vector<int64_t> places_of(const std::vector<std::string>& names) const;
  // A row with all of these columns. Throws InvalidInput for a part of a number where an integer
  // must be.
  static Sample sample_of(const std::vector<TableColumn>& columns, const std::vector<double>& row,
                          DType dtype);
  ShapeKey key_for(int64_t columns, ShapeKey key = {}) const;

  // What the first row showed for all: the column of each token of a graph, as readers count them.
  using TokenColumns = GraphCache<ShapeKey, std::vector<int64_t>>;
  TokenColumns& token_columns() const { return token_columns_; }

 protected:
  using GraphSource::GraphSource;

 private:
  mutable TokenColumns token_columns_;
};

}  // namespace whyformer
