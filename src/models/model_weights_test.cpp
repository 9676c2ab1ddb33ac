// Random weights in place of a model's own: which are replaced, and that nothing else is.
#include "models/model_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "ops/ops.h"
#include "tests/support/golden_model.h"
#include "tests/support/source_folder.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using testing::HasSubstr;

ShapeKey key_of(const GoldenModel& golden, int64_t batch, int64_t tokens,
                std::optional<Randomisation> how = {}, DType dtype = DType::kFloat32) {
  return text_key(tokens,
                  {.batch = batch, .head = golden.head(), .dtype = dtype, .randomisation = how});
}

std::shared_ptr<const ModelGraph> graph_of(const GoldenModel& golden, const ShapeKey& key) {
  ShapeKey with_types = key;
  with_types.shapes["token_type_ids"] = key.shape("input_ids");
  return golden.model->source().graph(with_types);
}

constexpr Randomisation kEverything{.cascading = true, .step = 100, .seed = 7};

// All weights of a graph by place, as numbers.
std::map<std::string, std::vector<double>> numbers_of(const ModelGraph& model) {
  std::map<std::string, std::vector<double>> all;
  const ModelWeights weights(model);
  for (const NodeWeights& one : weights.all()) {
    const Op& op = *model.graph.nodes()[one.node].op;
    if (const auto* linear = linear_weights(op)) {
      all[one.place] = linear->weight().to_doubles();
    } else if (const auto* norm = layer_norm_weights(op)) {
      all[one.place] = norm->weight.to_doubles();
      all[one.place + " bias"] = norm->bias.to_doubles();
    } else if (const Tensor* constant = constant_value(op)) {
      all[one.place] = constant->to_doubles();
    }
  }
  return all;
}

// "encoder.layer.1.attention…" and "transformer.layer.1.…" tell the layer of two.
std::optional<int> layer_in(const std::string& name) {
  const size_t at = name.find("layer.");
  if (at == std::string::npos || !std::isdigit(name[at + 6])) return std::nullopt;
  return name[at + 6] - '0';
}

TEST(ModelWeights, BelongToTheLayersThatTheirNamesSay) {
  for (const std::string name : {"bert", "distilbert", "roberta", "electra", "bert-mean-pooling"}) {
    const GoldenModel golden(name);
    const auto graph = graph_of(golden, key_of(golden, 1, 6));
    const ModelWeights weights(*graph);
    const std::vector<std::string> names = weights.step_names();
    const int layers = static_cast<int>(graph->found.sites.size());
    ASSERT_EQ(static_cast<int>(names.size()), layers + 2) << name;
    for (const NodeWeights& one : weights.all()) {
      const std::string& step = names[one.step];
      if (const auto layer = layer_in(one.place)) {
        EXPECT_EQ(step, "layer " + std::to_string(*layer)) << name << " " << one.place;
      } else if (one.place.find("embeddings") != std::string::npos) {
        EXPECT_EQ(step, "embeddings") << name << " " << one.place;
      } else {
        EXPECT_EQ(step, "head") << name << " " << one.place;
      }
    }
    EXPECT_EQ(weights.step_sizes()[0] == 0, name == "bert-mean-pooling") << name;
  }
}

TEST(ModelWeights, OfAFileAreThoseOfItsFolder) {
  for (const std::string name : {"bert", "distilbert", "roberta", "electra"}) {
    const GoldenModel folder(name), file = GoldenModel::from_onnx(name);
    const ModelWeights of_folder(*graph_of(folder, key_of(folder, 1, 6)));
    const ModelWeights of_file(*graph_of(file, key_of(file, 1, 6)));
    EXPECT_EQ(of_folder.step_names(), of_file.step_names()) << name;
    const auto expected = of_folder.step_sizes(), found = of_file.step_sizes();
    // Tables of positions and types may be cut to the tokens, or be sums of both, in a file.
    for (size_t step = 0; step + 1 < expected.size(); ++step)
      EXPECT_EQ(expected[step], found[step]) << name << " step " << step;
    EXPECT_GT(found.back(), 0) << name;
  }
}

TEST(RandomWeights, OfEverythingDifferInEveryWeight) {
  for (const std::string name : {"bert", "roberta", "distilbert", "albert-shared"}) {
    for (const bool onnx : {false, true}) {
      const GoldenModel golden = onnx ? GoldenModel::from_onnx(name) : GoldenModel(name);
      const auto own = graph_of(golden, key_of(golden, 1, 6));
      const auto other = graph_of(golden, key_of(golden, 1, 6, kEverything));
      const auto before = numbers_of(*own), after = numbers_of(*other);
      ASSERT_EQ(before.size(), after.size());
      for (const auto& [place, numbers] : before) EXPECT_NE(numbers, after.at(place)) << place;
    }
  }
}

