#include "ops/gathering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "discovery/restrict_rows.h"
#include "graph/pass.h"
#include "graph/walk_back.h"
#include "ops/ops.h"
#include "tests/support/check_op.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using Inputs = std::vector<Value>;
using testing::ElementsAre;

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

Tensor integers(Shape shape, std::vector<int64_t> values) {
  return Tensor::of<int64_t>(std::move(shape), std::span<const int64_t>(values));
}

// The value of operators on constants, which the builder computes at once.
class Folded {
 public:
  Value constant(Tensor tensor) { return builder_.constant(std::move(tensor), "constant"); }
  GraphBuilder& graph() { return builder_; }
  std::vector<double> operator()(Value value) const { return builder_.known(value)->to_doubles(); }
  Shape shape(Value value) const { return builder_.known(value)->shape(); }

 private:
  GraphBuilder builder_{Folding::kYes};
};

Value count_up(Folded& folded, Shape shape) {
  std::vector<int64_t> values(element_count(shape));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(i);
  return folded.constant(integers(std::move(shape), std::move(values)));
}

TEST(Gather, AddsUpTheGradientsOfEveryPick) {
  for (const int axis : {0, 1, 2}) {
    check_op({.build =
                  [axis](auto& g, const Inputs& x, DType) {
                    const Value picks = g.constant(integers({2, 2}, {1, -1, 0, 1}), "picks");
                    return gather(g, x[0], picks, axis, "g");
                  },
              .inputs = {{2, 3, 4}}});
  }
}

TEST(Gather, PutsTheAxesOfTheIndicesInPlaceOfTheAxis) {
  Folded folded;
  const Value x = count_up(folded, {2, 3});
  const Value picks = folded.constant(integers({1, 2}, {2, 0}));
  EXPECT_EQ(folded.shape(gather(folded.graph(), x, picks, 1, "g")), (Shape{2, 1, 2}));
  EXPECT_THAT(folded(gather(folded.graph(), x, picks, 1, "g")), ElementsAre(2, 0, 5, 3));
  const Value none = folded.constant(integers({0}, {}));
  EXPECT_EQ(folded.shape(gather(folded.graph(), x, none, 0, "g")), (Shape{0, 3}));
}

TEST(Gather, RefusesIndicesOutsideTheAxis) {
  for (const int64_t bad : {int64_t{3}, int64_t{-4}, kHuge, -kHuge - 1}) {
    Folded folded;
    const Value x = count_up(folded, {2, 3});
    const Value pick = folded.constant(integers({}, {bad}));
    EXPECT_THROW(gather(folded.graph(), x, pick, 1, "g"), InvalidInput);
  }
}

TEST(Gather, FollowsTheAxesOfBothInputs) {
  GraphBuilder builder;
  const Value x = builder.input("x", {5, 6, 7}, DType::kFloat32);
  const Value picks = builder.input("picks", {2, 3}, DType::kInt64);
  gather(builder, x, picks, 1, "g");
  const Graph graph = builder.finish();
  const std::vector<ValueType> types{graph.type(x), graph.type(picks)};
  const Op& op = *graph.nodes()[0].op;
  EXPECT_THAT(op.follow(0, types)->sources, ElementsAre(0, -1));
  EXPECT_THAT(op.follow(1, types)->sources, ElementsAre(-1, 0));
  EXPECT_THAT(op.follow(2, types)->sources, ElementsAre(-1, 1));
  EXPECT_THAT(op.follow(3, types)->sources, ElementsAre(2, -1));
}

