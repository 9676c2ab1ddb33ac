#include <gmock/gmock.h>

#include <limits>

#include "games/near.h"
#include "games/table_game.h"
#include "whyformer/error.h"
#include "whyformer/games.h"

namespace whyformer {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(GameValues, GapsAreBasePlusValuesLessFull) {
  EXPECT_THAT(additivity_gaps({.base = {1, 10}, .full = {6, 40}, .values = {2, 10, 3, 15}}), near({0, -5}, 0));
}

TEST(GameValues, AdditivityIsCheckedRelativeToTheFullValue) {
  EXPECT_NO_THROW(check_additivity({.base = {0}, .full = {1e6}, .values = {1e6 + 0.9}}));
  EXPECT_THROW(check_additivity({.base = {0}, .full = {1e6}, .values = {1e6 + 1.1}}), Error);
  EXPECT_NO_THROW(check_additivity({.base = {0}, .full = {0}, .values = {0.9e-6}}));
  EXPECT_THAT([] { check_additivity({.base = {0, 0}, .full = {1, 2}, .values = {1, 2.5}}); },
              ThrowsMessage<Error>(HasSubstr("output 1: with the base they make 2.5 where the game gives 2")));
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
  EXPECT_THAT([&] { exact_shap(terse); }, ThrowsMessage<Error>(HasSubstr("about 4 coalitions with 1 outputs")));
}

}  // namespace
}  // namespace whyformer
