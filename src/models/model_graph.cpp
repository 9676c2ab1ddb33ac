#include "models/model_graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "discovery/restrict_rows.h"
#include "ops/ops.h"
#include "whyformer/error.h"

namespace whyformer {

Value add_similarity(GraphBuilder& graph, Value vector, ModelGraph& built) {
  const int64_t batch = graph.shape(vector)[0], width = graph.shape(vector)[1];
  built.reference =
      graph.input("reference", {batch, width, 1}, graph.type(vector).dtype, InputRole::kGiven);
  const Value unit = l2_normalise(graph, vector, "similarity/normalise");
  const Value row = reshape(graph, unit, {batch, 1, width}, "similarity/row");
  return reshape(graph, matmul(graph, row, built.reference, "similarity"), {batch, 1},
                 "similarity");
}

void feed_reference(const ModelGraph& graph, const std::vector<double>& reference, Feeds& feeds) {
  if (!graph.reference.valid()) return;
  const ValueType& type = graph.graph.type(graph.reference);
  const int64_t width = type.shape[1];
  if (static_cast<int64_t>(reference.size()) != width) {
    throw InvalidInput(
        fmt::format("a reference of {} numbers for embeddings of {}", reference.size(), width));
  }
  feeds[graph.reference] = Tensor::of<double>({1, width, 1}, std::span<const double>(reference))
                               .cast(type.dtype)
                               .expand(type.shape)
                               .contiguous();
}

namespace {

// Without those sites; streams know theirs by number.
void leave_out(const std::vector<Value>& maps, Discovery& found) {
  std::vector<int> number(found.sites.size(), -1);
  std::vector<AttentionSite> kept;
  for (size_t i = 0; i < found.sites.size(); ++i) {
    if (std::find(maps.begin(), maps.end(), found.sites[i].attention) != maps.end()) continue;
    number[i] = static_cast<int>(kept.size());
    kept.push_back(found.sites[i]);
  }
  found.sites = std::move(kept);
  for (Stream& stream : found.streams) {
    for (int& site : stream.sites) site = number[site];
    std::erase(stream.sites, -1);
  }
}

}  // namespace

void finish_graph(const Graph& whole, ModelGraph& built, int64_t batch) {
  built.found = discover(whole, built.output, batch);
  leave_out(built.row_maps, built.found);
  ReadOut& read_out = built.found.read_out;
  const bool told = built.read_token && !built.found.sites.empty();
  if (told && !(read_out.kind == ReadOut::Kind::kRow && read_out.row == *built.read_token))
    read_out = {.kind = ReadOut::Kind::kRow, .stream = 0, .row = *built.read_token};
  keep_what_is_read(whole, built);
}

void keep_what_is_read(const Graph& whole, ModelGraph& built) {
  ReadOut& read_out = built.found.read_out;
  // Only where several rows are read, or it must be measured which (see Run::read_out).
  const bool stays = read_out.kind == ReadOut::Kind::kChosen ||
                     read_out.kind == ReadOut::Kind::kShares ||
                     read_out.kind == ReadOut::Kind::kUnknown;
  built.read = read_out.read;
  if (!stays) read_out.read = {};
  if (built.key.all_rows) {
    built.graph = whole;
    return;
  }
  std::vector<Value*> kept{&built.embeddings, &built.layers_input, &built.patches};
  for (Entry& entry : built.entries) kept.push_back(&entry.value);
  for (Value& value : built.beside) kept.push_back(&value);
  for (Value& value : built.row_maps) kept.push_back(&value);
  for (AttentionSite& site : built.found.sites) kept.push_back(&site.attention);
  kept.push_back(&read_out.read);
  std::vector<Value> full;
  for (const Value* value : kept) {
    if (value->valid()) full.push_back(*value);
  }
  built.read = {};
  Restricted restricted = restrict_rows(whole, built.output, full);
  std::vector<Value*> moved{&built.reference, &built.output, &read_out.weights};
  moved.insert(moved.end(), kept.begin(), kept.end());
  for (auto& [name, value] : built.inputs) moved.push_back(&value);
  for (Value* value : moved) {
    if (value->valid()) *value = restricted.new_value[value->id];
  }
  built.graph = std::move(restricted.graph);
}

Shape ShapeKey::shape(std::string_view name) const {
  const auto found = shapes.find(name);
  return found == shapes.end() ? Shape() : found->second;
}

Value ModelGraph::input(std::string_view name) const {
  const auto found = inputs.find(name);
  return found == inputs.end() ? Value() : found->second;
}

std::vector<Value> ModelGraph::values_at(Depth depth) const {
  std::vector<Value> values;
  if (depth == Depth::kInput) {
    for (const Entry& entry : entries) values.push_back(entry.value);
    return values;
  }
  if (stream_inputs) return depth == Depth::kFirstLayer ? *stream_inputs : values;
  values = beside;
  values.push_back(depth == Depth::kEmbeddingBlock ? embeddings : layers_input);
  return values;
}

NamedValues names_in(const ModelGraph& graph, const NativeNames& native) {
  if (graph.names) return *graph.names;
  // An element of arrays has no embeddings of its own.
  const bool has_embeddings = graph.embeddings != graph.output;
  NamingFacts facts{.words = {},
                    .embeddings = has_embeddings ? graph.embeddings : Value(),
                    .read = graph.read,
                    .output = graph.output,
                    .batch = graph.key.batch,
                    .native = native};
  for (const auto& [name, value] : graph.inputs) {
    if (value.valid()) facts.inputs.emplace_back(name, value);
  }
  // Word vectors are made inside the graph; pixels and columns are its inputs.
  const bool made = graph.entries.size() == 1 && graph.graph.producer(graph.entries[0].value) >= 0;
  if (made) facts.words = graph.entries[0].value;
  const char* const names[]{"logits", "outputs.embedding", "outputs.similarity"};
  facts.outputs.emplace_back(names[static_cast<int>(graph.key.head)], graph.output);
  return {graph.graph, graph.found, facts};
}

int64_t tokens_in(const ModelGraph& graph, int64_t otherwise) {
  const Shape& shape = graph.graph.shape(graph.embeddings);
  return std::max<int64_t>(1, shape.size() == 3 ? shape[1] : otherwise);
}

int64_t most_inputs_at_once(const ModelGraph& graph, int64_t tokens, int64_t memory_bytes) {
  // Generous guess of what one token keeps alive: hidden states of all layers and attention rows.
  const auto& sites = graph.found.sites;
  const int64_t width = graph.graph.shape(graph.embeddings).back();
  const int64_t heads = sites.empty() ? 1 : sites[0].heads;
  const int64_t per_token =
      4 * (static_cast<int64_t>(sites.size()) + 1) * (20 * width + 3 * heads * tokens);
  const int64_t fitting = memory_bytes / std::max<int64_t>(1, per_token * tokens);
  // Past a thousand rows products gain nothing, and progress should show.
  return std::clamp<int64_t>(fitting, 1, std::max<int64_t>(1, 1024 / tokens));
}

}  // namespace whyformer
