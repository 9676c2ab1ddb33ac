// table.json ("whyformer.table/1"): what the columns of a table are called, how their cells become
// the numbers that a model reads, and what its answers mean.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "formats/tables/column_steps.h"

namespace whyformer {

enum class ColumnKind { kNumber, kCategory };

// What a cell without a value becomes.
struct MissingCell {
  enum class How { kRefuse, kValue, kId, kMask, kNan };
  How how = How::kRefuse;
  double value = 0;  // before the steps
  int64_t id = 0;
};

// A column as the user calls it: one unit, whatever the number of its places in the model.
struct ColumnSpec {
  std::string name;
  ColumnKind kind = ColumnKind::kNumber;
  std::string unit = {};         // "years"; empty: not told
  std::string input = {};        // of the model
  std::vector<int64_t> at = {};  // places in that input
  std::vector<ColumnStep> steps = {};
  std::vector<std::string> categories = {};
  std::vector<int64_t> ids = {};  // of the categories
  // Numbers that the categories become instead of ids, before the steps; empty: ids are read.
  std::vector<double> values = {};
  MissingCell missing = {};
  // Of other words; neither: they are refused.
  std::optional<int64_t> unknown_id = {};
  std::optional<double> unknown_value = {};

  // One more than the highest id that a cell of the column can have.
  int64_t id_count() const;
};

struct TaskSpec {
  enum class Kind { kBinary, kMulticlass, kMultilabel, kRegression };
  enum class Output { kOneLogit, kLogits, kValue, kProbabilities };
  Kind kind = Kind::kMulticlass;
  Output output = Output::kLogits;
  std::string name = {};  // of what is predicted
  std::vector<std::string> labels = {};
  // A regression's answer in the user's unit is mean + std · output.
  double mean = 0, std = 1;
};

// The part that tells how the weights are read.
struct TableModelSpec {
  std::string family = {};   // empty: recognised by the tensors' names
  std::string weights = {};  // the file; empty: model.safetensors or the one that there is
  std::optional<int64_t> heads = {};
  std::string activation = {};       // "reglu", …; empty: the family's own
  std::string head_activation = {};  // between the Linears of the head; empty likewise
  std::map<std::string, std::vector<double>, std::less<>> numbers = {};  // further options
};

// Which rows an explained row attends to, in models whose rows attend to each other (SAINT).
enum class ContextRows {
  kAlone,  // none
  kGiven,  // the same for every explained row
  kBlock   // the others of its block of the table
};
// Whether the rows of a context see the explained row too.
enum class ContextMode {
  kFrozen,  // they have the keys and values that they have among themselves
  kLive     // they do; a run has the context's rows for each explained one
};

struct ContextSpec {
  std::string file = {};  // a CSV file beside
  int64_t block = 256;
  // Nothing: those of the file, or else blocks.
  std::optional<ContextRows> rows = {};
  ContextMode mode = ContextMode::kFrozen;
};

// Rows as written, and what the user's own framework answered.
struct TableProbe {
  std::vector<std::vector<std::string>> rows = {};
  std::vector<std::vector<double>> outputs = {};
};

struct TableSpec {
  TableModelSpec model;
  TaskSpec task;
  std::vector<ColumnSpec> columns;
  std::vector<std::string> missing_words = {"", "NA", "NaN", "null"};
  std::optional<ContextSpec> context = {};
  std::string background = {};  // a CSV file beside; empty: none
  TableProbe probe = {};
};

// "alone", "rows" or "block"; "frozen" or "live". Nothing for other words.
std::optional<ContextRows> context_rows_named(std::string_view word);
std::optional<ContextMode> context_mode_named(std::string_view word);
std::string_view word_of(ContextRows rows);
std::string_view word_of(ContextMode mode);

inline constexpr std::string_view kTableSchema = "whyformer.table/1";

// `what` names the file in messages. Throws FileError for what is malformed, UnsupportedModel for
// a step that is not known.
TableSpec parse_table_spec(const Bytes& file, std::string_view what);
// As JSON, which parse_table_spec reads back.
std::string to_json(const TableSpec& spec);

// What a cell becomes: a number for each place of its column.
struct EncodedCell {
  std::vector<double> numbers;
  bool missing = false;  // and the model has a vector of its own for that
};

// `cell` is as it was written; blanks around it do not count. A category may be one of the missing
// words, and numbers that are categories may be written in another way ("3.0" for "3"). Throws
// InvalidInput that names the column, the cell, and for words that are not known the nearest ones.
EncodedCell encoded(const TableSpec& spec, const ColumnSpec& column, std::string_view cell);
// Of a cell that is read as a category the model does not know: which ones it knows. Nothing for
// other cells.
std::optional<std::string> about_unknown_category(const TableSpec& spec, const ColumnSpec& column,
                                                  std::string_view cell);

}  // namespace whyformer
