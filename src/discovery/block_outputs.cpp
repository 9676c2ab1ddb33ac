#include "discovery/block_outputs.h"

#include <fmt/format.h>

#include "discovery/blocks.h"
#include "ops/ops.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// For each value whether `from` reaches it.
std::vector<bool> values_after(const Graph& graph, Value from) {
  std::vector<bool> after(graph.value_count(), false);
  after[from.id] = true;
  for (const Node& node : graph.nodes()) {
    bool reached = false;
    for (const Value input : node.inputs) reached = reached || after[input.id];
    for (const Value output : node.outputs) after[output.id] = after[output.id] || reached;
  }
  return after;
}

// For each value whether it reaches `to`.
std::vector<bool> values_before(const Graph& graph, Value to) {
  std::vector<bool> before(graph.value_count(), false);
  before[to.id] = true;
  for (size_t index = graph.nodes().size(); index-- > 0;) {
    const Node& node = graph.nodes()[index];
    bool leads = false;
    for (const Value output : node.outputs) leads = leads || before[output.id];
    if (!leads) continue;
    for (const Value input : node.inputs) before[input.id] = true;
  }
  return before;
}

// Values that every path from `from` to `to` passes through, in order: those that stand alone when
// all values that are made and still to be read are put side by side.
std::vector<Value> cuts_between(const Graph& graph, Value from, Value to) {
  const std::vector<bool> after = values_after(graph, from), before = values_before(graph, to);
  const auto matters = [&](Value value) { return after[value.id] && before[value.id]; };
  std::vector<int> readers(graph.value_count(), 0);
  for (const Node& node : graph.nodes()) {
    bool on_the_way = false;
    for (const Value output : node.outputs) on_the_way = on_the_way || matters(output);
    if (!on_the_way) continue;
    for (const Value input : node.inputs) readers[input.id] += matters(input);
  }
  ++readers[to.id];
  std::vector<Value> cuts{from};
  int open = 1;  // `from` itself
  for (size_t index = graph.producer(from) + 1; index < graph.nodes().size(); ++index) {
    const Node& node = graph.nodes()[index];
    bool on_the_way = false;
    for (const Value output : node.outputs) on_the_way = on_the_way || matters(output);
    if (!on_the_way) continue;
    for (const Value input : node.inputs) {
      if (matters(input) && --readers[input.id] == 0) --open;
    }
    for (const Value output : node.outputs) open += matters(output) && readers[output.id] > 0;
    if (open == 1 && matters(node.outputs[0]) && readers[node.outputs[0].id] > 0) {
      cuts.push_back(node.outputs[0]);
    }
  }
  return cuts;
}

bool is_stream(const Graph& graph, Value value) { return graph.shape(value).size() == 3; }

Value bottleneck(const Graph& graph, const AttentionSite& site, const AttentionSite* next,
                 Value output) {
  const std::vector<bool> before_next = next != nullptr
                                            ? values_before(graph, next->attention)
                                            : std::vector<bool>(graph.value_count(), true);
  Value found;
  for (const Value cut : cuts_between(graph, site.attention, output)) {
    if (!before_next[cut.id] || !is_stream(graph, cut)) continue;
    // Behind the last attention norms and projections of the head stand alone too: the block ends
    // with its last addition.
    const int maker = graph.producer(cut);
    if (next != nullptr || (maker >= 0 && is_a<ops::Add>(*graph.nodes()[maker].op))) found = cut;
  }
  if (found.valid()) return found;
  throw UnsupportedModel(
      fmt::format("no block output found behind attention '{}': no single value carries the whole "
                  "stream, so concepts cannot be tested there",
                  site.name));
}

}  // namespace

std::vector<Value> bottlenecks(const Graph& graph, const Discovery& found, Value output) {
  std::vector<Value> outputs;
  for (size_t i = 0; i < found.sites.size(); ++i) {
    const AttentionSite* next = i + 1 < found.sites.size() ? &found.sites[i + 1] : nullptr;
    outputs.push_back(bottleneck(graph, found.sites[i], next, output));
  }
  return outputs;
}

std::vector<Value> block_outputs(const Graph& graph, const Discovery& found, Value output) {
  if (found.sites.empty()) {
    throw UnsupportedModel("no attention was found in the model, so it has no blocks");
  }
  std::vector<Value> outputs;
  try {
    for (const EncoderBlock& block : find_blocks(graph, found.sites))
      outputs.push_back(block.output());
  } catch (const UnsupportedModel&) {
    return bottlenecks(graph, found, output);
  }
  return outputs;
}

}  // namespace whyformer
