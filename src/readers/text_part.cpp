#include "readers/text_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "readers/token_segments.h"
#include "run/input.h"
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

std::string token_maps_problem(const Discovery& found, int64_t tokens) {
  if (found.sites.empty()) return kNoAttention;
  for (const AttentionSite& site : found.sites) {
    if (site.windows == 1 && found.covers_tokens(site, tokens)) continue;
    const std::string windows =
        site.windows > 1 ? fmt::format(" in each of {} windows", site.windows) : "";
    return fmt::format(
        "attention '{}' has {} queries and {} keys{}, which are not the {} tokens of the text, so "
        "its map does not go over them",
        site.name, site.queries, site.keys, windows, tokens);
  }
  return "";
}

TextPart::TextPart(TextReading reading, ReadText text, RunKind kind)
    : reading_(std::move(reading)),
      text_(std::move(text)),
      kind_(std::move(kind)),
      units_(units_of(text_.encoding)) {}

const PartTraits& TextPart::traits() const {
  static const auto traits_with = [](const std::string& hiding) {
    return PartTraits{.name = "text",
                      .side = "Text",
                      .input_name = "word-embeddings",
                      .hiding = hiding,
                      .baseline = "pad",
                      .words = {"mask", "delete", "retokenize", "pad", "unk", "zero"},
                      .removal = "delete",
                      .neighbours = LimeNeighbours::kWords};
  };
  static const PartTraits kMasking = traits_with("mask"), kDeleting = traits_with("delete");
  return reading_.tokenizer->mask_id() ? kMasking : kDeleting;
}

namespace {

void keep_first(Encoding& encoding, size_t count) {
  encoding.ids.resize(count);
  encoding.type_ids.resize(count);
  encoding.tokens.resize(count);
  encoding.offsets.resize(count);
  encoding.special.resize(count);
  encoding.segment.resize(count);
  encoding.word.resize(count);
}

}  // namespace

Encoding TextReading::encode(const TextInput& text) const {
  if (text.pair && !source->reads_pairs()) {
    throw InvalidInput(
        fmt::format("'{}' reads one text at a time: leave out the second", source->name()));
  }
  const auto pair = text.pair ? std::optional<std::string_view>(*text.pair) : std::nullopt;
  Encoding encoding = tokenizer->encode(text.text, pair, source->max_tokens());
  keep_first(encoding, static_cast<size_t>(source->tokens_read(encoding.ids)));
  const auto tokens = static_cast<int64_t>(encoding.ids.size());
  const int64_t fixed = source->fixed_tokens();
  const std::optional<int64_t> pad_id = source->pad_id();
  if (tokens >= fixed) return encoding;
  if (!pad_id) {
    throw InvalidInput(
        fmt::format("the file takes exactly {} tokens, the text has {}, and the tokenizer has no "
                    "padding to fill it up with: export the model for any number of tokens",
                    fixed, tokens));
  }
  if (tokens > 0 && encoding.ids.back() == *pad_id) {
    throw InvalidInput(
        fmt::format("the file takes exactly {} tokens, and its padding is the token that texts end "
                    "with ('{}'), so that one could not be told from the other: export the model "
                    "for any number of tokens",
                    fixed, tokenizer->token(*pad_id)));
  }
  encoding.ids.resize(fixed, *pad_id);
  encoding.type_ids.resize(fixed, 0);
  encoding.tokens.resize(fixed, tokenizer->token(*pad_id));
  encoding.offsets.resize(fixed);
  encoding.special.resize(fixed, true);
  encoding.segment.resize(fixed, encoding.segment.empty() ? 0 : encoding.segment.back());
  encoding.word.resize(fixed, -1);
  return encoding;
}

TokenBatch TextPart::repeated(int64_t count) const {
  TokenBatch batch;
  batch.ids.assign(count, text_.encoding.ids);
  batch.types.assign(count, text_.encoding.type_ids);
  return batch;
}

