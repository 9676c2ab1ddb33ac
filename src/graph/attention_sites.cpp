#include "graph/attention_sites.h"

#include <map>
#include <numeric>
#include <set>

namespace whyformer {
namespace {

// Union–find over (value, axis): axes in one class run over the same positions.
class AxisClasses {
 public:
  explicit AxisClasses(const Graph& graph) {
    first_.reserve(graph.value_count());
    int count = 0;
    for (int id = 0; id < graph.value_count(); ++id) {
      first_.push_back(count);
      count += static_cast<int>(graph.shape(Value{id}).size());
    }
    parent_.resize(count);
    std::iota(parent_.begin(), parent_.end(), 0);
    for (const Node& node : graph.nodes()) join_axes(graph, node);
  }

  int of(Value value, int axis) const {
    int at = first_[value.id] + axis;
    while (parent_[at] != at) at = parent_[at];
    return at;
  }

 private:
  void join(Value a, int a_axis, Value b, int b_axis) {
    parent_[of(a, a_axis)] = of(b, b_axis);
  }

  void join_axes(const Graph& graph, const Node& node) {
    std::vector<ValueType> types;
    for (const Value input : node.inputs) types.push_back(graph.type(input));
    const Value output = node.outputs[0];
    const int rank = static_cast<int>(graph.shape(output).size());
    for (int axis = 0; axis < rank; ++axis) {
      const auto flow = node.op->follow(axis, types);
      if (!flow) continue;
      for (size_t input = 0; input < flow->sources.size(); ++input) {
        if (flow->sources[input] >= 0) join(output, axis, node.inputs[input], flow->sources[input]);
      }
    }
    // A product sums over the same positions of both factors: keys of the map, rows of the values.
    if (node.op->kind() == "MatMul") {
      const int a_rank = static_cast<int>(types[0].shape.size());
      const int b_rank = static_cast<int>(types[1].shape.size());
      join(node.inputs[0], a_rank - 1, node.inputs[1], b_rank - 2);
    }
  }

  std::vector<int> first_;
  std::vector<int> parent_;
};

bool made_by(const Graph& graph, Value value, std::string_view kind) {
  const int producer = graph.producer(value);
  return producer >= 0 && graph.nodes()[producer].op->kind() == kind;
}

// softmax of a product, multiplied with something: the definition of attention.
bool is_attention(const Graph& graph, const Node& softmax) {
  if (!softmax.op->is_softmax() || graph.shape(softmax.outputs[0]).size() != 4) return false;
  if (!made_by(graph, softmax.inputs[0], "MatMul")) return false;
  for (const int user : graph.users(softmax.outputs[0])) {
    const Node& reader = graph.nodes()[user];
    const bool through_slice =
        reader.op->sliced_rows() && graph.users(reader.outputs[0]).size() == 1 &&
        graph.nodes()[graph.users(reader.outputs[0])[0]].op->kind() == "MatMul";
    if (reader.op->kind() == "MatMul" || through_slice) return true;
  }
  return false;
}

std::vector<bool> ancestors(const Graph& graph, Value output) {
  std::vector<bool> reached(graph.nodes().size(), false);
  if (graph.producer(output) >= 0) reached[graph.producer(output)] = true;
  for (size_t index = reached.size(); index-- > 0;) {
    if (!reached[index]) continue;
    for (const Value input : graph.nodes()[index].inputs) {
      if (graph.producer(input) >= 0) reached[graph.producer(input)] = true;
    }
  }
  return reached;
}

bool has_class(const AxisClasses& classes, const Graph& graph, Value value, int wanted) {
  for (size_t axis = 0; axis < graph.shape(value).size(); ++axis) {
    if (classes.of(value, static_cast<int>(axis)) == wanted) return true;
  }
  return false;
}

// How `node` gives up the token axis of its input, if it does.
ReadOut read_out_at(const Node& node) {
  ReadOut result;
  if (const auto rows = node.op->sliced_rows(); rows && rows->length == 1) {
    result.kind = ReadOut::Kind::kRow;
    result.row = rows->start;
  } else if (node.op->kind() == "Mean") {
    result.kind = ReadOut::Kind::kMean;
  } else if (node.op->kind() == "MatMul") {
    result.kind = ReadOut::Kind::kWeights;
    result.weights = node.inputs[0];
  }
  return result;
}

// The last node on the way to the output whose input has the stream's tokens and whose output has not.
ReadOut find_read_out(const Graph& graph, Value output, const AxisClasses& classes,
                      const std::map<int, int>& stream_of_class) {
  const std::vector<bool> on_the_way = ancestors(graph, output);
  for (size_t index = graph.nodes().size(); index-- > 0;) {
    if (!on_the_way[index]) continue;
    const Node& node = graph.nodes()[index];
    if (node.inputs.empty()) continue;
    for (const auto& [axis_class, stream] : stream_of_class) {
      const Value read = node.inputs.back();
      if (graph.type(read).dtype == DType::kInt64) continue;
      if (!has_class(classes, graph, read, axis_class)) continue;
      if (has_class(classes, graph, node.outputs[0], axis_class)) continue;
      ReadOut found = read_out_at(node);
      found.stream = stream;
      return found;
    }
  }
  return {};
}

}  // namespace

Discovery discover(const Graph& graph, Value output) {
  const AxisClasses classes(graph);
  Discovery found;
  std::map<int, int> stream_of_class;
  const auto stream = [&](Value attention, int axis) {
    const auto [entry, is_new] = stream_of_class.try_emplace(
        classes.of(attention, axis), static_cast<int>(found.streams.size()));
    if (is_new) found.streams.push_back({graph.shape(attention)[axis], {}});
    return entry->second;
  };
  for (const Node& node : graph.nodes()) {
    if (!is_attention(graph, node)) continue;
    const Value attention = node.outputs[0];
    const Shape& shape = graph.shape(attention);
    AttentionSite site{node.name, attention, shape[1], shape[2], shape[3], 0, 0};
    site.query_stream = stream(attention, 2);
    site.key_stream = stream(attention, 3);
    found.streams[site.query_stream].sites.push_back(static_cast<int>(found.sites.size()));
    found.sites.push_back(std::move(site));
  }
  found.read_out = find_read_out(graph, output, classes, stream_of_class);
  return found;
}

}  // namespace whyformer
