#include "studies/patching/patched_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "graph/held_weights.h"
#include "graph/walk_back.h"
#include "ops/ops.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// Rows of all samples that run together: enough to keep products busy, and few enough that a step
// of the graph does not keep people waiting who want to stop.
constexpr int64_t kRowsTogether = 1024;

// "blocks.3" of "blocks.3.attention.context"; empty for names outside blocks.
std::string block_of(const std::string& name) {
  if (!name.starts_with("blocks.")) return "";
  return name.substr(0, name.find('.', std::string_view("blocks.").size()));
}

}  // namespace

PatchedRun::PatchedRun(Input input, int64_t memory_bytes, ValuesByName entering)
    : input_(std::move(input)), entering_(std::move(entering)) {
  const Batch& one = batch(1);
  const ModelGraph& graph = *one.fed.graph;
  const int64_t tokens = tokens_in(graph, input_.units());
  most_together_ = std::min({input_.max_at_once(), most_inputs_at_once(graph, tokens, memory_bytes),
                             std::max<int64_t>(1, kRowsTogether / std::max<int64_t>(tokens, 1))});
  std::vector<Value> wanted{graph.output};
  for (const NamedValue& named : one.names.all()) {
    wanted.push_back(named.value);
    const std::string block = block_of(named.name);
    const bool is_new = !block.empty() && std::ranges::find(blocks_, block) == blocks_.end();
    if (is_new) blocks_.push_back(block);
  }
  Feeds feeds = one.fed.feeds;
  for (const auto& [name, value] : entering_) {
    const NamedValue& at = one.names.at(name);
    feeds[at.value] = at.held(value).contiguous();
  }
  const Pass pass = run(graph.graph, feeds, {.outputs = wanted});
  for (const NamedValue& named : one.names.all())
    values_[named.name] = named.told(pass[named.value]);
  outputs_ = pass[graph.output].to_doubles();
}

const PatchedRun::Batch& PatchedRun::batch(int64_t size) const {
  std::unique_ptr<Batch>& known = batches_[size];
  if (known == nullptr) {
    RunKind kind = input_.kind();
    kind.all_rows = true;
    const std::vector<Sample> samples(static_cast<size_t>(size), input_.sample());
    known = std::make_unique<Batch>();
    known->fed = input_.source().fed(samples, kind);
    known->names = names_in(*known->fed.graph, input_.source().facts().native);
  }
  return *known;
}

const Tensor& PatchedRun::value(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) names().at(name);  // throws with what it may have meant
  return found->second;
}

// An Embedding gives its table where it picks every row; a Gather reads it.
std::optional<Tensor> PatchedRun::vector_table() const {
  const Batch& one = batch(1);
  const NamedValue* const words = one.names.find("words");
  const Graph& graph = one.fed.graph->graph;
  if (words == nullptr || graph.producer(words->value) < 0) return std::nullopt;
  const Node& node = graph.nodes()[graph.producer(words->value)];
  if (is_a<ops::Gather>(*node.op)) {
    const int producer = graph.producer(node.inputs[0]);
    const Tensor* const table =
        producer < 0 ? nullptr : constant_value(*graph.nodes()[producer].op);
    return table == nullptr ? std::nullopt : std::optional(*table);
  }
  const HoldsWeights* const holder =
      is_a<ops::Embedding>(*node.op) ? weight_holder(*node.op) : nullptr;
  if (holder == nullptr) return std::nullopt;
  std::vector<int64_t> ids(static_cast<size_t>(holder->held_weights()[0].shape[0]));
  std::iota(ids.begin(), ids.end(), 0);
  std::vector<Tensor> inputs{Tensor::of<int64_t>({static_cast<int64_t>(ids.size())}, ids)};
  return node.op->forward(inputs, KeepForBackward::kNo).outputs[0];
}

ValuesByName PatchedRun::gradients(const std::vector<double>& slopes,
                                   const std::vector<std::string>& names) const {
  const Batch& one = batch(1);
  const ModelGraph& graph = *one.fed.graph;
  Feeds feeds = one.fed.feeds;
  for (const auto& [name, value] : entering_)
    feeds[one.names.at(name).value] = one.names.at(name).held(value).contiguous();
  std::vector<Value> wanted;
  for (const std::string& name : names) wanted.push_back(one.names.at(name).value);
  std::vector<Value> kept = wanted;
  kept.push_back(graph.output);
  const Pass pass = run(graph.graph, feeds, {.keep = Keep::kGradients, .outputs = kept});
  const Tensor seed =
      Tensor::of<double>(graph.graph.shape(graph.output), std::span<const double>(slopes))
          .cast(pass[graph.output].dtype());
  const auto arrived = walk_back(graph.graph, pass, graph.output, seed, gradient_rule(), wanted);
  ValuesByName gradients;
  for (size_t i = 0; i < names.size(); ++i)
    gradients[names[i]] = one.names.at(names[i]).told(arrived.at(wanted[i]));
  return gradients;
}