TEST(GatherElements, EqualsTheDefinitionAndItsGradient) {
  Folded folded;
  const Value x = count_up(folded, {3, 3});
  const Value picks = folded.constant(integers({2, 2}, {1, 2, -3, 0}));
  // x[picks[i][j]][j] and x[i][picks[i][j]]
  EXPECT_THAT(folded(gather_elements(folded.graph(), x, picks, 0, "g")), ElementsAre(3, 7, 0, 1));
  EXPECT_THAT(folded(gather_elements(folded.graph(), x, picks, 1, "g")), ElementsAre(1, 2, 3, 3));
  for (const int axis : {0, 1}) {
    check_op({.build =
                  [axis](auto& g, const Inputs& v, DType) {
                    const Value at =
                        g.constant(integers({2, 2, 2}, {1, 1, 0, 1, -1, 0, 1, 1}), "i");
                    return gather_elements(g, v[0], at, axis, "g");
                  },
              .inputs = {{2, 3, 2}}});
  }
}

TEST(GatherNd, EqualsTheDefinitionAndItsGradient) {
  Folded folded;
  const Value x = count_up(folded, {2, 2, 2});
  const Value points = folded.constant(integers({2, 2}, {0, 1, -1, 0}));
  EXPECT_THAT(folded(gather_nd(folded.graph(), x, points, 0, "g")), ElementsAre(2, 3, 4, 5));
  const Value rows = folded.constant(integers({2, 1}, {1, 0}));
  EXPECT_THAT(folded(gather_nd(folded.graph(), x, rows, 1, "g")), ElementsAre(2, 3, 4, 5));
  for (const int batch : {0, 1}) {
    check_op({.build =
                  [batch](auto& g, const Inputs& v, DType) {
                    const Value at = g.constant(integers({2, 3, 1}, {1, 1, 0, 1, -1, 0}), "i");
                    return gather_nd(g, v[0], at, batch, "g");
                  },
              .inputs = {{2, 2, 3}}});
  }
}

TEST(Scatter, ReplacesAndTakesTheGradientOfItsPlaces) {
  Folded folded;
  const Value x = count_up(folded, {3, 2});
  const Value updates = folded.constant(integers({2, 2}, {10, 11, 20, 21}));
  const Value rows = folded.constant(integers({2, 1}, {2, -3}));
  EXPECT_THAT(folded(scatter_nd(folded.graph(), x, rows, updates, "s")),
              ElementsAre(20, 21, 2, 3, 10, 11));
  const Value places = folded.constant(integers({2, 2}, {1, 0, 2, -1}));
  EXPECT_THAT(folded(scatter_elements(folded.graph(), x, places, updates, 0, "s")),
              ElementsAre(0, 11, 10, 3, 20, 21));
  // Two updates for one place: the last counts, in the gradient too.
  check_op({.build =
                [](auto& g, const Inputs& v, DType) {
                  return scatter_nd(g, v[0], g.constant(integers({3, 1}, {1, 0, 1}), "i"), v[1],
                                    "s");
                },
            .inputs = {{4, 2}, {3, 2}}});
  check_op({.build =
                [](auto& g, const Inputs& v, DType) {
                  const Value at = g.constant(integers({2, 2}, {1, 1, 2, -1}), "i");
                  return scatter_elements(g, v[0], at, v[1], 1, "s");
                },
            .inputs = {{2, 3}, {2, 2}}});
}

TEST(ScatterSum, AddsUpWhatFallsOnOnePlace) {
  Folded folded;
  const Value updates = folded.constant(integers({3}, {1, 10, 100}));
  const Value places = folded.constant(integers({3, 1}, {2, 0, 2}));
  EXPECT_THAT(folded(scatter_nd_sum(folded.graph(), places, updates, {4}, "s")),
              ElementsAre(10, 0, 101, 0));
  check_op({.build =
                [](auto& g, const Inputs& v, DType) {
                  const Value at = g.constant(integers({2, 2}, {1, 1, 2, -1}), "i");
                  return scatter_elements_sum(g, at, v[0], 1, {2, 3}, "s");
                },
            .inputs = {{2, 2}}});
}

TEST(Scatter, NamesShapesThatDoNotFit) {
  GraphBuilder graph;
  const Value x = graph.input("x", {4, 2}, DType::kFloat32);
  const Value indices = graph.input("indices", {3, 1}, DType::kInt64);
  const Value updates = graph.input("updates", {3, 3}, DType::kFloat32);
  try {
    scatter_nd(graph, x, indices, updates, "s");
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_STREQ(error.what(),
                 "ScatterND 's': indices [3, 1] and updates [3, 3] do not fit [4, 2]");
  }
}

