// Every method on models of several streams and on arrays: formulas in plain loops, other routes to
// the same scores, and invariants.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "methods/method.h"
#include "readers/array_subject.h"
#include "relevance/relevance_walk.h"
#include "tests/support/array_test_helpers.h"
#include "tests/support/golden_model.h"

namespace whyformer {
namespace {

using Choice = std::pair<std::string, OptionValue>;

// What the formulas start from: maps of every site and head, and their gradients.
struct Maps {
  explicit Maps(const ArrayTrace& trace) {
    for (size_t l = 0; l < trace.info.sites.size(); ++l) {
      attention.push_back(by_head(trace, fmt::format("attention.{}", l), trace.info.sites[l]));
      gradient.push_back(
          by_head(trace, fmt::format("attention_gradient.{}", l), trace.info.sites[l]));
    }
  }
  static std::vector<NumberRows> by_head(const ArrayTrace& trace, const std::string& name,
                                         const SiteInfo& site) {
    const std::vector<float> flat = tensor(trace, name);
    std::vector<NumberRows> heads(site.heads, zeros(site.queries, site.keys));
    // Of several inputs that go together the first; formulas of others look at no maps.
    for (int64_t i = 0; i < site.heads * site.queries * site.keys; ++i) {
      const int64_t at = i % (site.queries * site.keys);
      heads[i / (site.queries * site.keys)][at / site.keys][at % site.keys] = flat[i];
    }
    return heads;
  }
  NumberRows mean(size_t site) const {
    NumberRows sum = zeros(attention[site][0].size(), attention[site][0][0].size());
    for (const NumberRows& head : attention[site]) sum = plus(sum, head);
    for (auto& row : sum) {
      for (double& x : row) x /= static_cast<double>(attention[site].size());
    }
    return sum;
  }
  // (A + I) / row sums.
  NumberRows factor(size_t site) const {
    NumberRows result = plus(mean(site), identity(attention[site][0].size()));
    for (auto& row : result) {
      const double sum = std::accumulate(row.begin(), row.end(), 0.0);
      for (double& x : row) x /= sum;
    }
    return result;
  }
  std::vector<std::vector<NumberRows>> attention, gradient;  // [site][head]
};

struct Case {
  explicit Case(const std::string& name, ArrayTarget target = {})
      : model(golden(name)),
        inputs(model),
        trace(trace_arrays(model, inputs.path(), target)),
        maps(trace),
        target(target) {}
  ArrayExplanation run(const std::string& method, Options options = {}) const {
    return explained(model, inputs.path(), {{method, std::move(options)}}, target);
  }
  std::filesystem::path model;
  InputFile inputs;
  ArrayTrace trace;
  Maps maps;
  ArrayTarget target;
};

constexpr const char* kEncoderDecoder = "t5.eager.new.18";
constexpr const char* kObjects = "detr.sdpa.new.23";
constexpr const char* kTwoStreams = "lxmert.eager.new.20";

// tests/golden/arrays: the authors' formulas for each architecture, with PyTorch's maps and
// gradients in double.
void check_golden(const std::string& name, const std::string& file, int own) {
  const StoredTensors stored = read_safetensors(
      map_file(source_folder() / "tests/golden/arrays" / (name + ".safetensors")), name);
  const auto doubles = [&](const std::string& key) {
    const StoredTensor& tensor = stored.at(key);
    std::vector<double> numbers(tensor.count());
    std::memcpy(numbers.data(), tensor.data.view.data(), tensor.data.size());
    return numbers;
  };
  ArrayViews views;
  ArrayRequest request;
  for (const auto& [key, tensor] : stored) {
    if (!key.starts_with("input.")) continue;
    views[key.substr(6)] = {std::string(name_of(tensor.type)), tensor.shape,
                            std::shared_ptr<const void>(tensor.data.owner, tensor.data.view.data()),
                            tensor.data.size()};
  }
  const StoredTensor& element = stored.at("element");
  request.target.indices.resize(element.count());
  std::memcpy(request.target.indices.data(), element.data.view.data(), element.data.size());
  request.methods = {{"raw-attention", {}},
                     {"rollout", {}},
                     {"grad-cam", {Choice{"average", std::string("map")}}},
                     {"gae", {}}};
  request.precision = Precision::kDouble;
  const ArrayExplanation found = ArrayModel::load(golden(file)).explain(views, request);
  EXPECT_NEAR(found.explanation.target.value, doubles("value")[0], 1e-6);
  ASSERT_EQ(found.explanation.attributions.size(), 4u);
  for (const Attribution& one : found.explanation.attributions) {
    SCOPED_TRACE(name + " " + one.method);
    // Exporters round scales and epsilons to 32 bits.
    for (const int stream : {0, 1}) {
      const std::vector<double> expected =
          doubles(one.method + (stream == own ? ".own" : ".other"));
      const std::vector<double> scores = found.by_stream(one)[stream].scores;
      ASSERT_EQ(scores.size(), expected.size());
      double most = 1e-9;
      for (const double x : expected) most = std::max(most, std::abs(x));
      for (size_t i = 0; i < scores.size(); ++i)
        EXPECT_NEAR(scores[i], expected[i], 1e-5 * most) << stream << " " << i;
    }
  }
}

TEST(StreamMethods, AgreeWithPyTorchOnT5) { check_golden("t5", "t5.eager.new.18", 1); }
TEST(StreamMethods, AgreeWithPyTorchOnBart) { check_golden("bart", "bart.sdpa.new.20", 1); }
TEST(StreamMethods, AgreeWithPyTorchOnLxmert) { check_golden("lxmert", "lxmert.eager.new.20", 0); }

TEST(StreamMethods, RawAttentionReadsTheLastMapToEachStream) {
  for (const std::string name : {kEncoderDecoder, kObjects}) {
    const Case one(name);
    const int64_t row = one.trace.indices[1];
    const ArrayExplanation found = one.run("raw-attention");
    expect_scores(found, 0, one.maps.mean(5)[row]);
    expect_scores(found, 1, one.maps.mean(4)[row]);
  }
  const Case two(kTwoStreams);
  const ArrayExplanation found = two.run("raw-attention", {Choice{"own", std::string("zero")}});
  expect_scores(found, 0, two.maps.mean(8)[0], 0);
  expect_scores(found, 1, two.maps.mean(7)[0]);
}

TEST(StreamMethods, RolloutCrossesByTheLastMapBetweenTheProductsOfBothStreams) {
  const Case one(kObjects);
  const NumberRows encoder = times(one.maps.factor(1), one.maps.factor(0));
  const NumberRows queries = times(one.maps.factor(4), one.maps.factor(2));
  const int64_t row = one.trace.indices[1];
  const ArrayExplanation found = one.run("rollout");
  expect_scores(found, 0, times(flipped(queries), times(one.maps.mean(5), encoder))[row]);
  expect_scores(found, 1, queries[row]);
}

TEST(StreamMethods, RolloutOfTwoStreamsLeavesTheLastSelfAttentionOutOfTheCrossing) {
  const Case two(kTwoStreams);
  const Maps& maps = two.maps;
  const NumberRows language = times(maps.factor(5), times(maps.factor(1), maps.factor(0)));
  const NumberRows vision = times(maps.factor(6), maps.factor(2));
  const ArrayExplanation found = two.run("rollout", {Choice{"own", std::string("zero")}});
  expect_scores(found, 0, times(maps.factor(8), language)[0], 0);
  expect_scores(found, 1, times(flipped(language), times(maps.mean(7), vision))[0]);
}

// (mean over heads of mean gradient · A)⁺.
std::vector<double> grad_cam_row(const Maps& maps, size_t site, int64_t row, bool whole,
                                 int64_t own) {
  const size_t heads = maps.attention[site].size(), keys = maps.attention[site][0][0].size();
  std::vector<double> scores(keys, 0);
  for (size_t h = 0; h < heads; ++h) {
    double sum = 0, count = 0;
    for (size_t i = 0; i < maps.gradient[site][h].size(); ++i) {
      for (size_t j = 0; j < keys; ++j) {
        if (!whole && (static_cast<int64_t>(i) != row || static_cast<int64_t>(j) == own)) continue;
        sum += maps.gradient[site][h][i][j];
        ++count;
      }
    }
    for (size_t j = 0; j < keys; ++j)
      scores[j] += sum / count * maps.attention[site][h][row][j] / static_cast<double>(heads);
  }
  for (double& x : scores) x = std::max(x, 0.0);
  if (own >= 0) scores[own] = 0;
  return scores;
}

double total(const std::vector<double>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0);
}

TEST(StreamMethods, GradCamWeighsTheHeadsOfTheLastMapToEachStream) {
  const Case two(kTwoStreams);
  for (const bool whole : {false, true}) {
    const ArrayExplanation found =
        two.run("grad-cam", {Choice{"average", std::string(whole ? "map" : "row")}});
    const std::vector<StreamScores> scores = found.by_stream(found.explanation.attributions[0]);
    for (const int stream : {0, 1}) {
      const std::vector<double> expected =
          grad_cam_row(two.maps, stream == 0 ? 8 : 7, 0, whole, stream == 0 ? 0 : -1);
      const double most = *std::max_element(expected.begin(), expected.end());
      for (size_t i = 0; i < expected.size(); ++i)
        EXPECT_NEAR(scores[stream].scores[i], expected[i], 1e-6 * most) << i;
    }
  }
}

TEST(StreamMethods, GradSamSumsEverySiteForItsQueriesOrItsKeys) {
  const Case one(kEncoderDecoder);
  for (const bool by_query : {true, false}) {
    std::vector<std::vector<double>> expected{std::vector<double>(8, 0),
                                              std::vector<double>(10, 0)};
    for (size_t site = 0; site < 6; ++site) {
      const SiteInfo& info = one.trace.info.sites[site];
      const auto heads = static_cast<double>(info.heads);
      for (size_t h = 0; h < one.maps.attention[site].size(); ++h) {
        for (int64_t i = 0; i < info.queries; ++i) {
          for (int64_t j = 0; j < info.keys; ++j) {
            const double share =
                one.maps.attention[site][h][i][j] * std::max(0.0, one.maps.gradient[site][h][i][j]);
            const double length = static_cast<double>(by_query ? info.keys : info.queries);
            expected[by_query ? info.query_stream : info.key_stream][by_query ? i : j] +=
                share / (6 * heads * length);
          }
        }
      }
    }
    const ArrayExplanation found =
        one.run("grad-sam", {Choice{"axis", std::string(by_query ? "query" : "key")}});
    expect_scores(found, 0, expected[0]);
    expect_scores(found, 1, expected[1]);
  }
}

// Relevance at a site's maps, by a walk of its own.
std::vector<NumberRows> relevance_at(const Case& one, const std::string& policy, int site) {
  const OnnxArrayModel model(one.model);
  NamedArrays arrays;
  for (const auto& [name, stored] : read_safetensors(map_file(one.inputs.path()), "inputs")) {
    arrays[name] = Tensor::of<float>(stored.shape, std::span<const float>(to_float32(stored)));
  }
  const auto graph = model.graph(arrays, one.trace.output, one.trace.indices, DType::kFloat64);
  const Pass pass = run(graph->graph, OnnxArrayModel::feeds(*graph->probe, arrays),
                        {Keep::kEverything, {graph->output}});
  const AttentionSite& at = graph->found.sites[site];
  const auto found = walk_relevance(graph->graph, pass, graph->output, {graph->target},
                                    policy_named(policy), RelevanceForm::kExplicit, {at.attention});
  const std::vector<double> flat = found.at(at.attention).to_doubles();
  std::vector<NumberRows> heads(at.heads, zeros(at.queries, at.keys));
  for (size_t i = 0; i < flat.size(); ++i) {
    const int64_t in_head = static_cast<int64_t>(i) % (at.queries * at.keys);
    heads[i / (at.queries * at.keys)][in_head / at.keys][in_head % at.keys] = flat[i];
  }
  return heads;
}

ArrayExplanation in_double(const Case& one, const std::string& method, Options options = {}) {
  ArrayRequest request;
  request.target = one.target;
  request.methods = {{method, std::move(options)}};
  request.hiding_id = 1;
  request.precision = Precision::kDouble;
  return ArrayModel::load(one.model).explain(read_array_views(one.inputs.path()), request);
}

void expect_near(const std::vector<double>& found, const std::vector<double>& expected,
                 double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  double most = 0;
  for (const double x : expected) most = std::max(most, std::abs(x));
  EXPECT_GT(most, 0);
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], tolerance * most) << i;
}

