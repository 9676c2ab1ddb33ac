#include "models/model_graph.h"

#include <fmt/format.h>

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

void finish_graph(const Graph& whole, ModelGraph& built, int64_t batch, KeptRows rows,
                  const std::vector<Value*>& inputs, const std::vector<Value*>& places) {
  built.found = discover(whole, built.output, batch);
  ReadOut& read_out = built.found.read_out;
  // Only where several rows are read, or it must be measured which (see Explained::read_out).
  const bool stays = read_out.kind == ReadOut::Kind::kChosen ||
                     read_out.kind == ReadOut::Kind::kShares ||
                     read_out.kind == ReadOut::Kind::kUnknown;
  if (!stays) read_out.read = {};
  if (rows == KeptRows::kAll) {
    built.graph = whole;
    return;
  }
  std::vector<Value> full{built.embeddings, built.layers_input};
  for (const Value* place : places) full.push_back(*place);
  for (const AttentionSite& site : built.found.sites) full.push_back(site.attention);
  if (read_out.read.valid()) full.push_back(read_out.read);
  Restricted restricted = restrict_rows(whole, built.output, full);
  std::vector<Value*> moved{&built.reference, &built.embeddings, &built.layers_input,
                            &built.output,    &read_out.weights, &read_out.read};
  moved.insert(moved.end(), inputs.begin(), inputs.end());
  moved.insert(moved.end(), places.begin(), places.end());
  for (AttentionSite& site : built.found.sites) moved.push_back(&site.attention);
  for (Value* value : moved) {
    if (value->valid()) *value = restricted.new_value[value->id];
  }
  built.graph = std::move(restricted.graph);
}

}  // namespace whyformer
