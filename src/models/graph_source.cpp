#include "models/graph_source.h"

#include <fmt/format.h>

#include "whyformer/error.h"

namespace whyformer {

std::shared_ptr<const ModelGraph> GraphSource::graph(const ShapeKey& asked) const {
  const ShapeKey key = served_by(asked);
  if (auto known = graphs_.find(key)) return known;
  return graphs_.add(key, made(key));
}

std::shared_ptr<const ModelGraph> GraphSource::made(const ShapeKey& key) const {
  if (key.edits.empty() && !key.randomisation) return build(key);
  ShapeKey own = key;
  own.edits.clear();
  if (key.edits.empty())
    own.randomisation.reset();
  else
    own.all_rows = true;
  auto other = std::make_shared<ModelGraph>(*graph(own));
  if (key.edits.empty()) {
    other->graph = random_weights_.in_place_of(*other, *key.randomisation);
  } else {
    *other = with_edits(*other, key.edits, names_in(*other, facts_.native));
  }
  other->key = key;
  return other;
}

Feeds GraphSource::feeds(const ModelGraph& graph, std::span<const Sample> samples,
                         const std::vector<double>& reference) const {
  Feeds feeds;
  feed(graph, samples, feeds);
  feed_reference(graph, reference, feeds);
  return feeds;
}

FedGraph GraphSource::fed(std::span<const Sample> samples, const RunKind& kind) const {
  ShapeKey key{.batch = static_cast<int64_t>(samples.size()),
               .head = kind.head,
               .dtype = kind.dtype,
               .all_rows = kind.all_rows,
               .randomisation = kind.randomisation};
  if (kind.edits) key.edits = kind.edits->shapes();
  key.answer_only = kind.answer_only && !kind.all_rows && !kind.edits && !kind.randomisation;
  for (const auto& [name, tensor] : samples[0]) key.shapes[name] = tensor.shape();
  FedGraph fed{graph(key), {}};
  fed.feeds = feeds(*fed.graph, samples, kind.reference);
  if (kind.edits) feed_edits(*fed.graph, *kind.edits, key.shapes, fed.feeds);
  return fed;
}

void GraphSource::feed(const ModelGraph& graph, std::span<const Sample> samples,
                       Feeds& feeds) const {
  for (const auto& [name, value] : graph.inputs) {
    if (!value.valid()) continue;
    const ValueType& type = graph.graph.type(value);
    const Tensor all = stacked(samples, name);
    if (all.shape() != type.shape) {
      throw InvalidInput(fmt::format("{} {} for a graph of {}", name, to_string(all.shape()),
                                     to_string(type.shape)));
    }
    feeds[value] = all.cast(type.dtype);
  }
}

void GraphSource::require_classifier(const ShapeKey& key) const {
  if (key.head != Head::kLogits || has_classifier()) return;
  throw InvalidInput(fmt::format("'{}' has no classifier: ask for its embedding", name()));
}

void GraphSource::name_dimensions(int64_t width) {
  for (int64_t i = 0; i < width; ++i) facts_.output_names.push_back(fmt::format("dimension {}", i));
}

Tensor stacked(std::span<const Sample> samples, std::string_view name) {
  const auto found = samples[0].find(name);
  if (found == samples[0].end()) throw Error(fmt::format("a sample has no tensor '{}'", name));
  Shape shape = found->second.shape();
  shape.insert(shape.begin(), static_cast<int64_t>(samples.size()));
  Tensor all = Tensor::empty(shape, found->second.dtype());
  for (size_t i = 0; i < samples.size(); ++i) {
    all.select(0, static_cast<int64_t>(i)).copy_from(samples[i].find(name)->second);
  }
  return all;
}

}  // namespace whyformer