TEST(Expand, RepeatsBothWaysAndAddsGradientsUp) {
  check_op(
      {.build = [](auto& g, const Inputs& x, DType) { return expand(g, x[0], {2, 3, 4}, "e"); },
       .inputs = {{3, 1}}});
  check_op({.build = [](auto& g, const Inputs& x, DType) { return expand(g, x[0], {5}, "e"); },
            .inputs = {{2, 3, 1}}});
}

TEST(Tile, RepeatsWholeAxes) {
  Folded folded;
  EXPECT_THAT(folded(tile(folded.graph(), count_up(folded, {2, 2}), {2, 2}, "t")),
              ElementsAre(0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 0, 1, 2, 3, 2, 3));
  EXPECT_EQ(folded.shape(tile(folded.graph(), count_up(folded, {2, 2}), {0, 2}, "t")),
            (Shape{0, 4}));
  EXPECT_EQ(folded.shape(tile(folded.graph(), count_up(folded, {0, 2}), {3, 2}, "t")),
            (Shape{0, 4}));
  check_op({.build = [](auto& g, const Inputs& x, DType) { return tile(g, x[0], {1, 2, 3}, "t"); },
            .inputs = {{2, 3, 2}}});
}

TEST(Pad, ContinuesAnAxisInEveryMode) {
  const auto padded = [](PadMode mode) {
    Folded folded;
    return folded(pad(folded.graph(), count_up(folded, {3}), {4}, {3}, mode, 9, "p"));
  };
  EXPECT_THAT(padded(PadMode::kConstant), ElementsAre(9, 9, 9, 9, 0, 1, 2, 9, 9, 9));
  EXPECT_THAT(padded(PadMode::kEdge), ElementsAre(0, 0, 0, 0, 0, 1, 2, 2, 2, 2));
  EXPECT_THAT(padded(PadMode::kReflect), ElementsAre(0, 1, 2, 1, 0, 1, 2, 1, 0, 1));
  EXPECT_THAT(padded(PadMode::kWrap), ElementsAre(2, 0, 1, 2, 0, 1, 2, 0, 1, 2));
  for (const PadMode mode :
       {PadMode::kConstant, PadMode::kEdge, PadMode::kReflect, PadMode::kWrap}) {
    check_op(
        {.build = [mode](auto& g, const Inputs& x,
                         DType) { return pad(g, x[0], {0, 2, -1}, {0, 1, 2}, mode, 0.5, "p"); },
         .inputs = {{2, 3, 4}}});
  }
}

TEST(StridedSlice, TakesEveryStepInBothDirections) {
  Folded folded;
  const Value x = count_up(folded, {7});
  EXPECT_THAT(folded(strided_slice(folded.graph(), x, 0, 1, 2, 3, "s")), ElementsAre(1, 3, 5));
  EXPECT_THAT(folded(strided_slice(folded.graph(), x, 0, 6, -3, 3, "s")), ElementsAre(6, 3, 0));
  EXPECT_THROW(strided_slice(folded.graph(), x, 0, 6, -3, 4, "s"), InvalidInput);
  EXPECT_THROW(strided_slice(folded.graph(), x, 0, 1, kHuge, 2, "s"), InvalidInput);
  EXPECT_THROW(strided_slice(folded.graph(), x, 0, 1, -kHuge - 1, 2, "s"), InvalidInput);
  check_op({.build = [](auto& g, const Inputs& v,
                        DType) { return strided_slice(g, v[0], 1, 4, -2, 3, "s"); },
            .inputs = {{2, 5, 3}}});
}

