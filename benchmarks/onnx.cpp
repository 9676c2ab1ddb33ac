// Forward of an imported ONNX encoder, and how long importing takes. benchmarks/onnx (a script)
// runs this beside ONNX Runtime.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "best_seconds.h"
#include "graph/pass.h"
#include "onnx/node_scope.h"
#include "onnx/onnx_model.h"
#include "onnx/rewrites/rewrite.h"
#include "whyformer/threads.h"

namespace whyformer {
namespace {

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

Tensor numbers(int64_t tokens, int64_t first, int64_t step) {
  Tensor result = Tensor::empty({1, tokens}, DType::kInt64);
  for (int64_t i = 0; i < tokens; ++i) result.mutable_data<int64_t>()[i] = first + i * step % 20000;
  return result;
}

// As text models are built: ids and token types are fed, a mask that hides nothing is known.
nlohmann::json measure(const onnx::OnnxModel& model, int64_t tokens) {
  const auto start = std::chrono::steady_clock::now();
  onnx::BuildRequest request;
  std::map<std::string, Tensor> fed;
  for (const onnx::DeclaredValue& input : model.file().graph.inputs) {
    auto& binding = request.inputs[input.name];
    binding.shape = {1, tokens};
    if (input.name.find("mask") != std::string::npos) {
      binding.value = numbers(tokens, 1, 0);
    } else {
      const bool ids = input.name.find("ids") != std::string::npos &&
                       input.name.find("type") == std::string::npos;
      fed[input.name] = ids ? numbers(tokens, 1000, 37) : numbers(tokens, 0, 0);
    }
  }
  const std::string output = model.file().graph.outputs.at(0).name;
  request.outputs = {output};
  const onnx::BuiltGraph built = model.build(request);
  const onnx::Rewritten rewritten = onnx::rewrite(
      built.graph, {built.values.at(output)}, 1,
      [&](const Tensor& weight, const Tensor& bias) { return model.linear_weights(weight, bias); });
  Feeds feeds;
  for (const auto& [name, value] : built.inputs)
    feeds[rewritten.new_value[value.id]] = fed.at(name);
  const Value result = rewritten.new_value[built.values.at(output).id];
  const double building = milliseconds_since(start);
  std::map<std::string, int> kinds;
  for (const Node& node : rewritten.graph.nodes()) ++kinds[std::string(node.op->kind())];
  const double forward = best_seconds([&] { run(rewritten.graph, feeds, {.outputs = {result}}); });
  return {{"tokens", tokens}, {"ours_ms", forward * 1e3}, {"build_ms", building}, {"nodes", kinds}};
}

}  // namespace
}  // namespace whyformer

// Reads token counts from standard input and answers each at once, so that the script can take
// turns.
int main(int argc, char** argv) {
  using namespace whyformer;
  if (argc != 2) {
    fmt::print(stderr, "usage: benchmark_onnx FILE.onnx\n");
    return 2;
  }
  set_threads(2);
  const auto start = std::chrono::steady_clock::now();
  const onnx::OnnxModel model(onnx::read_onnx(std::filesystem::path(argv[1])));
  fmt::print("{}\n", nlohmann::json{{"read_ms", milliseconds_since(start)}}.dump());
  std::fflush(stdout);
  for (long tokens = 0; std::scanf("%ld", &tokens) == 1;) {
    fmt::print("{}\n", measure(model, tokens).dump());
    std::fflush(stdout);
  }
  return 0;
}
