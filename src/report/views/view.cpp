#include "report/views/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "report/views/text.h"
#include "whyformer/error.h"

namespace whyformer::report {
namespace {

constexpr const char* kNoText = "·";  // a token whose text an earlier token already showed
constexpr int64_t kLongestRest = 40;  // code points of uncovered text at the end

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// Blanks at the start of a token belong to the gap, so that the colour starts with the word.
void move_leading_blanks(Piece& piece) {
  const auto first = std::find_if_not(piece.text.begin(), piece.text.end(), is_blank);
  if (first == piece.text.end()) {
    piece.gap += piece.text;
    piece.text = piece.text.find('\n') != std::string::npos ? "↵" : "␣";
    return;
  }
  piece.gap.append(piece.text.begin(), first);
  piece.text.erase(piece.text.begin(), first);
}

std::string uncovered_rest(const CodePoints& text, int64_t from) {
  std::string rest = text.slice(from, text.size());
  if (std::all_of(rest.begin(), rest.end(), is_blank)) return "";
  return text.size() - from <= kLongestRest ? rest : text.slice(from, from + kLongestRest) + " …";
}

struct SegmentCursor {
  CodePoints text;
  int64_t position = 0;
  Piece* last = nullptr;
};

Piece text_piece(const Unit& unit, SegmentCursor& cursor) {
  Piece piece{.special = unit.special, .segment = unit.segment};
  if (unit.end <= std::max(unit.start, cursor.position)) {
    piece.text = kNoText;
    return piece;
  }
  const int64_t start = std::max(unit.start, cursor.position);
  piece.gap = cursor.text.slice(cursor.position, start);
  piece.text = cursor.text.slice(start, unit.end);
  cursor.position = unit.end;
  if (piece.text.empty()) {
    piece.text = kNoText;
  } else {
    move_leading_blanks(piece);
  }
  return piece;
}

constexpr int64_t kLargestSide = 1 << 14;  // pixels; what is beyond is no picture of a model

void check_picture(const Explanation& explanation) {
  const PictureView& picture = *explanation.picture;
  const auto within = [](int64_t side) { return side > 0 && side <= kLargestSide; };
  if (!picture.rgb || !within(picture.width) || !within(picture.height)) {
    throw InvalidInput(fmt::format("report of a picture: {} x {} pixels cannot be drawn",
                                   picture.width, picture.height));
  }
  const auto units = static_cast<int64_t>(explanation.units.size());
  if (!within(picture.rows) || !within(picture.columns) || picture.first_patch < 0 ||
      picture.first_patch > units - picture.rows * picture.columns) {
    throw InvalidInput(
        fmt::format("report of a picture: {} x {} patches from unit {} on do not fit {} units",
                    picture.rows, picture.columns, picture.first_patch, units));
  }
  for (const Attribution& attribution : explanation.attributions) {
    const auto pixels = static_cast<int64_t>(attribution.pixels.size());
    if (pixels == 0 || pixels == picture.width * picture.height) continue;
    throw InvalidInput(fmt::format("report of method '{}': it scores {} pixels of {} x {}",
                                   attribution.method, pixels, picture.width, picture.height));
  }
}

std::vector<Piece> patch_pieces(const Explanation& explanation) {
  std::vector<Piece> pieces;
  for (const Unit& unit : explanation.units) {
    pieces.push_back({.text = valid_utf8(unit.text), .special = unit.special});
  }
  return pieces;
}

void check_estimate(const Explanation& explanation, const Attribution& attribution) {
  if (!attribution.estimate) return;
  const size_t units = explanation.units.size();
  const auto expect = [&](const char* what, size_t count, size_t expected) {
    if (count == 0 || count == expected) return;
    throw InvalidInput(fmt::format("report of method '{}': it has {} {} for {} units",
                                   attribution.method, count, what, units));
  };
  expect("standard errors", attribution.estimate->errors.size(), units);
  expect("interactions", attribution.estimate->interactions.size(), units * units);
}

// Of each unit; nothing where the method has none.
std::optional<double> error_of(const Attribution& attribution, size_t unit) {
  if (!attribution.estimate || attribution.estimate->errors.empty()) return {};
  const double error = attribution.estimate->errors[unit];
  return std::isfinite(error) ? error : HUGE_VAL;
}

void add_error(Item& item, const std::optional<double>& error) {
  if (error) item.error = item.error.value_or(0) + *error;
}

double largest(double so_far, double score) {
  return std::isfinite(score) ? std::max(so_far, std::abs(score)) : so_far;
}

}  // namespace

void check(const Explanation& explanation) {
  if (explanation.picture) check_picture(explanation);
  for (const Attribution& attribution : explanation.attributions) {
    check_estimate(explanation, attribution);
    if (attribution.scores.size() == explanation.units.size()) continue;
    throw InvalidInput(
        fmt::format("report of method '{}': it has {} scores but the {} has {} units",
                    attribution.method, attribution.scores.size(),
                    explanation.picture ? "picture" : "text", explanation.units.size()));
  }
  for (const AttentionMap& map : explanation.attention) {
    if (map.values && map.heads > 0 && map.queries > 0 && map.keys > 0) continue;
    throw InvalidInput(fmt::format("report of attention map '{}': it is empty ({} heads, {} x {})",
                                   map.name, map.heads, map.queries, map.keys));
  }
}

std::vector<Piece> pieces_of(const Explanation& explanation) {
  if (explanation.picture) return patch_pieces(explanation);
  std::array<SegmentCursor, 2> cursors{
      {{CodePoints(explanation.text)}, {CodePoints(explanation.pair.value_or(""))}}};
  std::vector<Piece> pieces;
  pieces.reserve(explanation.units.size());  // `last` points into it
  for (const Unit& unit : explanation.units) {
    SegmentCursor& cursor = cursors[unit.segment == 1 ? 1 : 0];
    if (unit.special) {
      pieces.push_back({.text = valid_utf8(unit.text), .special = true, .segment = unit.segment});
    } else {
      cursor.last = &pieces.emplace_back(text_piece(unit, cursor));
    }
  }
  for (const SegmentCursor& cursor : cursors) {
    if (cursor.last != nullptr) cursor.last->after = uncovered_rest(cursor.text, cursor.position);
  }
  return pieces;
}

bool is_shown(const Unit& unit, SpecialTokens special) {
  return !unit.special || special == SpecialTokens::kShow;
}

std::vector<Item> items_of(const Explanation& explanation, const Attribution& attribution,
                           SpecialTokens special) {
  const std::vector<Piece> pieces = pieces_of(explanation);
  const auto word_count = static_cast<int64_t>(attribution.words.size());
  std::vector<Item> items;
  std::vector<size_t> word_items;  // where each word is among the items
  int64_t words_taken = 0;
  const auto take_words_until = [&](int64_t end, int64_t unit) {
    for (; words_taken < std::min(end, word_count); ++words_taken) {
      const WordScore& word = attribution.words[static_cast<size_t>(words_taken)];
      word_items.push_back(items.size());
      items.push_back({valid_utf8(word.text),
                       word.score,
                       false,
                       word.segment,
                       words_taken == end - 1 ? unit : -1,
                       {}});
    }
  };
  for (size_t i = 0; i < explanation.units.size(); ++i) {
    const Unit& unit = explanation.units[i];
    const auto index = static_cast<int64_t>(i);
    if (word_count > 0 && !unit.special) {
      take_words_until(unit.word + 1, index);
    } else if (is_shown(unit, special)) {
      items.push_back({pieces[i].text, attribution.scores[i], unit.special, unit.segment, index,
                       error_of(attribution, i)});
    }
    if (word_count > 0 && !unit.special && unit.word >= 0 && unit.word < word_count) {
      add_error(items[word_items[static_cast<size_t>(unit.word)]], error_of(attribution, i));
    }
  }
  take_words_until(word_count, -1);
  return items;
}

Scale scale_of(const Explanation& explanation, const Attribution& attribution,
               SpecialTokens special) {
  const bool all = special != SpecialTokens::kExclude;
  Scale scale;
  for (size_t i = 0; i < explanation.units.size(); ++i) {
    if (all || !explanation.units[i].special) {
      scale.pieces = largest(scale.pieces, attribution.scores[i]);
    }
  }
  const SpecialTokens counted = all ? SpecialTokens::kShow : SpecialTokens::kExclude;
  for (const Item& item : items_of(explanation, attribution, counted)) {
    scale.items = largest(scale.items, item.score);
  }
  return scale;
}

AlignedItems aligned_items(const Explanation& explanation, SpecialTokens special) {
  const std::vector<Attribution>& methods = explanation.attributions;
  const bool same_words =
      std::all_of(methods.begin(), methods.end(), [&](const Attribution& method) {
        return method.words.size() == methods.front().words.size();
      });
  AlignedItems aligned;
  for (Attribution method : methods) {
    if (!same_words) method.words.clear();
    aligned.items.push_back(items_of(explanation, method, special));
    aligned.scales.push_back(scale_of(explanation, method, special).items);
  }
  return aligned;
}

std::vector<Item> mean_strengths(const AlignedItems& aligned) {
  if (aligned.items.empty()) return {};
  std::vector<Item> means = aligned.items.front();
  for (Item& item : means) item.score = 0;
  for (size_t method = 0; method < aligned.items.size(); ++method) {
    for (size_t i = 0; i < means.size(); ++i) {
      means[i].score += std::abs(strength(aligned.items[method][i].score, aligned.scales[method])) /
                        static_cast<double>(aligned.items.size());
    }
  }
  return means;
}

double strength(double score, double scale) {
  if (!std::isfinite(score) || scale <= 0) return 0;
  return std::clamp(score / scale, -1.0, 1.0);
}

ScoreKind kind_of(const Attribution& attribution) {
  return attribution.is_signed ? ScoreKind::kSigned : ScoreKind::kMagnitude;
}

std::vector<size_t> strongest(const std::vector<Item>& items, size_t limit) {
  std::vector<size_t> order(items.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto weight = [&](size_t i) {
    return std::isfinite(items[i].score) ? std::abs(items[i].score) : -1.0;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return weight(a) > weight(b); });
  order.resize(std::min(limit, order.size()));
  return order;
}

std::string hidden_tokens_sentence(const Explanation& explanation, SpecialTokens special) {
  const auto count = std::count_if(explanation.units.begin(), explanation.units.end(),
                                   [](const Unit& unit) { return unit.special; });
  if (special == SpecialTokens::kShow || count == 0) return "";
  const char* tokens = count == 1 ? "special token is" : "special tokens are";
  return special == SpecialTokens::kHide
             ? fmt::format("{} {} hidden but counted in the scale.", count, tokens)
             : fmt::format("{} {} hidden and left out of the scale.", count, tokens);
}

}  // namespace whyformer::report
