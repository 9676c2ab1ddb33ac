#include "explain/text_subject.h"

#include <fmt/format.h>

#include <algorithm>

#include "whyformer/error.h"

namespace whyformer {
namespace {

// The input without its hidden tokens, and without what belongs to them.
template <class T>
std::vector<T> shown(const std::vector<T>& all, const std::vector<bool>& hidden) {
  std::vector<T> rest;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!hidden[i]) rest.push_back(all[i]);
  }
  return rest;
}

}  // namespace

TextSubject::TextSubject(const TextModel& model, Encoding encoding, RunKind kind)
    : model_(model), encoding_(std::move(encoding)), kind_(std::move(kind)) {}

TokenBatch TextSubject::repeated(int64_t count) const {
  TokenBatch batch;
  batch.ids.assign(count, encoding_.ids);
  batch.types.assign(count, encoding_.type_ids);
  return batch;
}

Run TextSubject::run_of(const TokenBatch& batch) const {
  const auto graph = model_.graph({.batch = static_cast<int64_t>(batch.ids.size()),
                                   .tokens = static_cast<int64_t>(batch.ids[0].size()),
                                   .masked = !batch.hidden.empty(),
                                   .head = kind_.head,
                                   .dtype = kind_.dtype});
  return {graph, model_.feeds(*graph, batch, kind_.reference)};
}

Run TextSubject::copies(int64_t count) const { return run_of(repeated(count)); }

Run TextSubject::hiding(const std::vector<std::vector<bool>>& hidden, const std::string& how) const {
  const std::string way = how == "auto" ? "mask" : how;
  if (way == "mask" && !model_.mask_id()) {
    throw InvalidInput("this tokenizer has no mask token: hide tokens by 'delete' or 'drop'");
  }
  TokenBatch batch = repeated(static_cast<int64_t>(hidden.size()));
  for (size_t i = 0; i < hidden.size(); ++i) {
    if (way == "delete") {
      batch.ids[i] = shown(encoding_.ids, hidden[i]);
      batch.types[i] = shown(encoding_.type_ids, hidden[i]);
    } else if (way == "mask") {
      for (size_t t = 0; t < hidden[i].size(); ++t) {
        if (hidden[i][t]) batch.ids[i][t] = *model_.mask_id();
      }
    } else if (way != "drop") {
      throw InvalidInput(fmt::format("a text's tokens are hidden by mask, delete or drop, not by '{}'", how));
    }
  }
  if (way == "drop") batch.hidden = hidden;
  return run_of(batch);
}

namespace {

// What belongs to ordinary tokens, spread over all; special ones get `other`.
template <class T>
std::vector<T> spread(const std::vector<bool>& special, const std::vector<T>& ordinary, T other) {
  std::vector<T> all;
  size_t next = 0;
  for (const bool is_special : special) all.push_back(is_special ? other : T(ordinary[next++]));
  return all;
}

}  // namespace

Subject::Cells TextSubject::cells() const {
  return {.width = std::count(special().begin(), special().end(), false)};
}

Run TextSubject::hiding_cells(const std::vector<std::vector<bool>>& hidden, const std::string& how) const {
  std::vector<std::vector<bool>> units;
  for (const std::vector<bool>& cells : hidden) units.push_back(spread(special(), cells, false));
  return hiding(units, how);
}

std::vector<double> TextSubject::unit_means(const std::vector<double>& cells) const {
  return spread(special(), cells, 0.0);
}

Value TextSubject::value_at(const ModelGraph& graph, Place place) const {
  if (place == Place::kInput) return static_cast<const TextGraph&>(graph).word_embeddings;
  return place == Place::kEmbeddingBlock ? graph.embeddings : graph.layers_input;
}

Tensor TextSubject::value_of(Place place, const std::vector<int64_t>& ids) const {
  TokenBatch batch = repeated(1);
  batch.ids[0] = ids;
  Run other = run_of(batch);
  const auto& graph = static_cast<const TextGraph&>(*other.graph);
  // Positions stay those of the explained input, also where the model numbers padding differently.
  if (const Value positions = graph.inputs.positions; positions.valid()) {
    const Feeds own = copies(1).feeds;
    other.feeds[positions] = own.contains(positions)
                                 ? own.at(positions)
                                 : run(graph.graph, own, {.outputs = {positions}})[positions];
  }
  const Value value = value_at(graph, place);
  return run(graph.graph, other.feeds, {.outputs = {value}})[value].select(0, 0).contiguous();
}

Tensor TextSubject::baseline(Place place, const std::string& name) const {
  if (name == "zero") {
    Tensor zeros = value_of(place, encoding_.ids).copy();
    zeros.fill(0);
    return zeros;
  }
  const std::string way = name == "auto" ? usual_baseline() : name;
  const std::optional<int64_t> id = way == "mask"  ? model_.mask_id()
                                    : way == "unk" ? model_.tokenizer().unk_id()
                                    : way == "pad" ? model_.pad_id()
                                                   : std::nullopt;
  if (!id) {
    throw InvalidInput(fmt::format(
        "integrated-gradients.baseline={}: the tokenizer has no such token; try zero, mask, unk or "
        "pad",
        way));
  }
  std::vector<int64_t> ids = encoding_.ids;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (!encoding_.special[i]) ids[i] = *id;
  }
  return value_of(place, ids);
}

}  // namespace whyformer
