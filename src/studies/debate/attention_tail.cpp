#include "studies/debate/attention_tail.h"

#include <fmt/format.h>

#include <algorithm>

#include "graph/walk_back.h"
#include "ops/ops.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// The value of one input for so many of them: the batch is the axis that grew, in front of what it
// may be merged with.
Tensor repeated(const Tensor& one, const Shape& shape, int64_t count, const std::string& name) {
  if (one.shape() == shape) return one;
  for (int axis = 0; axis < one.rank(); ++axis) {
    Shape grown = one.shape();
    grown[axis] *= count;
    if (grown != shape) continue;
    if (one.dim(axis) == 1) return one.expand(shape);
    Tensor all = Tensor::empty(shape, one.dtype());
    for (int64_t i = 0; i < count; ++i)
      all.slice(axis, i * one.dim(axis), one.dim(axis)).copy_from(one);
    return all;
  }
  throw UnsupportedModel(fmt::format("'{}' has the shape {} for one input and {} for {}", name,
                                     to_string(one.shape()), to_string(shape), count));
}

}  // namespace

TailValues values_behind(const Graph& graph, const std::vector<Value>& from, Value output) {
  std::vector<bool> behind(graph.value_count(), false), needed(graph.value_count(), false);
  for (const Node& node : graph.nodes()) {
    const bool reached = std::ranges::any_of(node.inputs, [&](Value input) {
      return behind[input.id] || std::ranges::find(from, input) != from.end();
    });
    for (const Value made : node.outputs) behind[made.id] = reached;
  }
  for (const Value given : from) behind[given.id] = true;
  needed[output.id] = true;
  TailValues found;
  for (size_t index = graph.nodes().size(); index-- > 0;) {
    const Node& node = graph.nodes()[index];
    const bool runs = std::ranges::any_of(node.outputs, [&](Value made) {
      return needed[made.id] && behind[made.id] && std::ranges::find(from, made) == from.end();
    });
    if (!runs) continue;
    for (const Value input : node.inputs) needed[input.id] = true;
    for (const Value made : node.outputs) found.made += element_count(graph.shape(made));
  }
  for (int id = 0; id < graph.value_count(); ++id) {
    const Value value{id};
    if (needed[id] && !behind[id] && graph.varies(value) && graph.producer(value) >= 0)
      found.read.push_back(value);
  }
  return found;
}

TailMap tail_map(const ModelGraph& model, int layer) {
  const Graph& graph = model.graph;
  const AttentionSite& site = model.found.sites[layer];
  TailMap map{site.attention, site.first_query.value_or(0)};
  while (graph.users(map.value).size() == 1) {
    const Node& reader = graph.nodes()[graph.users(map.value)[0]];
    const auto rows = sliced_rows(*reader.op);
    if (!rows || rows->axis != 2) break;
    map = {reader.outputs[0], map.first_row + rows->start};
  }
  return map;
}

struct AttentionTail::Batch {
  int64_t count = 0;
  FedGraph fed = {};
  std::vector<Value> maps = {};  // by layer
};

AttentionTail::AttentionTail(const Run& run, const std::vector<int>& layers) : run_(run) {
  run.require_maps_of_units();
  const ModelGraph& model = run.graph();
  for (const int layer : layers) {
    const AttentionSite& site = model.found.sites[layer];
    if (site.windows > 1 || !site.is_self_attention()) {
      throw InvalidInput(
          fmt::format("layer {} attends within windows or between streams: its rows are no "
                      "distributions over all tokens",
                      layer));
    }
    const TailMap map = tail_map(model, layer);
    const Shape& shape = model.graph.shape(map.value);
    layers_.push_back({layer, shape[1], shape[2], shape[3], map.first_row, map_size()});
    const std::vector<double> own = run.pass()[map.value].to_doubles();
    observed_.insert(observed_.end(), own.begin(), own.end());
  }
  bytes_of_one_ = values_behind(model.graph, maps_in(model), model.output).made *
                  element_size(run.input().kind().dtype);
}

std::vector<Value> AttentionTail::maps_in(const ModelGraph& graph) const {
  std::vector<Value> maps;
  for (const TailLayer& one : layers_) maps.push_back(tail_map(graph, one.layer).value);
  return maps;
}

// One layer's map of all that run together, [inputs, heads, rows, keys].
Tensor AttentionTail::map_of(const TailLayer& layer, std::span<const double> maps) const {
  const auto count = static_cast<int64_t>(maps.size()) / map_size();
  const Tensor all = Tensor::of<double>({count, map_size()}, maps);
  return all.slice(1, layer.first, layer.size())
      .reshape({count, layer.heads, layer.rows, layer.keys})
      .cast(run_.input().kind().dtype);
}

