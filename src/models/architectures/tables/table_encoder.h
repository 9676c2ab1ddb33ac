// What models of rows are made of: numbers and categories become tokens, blocks of attention and
// feed-forward parts change them, a head reads them. A family says which of these it has, and what
// its tensors are called.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/tables/table_spec.h"
#include "models/checkpoint.h"

namespace whyformer {

// Weights with what table.json tells about them.
struct TableWeights {
  const Checkpoint& tensors;
  const TableSpec& spec;
};

// What a family reads from the tensors before a graph is built.
struct TableFacts {
  int64_t numbers = 0;                        // columns
  std::vector<int64_t> category_counts = {};  // one for each column of categories
  int64_t width = 0;                          // of a token
  int64_t blocks = 0;
  // Numbers of heads that the shapes allow, and the one that they tell or that the package has by
  // default; nothing where neither is known.
  std::vector<int64_t> possible_heads = {};
  std::optional<int64_t> heads = {};
  bool has_missing = false;  // vectors of its own for cells without a value
  bool rows_attend = false;  // rows attend to each other
  bool mixes_keys = false;   // keys are mixtures of tokens (Linformer)
  std::vector<std::string> notes = {};

  int64_t categories() const { return static_cast<int64_t>(category_counts.size()); }
};

// [rows, columns] each; invalid where the model has no such columns.
struct TableInputs {
  Value numbers;
  Value categories;
  Value missing;  // numbers, then categories: not 0 where a cell has no value
};

// The tensors of a Linear by its name.
LinearRows linear_named(const std::string& name);
LinearRows linear_without_bias(const std::string& name);
// One of `parts` equal parts, counted from 0.
LinearRows part_of(LinearRows whole, int64_t rows, int64_t part);

struct AttentionParts {
  std::string site;  // what the map is called
  LinearRows query, key, value;
  LinearRows out = {};  // no weight: heads are joined and that is all
  int64_t heads = 1;
  LinearRows key_mixture = {}, value_mixture = {};  // Linformer's [mixtures, tokens]
};

// What stands between the Linears of a feed-forward part.
struct FeedForwardFunction {
  ActivationFunction function = ActivationFunction::kRelu;
  std::string told = {};  // by table.json, which then must fit the shapes
  bool gated = false;     // as told
};
// The one that table.json names, or the family's own. Throws UnsupportedModel for one not known.
FeedForwardFunction function_of(const TableSpec& spec, ActivationFunction own);

// second(f(first x)). Where `first` is twice as wide as `second` reads, a · f(b) of its two halves;
// where there is a gate, f(first x) · gate x.
struct FeedForwardParts {
  LinearRows first, second;
  LinearRows gate = {};
  FeedForwardFunction function = {};
};

// Where a step's norm stands.
enum class NormPlace {
  kBefore,      // x + f(norm x)
  kBeforeBoth,  // norm x + f(norm x)
  kAfter        // norm(x + f(x))
};

// Which rows an explained row attends to, in models whose rows attend to each other.
struct RowsAttended {
  enum class Kind {
    kAlone,     // to itself
    kTogether,  // all rows of the batch to each other
    kFrozen,    // to itself and to keys and values that other rows had among themselves
    kLive       // to other rows that attend to it too
  };
  Kind kind = Kind::kAlone;
  // Of frozen rows, one for each site: [1, heads, rows, width].
  std::vector<Tensor> keys = {}, values = {};
  Tensor tokens = {};  // of live rows, [rows, tokens, width]
  // Added to the scores of row attention, [rows, 1, 1 or 1 + others, 1 + others]; may be invalid.
  Value mask = {};
  bool as_tokens = false;  // rows are what is explained: live ones enter as one value
};

// What stands between the Linears of a perceptron; the name is that of the value.
using BetweenLinears = std::function<Value(Value x, const std::string& name)>;
// What stands behind the last Linear of a perceptron.
enum class AfterLast { kNothing, kFunction };

class TableEncoder {
 public:
  TableEncoder(GraphBuilder& graph, const TableWeights& weights, const TableFacts& facts,
               int64_t heads, DType type, int64_t rows, const RowsAttended& attended)
      : graph_(graph),
        weights_(weights),
        facts_(facts),
        heads_(heads),
        type_(type),
        rows_(rows),
        attended_(attended) {}

  GraphBuilder& graph() { return graph_; }
  const TableWeights& weights() const { return weights_; }
  const TableFacts& facts() const { return facts_; }
  int64_t heads() const { return heads_; }
  int64_t rows() const { return rows_; }
  DType type() const { return type_; }

  Tensor parameter(const std::string& name, const Shape& shape) const {
    return weights_.tensors.tensor(name, shape, type_);
  }
  Value constant(const Tensor& tensor, const std::string& name) {
    return graph_.constant(tensor, name);
  }
  Value linear(Value x, const LinearRows& rows);
  Value norm(Value x, const std::string& name);
  Value activate(Value x, ActivationFunction function, const std::string& name);
  Value times(Value x, const Tensor& factors, const std::string& name);
  Value plus(Value x, const Tensor& summand, const std::string& name);