std::vector<double> stream_of(const ArrayExplanation& found, int stream) {
  return found.by_stream(found.explanation.attributions[0])[stream].scores;
}

TEST(StreamMethods, PartialLrpReadsRelevanceAtTheLastMapToEachStream) {
  const Case one(kEncoderDecoder);
  const int64_t row = one.trace.indices[1];
  const ArrayExplanation found =
      in_double(one, "partial-lrp", {Choice{"own", std::string("keep")}});
  for (const int stream : {0, 1}) {
    const std::vector<NumberRows> heads = relevance_at(one, "lrp-orig", stream == 0 ? 5 : 4);
    std::vector<double> expected(heads[0][0].size(), 0);
    for (const NumberRows& head : heads) {
      for (size_t j = 0; j < expected.size(); ++j)
        expected[j] += std::max(0.0, head[row][j]) / static_cast<double>(heads.size());
    }
    expect_near(stream_of(found, stream), expected, 1e-6);
  }
}

TEST(StreamMethods, TransformerAttributionMultipliesOwnLayersAndReadsTheLastMapToOthers) {
  const Case two(kTwoStreams);
  const auto weighted = [&](int site) {
    const std::vector<NumberRows> heads = relevance_at(two, "chefer", site);
    NumberRows map = zeros(heads[0].size(), heads[0][0].size());
    for (size_t h = 0; h < heads.size(); ++h) {
      for (size_t i = 0; i < map.size(); ++i) {
        for (size_t j = 0; j < map[i].size(); ++j) {
          map[i][j] += std::max(0.0, heads[h][i][j] * two.maps.gradient[site][h][i][j]) /
                       static_cast<double>(heads.size());
        }
      }
    }
    return map;
  };
  NumberRows own = identity(9);
  for (const int site : {0, 1, 5, 8}) own = plus(own, times(weighted(site), own));
  own[0][0] = 0;
  const ArrayExplanation found = in_double(two, "transformer-attribution");
  expect_near(stream_of(found, 0), own[0], 1e-4);
  expect_near(stream_of(found, 1), weighted(7)[0], 1e-4);
}

