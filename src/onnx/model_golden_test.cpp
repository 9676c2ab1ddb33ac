// Whole transformers as exporters write them, with what ONNX Runtime computes and PyTorch's
// gradients; scripts/golden/onnx_models_golden.py tells how they were made. WHYFORMER_ONNX_MODELS
// names another folder of such files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "discovery/attention_sites.h"
#include "graph/walk_back.h"
#include "onnx/node_scope.h"
#include "onnx/onnx_model.h"
#include "onnx/rewrites/rewrite.h"
#include "ops/ops.h"
#include "relevance/relevance_walk.h"
#include "tests/support/source_folder.h"

namespace whyformer::onnx {
namespace {

namespace fs = std::filesystem;

constexpr double kTolerance = 1e-4;
constexpr std::string_view kGradient = "gradient.";

std::vector<fs::path> golden_files() {
  const char* elsewhere = std::getenv("WHYFORMER_ONNX_MODELS");
  const fs::path folder =
      elsewhere != nullptr ? fs::path(elsewhere) : source_folder() / "tests/golden/onnx/models";
  std::vector<fs::path> files;
  std::error_code none;  // the files need not be there
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, none)) {
    if (entry.path().extension() == ".onnx") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string test_name(const testing::TestParamInfo<fs::path>& info) {
  std::string name = info.param.stem().string();
  for (char& letter : name)
    letter = std::isalnum(static_cast<unsigned char>(letter)) ? letter : '_';
  return name;
}

// Which inputs are known while the graph is built.
enum class Known { kNothing, kMasks, kIntegers };
enum class Form { kAsWritten, kRewritten };
enum class Rows { kAll, kFirst };

bool goes_with_the_input(const std::string& name) {
  return name.find("mask") != name.npos || name.find("type") != name.npos;
}

struct Ready {
  Graph graph;
  Feeds feeds;
  Value output;
  Value place;             // where PyTorch's gradient was taken; invalid where that was folded away
  bool exchanged = false;  // its first two axes, by a rewrite that put their exchange off
};

class OnnxModelGolden : public testing::TestWithParam<fs::path> {
 protected:
  Tensor stored(const std::string& name) const {
    return model_.file().graph.initialisers.at(name).tensor(DType::kFloat32);
  }

  std::string gradient_place() const {
    for (const auto& [name, tensor] : model_.file().graph.initialisers) {
      if (name.starts_with(kGradient)) return name.substr(kGradient.size());
    }
    return "";
  }

  std::vector<std::vector<int64_t>> expected_sites() const {
    const std::vector<double> numbers = stored("sites").to_doubles();
    std::vector<std::vector<int64_t>> sites;
    for (size_t i = 0; i < numbers.size(); i += 4) {
      sites.emplace_back(numbers.begin() + i, numbers.begin() + i + 4);
    }
    return sites;
  }

  Ready ready(Known known, Form form, Rows rows = Rows::kAll) const {
    BuildRequest request;
    std::map<std::string, Tensor> given;
    for (const DeclaredValue& input : model_.file().graph.inputs) {
      const Tensor all = stored("given." + input.name);
      given[input.name] = rows == Rows::kAll ? all : all.slice(0, 0, 1).contiguous();
      InputBinding& binding = request.inputs[input.name];
      binding.shape = given[input.name].shape();
      const bool aside = goes_with_the_input(input.name);
      if (aside) binding.role = InputRole::kGiven;
      if (known == Known::kIntegers ? !is_float(input.type) : known == Known::kMasks && aside) {
        binding.value = given[input.name];
      }
    }
    request.outputs = {"output"};
    BuiltGraph built = model_.build(request);
    Ready result;
    result.output = built.values.at("output");
    const auto place = built.values.find(gradient_place());
    if (place != built.values.end()) result.place = place->second;
    if (form == Form::kRewritten) {
      const auto share = [&](const Tensor& weight, const Tensor& bias) {
        return model_.linear_weights(weight, bias);
      };
      const int64_t batch = given.begin()->second.dim(0);
      Rewritten rewritten = rewrite(built.graph, {result.output}, batch, share);
      const auto renamed = [&](Value value) {
        return value.valid() ? rewritten.new_value[value.id] : value;
      };
      result.output = renamed(result.output);
      const std::string name = result.place.valid() ? built.graph.name(result.place) : "";
      result.place = renamed(result.place);
      for (const Node& node : rewritten.graph.nodes()) {
        if (name.empty() || result.place.valid() || node.name != name ||
            is_a<ops::Transpose>(*node.op))
          continue;
        result.place = node.outputs[0];
        result.exchanged = true;
      }
      for (auto& [name, value] : built.inputs) value = renamed(value);
      built.graph = std::move(rewritten.graph);
    }
    for (const auto& [name, value] : built.inputs) result.feeds[value] = given.at(name);
    result.graph = std::move(built.graph);
    return result;
  }

  const OnnxModel model_{read_onnx(GetParam())};
};

// The largest difference, as a part of the largest expected number.
double difference(const Tensor& found, const Tensor& expected) {
  EXPECT_EQ(found.shape(), expected.shape());
  const std::vector<double> a = found.to_doubles(), b = expected.to_doubles();
  double largest = 0, worst = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (!std::isfinite(a[i])) return a[i];
    worst = std::max(worst, std::abs(a[i] - b[i]));
    largest = std::max(largest, std::abs(b[i]));
  }
  return worst / std::max(largest, 1e-6);
}

TEST_P(OnnxModelGolden, GivesWhatOnnxRuntimeGives) {
  const Tensor expected = stored("expected.output");
  for (const Known known : {Known::kNothing, Known::kMasks, Known::kIntegers}) {
    for (const Form form : {Form::kAsWritten, Form::kRewritten}) {
      SCOPED_TRACE(testing::Message()
                   << "known " << static_cast<int>(known) << ", form " << static_cast<int>(form));
      const Ready model = ready(known, form);
      const Pass pass = run(model.graph, model.feeds, {.outputs = {model.output}});
      EXPECT_LT(difference(pass[model.output], expected), kTolerance);
    }
  }
}

TEST_P(OnnxModelGolden, GivesTheGradientsOfPyTorch) {
  const Tensor expected = stored(std::string(kGradient) + gradient_place());
  for (const Known known : {Known::kNothing, Known::kMasks}) {
    std::vector<Tensor> found;
    for (const Form form : {Form::kAsWritten, Form::kRewritten}) {
      SCOPED_TRACE(testing::Message()
                   << "known " << static_cast<int>(known) << ", form " << static_cast<int>(form));
      const Ready model = ready(known, form);
      ASSERT_TRUE(model.place.valid());
      const Pass pass =
          run(model.graph, model.feeds, {.keep = Keep::kGradients, .outputs = {model.output}});
      const Tensor gradient = walk_back(model.graph, pass, model.output, stored("seed.output"),
                                        gradient_rule(), {model.place})
                                  .at(model.place);
      found.push_back(model.exchanged ? gradient.transpose(0, 1) : gradient);
      EXPECT_LT(difference(found.back(), expected), kTolerance);
    }
    EXPECT_LT(difference(found[1], found[0]), kTolerance);
  }
}

TEST_P(OnnxModelGolden, CarriesRelevanceToItsInput) {
  const Ready model = ready(Known::kNothing, Form::kRewritten);
  ASSERT_TRUE(model.place.valid());
  const Pass pass =
      run(model.graph, model.feeds, {.keep = Keep::kEverything, .outputs = {model.output}});
  for (const std::string& name : policy_names()) {
    SCOPED_TRACE(name);
    const Policy policy = policy_named(name);
    const PolicyRule rule(model.graph, policy, RelevanceForm::kExplicit, nullptr);
    const Tensor relevance =
        walk_back(model.graph, pass, model.output, stored("seed.output"), rule, {model.place})
            .at(model.place);
    double sum = 0;
    for (const double number : relevance.to_doubles()) sum += std::abs(number);
    EXPECT_TRUE(std::isfinite(sum) && sum > 0) << sum;
  }
}

std::vector<std::vector<int64_t>> sites_of(const Ready& model) {
  std::vector<std::vector<int64_t>> found;
  for (const AttentionSite& site : discover(model.graph, model.output).sites) {
    found.push_back({site.heads, site.queries, site.keys, site.is_self_attention()});
  }
  return found;
}

TEST_P(OnnxModelGolden, ShowsItsAttentionLayers) {
  for (const Known known : {Known::kNothing, Known::kMasks}) {
    EXPECT_THAT(sites_of(ready(known, Form::kRewritten)),
                testing::UnorderedElementsAreArray(expected_sites()));
  }
}

class OnnxModelsOfAnyBatch : public OnnxModelGolden {};

// Axes of length 1 can be mistaken for each other.
TEST_P(OnnxModelsOfAnyBatch, AreTheSameForOneInput) {
  for (const DeclaredValue& input : model_.file().graph.inputs) {
    if (input.shape[0] >= 0)
      GTEST_SKIP() << "a file of another folder that takes several inputs at once";
  }
  for (const Known known : {Known::kNothing, Known::kMasks}) {
    const Ready model = ready(known, Form::kRewritten, Rows::kFirst);
    const Pass pass = run(model.graph, model.feeds, {.outputs = {model.output}});
    Tensor expected = stored("expected.output").slice(0, 0, 1);
    // CLIP compares each picture with each text.
    const int64_t columns = model.graph.shape(model.output).back();
    expected = expected.slice(expected.rank() - 1, 0, columns).contiguous();
    EXPECT_LT(difference(pass[model.output], expected), kTolerance);
    EXPECT_THAT(sites_of(model), testing::UnorderedElementsAreArray(expected_sites()));
  }
}

// Which tokens the picture classifiers read, as their authors say: by token, 1 in all.
std::vector<double> shares_read(const std::string& model) {
  if (model == "vit" || model == "deit") {
    std::vector<double> first(model == "vit" ? 17 : 18, 0);
    first[0] = 1;
    return first;
  }
  if (model == "swin") return std::vector<double>(64, 1.0 / 64);
  if (model != "beit" && model != "dinov2") return {};
  std::vector<double> patches(17, model == "beit" ? 1.0 / 16 : 1.0 / 32);
  patches[0] = model == "beit" ? 0 : 0.5;
  return patches;
}

std::vector<double> shares_read(const fs::path& file) {
  const std::string stem = file.stem().string();
  return shares_read(stem.substr(0, stem.find('.')));
}

class OnnxPictureClassifiers : public OnnxModelGolden {};

TEST_P(OnnxPictureClassifiers, TellWhichTokensTheyRead) {
  const std::vector<double> expected = shares_read(GetParam());
  const Ready model = ready(Known::kNothing, Form::kRewritten);
  const int64_t batch = model.graph.shape(model.output)[0];
  const ReadOut found = discover(model.graph, model.output, batch).read_out;
  std::vector<double> shares = found.shares;
  if (found.kind == ReadOut::Kind::kRow || found.kind == ReadOut::Kind::kMean) {
    shares.assign(expected.size(), 0);
    ASSERT_LE(found.row + found.rows, static_cast<int64_t>(shares.size()));
    for (int64_t row = found.row; row < found.row + found.rows; ++row) {
      shares[row] = 1 / static_cast<double>(found.rows);
    }
  }
  EXPECT_THAT(shares, testing::Pointwise(testing::DoubleNear(1e-12), expected));
}

TEST_P(OnnxModelGolden, HasItsNormsActivationsAndMasksPutTogether) {
  const Ready model = ready(Known::kMasks, Form::kRewritten);
  std::set<std::string> left;
  for (const Node& node : model.graph.nodes()) {
    if (!model.graph.varies(node.outputs[0])) continue;
    if (model.graph.type(node.outputs[0]).dtype == DType::kInt64) continue;
    left.insert(std::string(node.op->kind()));
  }
  for (const char* written_out : {"Erf", "Sqrt", "Pow", "Reciprocal", "ReduceMean", "IsNaN"}) {
    EXPECT_FALSE(left.contains(written_out)) << written_out;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, OnnxModelGolden, testing::ValuesIn(golden_files()), test_name);

// Exported for two inputs at once.
bool takes_two_inputs(const fs::path& file) { return file.stem().string().starts_with("whisper."); }

std::vector<fs::path> files_of_any_batch() {
  std::vector<fs::path> files = golden_files();
  std::erase_if(files, takes_two_inputs);
  return files;
}
INSTANTIATE_TEST_SUITE_P(Files, OnnxModelsOfAnyBatch, testing::ValuesIn(files_of_any_batch()),
                         test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(OnnxModelsOfAnyBatch);

std::vector<fs::path> picture_classifiers() {
  std::vector<fs::path> files = golden_files();
  std::erase_if(files, [](const fs::path& file) { return shares_read(file).empty(); });
  return files;
}
INSTANTIATE_TEST_SUITE_P(Files, OnnxPictureClassifiers, testing::ValuesIn(picture_classifiers()),
                         test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(OnnxPictureClassifiers);

}  // namespace
}  // namespace whyformer::onnx
