// Methods on models of several token streams: formulas in plain loops, and golden scores.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "models/array_source.h"
#include "tests/support/array_case.h"
#include "tests/support/walk_relevance.h"

namespace whyformer {
namespace {

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
  ExplainRequest request;
  for (const auto& [key, tensor] : stored) {
    if (!key.starts_with("input.")) continue;
    views[key.substr(6)] = {std::string(name_of(tensor.type)), tensor.shape,
                            std::shared_ptr<const void>(tensor.data.owner, tensor.data.view.data()),
                            tensor.data.size()};
  }
  const StoredTensor& element = stored.at("element");
  std::vector<int64_t> indices(element.count());
  std::memcpy(indices.data(), element.data.view.data(), element.data.size());
  request.target = OutputElement{.indices = indices};
  request.methods = {{"raw-attention", {}},
                     {"rollout", {}},
                     {"grad-cam", {Choice{"average", std::string("map")}}},
                     {"gae", {}}};
  request.precision = Precision::kDouble;
  const Explanation found = explain(Model::load(golden(file), {.arrays = true}), views, request)[0];
  EXPECT_NEAR(found.target.value, doubles("value")[0], 1e-6);
  ASSERT_EQ(found.attributions.size(), 4u);
  for (const Attribution& one : found.attributions) {
    SCOPED_TRACE(name + " " + one.method);
    // Exporters round scales and epsilons to 32 bits.
    for (const int stream : {0, 1}) {
      const std::vector<double> expected =
          doubles(one.method + (stream == own ? ".own" : ".other"));
      const std::vector<double> scores = stream_scores(found, one, stream);
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
    const int64_t row = one.trace.element.indices[1];
    const Explanation found = one.run("raw-attention");
    expect_scores(found, 0, one.maps.mean(5)[row]);
    expect_scores(found, 1, one.maps.mean(4)[row]);
  }
  const Case two(kTwoStreams);
  const Explanation found = two.run("raw-attention", {Choice{"own", std::string("zero")}});
  expect_scores(found, 0, two.maps.mean(8)[0], 0);
  expect_scores(found, 1, two.maps.mean(7)[0]);
}

TEST(StreamMethods, RolloutCrossesByTheLastMapBetweenTheProductsOfBothStreams) {
  const Case one(kObjects);
  const NumberRows encoder = times(one.maps.factor(1), one.maps.factor(0));
  const NumberRows queries = times(one.maps.factor(4), one.maps.factor(2));
  const int64_t row = one.trace.element.indices[1];
  const Explanation found = one.run("rollout");
  expect_scores(found, 0, times(flipped(queries), times(one.maps.mean(5), encoder))[row]);
  expect_scores(found, 1, queries[row]);
}

TEST(StreamMethods, RolloutOfTwoStreamsLeavesTheLastSelfAttentionOutOfTheCrossing) {
  const Case two(kTwoStreams);
  const Maps& maps = two.maps;
  const NumberRows language = times(maps.factor(5), times(maps.factor(1), maps.factor(0)));
  const NumberRows vision = times(maps.factor(6), maps.factor(2));
  const Explanation found = two.run("rollout", {Choice{"own", std::string("zero")}});
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

TEST(StreamMethods, GradCamWeighsTheHeadsOfTheLastMapToEachStream) {
  const Case two(kTwoStreams);
  for (const bool whole : {false, true}) {
    const Explanation found =
        two.run("grad-cam", {Choice{"average", std::string(whole ? "map" : "row")}});
    for (const int stream : {0, 1}) {
      const std::vector<double> scores = stream_of(found, stream);
      const std::vector<double> expected =
          grad_cam_row(two.maps, stream == 0 ? 8 : 7, 0, whole, stream == 0 ? 0 : -1);
      const double most = *std::max_element(expected.begin(), expected.end());
      for (size_t i = 0; i < expected.size(); ++i)
        EXPECT_NEAR(scores[i], expected[i], 1e-6 * most) << i;
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
    const Explanation found =
        one.run("grad-sam", {Choice{"axis", std::string(by_query ? "query" : "key")}});
    expect_scores(found, 0, expected[0]);
    expect_scores(found, 1, expected[1]);
  }
}

// Relevance at a site's maps, by a walk of its own.
std::vector<NumberRows> relevance_at(const Case& one, const std::string& policy, int site) {
  const OnnxArrays model(open_onnx(one.model));
  NamedArrays arrays;
  for (const auto& [name, stored] : read_safetensors(map_file(one.inputs.path()), "inputs")) {
    arrays[name] = Tensor::of<float>(stored.shape, std::span<const float>(to_float32(stored)));
  }
  const auto graph =
      model.element(arrays, one.trace.element.output, one.trace.element.indices, DType::kFloat64);
  const Pass pass = run(graph->graph, OnnxArrays::feeds(*graph->probe, arrays),
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

TEST(StreamMethods, PartialLrpReadsRelevanceAtTheLastMapToEachStream) {
  const Case one(kEncoderDecoder);
  const int64_t row = one.trace.element.indices[1];
  const Explanation found = in_double(one, "partial-lrp", {Choice{"own", std::string("keep")}});
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
  const Explanation found = in_double(two, "transformer-attribution");
  expect_near(stream_of(found, 0), own[0], 1e-4);
  expect_near(stream_of(found, 1), weighted(7)[0], 1e-4);
}

// Biases and constants take their part, so the sum is what a walk to all of them would give; rules
// that ignore them keep it.
TEST(StreamMethods, RelevanceAtBothStreamsFirstLayersAddsUpToOne) {
  const Case two(kTwoStreams);
  const Explanation found = in_double(
      two, "lrp", {Choice{"policy", std::string("chefer")}, Choice{"own", std::string("keep")}});
  EXPECT_NEAR(total(found.attributions[0].scores), 1, 1e-5);
}

// CLIP's similarity reads both towers, between which there is no attention.
TEST(StreamMethods, SayWhichStreamTheyCannotReach) {
  const Case one("clip.eager.new.18");
  const Explanation found = explained(one.model, one.inputs.path(),
                                      {{"rollout", {}}, {"grad-cam", {}}, {"saliency", {}}});
  const std::vector<Attribution>& all = found.attributions;
  ASSERT_EQ(all.size(), 3u);
  for (const int method : {0, 1}) {
    ASSERT_EQ(all[method].notes.size(), 1u);
    EXPECT_NE(all[method].notes[0].find("to stream 0"), std::string::npos);
  }
  EXPECT_TRUE(all[2].notes.empty());
  for (size_t stream = 0; stream < found.streams.size(); ++stream)
    EXPECT_GT(total(stream_scores(found, all[2], static_cast<int>(stream))), 0);
}

}  // namespace
}  // namespace whyformer