// Biases and constants take their part, so the sum is what a walk to all of them would give; rules
// that ignore them keep it.
TEST(StreamMethods, RelevanceAtBothStreamsFirstLayersAddsUpToOne) {
  const Case two(kTwoStreams);
  const ArrayExplanation found = in_double(
      two, "lrp", {Choice{"policy", std::string("chefer")}, Choice{"own", std::string("keep")}});
  EXPECT_NEAR(total(found.explanation.attributions[0].scores), 1, 1e-5);
}

TEST(ArrayGradients, OfNumbersAreTheNormsOfTheTracedGradient) {
  const Case two(kTwoStreams);
  const std::vector<float> gradient = tensor(two.trace, "input_gradient.visual_feats");
  std::vector<double> norms(6, 0);
  for (size_t i = 0; i < gradient.size(); ++i) norms[i / 10] += double{gradient[i]} * gradient[i];
  for (double& x : norms) x = std::sqrt(x);
  expect_scores(two.run("saliency"), 1, norms);
}

TEST(ArrayGradients, OfPatchesCoverTheirPixels) {
  const Case one(kObjects);
  const std::vector<float> gradient = tensor(one.trace, "input_gradient.pixel_values");
  std::vector<double> sums(16, 0);
  for (size_t i = 0; i < gradient.size(); ++i)
    sums[i / 32 % 32 / 8 * 4 + i % 32 / 8] += std::abs(double{gradient[i]});
  expect_scores(one.run("saliency", {Choice{"norm", std::string("l1")}}), 0, sums);
}

