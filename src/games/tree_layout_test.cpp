#include "games/tree_layout.h"

#include <gmock/gmock.h>

#include "whyformer/error.h"

namespace whyformer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(TreeLayout, SetsThePlayersBelowANode) {
  const TreeLayout tree({{{3, 1}, {4, 0}, {5, 2}}}, 4);
  Coalition coalition(4, false);
  tree.set(5, true, coalition);
  EXPECT_THAT(coalition, ElementsAre(true, true, false, true));
  tree.set(4, false, coalition);
  EXPECT_THAT(coalition, ElementsAre(true, false, false, false));
  EXPECT_EQ(tree.size(5), 3);
  EXPECT_EQ(tree.root(), 6);
}

// 2 + 2 sum of 2^depth: 2 + 2 (M^2 - 1) / 3 for a balanced tree.
TEST(TreeLayout, CountsWhatOwenValuesNeed) {
  EXPECT_EQ(TreeLayout({{{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}, {10, 11}, {12, 13}}}, 8)
                .owen_evaluations(),
            44);
  PlayerTree chain;
  for (int64_t i = 0; i < 99; ++i) chain.merges.push_back({i == 0 ? 0 : 99 + i, i + 1});
  EXPECT_EQ(TreeLayout(chain, 100).owen_evaluations(), kEndless);
  EXPECT_EQ(TreeLayout({}, 1).owen_evaluations(), 2);
}

TEST(TreeLayout, RefusesWhatIsNoTree) {
  const auto layout = [](PlayerTree tree) { return [tree] { TreeLayout(tree, 3); }; };
  EXPECT_THAT(layout({{{0, 1}}}),
              ThrowsMessage<InvalidInput>(HasSubstr("3 players needs 2 merges but has 1")));
  EXPECT_THAT(layout({{{0, 1}, {0, 2}}}),
              ThrowsMessage<InvalidInput>(HasSubstr("node 0, which is joined already")));
  EXPECT_THAT(layout({{{0, 3}, {1, 2}}}),
              ThrowsMessage<InvalidInput>(HasSubstr("node 3, which is not there yet")));
  EXPECT_THAT(layout({{{0, -1}, {3, 2}}}), ThrowsMessage<InvalidInput>(HasSubstr("node -1")));
  EXPECT_THAT(layout({{{1, 1}, {3, 2}}}),
              ThrowsMessage<InvalidInput>(HasSubstr("node 1, which is joined already")));
}

}  // namespace
}  // namespace whyformer
