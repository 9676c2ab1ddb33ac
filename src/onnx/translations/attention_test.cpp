// Fused attention whose bias is computed from what is explained.
#include <gtest/gtest.h>

#include <cmath>

#include "graph/walk_back.h"
#include "onnx/rewrites/rewrite.h"
#include "tests/support/tiny_model.h"

namespace whyformer::onnx {
namespace {

constexpr const char* kInputs[] = {"x", "pairs"};  // [1, 3, 4] and [1, 3, 3, 2]

std::vector<float> wave(int64_t count, double phase) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(std::sin(0.7 * static_cast<double>(i) + phase)));
  }
  return values;
}

// Self-attention of x with two heads and bias [1, 2, 3, 3] = pairs·w, up to where the spellings
// differ.
TinyModel with_bias() {
  TinyModel model(23);
  model.import("com.microsoft", 1);
  model.input("x", {1, 3, 4});
  model.input("pairs", {1, 3, 3, 2});
  pb::GraphProto& graph = model.graph();
  add_floats(graph, "w", {2, 2}, {0.5, -1, 2, 0.25});
  add_floats(graph, "scale", {}, {static_cast<float>(1 / std::sqrt(2.0))});
  add_floats(graph, "packed", {4, 12}, wave(48, 2));
  add_floats(graph, "no_bias", {12}, std::vector<float>(12, 0));
  add_node(graph, "MatMul", {"pairs", "w"}, {"by_pair"});
  set_integers(add_node(graph, "Transpose", {"by_pair"}, {"bias"}), "perm", {0, 3, 1, 2});
  add_node(graph, "MatMul", {"x", "packed"}, {"qkv"});
  pb::NodeProto& parts = add_node(graph, "Split", {"qkv"}, {"q", "k", "v"});
  set_integer(parts, "axis", -1);
  set_integer(parts, "num_outputs", 3);
  model.output("y");
  return model;
}

TinyModel spelled_out() {
  TinyModel model = with_bias();
  pb::GraphProto& graph = model.graph();
  add_integers(graph, "heads", {4}, {1, 3, 2, 2});
  add_integers(graph, "merged", {3}, {1, 3, 4});
  for (const std::string name : {"q", "k", "v"}) {
    add_node(graph, "Reshape", {name, "heads"}, {name + "4"});
    set_integers(add_node(graph, "Transpose", {name + "4"}, {name + "h"}), "perm",
                 name == "k" ? std::vector<int64_t>{0, 2, 3, 1} : std::vector<int64_t>{0, 2, 1, 3});
  }
  add_node(graph, "MatMul", {"qh", "kh"}, {"scores"});
  add_node(graph, "Mul", {"scores", "scale"}, {"scaled"});
  add_node(graph, "Add", {"scaled", "bias"}, {"biased"});
  set_integer(add_node(graph, "Softmax", {"biased"}, {"map"}), "axis", -1);
  add_node(graph, "MatMul", {"map", "vh"}, {"context"});
  set_integers(add_node(graph, "Transpose", {"context"}, {"rows"}), "perm", {0, 2, 1, 3});
  add_node(graph, "Reshape", {"rows", "merged"}, {"y"});
  return model;
}

TinyModel fused() {
  TinyModel model = with_bias();
  pb::NodeProto& node = add_node(model.graph(), "Attention", {"q", "k", "v", "bias"}, {"y"});
  set_integer(node, "q_num_heads", 2);
  set_integer(node, "kv_num_heads", 2);
  return model;
}

TinyModel microsoft_multi_head() {
  TinyModel model = with_bias();
  set_integer(add_node(model.graph(), "MultiHeadAttention", {"q", "k", "v", "", "", "bias"}, {"y"},
                       "com.microsoft"),
              "num_heads", 2);
  return model;
}

TinyModel microsoft_packed() {
  TinyModel model = with_bias();
  set_integer(add_node(model.graph(), "Attention", {"x", "packed", "no_bias", "", "", "bias"},
                       {"y"}, "com.microsoft"),
              "num_heads", 2);
  return model;
}