// Whisper: two inputs go together in this file, and a convolution halves the frames.
TEST(ArrayGradients, OfFramesAndOfASecondInput) {
  const Case one("whisper.eager.new.20", {"", {1, 3, 7}});
  const std::vector<float> gradient = tensor(one.trace, "input_gradient.input_features");
  std::vector<double> sums(10, 0);
  for (size_t i = 8 * 20; i < gradient.size(); ++i)
    sums[i % 20 / 2] += std::abs(double{gradient[i]});
  expect_scores(one.run("saliency", {Choice{"norm", std::string("l1")}}), 0, sums);
}

TEST(ArrayGradients, AddUpAlongTheWayFromANeutralInput) {
  for (const std::string name : {kEncoderDecoder, kTwoStreams, "visual-bert.eager.legacy.17"}) {
    SCOPED_TRACE(name);
    const Case one(name);
    for (const std::string baseline : {"auto", "zero"}) {
      // T5 normalises without a mean: near vectors of 0 its gradient has no bound.
      if (name == kEncoderDecoder && baseline == "zero") continue;
      const ArrayExplanation found =
          in_double(one, "integrated-gradients", {Choice{"baseline", baseline}});
      const Attribution& scores = found.explanation.attributions[0];
      EXPECT_LE(std::abs(*scores.completeness_gap), 2e-3 * std::abs(total(scores.scores)));
    }
  }
}

