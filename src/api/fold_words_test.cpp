#include "api/fold_words.h"

#include <gtest/gtest.h>

#include <cmath>

namespace whyformer {
namespace {

TEST(FoldedWords, KeepScoresThatCouldNotBeComputed) {
  const std::vector<Unit> pieces{{"a", 0, 1, false, 0, 0}, {"b", 1, 2, false, 0, 0}};
  for (const WordFold fold : {WordFold::kSum, WordFold::kMean, WordFold::kMax}) {
    for (const std::vector<double>& scores :
         {std::vector<double>{3, NAN}, std::vector<double>{NAN, 3}}) {
      const std::vector<WordScore> words = fold_words(pieces, scores, {"ab", {}}, fold);
      ASSERT_EQ(words.size(), 1u);
      EXPECT_EQ(words[0].text, "ab");
      EXPECT_TRUE(std::isnan(words[0].score)) << scores[0];
    }
  }
}

TEST(FoldedWords, HaveTheLargestOfTheirPieces) {
  const std::vector<Unit> pieces{
      {"a", 0, 1, false, 0, 0}, {"b", 1, 2, false, 0, 0}, {"c", 2, 3, false, 0, 0}};
  EXPECT_EQ(fold_words(pieces, {-3, -1, -2}, {"abc", {}}, WordFold::kMax)[0].score, -1);
}

}  // namespace
}  // namespace whyformer