TEST(RandomWeights, LeaveTheModelItselfAsItWas) {
  const GoldenModel golden("bert");
  const auto before = numbers_of(*graph_of(golden, key_of(golden, 1, 6)));
  graph_of(golden, key_of(golden, 1, 6, kEverything));
  EXPECT_EQ(before, numbers_of(*graph_of(golden, key_of(golden, 1, 6))));
  EXPECT_EQ(before, numbers_of(*graph_of(GoldenModel("bert"), key_of(golden, 1, 6))));
}

TEST(RandomWeights, ReplaceTheStepsThatWereAskedForAndNoOthers) {
  const GoldenModel golden("bert");
  const auto own = graph_of(golden, key_of(golden, 1, 6));
  const auto before = numbers_of(*own);
  const ModelWeights weights(*own);
  const auto steps = static_cast<int64_t>(weights.step_names().size());
  for (const bool cascading : {false, true}) {
    for (int64_t step = 0; step < steps; ++step) {
      const auto after =
          numbers_of(*graph_of(golden, key_of(golden, 1, 6, Randomisation{cascading, step, 7})));
      for (const NodeWeights& one : weights.all()) {
        if (!before.contains(one.place)) continue;  // tables: their rows are seen below
        const bool asked = cascading ? one.step <= step : one.step == step;
        EXPECT_EQ(before.at(one.place) != after.at(one.place), asked) << one.place << " " << step;
      }
    }
  }
}

// Embedding tables show in what they give: the sum of words, positions and types.
std::vector<double> embeddings_of(const GoldenModel& golden, const ShapeKey& key, int64_t tokens) {
  const auto graph = graph_of(golden, key);
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < tokens; ++i) ids.push_back(3 + i);
  TokenBatch batch;
  batch.ids.assign(key.batch, ids);
  batch.types.assign(key.batch, std::vector<int64_t>(tokens, 0));
  const Feeds feeds = golden.model->feeds(*graph, batch);
  const Value value = graph->embeddings;
  const Tensor rows = run(graph->graph, feeds, {.outputs = {value}})[value];
  return rows.slice(0, key.batch - 1, 1).to_doubles();
}

