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
  Value map = {};
};

AttentionTail::AttentionTail(const Run& run, int layer) : run_(run), layer_(layer) {
  run.require_maps();
  const ModelGraph& model = run.graph();
  const AttentionSite& site = model.found.sites[layer];
  if (site.windows > 1 || !site.is_self_attention()) {
    throw InvalidInput(
        fmt::format("layer {} attends within windows or between streams: its rows are no "
                    "distributions over all tokens",
                    layer));
  }
  const TailMap map = tail_map(model, layer);
  first_row_ = map.first_row;
  shape_ = model.graph.shape(map.value);
  observed_ = run.pass()[map.value].to_doubles();
  bytes_of_one_ = values_behind(model.graph, {map.value}, model.output).made *
                  element_size(run.input().kind().dtype);
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
  batch.map = tail_map(many, layer_).value;
  const std::vector<Value> from =
      values_behind(own.graph, {tail_map(own, layer_).value}, own.output).read;
  const std::vector<Value> to = values_behind(many.graph, {batch.map}, many.output).read;
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
    Shape shape = shape_;
    shape[0] = some;
    const std::span<const double> own(maps.data() + first * size, some * size);
    Feeds feeds = batch->fed.feeds;
    feeds[batch->map] = Tensor::of<double>(shape, own).cast(run_.input().kind().dtype);
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
               const std::vector<double> gradient =
                   walk_back(graph.graph, pass, graph.output, from, gradient_rule(), {batch.map})
                       .at(batch.map)
                       .to_doubles();
               result.outputs.insert(result.outputs.end(), some.begin(), some.end());
               result.gradients.insert(result.gradients.end(), gradient.begin(), gradient.end());
             });
  return result;
}

}  // namespace whyformer