FedGraph TextPart::fed(const TokenBatch& batch) const {
  return reading_.source->fed(samples_of(batch), kind_);
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

Variant TextPart::of_text(const TextInput& text) const {
  const Encoding other = reading_.encode(text);
  return variant_of(other.ids, other.type_ids);
}

std::vector<std::string> TextPart::segments() const {
  return token_segments(text_.encoding, text_.input.text, text_.input.pair.value_or(""));
}

Variant TextPart::retokenized(const std::vector<bool>& hidden) const {
  if (text_.input.text.empty())
    throw InvalidInput("there is no text to tokenize again: only its tokens are known");
  const std::vector<std::string> pieces = segments();
  const std::string mask = reading_.tokenizer->mask_id()
                               ? reading_.tokenizer->token(*reading_.tokenizer->mask_id())
                               : "";
  TextInput other{masked_text(text_.encoding, pieces, 0, hidden, mask), {}};
  if (text_.input.pair) other.pair = masked_text(text_.encoding, pieces, 1, hidden, mask);
  return of_text(other);
}

Variant TextPart::hiding(const std::vector<bool>& hidden, const std::string& how,
                         std::optional<int64_t>) const {
  const std::string way = how == "auto" ? traits().hiding : how;
  if (way == "retokenize") return retokenized(hidden);
  if (way == "delete")
    return variant_of(shown(text_.encoding.ids, hidden), shown(text_.encoding.type_ids, hidden));
  if (way == "mask") {
    if (!reading_.tokenizer->mask_id()) {
      throw InvalidInput("this tokenizer has no mask token: hide tokens by 'delete' or 'drop'");
    }
    std::vector<int64_t> ids = text_.encoding.ids;
    for (size_t t = 0; t < hidden.size(); ++t) {
      if (hidden[t]) ids[t] = *reading_.tokenizer->mask_id();
    }
    return variant_of(ids, text_.encoding.type_ids);
  }
  if (way != "drop" && way != "zero") {
    throw InvalidInput(fmt::format(
        "a text's tokens are hidden by mask, delete, drop, zero or retokenize, not by '{}'", how));
  }
  Variant variant = variant_of(text_.encoding.ids, text_.encoding.type_ids);
  variant[0] = way == "drop" ? kWithHidden : kWithZeros;
  variant.insert(variant.end(), hidden.begin(), hidden.end());
  return variant;
}

std::optional<HiddenUnits> TextPart::masked_only(std::span<const Variant> inputs) const {
  const size_t tokens = text_.encoding.ids.size();
  // The embeddings of positions that padding counts depend on what the other positions hold.
  if (!reading_.tokenizer->mask_id() || reading_.tokenizer->mask_id() == reading_.source->pad_id())
    return std::nullopt;
  HiddenUnits hidden;
  for (const Variant& input : inputs) {
    if (input[0] != kPlain || input.size() != 2 * tokens + 1) return std::nullopt;
    std::vector<bool> masked(tokens, false);
    for (size_t t = 0; t < tokens; ++t) {
      masked[t] = input[1 + t] != text_.encoding.ids[t];
      if (masked[t] && input[1 + t] != *reading_.tokenizer->mask_id()) return std::nullopt;
      if (input[1 + tokens + t] != text_.encoding.type_ids[t]) return std::nullopt;
    }
    hidden.push_back(std::move(masked));
  }
  return hidden;
}

FedGraph TextPart::run_of(std::span<const Variant> inputs) const {
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
  FedGraph result = fed(batch);
  if (what == kWithZeros) zero_word_vectors(result, zeroed);
  if (const auto hidden = masked_only(inputs)) {
    masked_states_.feed(result, *hidden, [&](const HiddenUnits& states) {
      TokenBatch pair = repeated(static_cast<int64_t>(states.size()));
      for (size_t i = 0; i < states.size(); ++i) {
        for (int64_t t = 0; t < tokens; ++t) {
          if (states[i][t]) pair.ids[i][t] = *reading_.tokenizer->mask_id();
        }
      }
      return fed(pair);
    });
  }
  return result;
}

void TextPart::zero_word_vectors(FedGraph& zeroing,
                                 const std::vector<std::vector<bool>>& zeroed) const {
  const Value words = zeroing.graph->values_at(Depth::kInput)[0];
  Tensor vectors = run(zeroing.graph->graph, zeroing.feeds, {.outputs = {words}})[words].copy();
  for (size_t i = 0; i < zeroed.size(); ++i) {
    for (size_t t = 0; t < zeroed[i].size(); ++t) {
      if (zeroed[i][t])
        vectors.select(0, static_cast<int64_t>(i)).select(0, static_cast<int64_t>(t)).fill(0);
    }
  }
  zeroing.feeds[words] = vectors;
}

std::vector<int64_t> TextPart::players() const {
  std::vector<int64_t> all(units_.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<bool> TextPart::can_hide(const std::string&) const {
  std::vector<bool> can = text_.encoding.special;
  can.flip();
  // A separator that the user wrote stays too, or the model would read other parts.
  const std::optional<int64_t> separator = reading_.tokenizer->sep_id();
  for (size_t i = 0; i < can.size(); ++i) {
    if (separator && text_.encoding.ids[i] == *separator) can[i] = false;
  }
  return can;
}

PlayerTree TextPart::player_tree() const {
  std::vector<std::string> pieces = segments();
  const std::optional<int64_t> id = reading_.tokenizer->sep_id();
  const std::string separator = id ? reading_.tokenizer->token(*id) : "";
  // Between two texts the template's separators stand for themselves, so that the texts come
  // together last.
  if (text_.input.pair) {
    for (size_t i = 0; i + 1 < pieces.size(); ++i) {
      if (id && text_.encoding.ids[i] == *id) pieces[i] = separator;
    }
  }
  return token_tree(pieces, separator);
}

Tensor TextPart::value_of(Depth depth, const std::vector<int64_t>& ids) const {
  TokenBatch batch = repeated(1);
  batch.ids[0] = ids;
  FedGraph other = fed(batch);
  const ModelGraph& graph = *other.graph;
  // Positions stay those of the explained input, also where the model numbers padding differently.
  if (const Value positions = graph.input("position_ids"); positions.valid()) {
    const Feeds own = fed(repeated(1)).feeds;
    other.feeds[positions] = own.contains(positions)
                                 ? own.at(positions)
                                 : run(graph.graph, own, {.outputs = {positions}})[positions];
  }
  const Value value = graph.values_at(depth)[0];
  return run(graph.graph, other.feeds, {.outputs = {value}})[value].select(0, 0).contiguous();
}

Tensor TextPart::baseline(Depth depth, const std::string& name) const {
  if (name == "zero") {
    Tensor vectors = value_of(depth, text_.encoding.ids).copy();
    for (size_t i = 0; i < text_.encoding.special.size(); ++i) {
      if (!text_.encoding.special[i]) vectors.select(0, static_cast<int64_t>(i)).fill(0);
    }
    return vectors;
  }
  const std::optional<int64_t> id = name == "mask"  ? reading_.tokenizer->mask_id()
                                    : name == "unk" ? reading_.tokenizer->unk_id()
                                    : name == "pad" ? reading_.source->pad_id()
                                                    : std::nullopt;
  if (!id) {
    throw InvalidInput(fmt::format(
        "baseline={}: the tokenizer has no such token; try zero, mask, unk or pad", name));
  }
  std::vector<int64_t> ids = text_.encoding.ids;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (!text_.encoding.special[i]) ids[i] = *id;
  }
  return value_of(depth, ids);
}

std::vector<Unit> units_of(const Encoding& encoding) {
  std::vector<Unit> units;
  int64_t first_words = 0;
  for (size_t i = 0; i < encoding.ids.size(); ++i) {
    if (encoding.segment[i] == 0) first_words = std::max(first_words, encoding.word[i] + 1);
  }
  for (size_t i = 0; i < encoding.ids.size(); ++i) {
    Unit unit;
    unit.text = encoding.tokens[i];
    unit.start = encoding.offsets[i].start;
    unit.end = encoding.offsets[i].end;
    unit.special = encoding.special[i];
    unit.segment = encoding.segment[i];
    unit.word = encoding.word[i];
    if (unit.word >= 0 && unit.segment == 1) unit.word += first_words;
    units.push_back(std::move(unit));
  }
  return units;
}

}  // namespace whyformer
