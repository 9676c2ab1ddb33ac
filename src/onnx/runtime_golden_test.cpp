// One-operator models with what ONNX Runtime computes; scripts/golden/onnx_golden.py tells how they
// were made.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "graph/pass.h"
#include "onnx/onnx_model.h"
#include "tests/support/source_folder.h"

namespace whyformer::onnx {
namespace {

namespace fs = std::filesystem;

// Floats and small integers are fed; ids and masks are known when the graph is built.
void check_case(const OnnxModel& model, bool feeds_floats) {
  const FileGraph& graph = model.file().graph;
  BuildRequest request;
  std::map<std::string, Tensor> given;
  for (const DeclaredValue& input : graph.inputs) {
    const Tensor tensor = graph.initialisers.at("given." + input.name).tensor(DType::kFloat32);
    const bool is_fed = feeds_floats && tensor.dtype() == DType::kFloat32;
    request.inputs[input.name] = {tensor.shape(), is_fed ? std::nullopt : std::optional(tensor)};
    if (is_fed) given[input.name] = tensor;
  }
  for (const DeclaredValue& output : graph.outputs) request.outputs.push_back(output.name);
  const BuiltGraph built = model.build(request);
  Feeds feeds;
  for (const auto& [name, value] : built.inputs) feeds[value] = given.at(name);
  for (const std::string& name : request.outputs) {
    const Value value = built.values.at(name);
    const Pass pass = run(built.graph, feeds, {.outputs = {value}});
    const FileTensor& expected = graph.initialisers.at("expected." + name);
    const std::vector<double> numbers = expected.tensor(DType::kFloat32).to_doubles();
    double largest = 0;
    for (const double number : numbers) largest = std::max(largest, std::abs(number));
    const double tolerance = is_float(expected.type) ? 1e-5 * std::max(1.0, largest) : 0;
    EXPECT_EQ(pass[value].shape(), expected.shape);
    EXPECT_THAT(pass[value].to_doubles(),
                testing::Pointwise(testing::DoubleNear(tolerance), numbers));
  }
}

TEST(OnnxRuntimeGolden, EveryCaseGivesTheSameNumbers) {
  const fs::path folder = source_folder() / "tests/golden/onnx";
  int cases = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".onnx") continue;
    SCOPED_TRACE(entry.path().filename().string());
    const OnnxModel model(read_onnx(entry.path()));
    check_case(model, false);
    check_case(model, true);
    ++cases;
  }
  EXPECT_GT(cases, 60);
}

}  // namespace
}  // namespace whyformer::onnx