  // Tokens [rows, tokens, width].
  // Each number times a vector of its column [columns, width].
  Value scaled_vectors(Value numbers, const std::string& weight);
  Value scaled_vectors(Value numbers, const Tensor& vectors, const std::string& name);
  // The rows of tables, one after the other, that ids pick; `first` is the row of a column's id 0.
  Value picked_vectors(Value ids, const std::vector<std::string>& tables,
                       const std::vector<int64_t>& first);
  Value picked_vectors(Value ids, const Tensor& table, const std::vector<int64_t>& first,
                       const std::string& name);
  // Those of tokens that are missing replaced by vectors [tokens, width]; `first` is the place of
  // the first one in `missing`, which may be invalid.
  Value with_missing(Value tokens, Value missing, int64_t first, const Tensor& vectors);
  // One vector, the same in every row.
  Value learned_token(const Tensor& vector, const std::string& name);
  // One after the other, without those that are invalid: what enters the first block.
  Value joined_tokens(const std::vector<Value>& parts);

  Value attention(Value x, const AttentionParts& parts);
  Value feed_forward(Value x, const FeedForwardParts& parts);
  // f with its residual connection. Without a name there is no norm.
  Value step(Value x, NormPlace place, const std::string& norm,
             const std::function<Value(Value)>& f);
  // Linears "PREFIX0", "PREFIX2", … with the function between them, and batch norms where they are.
  Value perceptron(Value x, const std::string& prefix, const BetweenLinears& function,
                   AfterLast after_last = AfterLast::kNothing);
  // The function of the head that table.json names, or ReLU. Throws UnsupportedModel for one not
  // known.
  BetweenLinears head_function();
  Value relu(Value x, const std::string& name) {
    return activate(x, ActivationFunction::kRelu, name);
  }
  Value selu(Value x, const std::string& name);
  // (x - mean) / √(variance + ε) · weight + bias of what was counted while training.
  Value batch_norm(Value x, const std::string& name);
  // All tokens of a row side by side [rows, tokens · width].
  Value flat(Value x);
  Value beside(Value a, Value b);
  // The token that the answer reads [rows, width].
  Value token(Value x, int64_t index);

  // Attention between rows. Blocks see the rows of live contexts as further rows; a row is one
  // token [groups, rows of a group, tokens · width] between the two functions; at the end the
  // explained rows are left.
  Value with_context_rows(Value x);
  Value rows_as_tokens(Value x);
  Value tokens_of_rows(Value x, int64_t tokens);
  Value row_attention(Value x, const AttentionParts& parts);
  Value explained_rows(Value x);

  // What was made on the way.
  struct RowSite {
    Value keys, values;  // [groups, heads, rows, width]
    Value map;           // [groups, heads, rows, rows]; from explained rows, to themselves first
  };
  const std::vector<RowSite>& row_sites() const { return row_sites_; }
  Value picked() const { return picked_; }
  Value tokens() const { return tokens_; }
  std::optional<int64_t> read_token() const { return read_token_; }
  // Live rows, the explained one first: [rows, 1 + others, tokens · width].
  Value row_tokens() const { return row_tokens_; }

 private:
  Value split_heads(Value x, int64_t heads, const std::string& name);
  Value mixed(Value x, const LinearRows& mixture);
  Value merged_heads(Value context, const AttentionParts& parts);
  Value frozen_context(Value query, RowSite& site, const std::string& name);

  GraphBuilder& graph_;
  TableWeights weights_;
  const TableFacts& facts_;
  int64_t heads_;
  DType type_;
  int64_t rows_;
  const RowsAttended& attended_;
  Value picked_, tokens_, row_tokens_;
  std::optional<int64_t> read_token_;
  std::vector<RowSite> row_sites_;
};

// A number among the options of table.json.
double option(const TableSpec& spec, std::string_view name, double otherwise);
// Queries, keys or values (0, 1, 2) in one matrix [3 · inner, width].
LinearRows third_of(const Checkpoint& tensors, const LinearRows& all, int64_t part);
// The shape of a tensor with so many axes. Throws FileError where it has others, or is not there.
Shape shape_of(const Checkpoint& tensors, const std::string& name, size_t axes);
// How many of "PREFIX0.", "PREFIX1.", … there are.
int64_t count_of(const Checkpoint& tensors, const std::string& prefix);
// Numbers that divide `width`, from `least` on.
std::vector<int64_t> divisors(int64_t width, int64_t least = 1);
// The first row of each column in a table that has those of all columns one after the other.
std::vector<int64_t> first_rows(const std::vector<int64_t>& counts, int64_t first = 0);
// How many categories each column has, where table.json alone tells it: places of "x_cat" in their
// order. Throws UnsupportedModel where they are not the rows that the table has.
std::vector<int64_t> told_counts(const TableWeights& weights, int64_t columns, int64_t table_rows);
// The counts behind the stored first rows.
std::vector<int64_t> counts_between(const std::vector<int64_t>& first, int64_t table_rows);

}  // namespace whyformer