// Built in double, with the rewrites of every model that is explained.
class Built {
 public:
  explicit Built(const TinyModel& tiny) : model_(tiny.read()) {
    BuildRequest request{.outputs = {"y"}, .floats = DType::kFloat64};
    request.inputs["x"] = {{1, 3, 4}};
    request.inputs["pairs"] = {{1, 3, 3, 2}};
    const BuiltGraph built = model_.build(request);
    const auto share = [&](const Tensor& weight, const Tensor& bias) {
      return model_.linear_weights(weight, bias);
    };
    Rewritten rewritten = rewrite(built.graph, {built.values.at("y")}, 1, share);
    y_ = rewritten.new_value[built.values.at("y").id];
    for (const char* name : kInputs) {
      inputs_.push_back(rewritten.new_value[built.inputs.at(name).id]);
    }
    graph_ = std::move(rewritten.graph);
    for (const Value input : inputs_) {
      const int64_t count = element_count(graph_.shape(input));
      feeds_[input] = Tensor::of<float>(graph_.shape(input), wave(count, 1)).cast(DType::kFloat64);
    }
  }

  // Of an element of y, by input.
  std::vector<std::vector<double>> gradients() const {
    const Pass pass = run(graph_, feeds_, {Keep::kGradients, {y_}});
    Tensor seed = Tensor::zeros(graph_.shape(y_), DType::kFloat64);
    seed.mutable_data<double>()[kElement] = 1;
    const auto found = walk_back(graph_, pass, y_, seed, gradient_rule(), inputs_);
    std::vector<std::vector<double>> result;
    for (const Value input : inputs_) result.push_back(found.at(input).contiguous().to_doubles());
    return result;
  }

  std::vector<std::vector<double>> differences() const {
    constexpr double kStep = 1e-5;
    std::vector<std::vector<double>> result;
    for (const Value input : inputs_) {
      std::vector<double>& own = result.emplace_back();
      for (int64_t i = 0; i < element_count(graph_.shape(input)); ++i) {
        own.push_back((moved(input, i, kStep) - moved(input, i, -kStep)) / (2 * kStep));
      }
    }
    return result;
  }

 private:
  static constexpr int64_t kElement = 6;

  double moved(Value input, int64_t index, double step) const {
    Feeds feeds = feeds_;
    Tensor changed = Tensor::empty(feeds.at(input).shape(), DType::kFloat64);
    changed.copy_from(feeds.at(input));
    changed.mutable_data<double>()[index] += step;
    feeds[input] = changed;
    return run(graph_, feeds, {.outputs = {y_}})[y_].to_doubles()[kElement];
  }

  OnnxModel model_;
  Graph graph_;
  Value y_;
  std::vector<Value> inputs_;
  Feeds feeds_;
};

void expect_near(const std::vector<std::vector<double>>& found,
                 const std::vector<std::vector<double>>& expected, double tolerance) {
  for (size_t input = 0; input < expected.size(); ++input) {
    ASSERT_EQ(found[input].size(), expected[input].size());
    for (size_t i = 0; i < expected[input].size(); ++i) {
      EXPECT_NEAR(found[input][i], expected[input][i], tolerance) << kInputs[input] << " " << i;
    }
  }
}

struct Spelling {
  const char* name;
  TinyModel (*make)();
};

class OnnxAttentionBias : public testing::TestWithParam<Spelling> {};

TEST_P(OnnxAttentionBias, ThatVariesHasTheGradientOfTheSpelledOutGraphAndOfFiniteDifferences) {
  const Built built(GetParam().make());
  expect_near(built.gradients(), built.differences(), 1e-8);
  // The scale in the file has 32 bits.
  expect_near(built.gradients(), Built(spelled_out()).gradients(), 1e-7);
}

INSTANTIATE_TEST_SUITE_P(Spellings, OnnxAttentionBias,
                         testing::Values(Spelling{"SpelledOut", spelled_out},
                                         Spelling{"Fused", fused},
                                         Spelling{"MicrosoftMultiHead", microsoft_multi_head},
                                         Spelling{"MicrosoftPacked", microsoft_packed}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace whyformer::onnx