TEST(Triangle, KeepsOneSideOfTheDiagonal) {
  Folded folded;
  const Value x = folded.constant(integers({2, 3}, {1, 2, 3, 4, 5, 6}));
  EXPECT_THAT(folded(triangle(folded.graph(), x, true, 1, "t")), ElementsAre(0, 2, 3, 0, 0, 6));
  EXPECT_THAT(folded(triangle(folded.graph(), x, false, -1, "t")), ElementsAre(0, 0, 0, 4, 0, 0));
  EXPECT_THAT(folded(triangle(folded.graph(), x, false, kHuge, "t")),
              ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(folded(triangle(folded.graph(), x, true, kHuge, "t")), ElementsAre(0, 0, 0, 0, 0, 0));
  for (const bool upper : {false, true}) {
    check_op({.build = [upper](auto& g, const Inputs& v,
                               DType) { return triangle(g, v[0], upper, -1, "t"); },
              .inputs = {{2, 3, 4}}});
  }
}

TEST(TopK, OrdersAnAxisAndSaysWhereItsElementsStood) {
  Folded folded;
  const Value x = folded.constant(integers({2, 3}, {1, 5, 5, 7, 0, 3}));
  const std::vector<Value> largest = top_k(folded.graph(), x, 1, 2, true, "k");
  EXPECT_THAT(folded(largest[0]), ElementsAre(5, 5, 7, 3));
  EXPECT_THAT(folded(largest[1]), ElementsAre(1, 2, 0, 2));
  const std::vector<Value> least = top_k(folded.graph(), x, 0, 1, false, "k");
  EXPECT_THAT(folded(least[0]), ElementsAre(1, 0, 3));
  EXPECT_THAT(folded(least[1]), ElementsAre(0, 1, 1));
  for (const int axis : {0, 1, 2}) {
    check_op({.build = [axis](auto& g, const Inputs& v,
                              DType) { return top_k(g, v[0], axis, 2, true, "k")[0]; },
              .inputs = {{3, 2, 4}}});
  }
}

TEST(OneHot, PutsTheNewAxisWhereItIsAsked) {
  Folded folded;
  const Value x = folded.constant(integers({2}, {-1, 5}));
  EXPECT_THAT(folded(one_hot(folded.graph(), x, 1, 3, -1, 2, DType::kFloat32, "h")),
              ElementsAre(-1, -1, 2, -1, -1, -1));
  EXPECT_THAT(folded(one_hot(folded.graph(), x, 0, 3, 0, 1, DType::kInt64, "h")),
              ElementsAre(0, 0, 0, 0, 1, 0));
}

TEST(Gathering, RefusesAbsurdSizesBeforeAllocating) {
  GraphBuilder graph(Folding::kYes);
  const Value x = graph.constant(Tensor::zeros({1, 2}), "x");
  const int64_t many = int64_t{1} << 32;
  EXPECT_THROW(expand(graph, x, {many, many, 1, 2}, "e"), InvalidInput);
  EXPECT_THROW(expand(graph, x, {-1, 2}, "e"), InvalidInput);
  EXPECT_THROW(tile(graph, x, {kHuge, kHuge}, "t"), InvalidInput);
  EXPECT_THROW(tile(graph, x, {many, 3}, "t"), InvalidInput);
  EXPECT_THROW(tile(graph, x, {-1, 3}, "t"), InvalidInput);
  EXPECT_THROW(pad(graph, x, {kHuge, 0}, {kHuge, 0}, PadMode::kConstant, 0, "p"), InvalidInput);
  EXPECT_THROW(pad(graph, x, {0, -2}, {0, -1}, PadMode::kConstant, 0, "p"), InvalidInput);
  const Value index = graph.constant(integers({1}, {0}), "index");
  EXPECT_THROW(one_hot(graph, index, 0, kHuge, 0, 1, DType::kFloat32, "h"), InvalidInput);
}

// One row of an operator's output, computed from one row of its inputs where it says it can be, is
// that row of the whole.
TEST(Gathering, RowsAloneEqualRowsOfTheWhole) {
  const auto picks = [](GraphBuilder& g, Shape shape) {
    std::vector<int64_t> values(element_count(shape));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(i % 2);
    return g.constant(integers(std::move(shape), std::move(values)), "picks");
  };
  const std::vector<std::function<Value(GraphBuilder&, Value)>> operators{
      [&](auto& g, Value x) { return gather(g, x, picks(g, {3}), 0, "o"); },
      [&](auto& g, Value x) { return gather(g, x, picks(g, {3}), 2, "o"); },
      [&](auto& g, Value x) { return gather_elements(g, x, picks(g, {3, 4, 5}), 0, "o"); },
      [&](auto& g, Value x) { return gather_nd(g, x, picks(g, {3, 4, 1}), 1, "o"); },
      [&](auto& g, Value x) {
        const Value updates = g.constant(Tensor::zeros({1, 4, 5}), "updates");
        return scatter_nd(g, x, picks(g, {1, 1}), updates, "o");
      },
      [&](auto& g, Value x) { return scatter_nd_sum(g, picks(g, {3, 1}), x, {2, 4, 5}, "o"); },
      [](auto& g, Value x) { return expand(g, x, {2, 3, 4, 5}, "o"); },
      [](auto& g, Value x) { return tile(g, x, {1, 1, 2}, "o"); },
      [](auto& g, Value x) { return pad(g, x, {1, 0, 0}, {0, 0, 2}, PadMode::kEdge, 0, "o"); },
      [](auto& g, Value x) { return strided_slice(g, x, 0, 2, -1, 3, "o"); },
      [](auto& g, Value x) { return triangle(g, x, true, 0, "o"); },
      [](auto& g, Value x) { return top_k(g, x, 2, 2, true, "o")[0]; },
      [](auto& g, Value x) {
        const Value places = top_k(g, x, 2, 2, true, "o")[1];
        return one_hot(g, places, 3, 5, 0, 1, DType::kFloat32, "hot");
      },
  };
  for (const auto& build : operators) {
    GraphBuilder builder;
    const Value x = builder.input("x", {3, 4, 5}, DType::kFloat32);
    const Value moved = build(builder, activation(builder, x, ActivationFunction::kTanh, "tanh"));
    std::vector<Value> rows;
    for (int axis = 0; axis < static_cast<int>(builder.shape(moved).size()); ++axis) {
      rows.push_back(slice(builder, moved, axis, 1, 1, "row"));
    }
    const Graph graph = builder.finish();
    const Tensor input = random_tensor({3, 4, 5}, DType::kFloat32, 5);
    for (const Value row : rows) {
      const Restricted alone = restrict_rows(graph, row, {});
      const Value row_alone = alone.new_value[row.id];
      EXPECT_EQ(
          run(alone.graph, {{alone.new_value[x.id], input}}, {.outputs = {row_alone}})[row_alone]
              .to_doubles(),
          run(graph, {{x, input}}, {.outputs = {row}})[row].to_doubles())
          << graph.nodes()[graph.producer(moved)].op->kind() << " " << row.id - rows[0].id;
    }
  }
}

TEST(Concat, JoinsManyPartsAlongAnAxis) {
  check_op({.build = [](auto& g, const Inputs& x,
                        DType) { return concat(g, {x[0], x[1], x[2]}, 1, "c"); },
            .inputs = {{2, 1, 4}, {2, 3, 4}, {2, 2, 4}}});
}

TEST(Reshape, WithNamedSourcesTellsAxesOfLengthOneApart) {
  GraphBuilder builder;
  const Value x = builder.input("x", {1, 1, 6}, DType::kFloat32);
  reshape(builder, x, {1, 6}, {1, 2}, "squeeze");
  reshape(builder, x, {1, 1, 1, 6}, {0, -1, 1, 2}, "unsqueeze");
  const Graph graph = builder.finish();
  const std::vector<ValueType> types{graph.type(x)};
  EXPECT_EQ(graph.nodes()[0].op->follow(0, types)->sources[0], 1);
  EXPECT_FALSE(graph.nodes()[1].op->follow(1, types).has_value());
  EXPECT_EQ(graph.nodes()[1].op->follow(2, types)->sources[0], 1);
}

}  // namespace
}  // namespace whyformer
