#include "graph/pass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/pulse.h"
#include "ops/arithmetic.h"
#include "ops/gathering.h"
#include "ops/ops.h"
#include "whyformer/interrupted.h"

namespace whyformer {
namespace {

using testing::ElementsAre;

Tensor row_of_numbers(const std::vector<float>& values) {
  return Tensor::of<float>({static_cast<int64_t>(values.size())}, std::span<const float>(values));
}

// The two largest numbers of x, doubled, and the places where they are, as numbers: a node with two
// outputs that are both read.
class NodeOfTwoOutputs : public testing::Test {
 protected:
  void SetUp() override {
    GraphBuilder builder;
    x_ = builder.input("x", {4}, DType::kFloat32);
    const std::vector<Value> best = top_k(builder, x_, 0, 2, true, "best");
    largest_ = best[0];
    places_ = best[1];
    doubled_ = add(builder, largest_, largest_, "doubled");
    as_numbers_ = cast(builder, places_, DType::kFloat32, false, "as numbers");
    graph_ = builder.finish();
    pass_ = run(graph_, {{x_, row_of_numbers({1, 5, 3, 4})}},
                {.keep = Keep::kEverything, .outputs = {doubled_, as_numbers_}});
  }

  Graph graph_;
  Value x_, largest_, places_, doubled_, as_numbers_;
  Pass pass_;
  const Tensor other_places_ = Tensor::of<int64_t>({2}, {0, 2});
};

TEST_F(NodeOfTwoOutputs, IsComputedAgainWhereOnlyItsFirstOutputIsReplaced) {
  const Pass changed = rerun(
      graph_, pass_, {{x_, row_of_numbers({9, 5, 8, 4})}, {largest_, row_of_numbers({10, 20})}});
  EXPECT_THAT(changed[doubled_].to_doubles(), ElementsAre(20, 40));
  EXPECT_THAT(changed[as_numbers_].to_doubles(), ElementsAre(0, 2));
}

TEST_F(NodeOfTwoOutputs, KeepsAReplacedSecondOutput) {
  const Pass changed =
      rerun(graph_, pass_,
            {{x_, row_of_numbers({9, 5, 8, 4})}, {places_, Tensor::of<int64_t>({2}, {3, 3})}});
  EXPECT_THAT(changed[doubled_].to_doubles(), ElementsAre(18, 16));
  EXPECT_THAT(changed[as_numbers_].to_doubles(), ElementsAre(3, 3));
}

TEST_F(NodeOfTwoOutputs, DoesNotRunWhereBothAreReplaced) {
  const Pass changed = rerun(graph_, pass_,
                             {{x_, row_of_numbers({9, 5, 8, 4})},
                              {largest_, row_of_numbers({1, 2})},
                              {places_, other_places_}});
  EXPECT_THAT(changed[doubled_].to_doubles(), ElementsAre(2, 4));
  EXPECT_THAT(changed[as_numbers_].to_doubles(), ElementsAre(0, 2));
}

TEST_F(NodeOfTwoOutputs, OneOutputThatIsFedStaysThoughTheOtherIsComputed) {
  for (const bool first : {true, false}) {
    Feeds feeds{{x_, row_of_numbers({9, 5, 8, 4})}};
    if (first)
      feeds[largest_] = row_of_numbers({10, 20});
    else
      feeds[places_] = Tensor::of<int64_t>({2}, {3, 3});
    const Pass pass = run(graph_, feeds, {.outputs = {doubled_, as_numbers_}});
    EXPECT_EQ(pass[doubled_].to_doubles(),
              first ? (std::vector<double>{20, 40}) : (std::vector<double>{18, 16}));
    EXPECT_EQ(pass[as_numbers_].to_doubles(),
              first ? (std::vector<double>{0, 2}) : (std::vector<double>{3, 3}));
  }
}

// A sum of a number with itself, so many times.
struct Chain {
  explicit Chain(int length) {
    GraphBuilder builder;
    x = builder.input("x", {1}, DType::kFloat32);
    Value now = x;
    for (int i = 0; i < length; ++i) now = values.emplace_back(add(builder, now, now, "step"));
    graph = builder.finish();
  }
  Graph graph;
  Value x;
  std::vector<Value> values;
};

TEST(Run, CanBeStoppedInFrontOfEveryNode) {
  const Chain chain(10);
  const Feeds feeds{{chain.x, row_of_numbers({1})}};
  for (int most = 0; most <= 10; ++most) {
    int asked = 0;
    const PulseScope scope([&] { return asked++ < most; }, std::chrono::milliseconds(0));
    const auto run_it = [&] { run(chain.graph, feeds, {.outputs = {chain.values.back()}}); };
    if (most < 10) {
      EXPECT_THROW(run_it(), Interrupted);
      EXPECT_EQ(asked, most + 1);
    } else {
      EXPECT_NO_THROW(run_it());
      EXPECT_EQ(asked, 10);
    }
  }
}

TEST(ReadInstead, PutsAValueBehindAnotherForAllThatReadsIt) {
  const Chain chain(3);
  GraphBuilder builder(chain.graph, Folding::kNo);
  const Value middle = chain.values[0];
  const Value squared = binary(builder, middle, middle, BinaryFunction::kMultiply, "squared");
  builder.read_instead(middle, squared);
  const Value again = add(builder, squared, middle, "again");
  builder.read_instead(squared, again);
  const Graph graph = builder.finish();
  for (size_t index = 0; index < graph.nodes().size(); ++index) {
    for (const Value input : graph.nodes()[index].inputs)
      EXPECT_LT(graph.producer(input), static_cast<int>(index));
    for (const Value output : graph.nodes()[index].outputs)
      EXPECT_EQ(graph.producer(output), static_cast<int>(index));
    for (const Value input : graph.nodes()[index].inputs)
      EXPECT_THAT(graph.users(input), testing::Contains(static_cast<int>(index)));
  }
  const Pass pass = run(graph, {{chain.x, row_of_numbers({3})}},
                        {.keep = Keep::kEverything, .outputs = {chain.values[2]}});
  EXPECT_THAT(pass[middle].to_doubles(), ElementsAre(6));
  EXPECT_THAT(pass[squared].to_doubles(), ElementsAre(36));
  EXPECT_THAT(pass[again].to_doubles(), ElementsAre(42));
  EXPECT_THAT(pass[chain.values[2]].to_doubles(), ElementsAre(4 * 42));
}

}  // namespace
}  // namespace whyformer