std::vector<std::string> PatchedRun::in_front_of(const std::string& name) const {
  const std::string block = block_of(name);
  if (block.empty()) return {};
  const std::string part = name.substr(block.size() + 1);
  for (const char* const front : {part.starts_with("mlp.") ? "middle" : "input", "input"}) {
    const std::string candidate = block + "." + front;
    if (part != front && values_.contains(candidate)) return {candidate};
  }
  return {};
}

// Fresh memory, in the order that the graph has.
Tensor PatchedRun::repeated(const NamedValue& at, const Tensor& value, int64_t size) const {
  Shape shape = value.shape();
  shape[0] = size;
  return at.held(value.expand(shape)).copy();
}

Feeds PatchedRun::feeds_from(const Batch& batch, const std::string& first, int64_t size) const {
  Feeds feeds = batch.fed.feeds;
  for (const auto& [name, value] : entering_) {
    const NamedValue& at = batch.names.at(name);
    feeds[at.value] = repeated(at, value, size);
  }
  for (const std::string& name : in_front_of(first)) {
    const NamedValue& at = batch.names.at(name);
    feeds[at.value] = repeated(at, value(name), size);
  }
  return feeds;
}

// What all samples have there, to be written to: nobody else sees it.
Tensor PatchedRun::held_at(const Stop& stop, const Batch& batch, const Feeds& feeds, int64_t size,
                           bool is_first) const {
  const NamedValue& at = batch.names.at(stop.name);
  const Graph& graph = batch.fed.graph->graph;
  // What this run has there is what all samples have, as long as nothing was changed.
  if (is_first || stop.held) return repeated(at, value(stop.name), size);
  const Tensor computed = run(graph, feeds, {.outputs = {at.value}})[at.value];
  return computed.is_sole_owner() && computed.is_contiguous() ? computed : computed.copy();
}

double PatchedRun::forwards_behind(const std::string& name) const {
  const std::string block = block_of(name);
  const auto layer = static_cast<double>(std::ranges::find(blocks_, block) - blocks_.begin());
  if (block.empty() || blocks_.empty()) return 1;
  const std::string part = name.substr(block.size() + 1);
  const double done = part == "input" ? 0 : part == "output" || part == "mlp.output" ? 1 : 1.0 / 3;
  // Even behind the last block something is left: the output head.
  constexpr double kHead = 0.1;
  const auto layers = static_cast<double>(blocks_.size());
  return (layers - layer - done + kHead) / (layers + kHead);
}

void PatchedRun::go_on(const std::vector<Stop>& stops, int64_t samples, const Change& change,
                       const std::string& read, const TakeRow& take, const RunsMade& made) const {
  const double share = forwards_behind(stops[0].name);
  for (int64_t begin = 0; begin < samples; begin += most_together_) {
    const int64_t size = std::min(most_together_, samples - begin);
    const Batch& together = batch(size);
    const ModelGraph& graph = *together.fed.graph;
    Feeds feeds = feeds_from(together, stops[0].name, size);
    for (size_t stop = 0; stop < stops.size(); ++stop) {
      const NamedValue& at = together.names.at(stops[stop].name);
      const Tensor held = held_at(stops[stop], together, feeds, size, stop == 0);
      const Tensor told = at.told(held);
      for (int64_t i = 0; i < size && !stops[stop].held; ++i)
        change(begin + i, stop, told.select(0, i));
      feeds[at.value] = held;
    }
    const NamedValue* const at = read.empty() ? nullptr : &together.names.at(read);
    const Value wanted = at == nullptr ? graph.output : at->value;
    const Tensor result = run(graph.graph, feeds, {.outputs = {wanted}})[wanted];
    const Tensor told = at == nullptr ? result : at->told(result);
    for (int64_t i = 0; i < size; ++i) take(begin + i, told.select(0, i));
    made(size, share * static_cast<double>(size));
  }
}

std::vector<std::vector<double>> PatchedRun::answers(const std::vector<Stop>& stops,
                                                     int64_t samples, const Change& change,
                                                     const RunsMade& made) const {
  std::vector<std::vector<double>> answers(static_cast<size_t>(samples));
  go_on(
      stops, samples, change, "",
      [&](int64_t sample, const Tensor& row) { answers[sample] = row.to_doubles(); }, made);
  return answers;
}

}  // namespace whyformer
