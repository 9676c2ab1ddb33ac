#include "readers/text_subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "readers/token_segments.h"
#include "whyformer/error.h"
#include "whyformer/games.h"

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

std::string token_maps_problem(const Discovery& found, int64_t tokens) {
  if (found.sites.empty()) return kNoAttention;
  for (const AttentionSite& site : found.sites) {
    if (site.windows == 1 && found.covers_tokens(site, tokens)) continue;
    const std::string windows =
        site.windows > 1 ? fmt::format(" in each of {} windows", site.windows) : "";
    return fmt::format(
        "attention '{}' has {} queries and {} keys{}, which are not the {} tokens of the text, so "
        "its map does not "
        "go over them; methods by gradients, by relevance down to the input and by hiding tokens "
        "explain the model",
        site.name, site.queries, site.keys, windows, tokens);
  }
  return "";
}

TextSubject::TextSubject(const TextModel& model, Encoding encoding, RunKind kind, TextInput input)
    : model_(model),
      encoding_(std::move(encoding)),
      kind_(std::move(kind)),
      input_(std::move(input)) {}

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

std::string TextSubject::why_no_maps() const {
  if (!why_no_maps_) why_no_maps_ = token_maps_problem(copies(1).graph->found, units());
  return *why_no_maps_;
}

namespace {

// What a text variant's first number says.
constexpr int64_t kPlain = 0;
constexpr int64_t kWithHidden = 1;  // tokens that attention does not see
constexpr int64_t kWithZeros = 2;   // tokens whose word vectors are 0

Variant variant_of(const std::vector<int64_t>& ids, const std::vector<int64_t>& types) {
  Variant variant{kPlain};
  variant.insert(variant.end(), ids.begin(), ids.end());
  variant.insert(variant.end(), types.begin(), types.end());
  return variant;
}

}  // namespace

Variant TextSubject::of_text(const TextInput& text) const {
  const auto pair = text.pair ? std::optional<std::string_view>(*text.pair) : std::nullopt;
  const Encoding other = model_.encode(text.text, pair);
  return variant_of(other.ids, other.type_ids);
}

std::vector<std::string> TextSubject::segments() const {
  return token_segments(encoding_, input_.text, input_.pair.value_or(""));
}

Variant TextSubject::retokenized(const std::vector<bool>& hidden) const {
  if (input_.text.empty())
    throw InvalidInput("there is no text to tokenize again: only its tokens are known");
  const std::vector<std::string> pieces = segments();
  const std::string mask = model_.mask_id() ? model_.tokenizer().token(*model_.mask_id()) : "";
  TextInput other{masked_text(encoding_, pieces, 0, hidden, mask), {}};
  if (input_.pair) other.pair = masked_text(encoding_, pieces, 1, hidden, mask);
  return of_text(other);
}

Variant TextSubject::hiding(const std::vector<bool>& hidden, const std::string& how) const {
  const std::string way = how == "auto" ? (model_.mask_id() ? "mask" : "delete") : how;
  if (way == "retokenize") return retokenized(hidden);
  if (way == "delete")
    return variant_of(shown(encoding_.ids, hidden), shown(encoding_.type_ids, hidden));
  if (way == "mask") {
    if (!model_.mask_id()) {
      throw InvalidInput("this tokenizer has no mask token: hide tokens by 'delete' or 'drop'");
    }
    std::vector<int64_t> ids = encoding_.ids;
    for (size_t t = 0; t < hidden.size(); ++t) {
      if (hidden[t]) ids[t] = *model_.mask_id();
    }
    return variant_of(ids, encoding_.type_ids);
  }
  if (way != "drop" && way != "zero") {
    throw InvalidInput(fmt::format(
        "a text's tokens are hidden by mask, delete, drop, zero or retokenize, not by '{}'", how));
  }
  Variant variant = variant_of(encoding_.ids, encoding_.type_ids);
  variant[0] = way == "drop" ? kWithHidden : kWithZeros;
  variant.insert(variant.end(), hidden.begin(), hidden.end());
  return variant;
}

