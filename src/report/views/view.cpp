#include "report/views/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "report/views/text.h"

namespace whyformer::report {
namespace {

// Of each unit; nothing where nothing was estimated.
std::optional<double> error_of(const Attribution& attribution, size_t unit) {
  if (!attribution.estimate || attribution.estimate->errors.empty()) return {};
  const double error = attribution.estimate->errors[unit];
  if (std::isnan(error)) return {};
  return error;
}

void add_error(Item& item, const std::optional<double>& error) {
  if (error) item.error = item.error.value_or(0) + *error;
}

double largest(double so_far, double score) {
  return std::isfinite(score) ? std::max(so_far, std::abs(score)) : so_far;
}

}  // namespace

bool is_shown(const Unit& unit, SpecialTokens special) {
  return !unit.special || special == SpecialTokens::kShow;
}

std::vector<Item> items_of(const Explanation& explanation, const Attribution& attribution,
                           SpecialTokens special) {
  const std::vector<TextPiece> pieces = pieces_of(explanation);
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
