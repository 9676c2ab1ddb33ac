#include "studies/heads/roles/arc_counts.h"

#include <algorithm>

#include "studies/concepts/statistics.h"

namespace whyformer {
namespace {

// The word that the row has most of, other than `self`; none where nothing is left of it.
int64_t strongest_other(const double* weights, int64_t words, int64_t step, int64_t self) {
  int64_t best = -1;
  for (int64_t word = 0; word < words; ++word) {
    const double weight = weights[word * step];
    if (word == self || !(weight > 0)) continue;
    if (best < 0 || weight > weights[best * step]) best = word;
  }
  return best;
}

}  // namespace

std::vector<std::vector<int64_t>> units_of_words(const std::vector<Unit>& units,
                                                 const DependencyTree& words) {
  std::vector<std::vector<int64_t>> of_word(words.size());
  for (size_t unit = 0; unit < units.size(); ++unit) {
    if (units[unit].special || units[unit].segment != 0) continue;
    int64_t owner = -1, most = 0;
    for (size_t word = 0; word < words.size(); ++word) {
      const int64_t shared = std::min(units[unit].end, words[word].end) -
                             std::max(units[unit].start, words[word].start);
      if (!words[word].is_written() || shared <= most) continue;
      owner = static_cast<int64_t>(word);
      most = shared;
    }
    if (owner >= 0) of_word[owner].push_back(static_cast<int64_t>(unit));
  }
  return of_word;
}

std::vector<double> word_attention(std::span<const double> map, int64_t keys,
                                   const std::vector<std::vector<int64_t>>& units_of_word) {
  const size_t words = units_of_word.size();
  std::vector<double> attention(words * words, 0);
  for (size_t from = 0; from < words; ++from) {
    for (size_t to = 0; to < words; ++to) {
      double sum = 0;
      for (const int64_t query : units_of_word[from]) {
        for (const int64_t key : units_of_word[to]) sum += map[query * keys + key];
      }
      if (!units_of_word[from].empty()) {
        attention[from * words + to] = sum / static_cast<double>(units_of_word[from].size());
      }
    }
  }
  return attention;
}

void ArcCounts::add(const std::vector<Unit>& units, const DependencyTree& words,
                    const HeadMaps& maps) {
  const auto of_word = units_of_words(units, words);
  const auto count = static_cast<int64_t>(words.size());
  std::vector<int64_t> dependents;
  for (int64_t word = 0; word < count; ++word) {
    if (words[word].head < 0) continue;
    if (of_word[word].empty() || of_word[words[word].head].empty()) {
      ++left_out_;
    } else {
      dependents.push_back(word);
    }
  }
  const auto counts_for = [&](int64_t word) {
    return std::array{&all_, &relations_[words[word].relation]};
  };
  for (const int64_t word : dependents) {
    for (Relation* relation : counts_for(word)) {
      ++relation->arcs;
      ++relation->offsets[words[word].head - word];
      for (auto* grid : {&relation->dependent_to_head, &relation->head_to_dependent}) {
        for (size_t layer = grid->size(); layer < maps.size(); ++layer) {
          grid->emplace_back(maps[layer].dim(0), 0);
        }
      }
    }
  }
  for (size_t layer = 0; layer < maps.size(); ++layer) {
    const int64_t queries = maps[layer].dim(1), keys = maps[layer].dim(2);
    for (int64_t head = 0; head < maps[layer].dim(0); ++head) {
      const std::span map(maps[layer].data<double>() + head * queries * keys,
                          static_cast<size_t>(queries * keys));
      const std::vector<double> attention = word_attention(map, keys, of_word);
      for (const int64_t word : dependents) {
        const int64_t to = strongest_other(attention.data() + word * count, count, 1, word);
        const int64_t from = strongest_other(attention.data() + word, count, count, word);
        for (Relation* relation : counts_for(word)) {
          relation->dependent_to_head[layer][head] += to == words[word].head;
          relation->head_to_dependent[layer][head] += from == words[word].head;
        }
      }
    }
  }
  ++sentences_;
}

RelationArcs ArcCounts::judged(const std::string& name, const Relation& relation) const {
  RelationArcs found{.relation = name,
                     .arcs = relation.arcs,
                     .dependent_to_head = relation.dependent_to_head,
                     .head_to_dependent = relation.head_to_dependent};
  for (const auto& [offset, hits] : relation.offsets) {
    if (hits <= found.offset_hits) continue;
    found.offset = offset;
    found.offset_hits = hits;
  }
  int64_t heads = 0;
  for (const ArcDirection direction :
       {ArcDirection::kDependentToHead, ArcDirection::kHeadToDependent}) {
    const auto& grid = direction == ArcDirection::kDependentToHead ? found.dependent_to_head
                                                                   : found.head_to_dependent;
    for (size_t layer = 0; layer < grid.size(); ++layer) {
      for (size_t head = 0; head < grid[layer].size(); ++head, ++heads) {
        if (grid[layer][head] <= found.best.hits) continue;
        found.best = {direction, static_cast<int>(layer), static_cast<int>(head),
                      grid[layer][head]};
      }
    }
  }
  const double baseline = static_cast<double>(found.offset_hits) /
                          static_cast<double>(std::max<int64_t>(1, found.arcs));
  found.p = std::min(
      1.0, static_cast<double>(heads) * binomial_tail(found.best.hits, found.arcs, baseline));
  found.holds = found.arcs >= request_.min_tokens && found.best.hits > found.offset_hits &&
                found.p <= request_.level;
  return found;
}

HeadSyntax ArcCounts::syntax() const {
  HeadSyntax syntax{.sentences = sentences_, .arcs = all_.arcs, .arcs_left_out = left_out_};
  if (all_.arcs == 0) return syntax;
  for (const auto& [name, relation] : relations_)
    syntax.relations.push_back(judged(name, relation));
  std::stable_sort(syntax.relations.begin(), syntax.relations.end(),
                   [](const RelationArcs& a, const RelationArcs& b) { return a.arcs > b.arcs; });
  syntax.relations.insert(syntax.relations.begin(), judged("all", all_));
  return syntax;
}

}  // namespace whyformer