// The same ids as a text and as arrays: one stream, so every method must say the same.
TEST(ArrayMethods, SayTheSameAsOnATextOfTheSameIds) {
  const std::vector<std::pair<std::string, Options>> methods{
      {"gae", {}},
      {"rollout", {}},
      {"raw-attention", {}},
      {"attention-flow", {}},
      {"grad-cam", {}},
      {"grad-sam", {}},
      {"saliency", {}},
      {"gradient-x-input", {}},
      {"smooth-grad", {}},
      {"transformer-attribution", {}},
      {"attn-lrp", {}},
      {"cp-lrp", {}},
      {"partial-lrp", {}},
      {"lrp", {}},
      {"attention-norm", {}},
      {"globenc", {}},
      {"alti", {}},
      {"decompx", {}},
      {"integrated-gradients", {Choice{"baseline", std::string("zero")}}}};
  const GoldenModel text = GoldenModel::from_onnx("bert");
  const GoldenInput& input = text.inputs[0];
  ArrayViews views;
  const std::vector<std::vector<int64_t>> rows{input.batch.ids[0], input.batch.types[0]};
  for (const size_t i : {0, 1}) {
    views[i == 0 ? "input_ids" : "token_type_ids"] = {
        "I64",
        {1, input.tokens()},
        std::shared_ptr<const void>(std::shared_ptr<void>(), rows[i].data()),
        rows[i].size() * sizeof(int64_t)};
  }
  const ArrayModel model = ArrayModel::load(source_folder() / "tests/golden/onnx/text/bert.onnx");
  for (const auto& [name, options] : methods) {
    SCOPED_TRACE(name);
    const Method& method = find_method(name);
    Encoding encoding = input.encoding();
    encoding.special.assign(encoding.ids.size(),
                            false);  // arrays do not tell which tokens are special
    Explained expected(*text.model, encoding,
                       {.head = text.head(),
                        .needs = {.attention = true,
                                  .attention_gradient = true,
                                  .embedding_gradient = true,
                                  .values = true},
                        .dtype = DType::kFloat64});
    expected.set_target(input.targets[0]);
    ArrayRequest request;
    request.target.indices = {0, input.targets[0]};
    request.methods = {{name, options}};
    request.precision = Precision::kDouble;
    const ArrayExplanation found = model.explain(views, request);
    expect_near(found.explanation.attributions[0].scores,
                method.run(expected, complete_options(method, options)).values, 1e-9);
  }
}

