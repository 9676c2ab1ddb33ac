// Whole models as ONNX Runtime fuses and quantises them, with what it computes;
// scripts/golden/onnx_optimised_golden.py tells how they were made. WHYFORMER_ONNX_OPTIMISED names
// another folder of such files, whose differences are printed.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "discovery/attention_sites.h"
#include "discovery/blocks.h"
#include "graph/pass.h"
#include "onnx/node_scope.h"
#include "onnx/onnx_model.h"
#include "onnx/rewrites/rewrite.h"
#include "tests/support/source_folder.h"

namespace whyformer::onnx {
namespace {

namespace fs = std::filesystem;

constexpr double kLeastAgreement = 0.95;

std::vector<fs::path> files() {
  const char* elsewhere = std::getenv("WHYFORMER_ONNX_OPTIMISED");
  const fs::path folder =
      elsewhere != nullptr ? fs::path(elsewhere) : source_folder() / "tests/golden/onnx_optimised";
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".onnx") found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string test_name(const testing::TestParamInfo<fs::path>& info) {
  std::string name = info.param.stem().string();
  for (char& letter : name)
    letter = std::isalnum(static_cast<unsigned char>(letter)) ? letter : '_';
  return name;
}

class OnnxOptimised : public testing::TestWithParam<fs::path> {
 protected:
  Tensor stored(const std::string& name) const {
    return model_.file().graph.initialisers.at(name).tensor(DType::kFloat32);
  }
  bool has(const std::string& name) const {
    return model_.file().graph.initialisers.contains(name);
  }

  BuiltGraph built() {
    BuildRequest request;
    for (const DeclaredValue& input : model_.file().graph.inputs) {
      const bool known = has("known." + input.name);
      const Tensor tensor = stored((known ? "known." : "given.") + input.name);
      const bool aside = input.name.find("mask") != std::string::npos;
      request.inputs[input.name] = {tensor.shape(), known ? std::optional(tensor) : std::nullopt,
                                    aside ? InputRole::kGiven : InputRole::kExplained};
      if (!known) given_[input.name] = tensor;
      if (!known && tensor.rank() > 0) batch_ = tensor.dim(0);
    }
    for (const DeclaredValue& output : model_.file().graph.outputs) {
      if (has("expected." + output.name)) outputs_.push_back(output.name);
    }
    request.outputs = outputs_;
    return model_.build(request);
  }

  void rewrite_all(BuiltGraph& built) const {
    std::vector<Value> wanted;
    for (const std::string& name : outputs_) wanted.push_back(built.values.at(name));
    Rewritten rewritten =
        rewrite(built.graph, wanted, batch_,
                [&](const Tensor& w, const Tensor& b) { return model_.linear_weights(w, b); });
    for (auto* values : {&built.inputs, &built.values}) {
      for (auto& [name, value] : *values) value = rewritten.new_value[value.id];
    }
    built.graph = std::move(rewritten.graph);
  }

  Feeds feeds(const BuiltGraph& built) const {
    Feeds feeds;
    for (const auto& [name, value] : built.inputs) feeds[value] = given_.at(name);
    return feeds;
  }

  // How many layers of self-attention that sees all tokens, self-attention that sees none ahead,
  // and attention to others.
  std::vector<double> sites(const BuiltGraph& built) const {
    std::vector<double> counts(3, 0);
    for (const AttentionSite& site : discover(built.graph, built.values.at(outputs_[0])).sites) {
      const Pass pass = run(built.graph, feeds(built), {.outputs = {site.attention}});
      const std::vector<double> map = pass[site.attention].to_doubles();
      double ahead = 0;
      for (size_t i = 0; i < map.size(); ++i) {
        const auto key = static_cast<int64_t>(i) % site.keys;
        if (key > static_cast<int64_t>(i) / site.keys % site.queries) ahead += map[i];
      }
      counts[!site.is_self_attention() ? 2 : ahead == 0 && site.keys > 1 ? 1 : 0] += 1;
    }
    return counts;
  }

