#include "models/sample_ranges.h"

#include <gtest/gtest.h>

#include <cmath>

#include "graph/pass.h"
#include "models/onnx_graph.h"
#include "ops/arithmetic.h"
#include "ops/ops.h"
#include "ops/quantised.h"
#include "tests/support/check_op.h"
#include "tests/support/source_folder.h"

namespace whyformer {
namespace {

// Whole models that ONNX Runtime quantised, with inputs of two that they were given.
class DynamicallyQuantised : public testing::TestWithParam<const char*> {
 protected:
  Tensor given(const std::string& input) const {
    return model_.file().graph.initialisers.at("given." + input).tensor(DType::kFloat32);
  }

  OnnxGraph built(int64_t count) const {
    onnx::BuildRequest request;
    for (const onnx::DeclaredValue& input : model_.file().graph.inputs) {
      Shape shape = given(input.name).shape();
      shape[0] = count;
      const bool aside = input.name.find("mask") != std::string::npos ||
                         input.name.find("type") != std::string::npos;
      request.inputs[input.name] = {shape, std::nullopt,
                                    aside ? InputRole::kGiven : InputRole::kExplained};
    }
    return build_onnx(model_, request, "logits", count);
  }

  Feeds feeds(const OnnxGraph& graph, const std::vector<int64_t>& which) const {
    Feeds feeds;
    for (const auto& [name, value] : graph.inputs) {
      if (!value.valid()) continue;
      const Tensor all = given(name);
      Tensor some = Tensor::empty(graph.graph.shape(value), all.dtype());
      for (size_t i = 0; i < which.size(); ++i)
        some.select(0, static_cast<int64_t>(i)).copy_from(all.select(0, which[i]));
      feeds[value] = some;
    }
    return feeds;
  }

  std::vector<double> answers(const std::vector<int64_t>& which) const {
    const OnnxGraph graph = built(static_cast<int64_t>(which.size()));
    return run(graph.graph, feeds(graph, which), {.outputs = {graph.output}})[graph.output]
        .to_doubles();
  }

  const onnx::OnnxModel model_{onnx::read_onnx(source_folder() / "tests/golden/onnx_optimised" /
                                               (std::string(GetParam()) + ".onnx"))};
};

TEST_P(DynamicallyQuantised, AnswersAloneOrInABatchWithTheSameBits) {
  const std::vector<double> first = answers({0}), second = answers({1});
  EXPECT_NE(first, second);
  std::vector<double> expected;
  const std::vector<int64_t> order{1, 0, 0, 1, 1};
  for (const int64_t which : order) {
    const std::vector<double>& one = which == 0 ? first : second;
    expected.insert(expected.end(), one.begin(), one.end());
  }
  EXPECT_EQ(answers(order), expected);
}

INSTANTIATE_TEST_SUITE_P(Files, DynamicallyQuantised,
                         testing::Values("bert_fused_dynamic", "bert_dynamic_as_run",
                                         "vit_dynamic"),
                         [](const auto& info) { return std::string(info.param); });

Tensor whole_weights(const Shape& shape, int seed) {
  Tensor numbers = random_tensor(shape, DType::kFloat32, seed);
  float* at = numbers.mutable_data<float>();
  for (int64_t i = 0; i < numbers.size(); ++i) at[i] = std::round(40 * at[i]);
  return numbers;
}

// A Linear of rounded numbers as files spell it out, of what `before` makes of x [batch, 3, 6].
struct SpelledOut {
  using Change = Value (*)(GraphBuilder& graph, Value x);
  Graph graph;
  Value x, y;