// What the model answers when some tokens are hidden, by running it on changed arrays.
class Hiding {
 public:
  explicit Hiding(const Case& one)
      : model_(ArrayModel::load(one.model)),
        output_(one.trace.output),
        indices_(one.trace.indices) {
    for (const auto& [name, stored] : read_safetensors(map_file(one.inputs.path()), "inputs")) {
      numbers_[name] = to_float32(stored);
      shapes_[name] = stored.shape;
    }
  }
  std::map<std::string, std::vector<float>>& numbers() { return numbers_; }
  double value() const {
    ArrayViews views;
    for (const auto& [name, values] : numbers_) {
      views[name] = {"F32", shapes_.at(name),
                     std::shared_ptr<const void>(std::shared_ptr<void>(), values.data()),
                     values.size() * sizeof(float)};
    }
    const ArrayModel::Answer answer = model_.run(views).at(output_);
    int64_t at = 0;
    for (size_t axis = 0; axis < indices_.size(); ++axis)
      at = at * answer.shape[axis] + indices_[axis];
    return answer.values[at];
  }

 private:
  ArrayModel model_;
  std::string output_;
  std::vector<int64_t> indices_;
  std::map<std::string, std::vector<float>> numbers_;
  std::map<std::string, std::vector<int64_t>> shapes_;
};

TEST(ArrayHiding, TakesTokensAndNumbersAwayOneByOne) {
  const Case two(kTwoStreams);
  const ArrayExplanation found = two.run("leave-one-out");
  std::vector<double> tokens, regions;
  for (int i = 0; i < 9; ++i) {
    Hiding hiding(two);
    hiding.numbers()["input_ids"][i] = 1;
    tokens.push_back(two.trace.value - hiding.value());
  }
  for (int i = 0; i < 6; ++i) {
    Hiding hiding(two);
    std::fill_n(hiding.numbers()["visual_feats"].begin() + 10 * i, 10, 0.0f);
    regions.push_back(two.trace.value - hiding.value());
  }
  expect_near(stream_of(found, 0), tokens, 1e-4);
  expect_near(stream_of(found, 1), regions, 1e-4);
  expect_near(found.explanation.attributions[0].scores,
              two.run("occlusion").explanation.attributions[0].scores, 1e-5);
}

TEST(ArrayHiding, OfPatchesPaintsTheirMeanColour) {
  const Case one(kObjects);
  Hiding hiding(one);
  std::vector<float>& pixels = hiding.numbers()["pixel_values"];
  std::vector<double> mean(3, 0);
  for (size_t i = 0; i < pixels.size(); ++i) mean[i / 1024] += double{pixels[i]} / 1024;
  for (size_t i = 0; i < pixels.size(); ++i) {
    if (i / 32 % 32 / 8 == 2 && i % 32 / 8 == 1) pixels[i] = static_cast<float>(mean[i / 1024]);
  }
  const ArrayExplanation found = one.run("leave-one-out", {Choice{"how", std::string("mean")}});
  const std::vector<double> scores = stream_of(found, 0);
  EXPECT_NEAR(scores[2 * 4 + 1], one.trace.value - hiding.value(), 1e-5);
}

TEST(ArrayHiding, ShapleyValuesShareOutWhatAllTokensAreWorth) {
  const Case two(kTwoStreams);
  Hiding hiding(two);
  std::fill(hiding.numbers()["input_ids"].begin(), hiding.numbers()["input_ids"].end(), 1.0f);
  std::fill(hiding.numbers()["visual_feats"].begin(), hiding.numbers()["visual_feats"].end(), 0.0f);
  const double difference = two.trace.value - hiding.value();
  for (const std::string method : {"shap", "permutation-shap", "partition-shap", "kernel-shap"}) {
    SCOPED_TRACE(method);
    EXPECT_NEAR(total(two.run(method).explanation.attributions[0].scores), difference, 1e-4);
  }
  EXPECT_EQ(two.run("lime").explanation.attributions[0].scores.size(), 15u);
}

