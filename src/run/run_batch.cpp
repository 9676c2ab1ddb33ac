#include "run/run_batch.h"

#include <algorithm>
#include <chrono>

#include "run/run.h"

namespace whyformer {
namespace {

// Whether a graph for several inputs has the values of the graph for one, and one input's part of
// each.
bool are_alike(const ModelGraph& several, const ModelGraph& one, std::vector<Value> read) {
  const Graph &all = several.graph, &own = one.graph;
  if (all.value_count() != own.value_count() || several.output != one.output) return false;
  read.push_back(one.output);
  return std::ranges::all_of(read, [&](Value value) {
    Shape shape = own.shape(value);
    if (shape.empty() || shape[0] != 1) return false;
    shape[0] = several.key.batch;
    return all.shape(value) == shape;
  });
}

}  // namespace

std::vector<Value> values_needed(const ModelGraph& graph, const Needs& needs) {
  std::vector<Value> values;
  if (needs.attention || needs.attention_gradient) {
    for (const AttentionSite& site : graph.found.sites) values.push_back(site.attention);
  }
  if (needs.embedding_gradient) {
    for (const Value value : graph.entrances()) values.push_back(value);
  }
  return values;
}

int64_t RunBatch::most_together(const Input& input, const Needs& needs, int64_t memory_bytes) {
  if (needs.values) return 1;
  const auto own = input.copies(1).graph;
  for (const Value value : values_needed(*own, needs)) {  // whole numbers have no gradient
    if (!value.valid() || own->graph.type(value).dtype == DType::kInt64) return 1;
  }
  if (own->graph.shape(own->output).size() != 2) return 1;
  // More gain nothing: their values leave the caches, and each keeps its own from the pass.
  constexpr int64_t kMostTogether = 256;
  return std::min({most_inputs_at_once(*own, tokens_in(*own, input.units()), memory_bytes),
                   input.max_at_once(), kMostTogether});
}

std::shared_ptr<RunBatch> RunBatch::of_first(std::span<const Input* const> inputs,
                                             const Needs& needs) {
  const Input& first = *inputs[0];
  std::vector<Sample> samples;
  for (const Input* input : inputs) {
    if (&input->source() != &first.source() || input->sample_shapes() != first.sample_shapes())
      break;
    samples.push_back(input->sample());
  }
  if (samples.size() < 2) return nullptr;
  const auto own = first.copies(1).graph;
  std::vector<Value> read = values_needed(*own, needs);
  FedGraph fed = first.source().fed(samples, first.kind());
  if (!are_alike(*fed.graph, *own, read)) return nullptr;
  return std::shared_ptr<RunBatch>(new RunBatch(std::move(fed), std::move(read), needs));
}

RunBatch::RunBatch(FedGraph fed, std::vector<Value> read, const Needs& needs)
    : graph_(std::move(fed.graph)),
      read_(std::move(read)),
      walks_back_(walks_back(needs)),
      targets_(static_cast<size_t>(graph_->key.batch), 0) {
  const auto start = std::chrono::steady_clock::now();
  RunOptions options{.keep = walks_back_ ? Keep::kGradients : Keep::kOutputs, .outputs = read_};
  options.outputs.push_back(graph_->output);
  pass_ = run(graph_->graph, fed.feeds, options);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  seconds_ = taken.count() / static_cast<double>(size());
}

Pass RunBatch::pass_of(int64_t number) const {
  Pass own;
  own.values.resize(pass_.values.size());
  own.kept.resize(pass_.kept.size());
  const auto take = [&](Value value) {
    own.values[value.id] = pass_.values[value.id].slice(0, number, 1);
  };
  for (const Value value : read_) take(value);
  take(graph_->output);
  return own;
}

std::optional<Tensor> RunBatch::gradient(int64_t number, Value value) {
  if (!walks_back_ || std::ranges::find(read_, value) == read_.end()) return std::nullopt;
  if (walk_ == nullptr) {
    const Graph& graph = graph_->graph;
    Tensor seed = Tensor::zeros(graph.shape(graph_->output), graph.type(graph_->output).dtype);
    for (int64_t i = 0; i < size(); ++i) seed.slice(0, i, 1).slice(1, targets_[i], 1).fill(1);
    walked_targets_ = targets_;
    walk_ =
        std::make_unique<BackwardWalk>(graph, pass_, graph_->output, seed, gradient_rule(), read_);
  }
  if (walked_targets_[number] != targets_[number]) return std::nullopt;
  return walk_->at(value).slice(0, number, 1);
}

Run::Run(Input input, Settings settings, std::shared_ptr<RunBatch> batch, int64_t number)
    : input_(std::move(input)),
      settings_(std::move(settings)),
      graph_(input_.copies(1).graph),
      batch_(std::move(batch)),
      number_(number) {
  pass_ = std::make_unique<const Pass>(batch_->pass_of(number));
  outputs_ = (*pass_)[graph_->output].to_doubles();
  spent_.forwards = 1;
  run_seconds_ = shared_seconds_ = batch_->seconds();
}

// Another target than the batch walked back from, say: this input runs by itself.
void Run::leave_batch() {
  batch_.reset();
  run_shared(input_.copies(1).feeds);
  spent_.forwards += 1;
}

std::optional<Tensor> Run::gradient_of_batch(Value value) {
  // Not while something else enters.
  if (batch_ == nullptr || own_pass_ != nullptr) return std::nullopt;
  std::optional<Tensor> gradient = batch_->gradient(number_, value);
  if (!gradient) leave_batch();
  return gradient;
}

}  // namespace whyformer