  SpelledOut(int64_t batch, Change before, Change between) {
    GraphBuilder builder(Folding::kYes);
    x = builder.input("x", {batch, 3, 6}, DType::kFloat32);
    const std::vector<Value> q = quantise_dynamically(builder, before(builder, x), "q");
    const Value weight = builder.constant(whole_weights({6, 4}, 1), "w");
    const Value sums = between(builder, integer_matmul(builder, q[0], weight, q[2], {}, "m"));
    const Value scale = builder.constant(Tensor::of<float>({4}, {0.01f, 0.02f, 0.03f, 0.04f}), "s");
    const Value number = reshape(builder, q[1], {1}, "one number");
    y = binary(builder, sums, binary(builder, number, scale, BinaryFunction::kMultiply, "factor"),
               BinaryFunction::kMultiply, "y");
    graph = builder.finish();
  }
};

Value as_it_is(GraphBuilder&, Value x) { return x; }
Value in_one_axis(GraphBuilder& graph, Value x) {
  return reshape(graph, x, {3 * graph.shape(x)[0], 6}, "rows");
}
Value behind_tokens(GraphBuilder& graph, Value x) {
  return transpose(graph, x, {1, 0, 2}, "tokens first");
}

// What each input of a batch gets by itself, one after the other.
void expect_answers_of_single_inputs(SpelledOut::Change before, int batch_axis) {
  const int64_t batch = 3;
  const SpelledOut together(batch, before, as_it_is), alone(1, before, as_it_is);
  auto by_sample = with_ranges_by_sample(together.graph, batch);
  ASSERT_TRUE(by_sample);
  const Value x = by_sample->new_value[together.x.id], y = by_sample->new_value[together.y.id];
  Tensor inputs = random_tensor({batch, 3, 6}, DType::kFloat32, 2);
  for (int64_t i = 0; i < inputs.size(); ++i)
    inputs.mutable_data<float>()[i] *= static_cast<float>(1 + i / 18);
  const Tensor found = run(by_sample->graph, {{x, inputs}}, {.outputs = {y}})[y];
  const Tensor split = found.reshape(before == in_one_axis ? Shape{batch, 3, 4} : found.shape());
  for (int64_t i = 0; i < batch; ++i) {
    const Tensor one = inputs.slice(0, i, 1).contiguous();
    const Tensor expected = run(alone.graph, {{alone.x, one}}, {.outputs = {alone.y}})[alone.y];
    EXPECT_EQ(split.select(batch_axis, i).contiguous().to_doubles(), expected.to_doubles()) << i;
  }
}

TEST(RangesBySample, OfABatchInFront) { expect_answers_of_single_inputs(as_it_is, 0); }
TEST(RangesBySample, OfABatchThatSharesItsAxis) { expect_answers_of_single_inputs(in_one_axis, 0); }
TEST(RangesBySample, OfABatchBehindTheTokens) { expect_answers_of_single_inputs(behind_tokens, 1); }

// The scales have one for each row of all inputs there, the numbers an axis for the inputs.
TEST(RangesBySample, AreRefusedWhereScalesWouldMeetOtherRows) {
  const auto back = [](GraphBuilder& graph, Value x) {
    return reshape(graph, x, {graph.shape(x)[0] / 3, 3, 4}, "back");
  };
  EXPECT_FALSE(with_ranges_by_sample(SpelledOut(3, in_one_axis, back).graph, 3));
  EXPECT_FALSE(with_ranges_by_sample(SpelledOut(3, as_it_is, behind_tokens).graph, 3));
}

TEST(RangesBySample, AreRefusedWhereTheBatchCannotBeFollowed) {
  const auto columns = [](GraphBuilder& graph, Value x) {
    return reshape(graph, transpose(graph, x, {1, 2, 0}, "last"), {9, 6}, "columns");
  };
  EXPECT_FALSE(with_ranges_by_sample(SpelledOut(3, columns, as_it_is).graph, 3));
}

TEST(RangesBySample, AreLookedForWhereSomethingRounds) {
  EXPECT_TRUE(has_dynamic_ranges(SpelledOut(1, as_it_is, as_it_is).graph));
  GraphBuilder builder;
  add(builder, builder.input("x", {2}, DType::kFloat32), builder.input("y", {2}, DType::kFloat32),
      "sum");
  EXPECT_FALSE(has_dynamic_ranges(builder.finish()));
}

}  // namespace
}  // namespace whyformer
