#include "readers/column_tokens.h"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>

#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_model.h"
#include "whyformer/tables.h"

namespace whyformer {
namespace {

using onnx::add_floats;
using onnx::add_integers;
using onnx::add_node;
using onnx::set_integer;
using onnx::set_integers;
using onnx::TinyModel;
using testing::ElementsAre;
using testing::HasSubstr;

// Token t is the sum of its columns' numbers.
RunChanged sums_of(const std::vector<std::vector<int64_t>>& columns_of) {
  return [columns_of](const std::vector<bool>& changed) {
    std::vector<double> tokens;
    for (const auto& columns : columns_of) {
      tokens.push_back(1);
      for (const int64_t column : columns) tokens.back() += changed[column] ? 1 << column : 0;
    }
    return Tensor::of<double>({1, static_cast<int64_t>(tokens.size()), 1},
                              std::span<const double>(tokens));
  };
}

TEST(ColumnTokens, AreFoundByTheBitsOfTheirNumbers) {
  EXPECT_THAT(columns_of_tokens(5, sums_of({{}, {4}, {0}, {3}, {1}, {2}})),
              ElementsAre(kNoColumn, 4, 0, 3, 1, 2));
  EXPECT_THAT(columns_of_tokens(1, sums_of({{0}, {}})), ElementsAre(0, kNoColumn));
  EXPECT_THAT(columns_of_tokens(3, sums_of({{0, 1}, {2}})), ElementsAre(kSeveralColumns, 2));
}

// Tokens of three columns of x, the last first, attend to each other: y is the mean of the tokens.
TinyModel attending_in_another_order() {
  TinyModel model;
  model.input("x", {-1, 3});
  add_integers(model.graph(), "behind", {1}, {2});
  add_node(model.graph(), "Unsqueeze", {"x", "behind"}, {"numbers"});
  add_floats(model.graph(), "scales", {3, 2}, {1, 0.5, -1, 2, 0.3, 1});
  add_node(model.graph(), "Mul", {"numbers", "scales"}, {"vectors"});
  add_integers(model.graph(), "order", {3}, {2, 0, 1});
  set_integer(add_node(model.graph(), "Gather", {"vectors", "order"}, {"tokens"}), "axis", 1);
  add_floats(model.graph(), "q", {2, 2}, {1, 0.2, -0.4, 1});
  add_node(model.graph(), "MatMul", {"tokens", "q"}, {"queries"});
  set_integers(add_node(model.graph(), "Transpose", {"tokens"}, {"keys"}), "perm", {0, 2, 1});
  add_node(model.graph(), "MatMul", {"queries", "keys"}, {"products"});
  set_integer(add_node(model.graph(), "Softmax", {"products"}, {"map"}), "axis", -1);
  add_node(model.graph(), "MatMul", {"map", "tokens"}, {"mixed"});
  add_integers(model.graph(), "rows", {1}, {1});
  set_integer(add_node(model.graph(), "ReduceMean", {"mixed", "rows"}, {"y"}), "keepdims", 0);
  model.output("y");
  return model;
}

Explanation explained(const TinyModel& model, const RowInput& row,
                      std::vector<MethodRequest> methods) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "model.onnx";
  save(path, model.text());
  ExplainRequest request;
  request.methods = std::move(methods);
  request.target = int64_t{0};
  return explain(Model::load(path), row, request)[0];
}

TEST(ColumnTokens, ColumnsInAnotherOrderThanTheTokensAreNamedAndDrawnWhereTheirTokensAre) {
  const RowInput row{{"a", "b", "c"}, {0.4, -1.5, 2}};
  const Explanation found =
      explained(attending_in_another_order(), row,
                {{"leave-one-out", {{"how", std::string("zero")}}}, {"raw-attention", {}}});
  ASSERT_EQ(found.attention.size(), 1u);
  ASSERT_EQ(found.units.size(), 3u);
  EXPECT_EQ(found.text, "c = 2, a = 0.4, b = -1.5");
  for (const Unit& unit : found.units)
    EXPECT_EQ(found.text.substr(unit.start, unit.end - unit.start), unit.text);
  // By hand: what y[0] loses when a column is 0.
  const auto answer = [](std::vector<double> x) {
    const double v[3][2] = {{0.3 * x[2], x[2]}, {x[0], 0.5 * x[0]}, {-x[1], 2 * x[1]}};
    double y = 0;
    for (const auto& t : v) {
      const double q[2] = {t[0] - 0.4 * t[1], 0.2 * t[0] + t[1]};
      double sum = 0, mixed = 0;
      for (const auto& key : v) {
        const double weight = std::exp(q[0] * key[0] + q[1] * key[1]);
        sum += weight;
        mixed += weight * key[0];
      }
      y += mixed / sum / 3;
    }
    return y;
  };
  const double whole = answer({0.4, -1.5, 2});
  EXPECT_NEAR(found.target.value, whole, 1e-5);
  const std::vector<double>& scores = found.attributions[0].scores;
  EXPECT_NEAR(scores[0], whole - answer({0.4, -1.5, 0}), 1e-5);
  EXPECT_NEAR(scores[1], whole - answer({0, -1.5, 2}), 1e-5);
  EXPECT_NEAR(scores[2], whole - answer({0.4, 0, 2}), 1e-5);
}

// y = 2 a + the second number of row c of a table, whose vectors are (3, 1), (5, 7), (11, 13); ids
// come as floats.
TinyModel with_ids_as_floats(const std::string& how) {
  TinyModel model;
  model.input("x", {-1, 2});
  add_integers(model.graph(), "zero", {1}, {0});
  add_integers(model.graph(), "one", {1}, {1});
  add_integers(model.graph(), "two", {1}, {2});
  add_node(model.graph(), "Slice", {"x", "zero", "one", "one"}, {"a"});
  add_node(model.graph(), "Slice", {"x", "one", "two", "one"}, {"c"});
  set_integer(add_node(model.graph(), "Cast", {"c"}, {"ids"}), "to", onnx::pb::TensorProto::INT64);
  add_floats(model.graph(), "table", {3, 2}, {3, 1, 5, 7, 11, 13});
  add_floats(model.graph(), "weight", {2, 1}, {0, 1});
  if (how == "gather") {
    add_node(model.graph(), "Gather", {"table", "ids"}, {"vectors"});
    add_node(model.graph(), "MatMul", {"vectors", "weight"}, {"parts"});
    add_node(model.graph(), "Squeeze", {"parts", "two"}, {"part"});
  } else {
    add_integers(model.graph(), "modulus", {1}, {2});
    add_node(model.graph(), "Mod", {"ids", "modulus"}, {"odd"});
    set_integer(add_node(model.graph(), "Cast", {"odd"}, {"part"}), "to",
                onnx::pb::TensorProto::FLOAT);
  }
  add_floats(model.graph(), "factor", {1}, {2});
  add_node(model.graph(), "Mul", {"a", "factor"}, {"double"});
  add_node(model.graph(), "Add", {"double", "part"}, {"y"});
  model.output("y");
  return model;
}

TEST(ColumnTokens, IdsThatComeAsFloatsAreScoredAtTheVectorsTheyPick) {
  const Explanation found =
      explained(with_ids_as_floats("gather"), {{"a", "c"}, {0.25, 2}}, {{"gradient-x-input", {}}});
  EXPECT_THAT(found.attributions[0].scores,
              ElementsAre(testing::DoubleNear(0.5, 1e-6), testing::DoubleNear(13, 1e-5)));
}

TEST(ColumnTokens, IdsWhoseVectorsAreNotFoundHaveNoScore) {
  const Explanation found = explained(with_ids_as_floats("odd"), {{"a", "c"}, {0.25, 1}},
                                      {{"gradient-x-input", {}}, {"saliency", {}}});
  for (const Attribution& one : found.attributions) {
    EXPECT_GT(one.scores[0], 0);
    EXPECT_TRUE(std::isnan(one.scores[1]));
    EXPECT_THAT(one.notes, testing::ElementsAre(HasSubstr("1 of 2 units have no score")));
  }
}

}  // namespace
}  // namespace whyformer