TEST(ArrayHiding, NeedsAnIdForTokens) {
  const Case one(kEncoderDecoder);
  ArrayRequest request;
  request.methods = {{"leave-one-out", {}}};
  EXPECT_THROW(ArrayModel::load(one.model).explain(read_array_views(one.inputs.path()), request),
               InvalidInput);
}

// CLIP's similarity reads both towers, between which there is no attention.
TEST(StreamMethods, SayWhichStreamTheyCannotReach) {
  const Case one("clip.eager.new.18");
  const ArrayExplanation found = explained(one.model, one.inputs.path(),
                                           {{"rollout", {}}, {"grad-cam", {}}, {"saliency", {}}});
  const std::vector<Attribution>& all = found.explanation.attributions;
  ASSERT_EQ(all.size(), 3u);
  for (const int method : {0, 1}) {
    ASSERT_EQ(all[method].notes.size(), 1u);
    EXPECT_NE(all[method].notes[0].find("to stream 0"), std::string::npos);
  }
  EXPECT_TRUE(all[2].notes.empty());
  for (const StreamScores& stream : found.by_stream(all[2])) EXPECT_GT(total(stream.scores), 0);
}

TEST(ArrayMethods, OneThatRefusesLeavesTheOthers) {
  const Case one(kEncoderDecoder);
  const ArrayExplanation found =
      explained(one.model, one.inputs.path(), {{"alti", {}}, {"attention-flow", {}}, {"gae", {}}});
  ASSERT_EQ(found.explanation.attributions.size(), 1u);
  EXPECT_EQ(found.explanation.attributions[0].method, "gae");
  ASSERT_EQ(found.explanation.refused.size(), 2u);
  EXPECT_EQ(found.explanation.refused[1].method, "attention-flow");
  EXPECT_NE(found.explanation.refused[1].reason.find("2 token streams"), std::string::npos);
  EXPECT_THROW(explained(one.model, one.inputs.path(), {{"alti", {}}, {"attention-flow", {}}}),
               InvalidInput);
}

TEST(ArrayMethods, OfWindowsExplainPositionsOfTheInput) {
  const auto model = golden("swin.eager.new.18");
  const InputFile inputs(model);
  const ArrayExplanation found =
      explained(model, inputs.path(), {{"rollout", {}}, {"gradient-x-input", {}}});
  ASSERT_EQ(found.explanation.refused.size(), 1u);
  EXPECT_NE(found.explanation.refused[0].reason.find("windows"), std::string::npos);
  const ArrayTrace trace = trace_arrays(model, inputs.path(), {});
  const std::vector<float> gradient = tensor(trace, "input_gradient.pixel_values");
  const std::vector<float> pixels =
      to_float32(read_safetensors(map_file(inputs.path()), "inputs").at("pixel_values"));
  double sum = 0;
  for (size_t i = 0; i < pixels.size(); ++i) sum += double{pixels[i]} * gradient[i];
  EXPECT_NEAR(total(found.explanation.attributions[0].scores), sum, 1e-4 * std::abs(sum));
}

// Where the ids also choose the token that is read, the tokens' vectors still pass the first layer.
TEST(ArrayMethods, FindWhatEntersTheFirstLayerPastIdsThatChooseARow) {
  const Case one("gpt2.eager.legacy.17");
  const ArrayExplanation found = in_double(
      one, "lrp", {Choice{"policy", std::string("chefer")}, Choice{"own", std::string("keep")}});
  EXPECT_NEAR(total(found.explanation.attributions[0].scores), 1, 1e-5);
}

// XLNet turns the ids round before it looks them up.
TEST(ArrayHiding, WorksWhereIdsAreTurnedRound) {
  const Case one("xlnet.eager.legacy.17");
  const std::vector<double> slopes = one.run("saliency").explanation.attributions[0].scores;
  for (const double slope : slopes) EXPECT_GT(slope, 0);
  const std::vector<double> scores = one.run("leave-one-out").explanation.attributions[0].scores;
  Hiding hiding(one);
  hiding.numbers()["input_ids"][3] = 1;
  EXPECT_NEAR(scores[3], one.trace.value - hiding.value(), 1e-5);
}