std::optional<HiddenUnits> TextSubject::masked_only(std::span<const Variant> inputs) const {
  const size_t tokens = encoding_.ids.size();
  // The embeddings of positions that padding counts depend on what the other positions hold.
  if (!model_.mask_id() || model_.mask_id() == model_.pad_id()) return std::nullopt;
  HiddenUnits hidden;
  for (const Variant& input : inputs) {
    if (input[0] != kPlain || input.size() != 2 * tokens + 1) return std::nullopt;
    std::vector<bool> masked(tokens, false);
    for (size_t t = 0; t < tokens; ++t) {
      masked[t] = input[1 + t] != encoding_.ids[t];
      if (masked[t] && input[1 + t] != *model_.mask_id()) return std::nullopt;
      if (input[1 + tokens + t] != encoding_.type_ids[t]) return std::nullopt;
    }
    hidden.push_back(std::move(masked));
  }
  return hidden;
}

Run TextSubject::run_of(std::span<const Variant> inputs) const {
  const int64_t what = inputs[0][0];
  const auto tokens = static_cast<int64_t>(inputs[0].size() - 1) / (what == kPlain ? 2 : 3);
  TokenBatch batch;
  std::vector<std::vector<bool>> zeroed;
  for (const Variant& input : inputs) {
    const auto ids = input.begin() + 1, types = ids + tokens, marked = types + tokens;
    batch.ids.emplace_back(ids, types);
    batch.types.emplace_back(types, marked);
    if (what == kWithHidden) batch.hidden.emplace_back(marked, input.end());
    if (what == kWithZeros) zeroed.emplace_back(marked, input.end());
  }
  Run result = run_of(batch);
  if (what == kWithZeros) zero_word_vectors(result, zeroed);
  if (const auto hidden = masked_only(inputs)) {
    masked_states_.feed(result, *hidden, [&](const HiddenUnits& states) {
      TokenBatch pair = repeated(static_cast<int64_t>(states.size()));
      for (size_t i = 0; i < states.size(); ++i) {
        for (int64_t t = 0; t < tokens; ++t) {
          if (states[i][t]) pair.ids[i][t] = *model_.mask_id();
        }
      }
      return run_of(pair);
    });
  }
  return result;
}

void TextSubject::zero_word_vectors(Run& zeroing,
                                    const std::vector<std::vector<bool>>& zeroed) const {
  const Value words = value_at(*zeroing.graph, Place::kInput);
  Tensor vectors = run(zeroing.graph->graph, zeroing.feeds, {.outputs = {words}})[words].copy();
  for (size_t i = 0; i < zeroed.size(); ++i) {
    for (size_t t = 0; t < zeroed[i].size(); ++t) {
      if (zeroed[i][t])
        vectors.select(0, static_cast<int64_t>(i)).select(0, static_cast<int64_t>(t)).fill(0);
    }
  }
  zeroing.feeds[words] = vectors;
}

std::vector<int64_t> TextSubject::players() const {
  std::vector<int64_t> all(units());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<bool> TextSubject::can_hide(const std::string&) const {
  std::vector<bool> can = encoding_.special;
  can.flip();
  // A separator that the user wrote stays too, or the model would read other parts.
  const std::optional<int64_t> separator = model_.tokenizer().sep_id();
  for (size_t i = 0; i < can.size(); ++i) {
    if (separator && encoding_.ids[i] == *separator) can[i] = false;
  }
  return can;
}

PlayerTree TextSubject::player_tree() const {
  std::vector<std::string> pieces = segments();
  const std::optional<int64_t> id = model_.tokenizer().sep_id();
  const std::string separator = id ? model_.tokenizer().token(*id) : "";
  // Between two texts the template's separators stand for themselves, so that the texts come
  // together last.
  if (input_.pair) {
    for (size_t i = 0; i + 1 < pieces.size(); ++i) {
      if (id && encoding_.ids[i] == *id) pieces[i] = separator;
    }
  }
  return token_tree(pieces, separator);
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
    Tensor vectors = value_of(place, encoding_.ids).copy();
    for (size_t i = 0; i < encoding_.special.size(); ++i) {
      if (!encoding_.special[i]) vectors.select(0, static_cast<int64_t>(i)).fill(0);
    }
    return vectors;
  }
  const std::string way = baseline_taken(name);
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
