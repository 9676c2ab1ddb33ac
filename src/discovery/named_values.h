// Names for the values inside a graph that people speak of, by what they are: the attention of a
// block, its feed-forward part, the read-out. Like all of discovery, from the operators alone, so
// that a folder and an ONNX file of the same weights have the same names.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "discovery/attention_sites.h"

namespace whyformer {

// A value by one of its names. Its axes are told in an order of their own: the graph may hold keys
// transposed, for one.
struct NamedValue {
  std::string name;
  Value value;
  std::vector<std::string> axes;  // "batch", "head", "query", "key", "token", "feature"
  std::vector<int> order = {};    // the graph's axis for each of `axes`; empty: as they are
  std::string native = {};        // what the model's own files call it; empty for its only name

  Shape shape(const Graph& graph) const;
  // The value as it is told, a view; and back.
  Tensor told(const Tensor& held) const;
  Tensor held(const Tensor& told) const;
  // The place of an axis among `axes`, "token" also for the queries of a map or of a context; -1
  // for one that it has not.
  int axis(std::string_view axis_name) const;
};

// A node of the model's file, whether or not the graph still has it.
struct FileNode {
  std::string title;  // what the graph calls it
  std::vector<std::string> inputs, outputs;
};

// Names by the model's own files begin with a prefix: "module", "onnx".
struct NativeNames {
  std::string prefix = "module";
  std::shared_ptr<const std::vector<FileNode>> nodes = {};  // null where there is no file of nodes
};

// What is known about a graph besides what discovery finds in it. Invalid values have no name.
struct NamingFacts {
  Value words;       // vectors of the tokens alone
  Value embeddings;  // with positions
  Value read;        // the stream that the output reads, [batch, tokens, width]
  std::vector<std::pair<std::string, Value>> inputs = {};
  std::vector<std::pair<std::string, Value>> outputs = {};  // "logits", "outputs.NAME"
  Value output;                                             // the one whose read-out was found
  int64_t batch = 1;
  NativeNames native = {};
};

class NamedValues {
 public:
  NamedValues() = default;
  // Of a graph with all rows; sites must be its own. Blocks of a form that is not known have the
  // names of their attention alone.
  NamedValues(const Graph& graph, const Discovery& found, const NamingFacts& facts);

  // In the order of the graph, each name once; a value may have several.
  const std::vector<NamedValue>& all() const { return all_; }
  // Every value by what the model's own files call it: "module:bert.encoder.layer.3.output.dense".
  // A name that several have is that of the last; the others have a number behind it.
  const std::vector<NamedValue>& native() const { return native_; }

  // By either kind of name; null where there is none.
  const NamedValue* find(std::string_view name) const;
  // Throws InvalidInput that says what it may have meant; of a value of the file that became part
  // of another, which one that is.
  const NamedValue& at(std::string_view name) const;
  // Those whose names match, in the order of the graph; see matches_glob. A name without a star
  // gives the one that it names. Throws InvalidInput where there is none.
  std::vector<const NamedValue*> matching(std::string_view glob) const;

 private:
  const NamedValue* made_by(const FileNode& node) const;
  const NamedValue* of_file_value(std::string_view name) const;
  std::string inside_what(std::string_view name) const;

  std::vector<NamedValue> all_, native_;
  NativeNames files_;
};

// `*` stands for any letters but a dot, `**` for any letters, `?` for one letter but a dot.
bool matches_glob(std::string_view glob, std::string_view name);
bool is_glob(std::string_view text);

}  // namespace whyformer
