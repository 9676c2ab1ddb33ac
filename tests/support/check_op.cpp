#include "tests/support/check_op.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "graph/pass.h"
#include "graph/walk_back.h"

namespace whyformer {
namespace {

struct Built {
  Graph graph;
  std::vector<Value> inputs;
  Value output;
};

Built build(const OpCheck& check, DType dtype) {
  Built built;
  GraphBuilder builder;
  for (size_t i = 0; i < check.inputs.size(); ++i) {
    built.inputs.push_back(builder.input("input" + std::to_string(i), check.inputs[i], dtype));
  }
  built.output = check.build(builder, built.inputs, dtype);
  built.graph = builder.finish();
  return built;
}

Feeds feeds_of(const Built& built, const Tensors& tensors, DType dtype) {
  Feeds feeds;
  for (size_t i = 0; i < tensors.size(); ++i) feeds[built.inputs[i]] = tensors[i].cast(dtype);
  return feeds;
}

std::vector<double> value_of(const Built& built, const Tensors& tensors, DType dtype) {
  const Pass pass = run(built.graph, feeds_of(built, tensors, dtype), {.outputs = {built.output}});
  EXPECT_EQ(pass[built.output].shape(), built.graph.shape(built.output));
  return pass[built.output].to_doubles();
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

std::map<Value, Tensor> gradients_of(const Built& built, const Tensors& tensors, const Tensor& seed,
                                     const std::vector<Value>& wanted, DType dtype) {
  const Pass pass = run(built.graph, feeds_of(built, tensors, dtype),
                        {.keep = Keep::kGradients, .outputs = {built.output}});
  return walk_back(built.graph, pass, built.output, seed.cast(dtype), gradient_rule(), wanted);
}

void expect_all_near(const std::vector<double>& actual, const std::vector<double>& expected,
                     double tolerance, const char* what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  double scale = 1e-3;
  for (const double value : expected) scale = std::max(scale, std::abs(value));
  for (size_t i = 0; i < actual.size(); ++i) {
    EXPECT_NEAR(actual[i], expected[i], tolerance * scale) << what << ", element " << i;
  }
}

std::vector<double> central_differences(const Built& built, Tensors tensors, size_t input,
                                        const std::vector<double>& seed) {
  constexpr double kStep = 1e-5;
  std::vector<double> slopes;
  tensors[input] = tensors[input].copy();
  double* values = tensors[input].mutable_data<double>();
  for (int64_t i = 0; i < tensors[input].size(); ++i) {
    const double here = values[i];
    values[i] = here + kStep;
    const double above = dot(value_of(built, tensors, DType::kFloat64), seed);
    values[i] = here - kStep;
    const double below = dot(value_of(built, tensors, DType::kFloat64), seed);
    values[i] = here;
    slopes.push_back((above - below) / (2 * kStep));
  }
  return slopes;
}

// Coordinates of a flat index along one axis.
int64_t position(int64_t flat, const Shape& shape, int axis) {
  for (int a = static_cast<int>(shape.size()) - 1; a > axis; --a) flat /= shape[a];
  return flat % shape[axis];
}

void check_independence(const Built& built, const Tensors& tensors) {
  if (built.graph.nodes().size() != 1) return;  // axes are those of one operator
  const Node& node = built.graph.nodes()[0];
  std::vector<ValueType> types;
  for (const Value input : node.inputs) types.push_back(built.graph.type(input));
  const Shape& shape = built.graph.shape(built.output);
  const std::vector<double> before = value_of(built, tensors, DType::kFloat64);
  for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) {
    const auto flow = node.op->follow(axis, types);
    if (!flow || !flow->independent) continue;
    for (size_t input = 0; input < tensors.size(); ++input) {
      const int source = flow->sources[input];
      if (source < 0) continue;
      const int64_t moved = tensors[input].dim(source) - 1;
      Tensors changed = tensors;
      changed[input] = tensors[input].copy();
      changed[input].slice(source, moved, 1).fill(0.123);
      const std::vector<double> after = value_of(built, changed, DType::kFloat64);
      for (size_t i = 0; i < after.size(); ++i) {
        if (position(static_cast<int64_t>(i), shape, axis) == moved) continue;
        EXPECT_EQ(after[i], before[i])
            << node.op->kind() << ": output axis " << axis << " is not independent";
      }
    }
  }
}

}  // namespace

Tensor random_tensor(const Shape& shape, DType dtype, int seed, double low, double high) {
  const CounterRandom random(seed, "test", 0);
  std::vector<double> values(element_count(shape));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = low + (high - low) * random.uniform(static_cast<int64_t>(i));
  }
  return Tensor::of<double>(shape, std::span<const double>(values)).cast(dtype);
}

void check_op(const OpCheck& check) {
  const Built exact = build(check, DType::kFloat64);
  const Built fast = build(check, DType::kFloat32);
  Tensors tensors;
  std::vector<Value> wanted;
  for (size_t i = 0; i < check.inputs.size(); ++i) {
    // Rounded to float, so that both precisions see the same numbers.
    tensors.push_back(random_tensor(check.inputs[i], DType::kFloat32, static_cast<int>(i),
                                    check.smallest_input, check.largest_input)
                          .cast(DType::kFloat64));
    if (check.constant.empty() || !check.constant[i]) wanted.push_back(exact.inputs[i]);
  }
  const std::vector<double> value = value_of(exact, tensors, DType::kFloat64);
  expect_all_near(value_of(fast, tensors, DType::kFloat32), value, 1e-5, "float value");
  const Tensor seed =
      random_tensor(exact.graph.shape(exact.output), DType::kFloat32, 99).cast(DType::kFloat64);
  const auto gradients = gradients_of(exact, tensors, seed, wanted, DType::kFloat64);
  const auto fast_gradients = gradients_of(fast, tensors, seed, wanted, DType::kFloat32);
  for (size_t i = 0; i < check.inputs.size(); ++i) {
    const Value input = exact.inputs[i];
    if (!gradients.contains(input)) continue;
    const std::vector<double> gradient = gradients.at(input).to_doubles();
    expect_all_near(gradient, central_differences(exact, tensors, i, seed.to_doubles()), 1e-6,
                    "gradient against central differences");
    expect_all_near(fast_gradients.at(input).to_doubles(), gradient, 2e-5, "float gradient");
  }
  check_independence(exact, tensors);
}

}  // namespace whyformer