TEST(RandomWeights, AreTheSameInGraphsForOtherBatchesLengthsAndTypes) {
  for (const bool onnx : {false, true}) {
    const GoldenModel golden = onnx ? GoldenModel::from_onnx("bert") : GoldenModel("bert");
    const auto one = embeddings_of(golden, key_of(golden, 1, 6, kEverything), 6);
    EXPECT_NE(one, embeddings_of(golden, key_of(golden, 1, 6), 6));
    EXPECT_EQ(one, embeddings_of(golden, key_of(golden, 3, 6, kEverything), 6)) << onnx;
    const auto longer = embeddings_of(golden, key_of(golden, 1, 9, kEverything), 9);
    EXPECT_EQ(one, std::vector<double>(longer.begin(), longer.begin() + one.size())) << onnx;
    const auto with_double =
        embeddings_of(golden, key_of(golden, 1, 6, kEverything, DType::kFloat64), 6);
    for (size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(one[i], with_double[i], 1e-6);
    const auto short_weights = numbers_of(*graph_of(golden, key_of(golden, 1, 6, kEverything)));
    const auto long_weights = numbers_of(*graph_of(golden, key_of(golden, 4, 9, kEverything)));
    for (const auto& [place, numbers] : short_weights) {
      const auto& others = long_weights.at(place);
      ASSERT_LE(numbers.size(), others.size());
      EXPECT_TRUE(std::equal(numbers.begin(), numbers.end(), others.begin())) << place;
    }
  }
}

TEST(RandomWeights, StartAsBertDoes) {
  const GoldenModel golden("bert");
  const auto graph = graph_of(golden, key_of(golden, 1, 6, kEverything));
  double sum = 0, squares = 0, count = 0;
  for (const Node& node : graph->graph.nodes()) {
    if (const auto* linear = linear_weights(*node.op)) {
      for (const double x : linear->weight().to_doubles()) {
        sum += x;
        squares += x * x;
        count += 1;
      }
      for (const double x : linear->bias().to_doubles()) EXPECT_EQ(x, 0);
    }
    if (const auto* norm = layer_norm_weights(*node.op)) {
      for (const double x : norm->weight.to_doubles()) EXPECT_EQ(x, 1);
      for (const double x : norm->bias.to_doubles()) EXPECT_EQ(x, 0);
    }
  }
  // Four standard errors of the mean and of the deviation.
  EXPECT_NEAR(sum / count, 0, 4 * 0.02 / std::sqrt(count));
  EXPECT_NEAR(std::sqrt(squares / count), 0.02, 4 * 0.02 / std::sqrt(2 * count));
}

TEST(RandomWeights, OfAnotherSeedAreOthers) {
  const GoldenModel golden("bert");
  const auto one = numbers_of(*graph_of(golden, key_of(golden, 1, 6, Randomisation{true, 0, 1})));
  const auto two = numbers_of(*graph_of(golden, key_of(golden, 1, 6, Randomisation{true, 0, 2})));
  EXPECT_NE(one, two);
  EXPECT_EQ(one, numbers_of(*graph_of(golden, key_of(golden, 1, 6, Randomisation{true, 0, 1}))));
}

// Attention maps of all layers.
std::vector<std::vector<double>> maps_of(const GoldenModel& golden,
                                         std::optional<Randomisation> how) {
  const GoldenInput& input = golden.inputs[0];
  const auto graph = graph_of(golden, key_of(golden, input.size(), input.tokens(), how));
  TokenBatch batch = input.batch;
  batch.hidden.clear();
  std::vector<Value> values;
  for (const AttentionSite& site : graph->found.sites) values.push_back(site.attention);
  const Pass pass = run(graph->graph, golden.model->feeds(*graph, batch), {.outputs = values});
  std::vector<std::vector<double>> maps;
  for (const Value value : values) maps.push_back(pass[value].to_doubles());
  return maps;
}

TEST(RandomWeights, OfALayerLeaveTheMapsBeforeItBitByBit) {
  for (const std::string name : {"bert", "distilbert", "roberta", "electra"}) {
    const GoldenModel golden(name);
    const auto own = maps_of(golden, {});
    const auto layers = static_cast<int64_t>(own.size());
    EXPECT_EQ(own, maps_of(golden, Randomisation{true, 0, 7})) << name << ": the head";
    for (int64_t layer = 0; layer < layers; ++layer) {
      const auto maps = maps_of(golden, Randomisation{false, layers - layer, 7});
      for (int64_t l = 0; l < layers; ++l)
        EXPECT_EQ(own[l] == maps[l], l < layer) << name << " layer " << layer << " map " << l;
    }
  }
}

TEST(ModelWeights, ThatAreQuantisedAreRefused) {
  GraphBuilder builder;
  const Value x = builder.input("x", {1, 2}, DType::kFloat32);
  const Value scale = builder.constant(Tensor::of<float>({}, {0.5f}), "scale");
  ModelGraph model;
  model.output = linear(builder, quantise(builder, x, scale, {}, 0, {}, "rounded"),
                        std::make_shared<LinearWeights>(Tensor::zeros({2, 2}), Tensor()), "w");
  model.graph = builder.finish();
  try {
    ModelWeights{model};
    FAIL();
  } catch (const UnsupportedModel& error) {
    EXPECT_THAT(error.what(), HasSubstr("'rounded' is quantised"));
  }
}

TEST(ModelWeights, CountTablesAndLearnedTokensButNotMasksScalesOrRotations) {
  GraphBuilder builder;
  const auto numbers = [&](const std::string& name, const Shape& shape) {
    std::vector<float> values;
    for (int64_t i = 0; i < element_count(shape); ++i)
      values.push_back(0.25f * static_cast<float>(i));
    return builder.constant(Tensor::of<float>(shape, std::span<const float>(values)), name);
  };
  Value x = builder.input("x", {1, 3, 4}, DType::kFloat32);
  x = concat(builder, numbers("token", {1, 1, 4}), x, 1, "with token");
  x = add(builder, x, numbers("positions", {1, 4, 4}), "placed");
  x = add(builder, x, numbers("bias", {4}), "shifted");
  x = binary(builder, x, numbers("scale of features", {4}), BinaryFunction::kMultiply, "scaled");
  x = binary(builder, x, numbers("rotation", {4, 4}), BinaryFunction::kMultiply, "turned");
  x = binary(builder, x, numbers("one number", {1}), BinaryFunction::kMultiply, "times");
  const float hidden = -1e9f;
  x = add(builder, x, builder.constant(Tensor::of<float>({1, 4, 1}, {0, 0, hidden, 0}), "mask"),
          "masked");
  ModelGraph model;
  model.output = matmul(builder, x, numbers("matrix", {1, 4, 2}), "product");
  model.graph = builder.finish();
  std::map<std::string, WeightKind> kinds;
  const ModelWeights weights(model);
  for (const NodeWeights& one : weights.all()) kinds[one.place] = one.weights[0].kind;
  const std::map<std::string, WeightKind> expected{{"token", WeightKind::kMatrix},
                                                   {"positions", WeightKind::kMatrix},
                                                   {"bias", WeightKind::kBias},
                                                   {"scale of features", WeightKind::kScale},
                                                   {"matrix", WeightKind::kMatrix}};
  EXPECT_EQ(kinds, expected);
}

}  // namespace
}  // namespace whyformer