int64_t AttentionTail::max_at_once() const {
  constexpr int64_t kMemory = int64_t{256} << 20;
  return std::clamp<int64_t>(kMemory / std::max<int64_t>(bytes_of_one_, 1), 1,
                             run_.input().max_at_once());
}

std::shared_ptr<const AttentionTail::Batch> AttentionTail::batch_of(int64_t count) const {
  if (last_batch_ != nullptr && last_batch_->count == count) return last_batch_;
  Batch batch{.count = count, .fed = run_.input().copies(count)};
  const ModelGraph& own = run_.graph();
  const ModelGraph& many = *batch.fed.graph;
  batch.maps = maps_in(many);
  const std::vector<Value> from = values_behind(own.graph, maps_in(own), own.output).read;
  const std::vector<Value> to = values_behind(many.graph, batch.maps, many.output).read;
  if (from.size() != to.size())
    throw UnsupportedModel("the model's graph for several inputs differs from that for one");
  for (size_t i = 0; i < to.size(); ++i) {
    batch.fed.feeds[to[i]] =
        repeated(run_.pass()[from[i]], many.graph.shape(to[i]), count, many.graph.name(to[i]));
  }
  last_batch_ = std::make_shared<const Batch>(std::move(batch));
  return last_batch_;
}

template <class Take>
void AttentionTail::in_batches(const std::vector<double>& maps, Keep keep, const Take& take) const {
  const int64_t size = map_size();
  const auto count = static_cast<int64_t>(maps.size()) / size;
  const int64_t at_once = std::min(count, max_at_once());
  for (int64_t first = 0; first < count; first += at_once) {
    const int64_t some = std::min(at_once, count - first);
    const std::shared_ptr<const Batch> batch = batch_of(some);
    const std::span<const double> own(maps.data() + first * size, some * size);
    Feeds feeds = batch->fed.feeds;
    for (size_t i = 0; i < layers_.size(); ++i) feeds[batch->maps[i]] = map_of(layers_[i], own);
    const ModelGraph& graph = *batch->fed.graph;
    const Pass pass = whyformer::run(graph.graph, feeds, {keep, {graph.output}});
    const std::vector<double> values = pass[graph.output].to_doubles();
    const size_t width = values.size() / static_cast<size_t>(some);
    Outputs outputs;
    for (int64_t i = 0; i < some; ++i) {
      const auto begin = values.begin() + static_cast<int64_t>(i * width);
      outputs.emplace_back(begin, begin + static_cast<int64_t>(width));
    }
    take(first, *batch, pass, outputs);
  }
}

AttentionTail::Outputs AttentionTail::outputs(const std::vector<double>& maps) const {
  Outputs all;
  in_batches(maps, Keep::kOutputs, [&](int64_t, const Batch&, const Pass&, const Outputs& some) {
    all.insert(all.end(), some.begin(), some.end());
  });
  return all;
}

AttentionTail::Slopes AttentionTail::slopes(const std::vector<double>& maps,
                                            const SlopesOf& slopes_of) const {
  Slopes result;
  in_batches(maps, Keep::kGradients,
             [&](int64_t first, const Batch& batch, const Pass& pass, const Outputs& some) {
               std::vector<double> seed;
               for (size_t i = 0; i < some.size(); ++i) {
                 const std::vector<double> own =
                     slopes_of(first + static_cast<int64_t>(i), some[i]);
                 seed.insert(seed.end(), own.begin(), own.end());
               }
               const ModelGraph& graph = *batch.fed.graph;
               const Tensor from = Tensor::of<double>(graph.graph.shape(graph.output),
                                                      std::span<const double>(seed))
                                       .cast(pass[graph.output].dtype());
               const auto arrived =
                   walk_back(graph.graph, pass, graph.output, from, gradient_rule(), batch.maps);
               result.outputs.insert(result.outputs.end(), some.begin(), some.end());
               const size_t begin = result.gradients.size();
               result.gradients.resize(begin + some.size() * observed_.size());
               for (size_t layer = 0; layer < layers_.size(); ++layer) {
                 const std::vector<double> own = arrived.at(batch.maps[layer]).to_doubles();
                 const auto size = static_cast<size_t>(layers_[layer].size());
                 for (size_t i = 0; i < some.size(); ++i) {
                   std::copy_n(own.begin() + static_cast<int64_t>(i * size), size,
                               result.gradients.begin() +
                                   static_cast<int64_t>(begin + i * observed_.size()) +
                                   layers_[layer].first);
                 }
               }
             });
  return result;
}

}  // namespace whyformer
