// Norm-based methods and DecompX against PyTorch (tests/golden/relevance): text models whole,
// padded and in batches, and pre-LN image models.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "base/files.h"
#include "methods/blocks/alti.h"
#include "methods/blocks/block_vectors.h"
#include "methods/blocks/decomposition.h"
#include "methods/method.h"
#include "tests/support/golden_model.h"
#include "tests/support/plain_encoder.h"
#include "tests/support/source_folder.h"

namespace whyformer {
namespace {

std::filesystem::path norms_folder() { return source_folder() / "tests/golden/relevance"; }

enum class CaseKind { kText, kImage };

std::vector<std::string> cases(CaseKind kind) {
  std::vector<std::string> names;
  if (!std::filesystem::exists(norms_folder())) return names;
  for (const auto& entry : std::filesystem::directory_iterator(norms_folder())) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() != ".safetensors") continue;
    if (name.starts_with("vit") == (kind == CaseKind::kImage)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// "<input>.<targets>.<what>" or "<input>.<what>" of one expected tensor.
struct Expected {
  std::string name, input, what;
  std::vector<int64_t> targets;  // one per sample; empty where no class is explained
  Shape shape;
  std::vector<double> values;

  int64_t samples() const { return shape[0]; }
  std::vector<double> of_sample(int64_t sample) const {
    const int64_t size = static_cast<int64_t>(values.size()) / samples();
    return {values.begin() + sample * size, values.begin() + (sample + 1) * size};
  }
};

bool is_ours(const std::string& what) {
  for (const std::string method : {"attention-norm", "globenc", "alti", "decompx"}) {
    if (what.starts_with(method)) return true;
  }
  return false;
}

Expected parse_name(const std::string& name) {
  Expected expected;
  expected.name = name;
  const size_t dot = name.find('.');
  expected.input = name.substr(0, dot);
  expected.what = dot == std::string::npos ? "" : name.substr(dot + 1);
  if (expected.what.empty() || !std::isdigit(expected.what[0])) return expected;
  const size_t end = expected.what.find('.');
  std::string targets = expected.what.substr(0, end);
  std::replace(targets.begin(), targets.end(), '-', ' ');
  std::istringstream numbers(targets);
  for (int64_t target = 0; numbers >> target;) expected.targets.push_back(target);
  expected.what = expected.what.substr(end + 1);
  return expected;
}

struct RelevanceCase {
  StoredTensors tensors;
  nlohmann::json facts;
  std::vector<Expected> expected;  // of the methods tested here
  // PyTorch's own, by `what`: one run is one draw of rounding errors, so the largest of all inputs.
  std::map<std::string, double> float32_deviation;

  explicit RelevanceCase(const std::string& name) {
    const FileLookup files = files_in(norms_folder());
    tensors = read_safetensors(*files(name + ".safetensors"), name);
    facts = parse_json_file(*files(name + ".json"), name);
    for (const auto& [tensor_name, tensor] : tensors) {
      Expected entry = parse_name(tensor_name);
      if (!is_ours(entry.what)) continue;
      entry.shape = tensor.shape;
      entry.values.resize(tensor.count());
      std::memcpy(entry.values.data(), tensor.data.view.data(), tensor.data.size());
      double& most = float32_deviation[entry.what];
      most = std::max<double>(most, facts["float32_deviation"][tensor_name]);
      expected.push_back(std::move(entry));
    }
  }
};

double largest_norm(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

void expect_close(const std::vector<double>& actual, const std::vector<double>& expected,
                  double tolerance, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  double worst = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    ASSERT_FALSE(std::isnan(actual[i])) << what;
    worst = std::max(worst, std::abs(actual[i] - expected[i]));
  }
  EXPECT_LE(worst, tolerance) << what;
}

// A run that kept everything, with what the methods need of it.
struct ModelRun {
  const Graph& graph;
  Value output;
  std::vector<EncoderBlock> blocks;
  Pass pass;
};

// The read-out is row 0 in every case.
using MapOfBlock = std::function<Matrix(const EncoderBlock&)>;
std::vector<double> row_of_product(const ModelRun& run, const MapOfBlock& map_of) {
  std::vector<double> row(run.blocks.back().rows, 0.0);
  row[0] = 1;
  for (size_t layer = run.blocks.size(); layer-- > 0;) row = times(row, map_of(run.blocks[layer]));
  return row;
}

Sharing sharing_named(const std::string& what) {
  Sharing sharing;
  if (what == "decompx.tangent") sharing.activation = ActivationShare::kTangent;
  if (what == "decompx.no-bias") sharing.biases = BiasShare::kNone;
  if (what == "decompx.norm") sharing.biases = BiasShare::kNorm;
  if (what == "decompx.equal") sharing.biases = BiasShare::kEqual;
  if (what == "decompx.abssim") sharing.biases = BiasShare::kAbsoluteSimilarity;
  if (what == "decompx.dot") sharing.biases = BiasShare::kDot;
  if (what == "decompx.cls") sharing.biases = BiasShare::kOneToken;
  return sharing;
}

std::vector<double> decompx_scores(const ModelRun& run, int64_t sample, const Expected& expected) {
  Decomposition decomposition(run.graph, run.pass, sample, sharing_named(expected.what));
  for (const EncoderBlock& block : run.blocks) decomposition.through(block);
  for (const Node* node : find_head(run.graph, run.blocks.back(), run.output)) {
    decomposition.through_head(*node);
  }
  return decomposition.vectors().slice(2, expected.targets[sample], 1).to_doubles();
}

// Maps [heads,] [rows, tokens] of one layer, against those rows of the expected map.
void compare_map(const ModelRun& run, int64_t sample, const Expected& expected, double tolerance) {
  const size_t dot = expected.what.rfind('.');
  const EncoderBlock& block = run.blocks[std::stoi(expected.what.substr(dot + 1))];
  const std::string kind = expected.what.substr(0, dot);
  BlockVectorOptions options;
  if (kind == "attention-norm-residual") options.reach = Reach::kResidual;
  if (kind == "attention-norm-residual-ln") options.reach = Reach::kAttentionNorm;
  const int64_t tokens = expected.shape.back();
  const int64_t heads = kind == "attention-norm-heads" ? expected.shape[1] : 1;
  const std::vector<double> all = expected.of_sample(sample);
  for (int64_t head = 0; head < heads; ++head) {
    if (kind == "attention-norm-heads") options.head = head;
    const Matrix map = norm_map(BlockVectors(block, run.pass, sample, options));
    const auto first = all.begin() + (head * tokens + block.first_row) * tokens;
    expect_close(map.values, {first, first + block.rows * tokens}, tolerance, expected.name);
  }
}

void compare(const ModelRun& run, const Expected& expected, double relative) {
  const double tolerance = relative * largest_norm(expected.values);
  for (int64_t sample = 0; sample < expected.samples(); ++sample) {
    if (expected.what.starts_with("attention-norm")) {
      compare_map(run, sample, expected, tolerance);
      continue;
    }
    std::vector<double> scores;
    if (expected.what.starts_with("decompx")) {
      scores = decompx_scores(run, sample, expected);
    } else if (expected.what == "globenc") {
      scores = row_of_product(run, [&](const EncoderBlock& block) {
        return norm_map(BlockVectors(block, run.pass, sample, {.reach = Reach::kBlock}));
      });
    } else {
      AltiOptions options;
      if (expected.what == "alti-l2") options.norm = AltiOptions::Norm::kL2;
      if (expected.what == "alti-ours2") options.through = AltiOptions::Through::kBlock;
      scores = row_of_product(run, [&](const EncoderBlock& block) {
        return alti_map(block, run.pass, sample, options);
      });
    }
    expect_close(scores, expected.of_sample(sample), tolerance, expected.name);
  }
}

class NormGolden : public testing::TestWithParam<std::string> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(NormGolden);

void compare_text_case(const std::string& name, DType dtype) {
  const GoldenModel golden(name);
  const RelevanceCase relevance(name);
  ASSERT_FALSE(relevance.expected.empty());
  for (const GoldenInput& input : golden.inputs) {
    const auto text = golden.model->graph({.batch = input.size(),
                                           .tokens = input.tokens(),
                                           .masked = !input.batch.hidden.empty(),
                                           .head = golden.head(),
                                           .dtype = dtype});
    const ModelRun run{text->graph, text->output, find_blocks(text->graph, text->found.sites),
                       whyformer::run(text->graph, golden.model->feeds(*text, input.batch),
                                      {.keep = Keep::kEverything, .outputs = {text->output}})};
    for (const Expected& expected : relevance.expected) {
      if (expected.input != input.name) continue;
      const double relative =
          dtype == DType::kFloat64
              ? 1e-9
              : std::max(1e-6, 3 * relevance.float32_deviation.at(expected.what));
      compare(run, expected, relative);
    }
  }
}

TEST_P(NormGolden, EqualsPyTorchInDouble) { compare_text_case(GetParam(), DType::kFloat64); }

TEST_P(NormGolden, EqualsPyTorchInFloat) { compare_text_case(GetParam(), DType::kFloat32); }

// The catalogue's method and options that give an expected score.
std::pair<const Method*, Options> method_of(const std::string& what) {
  if (what == "globenc") return {&kGlobEnc, {}};
  if (what == "alti") return {&kAlti, {}};
  if (what == "alti-l2") return {&kAlti, {{"norm", std::string("l2")}}};
  if (what == "alti-ours2") return {&kAlti, parse_option(kAlti.info, "preset=ours2")};
  if (what == "decompx") return {&kDecompX, {}};
  if (what == "decompx.tangent") return {&kDecompX, {{"activation", std::string("tangent")}}};
  if (what == "decompx.no-bias") return {&kDecompX, {{"biases", std::string("none")}}};
  return {&kDecompX, {{"biases", what.substr(std::string("decompx.").size())}}};
}

TEST_P(NormGolden, MethodsGiveTheExpectedScores) {
  const GoldenModel golden(GetParam());
  for (const Expected& expected : RelevanceCase(GetParam()).expected) {
    const GoldenInput& input = golden.input(expected.input);
    if (expected.what.starts_with("attention-norm")) continue;
    if (input.size() > 1 || !input.batch.hidden.empty()) continue;
    const auto& [method, options] = method_of(expected.what);
    auto explained =
        run_of(*golden.model, input.encoding(),
               {.head = golden.head(), .needs = method->needs, .dtype = DType::kFloat64});
    if (!expected.targets.empty()) explained.set_target(expected.targets[0]);
    const Scores scores = method->run(explained, complete_options(*method, options));
    expect_close(scores.values, expected.values, 1e-9 * largest_norm(expected.values),
                 expected.name);
  }
}

TEST_P(NormGolden, AttentionNormReadsTheReadOutRowOfEveryLayer) {
  const GoldenModel golden(GetParam());
  auto explained = run_of(*golden.model, golden.input("single").encoding(),
                          {.needs = kAttentionNorm.needs, .dtype = DType::kFloat64});
  const auto scores = [&](const Options& options) {
    return kAttentionNorm.run(explained, complete_options(kAttentionNorm, options)).values;
  };
  for (const Expected& expected : RelevanceCase(GetParam()).expected) {
    if (expected.input != "single" || !expected.what.starts_with("attention-norm")) continue;
    const size_t dot = expected.what.rfind('.');
    const std::string kind = expected.what.substr(0, dot);
    Options options{{"layer", int64_t{std::stoi(expected.what.substr(dot + 1))}}};
    if (kind.ends_with("heads")) options.push_back({"head", int64_t{0}});
    if (kind.find("residual") != std::string::npos) options.push_back({"residual", true});
    if (kind.ends_with("ln")) options.push_back({"layer-norm", true});
    const std::vector<double> row(expected.values.begin(),
                                  expected.values.begin() + expected.shape.back());
    expect_close(scores(options), row, 1e-9 * largest_norm(expected.values), expected.name);
  }
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Cases, NormGolden, testing::ValuesIn(cases(CaseKind::kText)), test_name);

// Weights of ViTForImageClassification as plain numbers.
class VitWeights {
 public:
  explicit VitWeights(const StoredTensors& tensors) : tensors_(tensors) {}

  PlainVector vector(const std::string& name) const {
    const StoredTensor& stored = tensors_.at(name);
    std::vector<float> values(stored.count());
    std::memcpy(values.data(), stored.data.view.data(), stored.data.size());
    return {values.begin(), values.end()};
  }

  // Axes after the first count as one.
  PlainRows rows(const std::string& name) const {
    const PlainVector flat = vector(name);
    const int64_t count = tensors_.at(name).shape[0];
    const int64_t width = static_cast<int64_t>(flat.size()) / count;
    PlainRows result;
    for (int64_t i = 0; i < count; ++i) {
      result.emplace_back(flat.begin() + i * width, flat.begin() + (i + 1) * width);
    }
    return result;
  }

  PlainLinear linear(const std::string& name) const {
    const bool has_bias = tensors_.contains(name + ".bias");
    return {rows(name + ".weight"), has_bias ? vector(name + ".bias") : PlainVector{}};
  }

  PlainNorm norm(const std::string& name, double epsilon) const {
    return {vector(name + ".weight"), vector(name + ".bias"), epsilon};
  }

 private:
  const StoredTensors& tensors_;
};

PlainEncoder vit_encoder(const VitWeights& weights, const nlohmann::json& config) {
  PlainEncoder encoder;
  encoder.heads = config["num_attention_heads"];
  encoder.norms_before = true;
  encoder.activation =
      config["hidden_act"] == "relu" ? ActivationFunction::kRelu : ActivationFunction::kGelu;
  const double epsilon = config["layer_norm_eps"];
  for (int layer = 0; layer < config["num_hidden_layers"].get<int>(); ++layer) {
    const std::string base = "vit.encoder.layer." + std::to_string(layer) + ".";
    const std::string self = base + "attention.attention.";
    encoder.layers.push_back(
        {weights.linear(self + "query"), weights.linear(self + "key"),
         weights.linear(self + "value"), weights.linear(base + "attention.output.dense"),
         weights.linear(base + "intermediate.dense"), weights.linear(base + "output.dense"),
         weights.norm(base + "layernorm_before", epsilon),
         weights.norm(base + "layernorm_after", epsilon)});
  }
  encoder.final_norm = weights.norm("vit.layernorm", epsilon);
  encoder.classifier = weights.linear("classifier");
  return encoder;
}

// Patches through the convolution, behind the class token, with positions: [tokens][width].
PlainRows vit_input(const VitWeights& weights, const nlohmann::json& config) {
  const PlainVector pixels = weights.vector("image.pixels");
  const PlainLinear patches = weights.linear("vit.embeddings.patch_embeddings.projection");
  const PlainVector positions = weights.vector("vit.embeddings.position_embeddings");
  const int64_t size = config["patch_size"], channels = config["num_channels"];
  const int64_t height = config["image_size"][0], width = config["image_size"][1];
  PlainRows rows{weights.vector("vit.embeddings.cls_token")};
  for (int64_t top = 0; top < height; top += size) {
    for (int64_t left = 0; left < width; left += size) {
      PlainVector patch;
      for (int64_t c = 0; c < channels; ++c) {
        for (int64_t y = top; y < top + size; ++y) {
          for (int64_t x = left; x < left + size; ++x) {
            patch.push_back(pixels[(c * height + y) * width + x]);
          }
        }
      }
      rows.push_back(patches(patch));
    }
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t d = 0; d < rows[i].size(); ++d) rows[i][d] += positions[i * rows[i].size() + d];
  }
  return rows;
}

class NormGoldenImages : public testing::TestWithParam<std::string> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(NormGoldenImages);

TEST_P(NormGoldenImages, NetworksThatNormaliseBeforeEqualPyTorchInDouble) {
  const RelevanceCase relevance(GetParam());
  const VitWeights weights(relevance.tensors);
  const nlohmann::json& config = relevance.facts["config"];
  const PlainEncoder encoder = vit_encoder(weights, config);
  const PlainRows input = vit_input(weights, config);
  const EncoderGraph graph = graph_of(encoder, {.tokens = static_cast<int64_t>(input.size())});
  const ModelRun run{graph.graph, graph.output, find_blocks(graph.graph, graph.found.sites),
                     run_graph(graph, {input})};
  ASSERT_FALSE(relevance.expected.empty());
  for (const Expected& expected : relevance.expected) compare(run, expected, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Cases, NormGoldenImages, testing::ValuesIn(cases(CaseKind::kImage)),
                         test_name);

}  // namespace
}  // namespace whyformer
