#include "studies/heads/roles/arc_counts.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace whyformer {
namespace {

// [CLS] un ##do it now [SEP] over the words "undo it now".
std::vector<Unit> units_of_sentence() {
  return {{.text = "[CLS]", .special = true},     {.text = "un", .start = 0, .end = 2},
          {.text = "##do", .start = 2, .end = 4}, {.text = "it", .start = 5, .end = 7},
          {.text = "now", .start = 8, .end = 11}, {.text = "[SEP]", .special = true}};
}

DependencyTree tree_of_sentence() {
  return {{0, 4, -1, "root"}, {5, 7, 0, "obj"}, {8, 11, 0, "advmod"}};
}

Tensor map_of_noise(int64_t heads, int64_t units, int64_t instance) {
  const CounterRandom random(1, "map of arcs", instance);
  Tensor map = Tensor::zeros({heads, units, units}, DType::kFloat64);
  for (int64_t i = 0; i < heads * units * units; ++i) {
    map.mutable_data<double>()[i] = random.uniform(i);
  }
  return map;
}

TEST(WordAttention, SumsOverPiecesOfTheKeyAndAveragesOverThoseOfTheQuery) {
  const auto of_word = units_of_words(units_of_sentence(), tree_of_sentence());
  EXPECT_EQ(of_word, (std::vector<std::vector<int64_t>>{{1, 2}, {3}, {4}}));
  const Tensor map = map_of_noise(1, 6, 0);
  const double* a = map.data<double>();
  const auto at = [&](int query, int key) { return a[query * 6 + key]; };
  const std::vector<double> words = word_attention({a, 36}, 6, of_word);
  // To a word that was split: the sum. From it: the mean.
  EXPECT_DOUBLE_EQ(words[1 * 3 + 0], at(3, 1) + at(3, 2));
  EXPECT_DOUBLE_EQ(words[0 * 3 + 1], (at(1, 3) + at(2, 3)) / 2);
  EXPECT_DOUBLE_EQ(words[0], (at(1, 1) + at(1, 2) + at(2, 1) + at(2, 2)) / 2);
  EXPECT_DOUBLE_EQ(words[2 * 3 + 1], at(4, 3));
}

TEST(WordAttention, OfRowsThatSumToOneOverWordsAloneSumsToOne) {
  const std::vector<std::vector<int64_t>> of_word{{0, 1}, {2}, {3, 4}};
  const std::vector<double> map(25, 0.2);
  const std::vector<double> words = word_attention(map, 5, of_word);
  for (int from = 0; from < 3; ++from) {
    EXPECT_NEAR(words[from * 3] + words[from * 3 + 1] + words[from * 3 + 2], 1, 1e-12);
  }
}

// Both directions, straight from the definition.
TEST(ArcCounts, EqualPlainLoopsOverWords) {
  const DependencyTree tree = tree_of_sentence();
  const auto of_word = units_of_words(units_of_sentence(), tree);
  ArcCounts counts({});
  int64_t to_head[2] = {0, 0}, to_dependent[2] = {0, 0};
  for (int64_t sentence = 0; sentence < 25; ++sentence) {
    const Tensor map = map_of_noise(2, 6, sentence);
    counts.add(units_of_sentence(), tree, {map});
    for (int head = 0; head < 2; ++head) {
      const std::vector<double> words =
          word_attention({map.data<double>() + head * 36, 36}, 6, of_word);
      for (const int dependent : {1, 2}) {
        const int other = 3 - dependent;
        to_head[head] += words[dependent * 3 + 0] > words[dependent * 3 + other];
        to_dependent[head] += words[0 * 3 + dependent] > words[other * 3 + dependent];
      }
    }
  }
  const HeadSyntax syntax = counts.syntax();
  EXPECT_EQ(syntax.sentences, 25);
  EXPECT_EQ(syntax.arcs, 50);
  EXPECT_EQ(syntax.relations[0].relation, "all");
  for (int head = 0; head < 2; ++head) {
    EXPECT_EQ(syntax.relations[0].dependent_to_head[0][head], to_head[head]);
    EXPECT_EQ(syntax.relations[0].head_to_dependent[0][head], to_dependent[head]);
  }
  EXPECT_EQ(syntax.relations[0].offset_hits, 25) << "-1 and -2 are as common";
}

// The head of a word is one or two words away, at random: no offset finds more than half.
TEST(ArcCounts, AHeadThatFollowsTheArcsIsFoundAndOneThatDoesNotIsNot) {
  ArcCounts counts({});
  for (int64_t sentence = 0; sentence < 60; ++sentence) {
    const CounterRandom random(5, "trees", sentence);
    std::vector<Unit> units;
    DependencyTree tree;
    Tensor map = Tensor::zeros({2, 6, 6}, DType::kFloat64);
    for (int64_t word = 0; word < 6; ++word) {
      units.push_back({.text = "w", .start = 2 * word, .end = 2 * word + 1});
      const int64_t head = word == 0                                 ? -1
                           : word == 1 || random.uniform(word) < 0.5 ? word - 1
                                                                     : word - 2;
      tree.push_back({2 * word, 2 * word + 1, head, "dep"});
      for (int64_t key = 0; key < 6; ++key) {
        map.mutable_data<double>()[word * 6 + key] = key == head ? 0.9 : 0.02;
        map.mutable_data<double>()[36 + word * 6 + key] = random.uniform(10 + word * 6 + key);
      }
    }
    counts.add(units, tree, {map});
  }
  const RelationArcs found = counts.syntax().relations[1];
  EXPECT_EQ(found.relation, "dep");
  EXPECT_TRUE(found.holds);
  EXPECT_EQ(found.best.head, 0);
  EXPECT_EQ(found.best.direction, ArcDirection::kDependentToHead);
  EXPECT_EQ(found.best.hits, found.arcs);
  EXPECT_LT(static_cast<double>(found.dependent_to_head[0][1]),
            0.4 * static_cast<double>(found.arcs));
}

TEST(ArcCounts, LeaveArcsOutWhoseWordsHaveNoTokensAndSayHowMany) {
  DependencyTree tree = tree_of_sentence();
  tree[1].end = tree[1].start;  // written together with another word
  ArcCounts counts({});
  counts.add(units_of_sentence(), tree, {map_of_noise(1, 6, 0)});
  EXPECT_EQ(counts.syntax().arcs, 1);
  EXPECT_EQ(counts.syntax().arcs_left_out, 1);
  EXPECT_FALSE(counts.syntax().relations[0].holds) << "one arc is too little data";
}

}  // namespace
}  // namespace whyformer