TEST(ArrayModelTest, RefusesAnElementThatPairsInputsOfABatch) {
  const Case one("clip.eager.new.18");
  std::map<std::string, std::vector<float>> doubled;
  ArrayViews views;
  for (const auto& [name, stored] : read_safetensors(map_file(one.inputs.path()), "inputs")) {
    std::vector<float>& numbers = doubled[name] = to_float32(stored);
    const std::vector<float> once = numbers;
    numbers.insert(numbers.end(), once.begin(), once.end());
    std::vector<int64_t> shape = stored.shape;
    shape[0] = 2;
    views[name] = {"F32", shape,
                   std::shared_ptr<const void>(std::shared_ptr<void>(), numbers.data()),
                   numbers.size() * 4};
  }
  ArrayRequest request;
  request.methods = {{"saliency", {}}};
  request.target.indices = {0, 1};
  EXPECT_THROW(ArrayModel::load(one.model).explain(views, request), InvalidInput);
}

TEST(ArrayModelTest, TakesArraysFromMemoryAndRefusesWrongOnes) {
  const Case one(kEncoderDecoder);
  const ArrayModel model = ArrayModel::load(one.model);
  ArrayViews views = read_array_views(one.inputs.path());
  std::vector<int32_t> ids;
  for (const float id :
       to_float32(read_safetensors(map_file(one.inputs.path()), "inputs").at("input_ids"))) {
    ids.push_back(static_cast<int32_t>(id));
  }
  const auto memory = std::shared_ptr<const void>(std::shared_ptr<void>(), ids.data());
  views["input_ids"] = {"I32", {1, 8}, memory, ids.size() * sizeof(int32_t)};
  EXPECT_EQ(model.trace(views, {}).value, one.trace.value);
  EXPECT_EQ(model.trace(views, {}).value, one.trace.value);
  views["input_ids"].bytes -= 4;
  EXPECT_THROW(model.run(views), InvalidInput);
  views["input_ids"] = {"I33", {1, 8}, memory, 32};
  EXPECT_THROW(model.run(views), UnsupportedModel);
  views["input_ids"] = {"I32", {1, int64_t{1} << 62}, memory, 32};
  EXPECT_THROW(model.run(views), InvalidInput);
}

TEST(ArrayModelTest, AnswersArraysOfOtherLengthsAfterTheFirst) {
  const Case one(kEncoderDecoder);
  const ArrayModel model = ArrayModel::load(one.model);
  ArrayViews views = read_array_views(one.inputs.path());
  const double whole = model.trace(views, {}).value;
  ArrayViews shorter = views;
  shorter["input_ids"].shape[1] = 5;
  shorter["input_ids"].bytes = 5 * sizeof(float);
  EXPECT_NE(model.trace(shorter, {}).value, whole);
  EXPECT_EQ(model.trace(shorter, {}).value, ArrayModel::load(one.model).trace(shorter, {}).value);
  EXPECT_EQ(model.trace(views, {}).value, whole);
}

TEST(ArrayModelTest, NamesTheInputOfAnIdThatIsNoRowOfItsTable) {
  const Case one(kEncoderDecoder);
  ArrayViews views = read_array_views(one.inputs.path());
  const std::vector<float> wrong{1, 2, 3, 4, 5, 6, 7, 8, 999, 1};
  views["decoder_input_ids"] = {
      "F32", {1, 10}, std::shared_ptr<const void>(std::shared_ptr<void>(), wrong.data()), 40};
  try {
    ArrayModel::load(one.model).run(views);
    FAIL() << "an id of 999 was taken";
  } catch (const InvalidInput& error) {
    EXPECT_NE(std::string(error.what()).find("'decoder_input_ids'"), std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("999"), std::string::npos);
  }
}

}  // namespace
}  // namespace whyformer