  struct Comparison {
    double difference = 0;  // the largest, as a part of the largest number expected
    double same_best = 0;   // share of rows whose largest element is at the same place
  };

  Comparison compare(const BuiltGraph& built) const {
    std::vector<Value> wanted;
    for (const std::string& name : outputs_) wanted.push_back(built.values.at(name));
    const Pass pass = run(built.graph, feeds(built), {.outputs = wanted});
    Comparison result;
    double rows = 0;
    for (size_t index = 0; index < wanted.size(); ++index) {
      const Tensor expected = stored("expected." + outputs_[index]);
      EXPECT_EQ(pass[wanted[index]].shape(), expected.shape());
      const std::vector<double> a = pass[wanted[index]].to_doubles(), b = expected.to_doubles();
      double largest = 1e-6, worst = 0;
      for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        worst = std::isfinite(a[i]) ? std::max(worst, std::abs(a[i] - b[i])) : INFINITY;
        largest = std::max(largest, std::abs(b[i]));
      }
      result.difference = std::max(result.difference, worst / largest);
      const auto columns = expected.rank() == 0 ? 1 : std::max<int64_t>(expected.dim(-1), 1);
      for (int64_t at = 0; at + columns <= std::ssize(b); at += columns) {
        const auto best = [&](const std::vector<double>& x) {
          return std::max_element(x.begin() + at, x.begin() + at + columns) - x.begin();
        };
        result.same_best += best(a) == best(b);
        rows += 1;
      }
    }
    result.same_best /= std::max(rows, 1.0);
    return result;
  }

  const OnnxModel model_{read_onnx(GetParam())};
  std::map<std::string, Tensor> given_;
  std::vector<std::string> outputs_;
  int64_t batch_ = 1;
};

TEST_P(OnnxOptimised, GivesWhatOnnxRuntimeGives) {
  const double tolerance = stored("tolerance").to_doubles()[0];
  BuiltGraph graph = built();
  const Comparison as_written = compare(graph);
  rewrite_all(graph);
  const Comparison rewritten = compare(graph);
  for (const Comparison& found : {as_written, rewritten}) {
    EXPECT_LE(found.difference, tolerance);
    EXPECT_GE(found.same_best, kLeastAgreement);
  }
  const std::vector<double> found = sites(graph);
  EXPECT_EQ(found, stored("sites").to_doubles());
  if (std::getenv("WHYFORMER_ONNX_OPTIMISED") != nullptr) {
    fmt::print(
        "{:<28} opset {:>2}  as written {:.1e}  rewritten {:.1e}  same best {:.1f} %  sites {}  "
        "nodes {}\n",
        GetParam().stem().string(), model_.file().opset(), as_written.difference,
        rewritten.difference, 100 * rewritten.same_best, fmt::join(found, "/"),
        graph.graph.nodes().size());
  }
}

// Fused attention, norms and activations, and quantised Linears, are taken apart into the blocks
// that methods know; rounding between all operators is not.
class OnnxOptimisedBlocks : public OnnxOptimised {};

TEST_P(OnnxOptimisedBlocks, AreThoseOfAnEncoder) {
  if (has("no_blocks")) GTEST_SKIP() << "a file of another folder whose blocks are of another form";
  BuiltGraph graph = built();
  rewrite_all(graph);
  const Discovery found = discover(graph.graph, graph.values.at(outputs_[0]));
  EXPECT_EQ(find_blocks(graph.graph, found.sites).size(), found.sites.size());
}

INSTANTIATE_TEST_SUITE_P(Files, OnnxOptimised, testing::ValuesIn(files()), test_name);

// Those that do not round between the operators of a block.
std::vector<fs::path> files_with_blocks() {
  std::vector<fs::path> found = files();
  std::erase_if(found, [](const fs::path& file) {
    return file.stem().string().find("static") != std::string::npos;
  });
  return found;
}
INSTANTIATE_TEST_SUITE_P(Files, OnnxOptimisedBlocks, testing::ValuesIn(files_with_blocks()),
                         test_name);

}  // namespace
}  // namespace whyformer::onnx
