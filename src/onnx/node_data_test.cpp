// ONNX's own test cases: one small model per case with inputs and outputs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "graph/pass.h"
#include "onnx/onnx_model.h"
#include "onnx/operators.h"
#include "tests/support/read_tensor.h"
#include "whyformer/error.h"

namespace whyformer::onnx {
namespace {

namespace fs = std::filesystem;

// Debian's libonnx-testdata, or another folder of the same form.
fs::path data_folder() {
  const char* chosen = std::getenv("WHYFORMER_ONNX_NODE_DATA");
  return chosen != nullptr ? chosen : "/usr/include/onnx/backend/test/data/node";
}

struct Outcome {
  enum class Kind { kPassed, kNotClaimed, kFailed } kind = Kind::kFailed;
  std::string why;
};

// What our operators do not promise, though they carry the name.
const std::map<std::string, std::string>& exceptions() {
  static const std::map<std::string, std::string> known{
      {"training", "random or training behaviour"},
      {"BFLOAT16", "the data store them as integers"},
      {"dropout_default_mask_ratio", "training behaviour"},
      {"string", "texts"},
      {"float8", "8-bit floats"},
      {"float4", "4-bit floats"},
      {"seq", "sequences"},
      {"optional", "optional values"},
      {"downsample_scales_linear_align_corners", "lengths that are not whole"},
      {"downsample_scales_cubic_align_corners", "lengths that are not whole"},
  };
  return known;
}

bool close(double a, double b, double relative) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::abs(a - b) <= 1e-5 + relative * std::abs(b);
}

// We compute in 32 bits what cases in bfloat16 round to 8 bits at every step.
double tolerance(const FileTensor& expected) {
  return expected.type == ElementType::kBfloat16 ? 0x1p-6 : 1e-3;
}

std::string difference(const Tensor& found, const Tensor& expected, double relative) {
  if (found.shape() != expected.shape()) {
    return fmt::format("shape {} instead of {}", to_string(found.shape()),
                       to_string(expected.shape()));
  }
  const std::vector<double> a = found.to_doubles(), b = expected.to_doubles();
  for (size_t i = 0; i < a.size(); ++i) {
    if (!close(a[i], b[i], relative))
      return fmt::format("element {}: {} instead of {}", i, a[i], b[i]);
  }
  return "";
}

// Inputs are known when the graph is built (then everything folds), or fed where that is possible.
std::string run_case(const OnnxModel& model, const fs::path& data, bool fed) {
  BuildRequest request;
  std::map<std::string, Tensor> given;
  for (size_t index = 0; index < model.file().graph.inputs.size(); ++index) {
    const fs::path path = data / fmt::format("input_{}.pb", index);
    if (!fs::exists(path)) continue;
    const DeclaredValue& input = model.file().graph.inputs[index];
    const Tensor tensor = read_tensor(map_file(path)).tensor(DType::kFloat32);
    const bool feeds_it = fed && is_float(input.type);
    request.inputs[input.name] = {tensor.shape(), feeds_it ? std::nullopt : std::optional(tensor)};
    if (feeds_it) given[input.name] = tensor;
  }
  for (const DeclaredValue& output : model.file().graph.outputs)
    request.outputs.push_back(output.name);
  const BuiltGraph built = model.build(request);
  Feeds feeds;
  for (const auto& [name, value] : built.inputs) feeds[value] = given.at(name);
  std::vector<Value> wanted;
  for (const std::string& name : request.outputs) wanted.push_back(built.values.at(name));
  const Pass pass = run(built.graph, feeds, {.outputs = wanted});
  for (size_t index = 0; index < wanted.size(); ++index) {
    const fs::path path = data / fmt::format("output_{}.pb", index);
    const FileTensor stored = read_tensor(map_file(path));
    const Tensor expected = stored.tensor(DType::kFloat32);
    const std::string problem =
        difference(pass[wanted[index]].cast(expected.dtype()), expected, tolerance(stored));
    if (!problem.empty()) return fmt::format("output {}: {}", index, problem);
  }
  return "";
}

Outcome try_case(const fs::path& folder) {
  for (const auto& [part, why] : exceptions()) {
    if (folder.filename().string().find(part) != std::string::npos) {
      return {Outcome::Kind::kNotClaimed, why};
    }
  }
  try {
    const OnnxModel model(read_onnx(folder / "model.onnx"));
    std::string problem = run_case(model, folder / "test_data_set_0", false);
    if (!problem.empty()) return {Outcome::Kind::kFailed, "folded, " + problem};
    try {
      problem = run_case(model, folder / "test_data_set_0", true);
    } catch (const UnsupportedModel&) {
      problem.clear();  // shapes that depend on floats are only known by value
    }
    if (!problem.empty()) return {Outcome::Kind::kFailed, "fed, " + problem};
    return {Outcome::Kind::kPassed, ""};
  } catch (const UnsupportedModel& error) {
    return {Outcome::Kind::kNotClaimed, error.what()};
  } catch (const FileError& error) {
    return {Outcome::Kind::kNotClaimed, error.what()};
  } catch (const std::exception& error) {
    return {Outcome::Kind::kFailed, error.what()};
  }
}

TEST(OnnxNodeData, EveryClaimedOperatorPassesOnnxsOwnCases) {
  if (!fs::is_directory(data_folder())) GTEST_SKIP() << "no test data at " << data_folder();
  const bool shows_all = std::getenv("WHYFORMER_ONNX_NODE_DATA_VERBOSE") != nullptr;
  int passed = 0, not_claimed = 0, failed = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(data_folder())) {
    const std::string name = entry.path().filename().string();
    if (!fs::exists(entry.path() / "model.onnx")) continue;
    const Outcome outcome = try_case(entry.path());
    passed += outcome.kind == Outcome::Kind::kPassed;
    not_claimed += outcome.kind == Outcome::Kind::kNotClaimed;
    if (outcome.kind == Outcome::Kind::kNotClaimed && shows_all) {
      fmt::print("{} is not claimed: {}\n", name, outcome.why);
    }
    if (outcome.kind == Outcome::Kind::kFailed) {
      ++failed;
      ADD_FAILURE() << name << ": " << outcome.why;
    }
  }
  fmt::print("{} of ONNX's cases pass, {} fail, {} are of operators that are not claimed\n", passed,
             failed, not_claimed);
  EXPECT_GT(passed, 300);
}

}  // namespace
}  // namespace whyformer::onnx
