#include "studies/heads/voita_walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/pulse.h"
#include "ops/ops.h"
#include "tensor/map.h"
#include "whyformer/error.h"

namespace whyformer::voita {
namespace {

// The nodes of one softmax(q·kᵀ)·v, which the method takes as one function.
struct AttentionNodes {
  size_t layer = 0;
  Value q, keys, v;  // keys are [heads, width, tokens]
  Value read;        // the rows of the map that are multiplied with v
  int64_t first_row = 0;
  double scale = 1;
};

// By the index of the node that makes the heads' outputs.
std::map<int, AttentionNodes> attention_nodes(const Graph& graph,
                                              const std::vector<AttentionSite>& sites) {
  std::map<int, AttentionNodes> found;
  for (size_t layer = 0; layer < sites.size(); ++layer) {
    AttentionNodes nodes;
    nodes.layer = layer;
    nodes.read = sites[layer].attention;
    const Node& softmax = graph.nodes()[graph.producer(nodes.read)];
    const Node& scores = graph.nodes()[graph.producer(softmax.inputs[0])];
    nodes.q = scores.inputs[0];
    nodes.keys = scores.inputs[1];
    nodes.scale = op_as<ops::Softmax>(*softmax.op)->scale();
    int reader = graph.users(nodes.read).front();
    if (const auto rows = sliced_rows(*graph.nodes()[reader].op)) {
      nodes.first_row = rows->start;
      nodes.read = graph.nodes()[reader].outputs[0];
      reader = graph.users(nodes.read).front();
    }
    nodes.v = graph.nodes()[reader].inputs[1];
    found[reader] = nodes;
  }
  return found;
}

// Unlike walk_back, which sees one operator at a time: attention is one function of three inputs,
// and Linears that read the same value are one fused Linear.
class Walk {
 public:
  Walk(const ModelGraph& graph, const Pass& pass, AttentionMaps maps)
      : graph_(graph.graph),
        pass_(pass),
        maps_(maps),
        output_(graph.output),
        attention_(attention_nodes(graph.graph, graph.found.sites)),
        arrived_(graph.graph.value_count()),
        at_heads_(graph.found.sites.size()) {}

  std::vector<Tensor> run(int64_t target) {
    Tensor seed = Tensor::zeros(graph_.shape(output_), graph_.type(output_).dtype);
    seed.slice(1, target, 1).fill(1);
    arrived_[output_.id] = seed;
    for (int index = static_cast<int>(graph_.nodes().size()) - 1; index >= 0; --index) {
      if (at_heads_[0].defined()) break;
      pulse();
      const Node& node = graph_.nodes()[index];
      if (is_a<ops::Linear>(*node.op)) {
        back_linears(index, node.inputs[0]);
      } else if (arrived_[node.outputs[0].id].defined()) {
        back(index, node);
      }
    }
    return std::move(at_heads_);
  }

 private:
  void back(int index, const Node& node) {
    const Tensor& relevance = arrived_[node.outputs[0].id];
    if (const auto nodes = attention_.find(index); nodes != attention_.end()) {
      back_attention(nodes->second, relevance);
    } else if (const LayerNormWeights* weights = layer_norm_weights(*node.op)) {
      arrive(node.inputs[0], through_layer_norm(*weights, pass_[node.inputs[0]], relevance));
    } else if (is_a<ops::Add>(*node.op)) {
      const Addends shares = through_add(pass_[node.inputs[0]], pass_[node.inputs[1]], relevance);
      arrive(node.inputs[0], shares.a);
      arrive(node.inputs[1], shares.b);
    } else if (is_a<ops::Activation>(*node.op)) {
      arrive(node.inputs[0], relevance);
    } else if (node.op->moves_data()) {
      back_moved(node, relevance);
    } else {
      throw UnsupportedModel(fmt::format("voita-lrp has no rule for the operator {} '{}'",
                                         node.op->kind(), node.name));
    }
  }

  void back_attention(const AttentionNodes& nodes, const Tensor& relevance) {
    at_heads_[nodes.layer] = relevance.select(0, 0);
    if (nodes.layer == 0) return;  // nothing below is asked for
    const auto heads = [&](Value value) { return pass_[value].select(0, 0); };
    const AttentionCall call{heads(nodes.q),  heads(nodes.keys).transpose(1, 2),
                             heads(nodes.v),  heads(nodes.read),
                             nodes.first_row, nodes.scale};
    const AttentionShares shares = through_attention(call, at_heads_[nodes.layer], maps_);
    arrive(nodes.q, shares.q.reshape(graph_.shape(nodes.q)));
    arrive(nodes.keys, shares.k.transpose(1, 2).reshape(graph_.shape(nodes.keys)));
    arrive(nodes.v, shares.v.reshape(graph_.shape(nodes.v)));
  }

  // Waits for the first of the Linears that read `input`: then relevance of all has arrived.
  void back_linears(int index, Value input) {
    std::vector<LinearReader> readers;
    for (const int user : graph_.users(input)) {
      const Node& node = graph_.nodes()[user];
      if (!is_a<ops::Linear>(*node.op)) continue;
      if (user < index) return;
      const Tensor& relevance = arrived_[node.outputs[0].id];
      if (relevance.defined()) readers.push_back({linear_weights(*node.op), relevance});
    }
    if (!readers.empty()) arrive(input, through_linear(pass_[input], readers));
  }

  void back_moved(const Node& node, const Tensor& relevance) {
    std::vector<ValueType> types;
    for (const Value input : node.inputs) types.push_back(graph_.type(input));
    const Tensors moved =
        node.op->gradient({types, {}, {}, {}}, {&relevance, 1}, Wanted(types.size(), true));
    for (size_t i = 0; i < moved.size(); ++i) arrive(node.inputs[i], moved[i]);
  }

  void arrive(Value value, const Tensor& relevance) {
    Tensor& sum = arrived_[value.id];
    sum = sum.defined() ? map([](auto a, auto b) { return a + b; }, sum, relevance) : relevance;
  }

  const Graph& graph_;
  const Pass& pass_;
  AttentionMaps maps_;
  Value output_;
  std::map<int, AttentionNodes> attention_;
  std::vector<Tensor> arrived_;   // by value id
  std::vector<Tensor> at_heads_;  // by layer
};

}  // namespace

std::vector<Tensor> relevance_of_heads(const ModelGraph& graph, const Pass& pass, int64_t target,
                                       AttentionMaps maps) {
  return Walk(graph, pass, maps).run(target);
}

}  // namespace whyformer::voita
