#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tests/support/near.h"
#include "tests/support/table_game.h"
#include "whyformer/error.h"
#include "whyformer/games.h"

namespace whyformer {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(GameValues, GapsAreBasePlusValuesLessFull) {
  EXPECT_THAT(additivity_gaps({.base = {1, 10}, .full = {6, 40}, .values = {2, 10, 3, 15}}),
              near({0, -5}, 0));
}

TEST(GameValues, AdditivityIsCheckedRelativeToTheFullValue) {
  EXPECT_NO_THROW(check_additivity({.base = {0}, .full = {1e6}, .values = {1e6 + 0.9}}));
  EXPECT_THROW(check_additivity({.base = {0}, .full = {1e6}, .values = {1e6 + 1.1}}), Error);
  EXPECT_NO_THROW(check_additivity({.base = {0}, .full = {0}, .values = {0.9e-6}}));
  EXPECT_THAT([] { check_additivity({.base = {0, 0}, .full = {1, 2}, .values = {1, 2.5}}); },
              ThrowsMessage<Error>(
                  HasSubstr("output 1: with the base they make 2.5 where the game gives 2")));
  constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(check_additivity({.base = {0}, .full = {0}, .values = {kNoNumber}}), Error);
}

TEST(GameValues, GamesThatBreakTheirWordAreFound) {
  TableGame game({.players = 3, .table_seed = 1});
  game.table()[5] = std::numeric_limits<double>::infinity();
  EXPECT_THAT([&] { exact_shap(game); }, ThrowsMessage<Error>(HasSubstr("not a finite number")));
  class Terse : public Game {
   public:
    int64_t players() const override { return 2; }
    std::vector<double> values(const std::vector<Coalition>&) override { return {1}; }
  } terse;
  EXPECT_THAT([&] { exact_shap(terse); },
              ThrowsMessage<Error>(HasSubstr("about 4 coalitions with 1 outputs")));
}

TEST(LinkedGame, IsTheLinkOfTheMeanOverTheBackgrounds) {
  TableGame game({.players = 4, .table_seed = 2, .backgrounds = 3});
  LinkedGame linked(game, GameLink::kLogit);
  for (int bits = 0; bits < 16; ++bits) {
    Coalition visible(4);
    for (int player = 0; player < 4; ++player) visible[player] = bits >> player & 1;
    double mean = 0;
    for (int64_t background = 0; background < 3; ++background)
      mean += game.values({visible}, {background})[0] / 3;
    EXPECT_NEAR(linked.values({visible})[0], std::log(mean / (1 - mean)), 1e-12);
  }
  const GameValues found = permutation_shap(linked, {.max_evals = 9 * 40});
  EXPECT_NEAR(additivity_gaps(found)[0], 0, 1e-12);
}

}  // namespace
}  // namespace whyformer
