#include "discovery/attention_sites.h"

#include <algorithm>
#include <map>
#include <set>

#include "discovery/axis_classes.h"
#include "discovery/site_tokens.h"
#include "discovery/stream_origin.h"
#include "ops/ops.h"

namespace whyformer {
namespace {

// What may stand between a product and the softmax, or the softmax and the product with the values.
bool passes_scores(const Op& op) {
  return is_a<ops::Add, ops::Sub, ops::Mul, ops::Div, ops::Where, ops::Reshape, ops::Transpose,
              ops::Cast, ops::Activation, ops::Slice, ops::Pad, ops::Gather, ops::GatherElements,
              ops::StridedSlice, ops::Max, ops::Min, ops::QuantizeLinear, ops::DequantizeLinear>(
      op);
}
bool passes_map(const Op& op) {
  return is_a<ops::Mul, ops::Where, ops::Reshape, ops::Slice, ops::Cast, ops::Transpose,
              ops::QuantizeLinear, ops::DequantizeLinear>(op);
}

constexpr size_t kMostNodesBetween = 200;  // from a softmax back to its products

// Whether a product is found in front of the value.
bool comes_from_product(const Graph& graph, Value value, std::set<int>& seen) {
  const int producer = graph.producer(value);
  if (producer < 0 || seen.size() > kMostNodesBetween || !seen.insert(producer).second)
    return false;
  const Node& node = graph.nodes()[producer];
  if (is_a<ops::MatMul>(*node.op)) return true;
  if (!passes_scores(*node.op)) return false;
  for (const Value input : node.inputs) {
    if (graph.type(input).dtype != DType::kInt64 && comes_from_product(graph, input, seen))
      return true;
  }
  return false;
}

// Nodes that multiply the map, behind whatever only passes it on.
void collect_products(const Graph& graph, Value map, std::set<int>& products, int steps) {
  for (const int user : graph.users(map)) {
    const Node& reader = graph.nodes()[user];
    if (is_a<ops::MatMul>(*reader.op)) {
      products.insert(user);
    } else if (steps > 0 && passes_map(*reader.op)) {
      collect_products(graph, reader.outputs[0], products, steps - 1);
    }
  }
}

// softmax of a product, multiplied with something: the definition of attention.
bool is_attention(const Graph& graph, const Node& softmax, std::set<int>& products) {
  if (!is_a<ops::Softmax>(*softmax.op) || graph.shape(softmax.outputs[0]).size() != 4) return false;
  std::set<int> seen;
  if (!comes_from_product(graph, softmax.inputs[0], seen)) return false;
  const size_t before = products.size();
  collect_products(graph, softmax.outputs[0], products, 6);
  return products.size() > before;
}

// Whether the constant mask of a softmax shows each query the keys up to its own and no later ones.
bool is_causal(const Graph& graph, const Node& softmax) {
  if (softmax.inputs.size() < 2 || graph.producer(softmax.inputs[1]) < 0) return false;
  const Tensor* mask = constant_value(*graph.nodes()[graph.producer(softmax.inputs[1])].op);
  const Shape& shape = graph.shape(softmax.outputs[0]);
  if (mask == nullptr || mask->rank() < 2 || mask->dim(-2) != shape[2] || shape[2] < 2)
    return false;
  const std::vector<double> numbers = mask->to_doubles();
  const int64_t queries = shape[2], keys = mask->dim(-1), past = shape[3] - queries;
  for (int64_t i = 0; i < queries; ++i) {
    for (int64_t j = 0; j < keys; ++j) {
      const bool hidden = numbers[i * keys + j] <= -1e4;
      if (j > i + past && !hidden) return false;
      if (j == i + past && hidden) return false;
    }
  }
  return keys > 1;
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

bool picks_rows(const Op& op) { return is_a<ops::Gather, ops::GatherND, ops::GatherElements>(op); }

bool averages(const Node& node) {
  return is_a<ops::Mean, ops::ReduceMean, ops::AveragePool>(*node.op);
}

// How `node` gives up axis `axis` of its input, `tokens` long, if it does.
ReadOut read_out_at(const Graph& graph, const Node& node, int axis, int64_t tokens) {
  ReadOut result;
  const auto rows = sliced_rows(*node.op);
  if (rows && rows->axis == axis && rows->length == 1) {
    result.kind = ReadOut::Kind::kRow;
    result.row = rows->start;
  } else if (rows && rows->axis == axis) {
    // Some tokens, then their mean.
    const std::vector<int>& users = graph.users(node.outputs[0]);
    if (users.size() != 1 || !averages(graph.nodes()[users[0]])) return result;
    result.kind = ReadOut::Kind::kMean;
    result.row = rows->start;
    result.rows = rows->length;
  } else if (averages(node)) {
    result.kind = ReadOut::Kind::kMean;
    result.row = 0;
    result.rows = tokens;
  } else if (is_a<ops::MatMul>(*node.op)) {
    result.kind = ReadOut::Kind::kWeights;
    result.weights = node.inputs[0];
  } else if (picks_rows(*node.op)) {
    result.kind = ReadOut::Kind::kChosen;
  }
  return result;
}

int axis_in(const AxisClasses& classes, const Graph& graph, Value value, int axis_class) {
  for (size_t axis = 0; axis < graph.shape(value).size(); ++axis) {
    if (classes.of(value, static_cast<int>(axis)) == axis_class) return static_cast<int>(axis);
  }
  return -1;
}

// How the nodes on the way to the output read the value: those that lose its tokens. Several of
// them, a class token beside a mean, say, share alike.
ReadOut read_out_of(const Graph& graph, const AxisClasses& classes, Value read, int axis_class,
                    const std::vector<bool>& on_the_way) {
  const int axis = axis_in(classes, graph, read, axis_class);
  const int64_t tokens = graph.shape(read)[axis];
  std::vector<ReadOut> parts;
  for (const int user : graph.users(read)) {
    const Node& reader = graph.nodes()[user];
    if (!on_the_way[user] || classes.has(graph, reader.outputs[0], axis_class)) continue;
    parts.push_back(read_out_at(graph, reader, axis, tokens));
  }
  if (parts.size() == 1) return parts[0];
  ReadOut shared{.kind = ReadOut::Kind::kShares,
                 .shares = std::vector<double>(static_cast<size_t>(tokens), 0)};
  for (const ReadOut& part : parts) {
    if (part.kind != ReadOut::Kind::kRow && part.kind != ReadOut::Kind::kMean) return {};
    for (int64_t row = part.row; row < part.row + part.rows; ++row) {
      shared.shares[row] += 1 / static_cast<double>(part.rows * static_cast<int64_t>(parts.size()));
    }
  }
  return shared;
}

// The last node on the way to the output whose input has the stream's tokens and whose output has
// not, products of attention apart.
ReadOut find_read_out(const Graph& graph, Value output, const AxisClasses& classes,
                      const std::map<int, int>& stream_of_class, const std::set<int>& products) {
  for (const auto& [axis_class, stream] : stream_of_class) {
    const int axis = axis_in(classes, graph, output, axis_class);
    if (axis >= 0) {
      return {.kind = ReadOut::Kind::kEach, .stream = stream, .read = output, .axis = axis};
    }
  }
  const std::vector<bool> on_the_way = ancestors(graph, output);
  for (size_t index = graph.nodes().size(); index-- > 0;) {
    if (!on_the_way[index] || products.contains(static_cast<int>(index))) continue;
    const Node& node = graph.nodes()[index];
    if (node.inputs.empty()) continue;
    // The first operand carries the tokens of a gather, the last one those of a weighted sum.
    for (const Value read : {node.inputs.back(), node.inputs.front()}) {
      if (graph.type(read).dtype == DType::kInt64) continue;
      for (const auto& [axis_class, stream] : stream_of_class) {
        if (!classes.has(graph, read, axis_class)) continue;
        if (classes.has(graph, node.outputs[0], axis_class)) continue;
        ReadOut found = read_out_of(graph, classes, read, axis_class, on_the_way);
        found.stream = stream;
        found.read = read;
        found.axis = axis_in(classes, graph, read, axis_class);
        return found;
      }
    }
  }
  return {};
}

// The one axis of the node's first input that its output does not have; -1 if there are none or
// several.
int lost_axis(const Graph& graph, const Node& node) {
  std::vector<ValueType> types;
  for (const Value input : node.inputs) types.push_back(graph.type(input));
  std::vector<bool> kept(types[0].shape.size(), false);
  for (size_t axis = 0; axis < graph.shape(node.outputs[0]).size(); ++axis) {
    const auto flow = node.op->follow(static_cast<int>(axis), types);
    if (flow && flow->sources[0] >= 0) kept[flow->sources[0]] = true;
  }
  if (std::count(kept.begin(), kept.end(), false) != 1) return -1;
  return static_cast<int>(std::find(kept.begin(), kept.end(), false) - kept.begin());
}

// Windows cut the path from the tokens inside them to those of the whole picture, which no
// attention has as an axis of its own: there the mean behind the last window counts.
ReadOut mean_behind_windows(const Graph& graph, Value output, Value last_map) {
  const std::vector<bool> on_the_way = ancestors(graph, output);
  for (int index = static_cast<int>(graph.nodes().size()) - 1; index > graph.producer(last_map);
       --index) {
    const Node& node = graph.nodes()[index];
    if (!on_the_way[index] || node.inputs.empty() || !averages(node)) continue;
    const int axis = lost_axis(graph, node);
    if (axis < 1) return {};
    return {.kind = ReadOut::Kind::kMean,
            .row = 0,
            .rows = graph.shape(node.inputs[0])[axis],
            .read = node.inputs[0],
            .axis = axis};
  }
  return {};
}

// The product behind the map, whose rows are the queries'.
Value context_of(const Graph& graph, Value attention) {
  std::set<int> products;
  collect_products(graph, attention, products, 6);
  return graph.nodes()[*products.begin()].outputs[0];
}

bool depends_on(const Graph& graph, Value value, Value on) {
  return value == on || (graph.producer(value) >= 0 && ancestors(graph, value)[graph.producer(on)]);
}

// The read-out, also of what a last attention computed for some tokens alone.
ReadOut read_out_behind_cut_rows(const Graph& graph, Value output, const AxisClasses& classes,
                                 const std::map<int, int>& stream_of_class,
                                 const std::set<int>& products, const Discovery& found) {
  std::map<int, int> with_parts = stream_of_class;
  std::map<int, int64_t> first_of_part;
  for (const AttentionSite& site : found.sites) {
    // The axis of one row is easily mistaken for others of length 1.
    if (!site.first_query || site.queries == 1) continue;
    const int axis_class = classes.of(site.attention, 2);
    if (with_parts.try_emplace(axis_class, site.query_stream).second)
      first_of_part[axis_class] = *site.first_query;
  }
  ReadOut read_out = find_read_out(graph, output, classes, with_parts, products);
  if (!read_out.read.valid()) return read_out;
  const auto part = first_of_part.find(classes.of(read_out.read, read_out.axis));
  if (part != first_of_part.end()) {
    read_out.first = part->second;
    if (read_out.row >= 0) read_out.row += read_out.first;
    if (!read_out.shares.empty()) {
      read_out.shares.insert(read_out.shares.begin(), static_cast<size_t>(read_out.first), 0.0);
      read_out.shares.resize(static_cast<size_t>(found.streams[read_out.stream].tokens), 0.0);
    }
    return read_out;
  }
  if (found.sites.empty() || read_out.kind != ReadOut::Kind::kRow) return read_out;
  // A row that is cut out in front of the last attention, which computes that row: it is read
  // behind it.
  const AttentionSite& last = found.sites.back();
  const bool cut_out = last.first_query == read_out.row && last.queries == 1 &&
                       last.query_stream == read_out.stream &&
                       !depends_on(graph, read_out.read, last.attention) &&
                       depends_on(graph, output, last.attention);
  if (!cut_out) return read_out;
  read_out.read = context_of(graph, last.attention);
  read_out.axis = 2;
  read_out.first = read_out.row;
  return read_out;
}

}  // namespace

Discovery discover(const Graph& graph, Value output, int64_t batch) {
  const AxisClasses classes(graph);
  Discovery found;
  std::map<int, int> stream_of_class;
  const auto stream = [&](Value attention, int axis) {
    const auto [entry, is_new] = stream_of_class.try_emplace(
        classes.of(attention, axis), static_cast<int>(found.streams.size()));
    if (is_new) found.streams.push_back({.tokens = graph.shape(attention)[axis]});
    return entry->second;
  };
  std::set<int> products, query_classes, key_classes;
  std::vector<const Node*> softmaxes;
  for (const Node& node : graph.nodes()) {
    if (!is_attention(graph, node, products)) continue;
    softmaxes.push_back(&node);
    query_classes.insert(classes.of(node.outputs[0], 2));
    key_classes.insert(classes.of(node.outputs[0], 3));
  }
  for (const Node* softmax : softmaxes) {
    const Node& node = *softmax;
    const Value attention = node.outputs[0];
    const Shape& shape = graph.shape(attention);
    AttentionSite site{.name = node.name,
                       .attention = attention,
                       .heads = shape[1],
                       .queries = shape[2],
                       .keys = shape[3],
                       .causal = is_causal(graph, node),
                       .windows = batch > 0 ? shape[0] / batch : 1};
    // A map made of weights alone (object queries among themselves) has keys that no path connects.
    const bool own_keys = !graph.varies(attention) && shape[2] == shape[3];
    // Rows that others attend to, or keys that attend, are a stream of their own.
    if (!key_classes.contains(classes.of(attention, 2))) {
      site.first_query = first_query_among_keys(graph, classes, attention);
    }
    if (!query_classes.contains(classes.of(attention, 3))) {
      site.first_key = first_token_among_keys(graph, classes, attention);
    }
    site.query_stream = stream(attention, site.first_query ? 3 : 2);
    site.key_stream = own_keys || site.first_key ? site.query_stream : stream(attention, 3);
    found.streams[site.query_stream].sites.push_back(static_cast<int>(found.sites.size()));
    found.sites.push_back(std::move(site));
  }
  for (const auto& [axis_class, index] : stream_of_class) {
    Stream& found_stream = found.streams[index];
    found_stream.segments = stream_segments(graph, classes, axis_class, found_stream.tokens);
  }
  found.read_out =
      read_out_behind_cut_rows(graph, output, classes, stream_of_class, products, found);
  if (found.read_out.kind == ReadOut::Kind::kUnknown && !found.sites.empty() &&
      found.sites.back().windows > 1) {
    const ReadOut behind = mean_behind_windows(graph, output, found.sites.back().attention);
    if (behind.kind == ReadOut::Kind::kMean) found.read_out = behind;
  }
  return found;
}

}  // namespace whyformer
