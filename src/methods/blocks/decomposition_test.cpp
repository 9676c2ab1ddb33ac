// DecompX: sums that must hold at every layer, and the method in plain loops.
#include "methods/blocks/decomposition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "methods/method.h"
#include "ops/arithmetic.h"
#include "ops/ops.h"
#include "tests/support/golden_model.h"
#include "tests/support/plain_norms.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr int64_t kTokens = 5;
constexpr std::array kShares{BiasShare::kAbsoluteDot, BiasShare::kNorm,
                             BiasShare::kEqual,       BiasShare::kAbsoluteSimilarity,
                             BiasShare::kDot,         BiasShare::kOneToken,
                             BiasShare::kNone};
constexpr std::array kActivations{ActivationShare::kZeroOrigin, ActivationShare::kTangent};

// Σ over the tokens: [rows · width].
std::vector<double> sum_of(const Tensor& vectors) {
  std::vector<double> sums(vectors.dim(0) * vectors.dim(2), 0.0);
  for (int64_t k = 0; k < vectors.dim(1); ++k) {
    const std::vector<double> one = vectors.select(1, k).to_doubles();
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += one[i];
  }
  return sums;
}

// `tolerance` of the largest value.
void expect_near(const std::vector<double>& actual, const std::vector<double>& expected,
                 double tolerance, const std::string& what) {
  double most = 0;
  for (const double x : expected) most = std::max(most, std::abs(x));
  EXPECT_THAT(actual, testing::Pointwise(testing::DoubleNear(tolerance * most), expected)) << what;
}

TEST(Decomposition, AddsUpToTheStateBehindEveryLayerAndToTheOutput) {
  for (const std::string& name : golden_models()) {
    const GoldenModel golden(name);
    const GoldenInput& input = golden.input("single");
    const auto text = golden.model->graph(
        {.tokens = input.tokens(), .head = golden.head(), .dtype = DType::kFloat64});
    const Pass pass = run(text->graph, golden.model->feeds(*text, input.batch),
                          {.keep = Keep::kEverything, .outputs = {text->output}});
    const auto blocks = find_blocks(text->graph, text->found.sites);
    for (const ActivationShare activation : kActivations) {
      Decomposition decomposition(text->graph, pass, 0, {.activation = activation});
      for (const EncoderBlock& block : blocks) {
        decomposition.through(block);
        expect_near(sum_of(decomposition.vectors()), pass[block.output()].to_doubles(), 1e-9,
                    name + " " + block.name);
      }
      for (const Node* node : find_head(text->graph, blocks.back(), text->output)) {
        decomposition.through_head(*node);
        expect_near(sum_of(decomposition.vectors()), pass[node->outputs[0]].to_doubles(), 1e-9,
                    name + " " + node->name);
      }
    }
  }
}

struct Network {
  bool norms_before;
  bool restrict_rows;
  bool reads_mean;
  ActivationFunction activation;
  bool cut_queries = false;
};

void PrintTo(const Network& network, std::ostream* out) {
  *out << "norms " << (network.norms_before ? "before" : "after")
       << (network.reads_mean ? ", mean" : ", row") << (network.restrict_rows ? " alone" : "")
       << (network.cut_queries ? ", also in the map" : "");
}

class DecomposedNetworks : public testing::TestWithParam<Network> {};

TEST_P(DecomposedNetworks, EqualPlainLoopsHoweverBiasesAndActivationsAreShared) {
  const Network& network = GetParam();
  PlainEncoder encoder = random_encoder({.norms_before = network.norms_before}, 11);
  encoder.reads_mean = network.reads_mean;
  encoder.activation = network.activation;
  encoder.read_row = 2;
  const PlainRows input = random_rows(kTokens, 8, 12);
  const EncoderGraph built = graph_of(encoder, {.tokens = kTokens,
                                                .restrict_rows = network.restrict_rows,
                                                .cut_queries = network.cut_queries});
  const Pass pass = run_graph(built, {input});
  const std::vector<EncoderBlock> blocks = find_blocks(built.graph, built.found.sites);
  const std::vector<PlainStates> states = run_plain(encoder, input);
  for (const BiasShare biases : kShares) {
    for (const ActivationShare activation : kActivations) {
      const Sharing sharing{biases, activation, 1};
      const PlainDecomposition plain = plain_decompx(encoder, states, sharing);
      Decomposition decomposition(built.graph, pass, 0, sharing);
      for (size_t l = 0; l < blocks.size(); ++l) {
        decomposition.through(blocks[l]);
        const auto first = plain.layers[l].begin() + blocks[l].first_row;
        expect_near(decomposition.vectors().to_doubles(),
                    tensor_of({first, first + blocks[l].rows}).to_doubles(), 1e-9,
                    "layer " + std::to_string(l));
      }
      for (const Node* node : find_head(built.graph, blocks.back(), built.output)) {
        decomposition.through_head(*node);
      }
      expect_near(decomposition.vectors().to_doubles(), tensor_of({plain.scores}).to_doubles(),
                  1e-9, "scores");
      if (biases == BiasShare::kNone) continue;
      expect_near(sum_of(decomposition.vectors()), plain_logits(encoder, states.back()), 1e-9,
                  "logits");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Orders, DecomposedNetworks,
    testing::Values(Network{false, true, false, ActivationFunction::kGelu},
                    Network{false, false, false, ActivationFunction::kRelu},
                    Network{false, true, true, ActivationFunction::kTanh},
                    Network{true, true, false, ActivationFunction::kGelu},
                    Network{true, false, false, ActivationFunction::kTanh},
                    Network{true, true, true, ActivationFunction::kRelu},
                    Network{false, true, false, ActivationFunction::kGelu, true},
                    Network{true, true, false, ActivationFunction::kGelu, true}));

// Heads of several branches, behind the blocks of an encoder whose own head is left out.
class BranchedHeads : public testing::Test {
 protected:
  using MakeHead = std::function<Value(GraphBuilder&, Value stream)>;

  // The vectors behind the last block, and those of the head's output.
  struct Carried {
    Tensor stream, output;
  };

  Carried carry(const MakeHead& head) {
    GraphBuilder builder;
    input_ = builder.input("x", {1, kTokens, kWidth}, DType::kFloat64);
    const Value output = head(builder, encoder_layers(builder, encoder_, input_));
    graph_ = builder.finish();
    pass_ = run(graph_, {{input_, tensor_of({random_rows(kTokens, kWidth, 22)})}},
                {.keep = Keep::kEverything, .outputs = {output}});
    const std::vector<EncoderBlock> blocks = find_blocks(graph_, discover(graph_, output).sites);
    const std::vector<const Node*> nodes = find_head(graph_, blocks.back(), output);
    Decomposition::check(graph_, blocks, nodes);
    Decomposition decomposition(graph_, pass_, 0, {});
    for (const EncoderBlock& block : blocks) decomposition.through(block);
    const Tensor stream = decomposition.vectors().copy();
    for (const Node* node : nodes) decomposition.through_head(*node);
    expect_near(sum_of(decomposition.vectors()), pass_[output].to_doubles(), 1e-9, "output");
    return {stream, decomposition.vectors()};
  }

  static Value row(GraphBuilder& graph, Value stream, int64_t index) {
    return reshape(graph, slice(graph, stream, 1, index, 1, "row"), {1, kWidth}, "row");
  }

  std::shared_ptr<const LinearWeights> weights(int64_t in, double first,
                                               bool with_bias = false) const {
    std::vector<double> values(kLabels * in), bias{0.3, -0.2};
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = std::sin(first + 1.7 * static_cast<double>(i));
    return std::make_shared<LinearWeights>(
        Tensor::of<double>({kLabels, in}, values),
        with_bias ? Tensor::of<double>({kLabels}, bias) : Tensor());
  }

  static constexpr int64_t kWidth = 8, kLabels = 2;
  PlainEncoder encoder_ = random_encoder({.norms_before = true}, 21);
  Value input_;
  Graph graph_;
  Pass pass_;
};

// Σ_d W[label, d]·x[row, k, d].
double projected(const LinearWeights& weights, int64_t label, const Tensor& vectors, int64_t row,
                 int64_t k, int64_t first = 0) {
  const std::vector<double> w = weights.weight().select(0, label).to_doubles();
  const std::vector<double> x = vectors.select(0, row).select(0, k).to_doubles();
  double sum = 0;
  for (size_t d = 0; d < x.size(); ++d) sum += w[first + d] * x[d];
  return sum;
}

// DeiT's: the mean of two tokens' answers.
TEST_F(BranchedHeads, OfTwoTokensGiveTheMeanOfBoth) {
  const auto first = weights(kWidth, 1), second = weights(kWidth, 2);
  const Carried carried = carry([&](GraphBuilder& graph, Value stream) {
    const Value sum = add(graph, linear(graph, row(graph, stream, 0), first, "first"),
                          linear(graph, row(graph, stream, 1), second, "second"), "sum");
    const Value two = graph.constant(Tensor::of<double>({1}, {2}), "two");
    return binary(graph, sum, two, BinaryFunction::kDivide, "mean");
  });
  for (int64_t k = 0; k < kTokens; ++k) {
    for (int64_t label = 0; label < kLabels; ++label) {
      EXPECT_NEAR(carried.output.select(1, k).to_doubles()[label],
                  (projected(*first, label, carried.stream, 0, k) +
                   projected(*second, label, carried.stream, 1, k)) /
                      2,
                  1e-12);
    }
  }
}

// DINOv2's: a token beside the mean of the others.
TEST_F(BranchedHeads, OfATokenBesideAMeanProjectBoth) {
  const auto both = weights(2 * kWidth, 3);
  const Carried carried = carry([&](GraphBuilder& graph, Value stream) {
    const Value rest = reduce(graph, slice(graph, stream, 1, 1, kTokens - 1, "rest"),
                              Reduction::kMean, {1}, false, "mean");
    return linear(graph, concat(graph, row(graph, stream, 0), rest, 1, "both"), both, "head");
  });
  for (int64_t k = 0; k < kTokens; ++k) {
    for (int64_t label = 0; label < kLabels; ++label) {
      double expected = projected(*both, label, carried.stream, 0, k);
      for (int64_t r = 1; r < kTokens; ++r) {
        expected += projected(*both, label, carried.stream, r, k, kWidth) / (kTokens - 1);
      }
      EXPECT_NEAR(carried.output.select(1, k).to_doubles()[label], expected, 1e-12);
    }
  }
}

// What is added is a bias, shared out like those of linear maps.
TEST_F(BranchedHeads, ShareOutWhatIsAdded) {
  const auto with_bias = weights(kWidth, 4, true), without = weights(kWidth, 4);
  const Carried at_once = carry([&](GraphBuilder& graph, Value stream) {
    return linear(graph, row(graph, stream, 2), with_bias, "head");
  });
  const Carried added = carry([&](GraphBuilder& graph, Value stream) {
    return add(graph, linear(graph, row(graph, stream, 2), without, "head"),
               graph.constant(with_bias->bias(), "bias"), "sum");
  });
  expect_near(added.output.to_doubles(), at_once.output.to_doubles(), 1e-12, "scores");
}

// A bias that no vector has to do with is still part of the output.
TEST_F(BranchedHeads, AddUpWhereSomethingConstantStandsBesideTheTokens) {
  const auto both = weights(2 * kWidth, 6);
  for (const int axis : {1, 2}) {
    carry([&](GraphBuilder& graph, Value stream) {
      const Shape shape = axis == 1 ? Shape{1, 1, kWidth} : Shape{1, kTokens, kWidth};
      Tensor numbers = Tensor::empty(shape, DType::kFloat64);
      numbers.fill(0.7);
      const Value joined =
          concat(graph, stream, graph.constant(numbers, "numbers"), axis, "joined");
      const Value mean = reduce(graph, joined, Reduction::kMean, {1}, false, "mean");
      return linear(graph, mean, axis == 1 ? weights(kWidth, 6) : both, "head");
    });
  }
}

TEST_F(BranchedHeads, KnowChoicesAndSigns) {
  carry([&](GraphBuilder& graph, Value stream) {
    const Value hides =
        graph.constant(Tensor::of<int64_t>({1, kTokens, 1}, {0, 1, 0, 0, 1}), "hides");
    const Value nothing = graph.constant(Tensor::zeros({}, DType::kFloat64), "nothing");
    const Value shown = where(graph, hides, nothing,
                              unary(graph, stream, UnaryFunction::kNegate, "minus"), "shown");
    return linear(graph, reduce(graph, shown, Reduction::kSum, {1}, false, "sum"),
                  weights(kWidth, 7), "head");
  });
}

// A file for two inputs at once, of which the first is explained.
TEST_F(BranchedHeads, MayGoOnWithTheFirstSample) {
  GraphBuilder builder;
  const Value input = builder.input("x", {2, kTokens, kWidth}, DType::kFloat64);
  const Value first =
      slice(builder, encoder_layers(builder, encoder_, input), 0, 0, 1, "first sample");
  const Value output = linear(builder, row(builder, first, 1), weights(kWidth, 8), "head");
  const Graph graph = builder.finish();
  const Pass pass = run(
      graph,
      {{input, tensor_of({random_rows(kTokens, kWidth, 31), random_rows(kTokens, kWidth, 32)})}},
      {.keep = Keep::kEverything, .outputs = {output}});
  const std::vector<EncoderBlock> blocks = find_blocks(graph, discover(graph, output, 2).sites);
  const std::vector<const Node*> head = find_head(graph, blocks.back(), output);
  Decomposition::check(graph, blocks, head);
  Decomposition decomposition(graph, pass, 0, {});
  for (const EncoderBlock& block : blocks) decomposition.through(block);
  for (const Node* node : head) decomposition.through_head(*node);
  expect_near(sum_of(decomposition.vectors()), pass[output].to_doubles(), 1e-9, "output");
}

TEST_F(BranchedHeads, NameWhatTheyCannotTakeApart) {
  const auto complaint = [&](const MakeHead& head) -> std::string {
    try {
      carry(head);
    } catch (const UnsupportedModel& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(complaint([&](GraphBuilder& graph, Value stream) {
                const Value a = row(graph, stream, 0), b = row(graph, stream, 1);
                return linear(graph, binary(graph, a, b, BinaryFunction::kMultiply, "product"),
                              weights(kWidth, 5), "head");
              }),
              testing::HasSubstr("Mul 'product' behind the last layer: it knows"));
  // The embeddings around all layers: their share belongs to one token, which the vectors do not
  // tell.
  EXPECT_THAT(
      complaint([&](GraphBuilder& graph, Value stream) {
        const Value sum =
            add(graph, row(graph, stream, 0), row(graph, input_, 3), "with embeddings");
        return linear(graph, sum, weights(kWidth, 5), "head");
      }),
      testing::HasSubstr("Add 'with embeddings' behind the last layer: it also reads 'row'"));
  EXPECT_THAT(complaint([&](GraphBuilder& graph, Value stream) {
                return transpose(graph, stream, {1, 0, 2}, "tokens first");
              }),
              testing::HasSubstr("it does not leave the batch axis in front"));
}

// A second sample, and hidden tokens behind the first: nothing of it may show.
TEST(Decomposition, DoesNotSeeOtherSamplesOrPadding) {
  constexpr double kHidden = -std::numeric_limits<double>::infinity();
  for (const bool norms_before : {false, true}) {
    const PlainEncoder encoder = random_encoder({.norms_before = norms_before}, 13);
    PlainRows padded = random_rows(kTokens + 2, 8, 14);
    const PlainRows alone(padded.begin(), padded.begin() + kTokens);
    const EncoderGraph one = graph_of(encoder, {.tokens = kTokens});
    const EncoderGraph two = graph_of(encoder, {.batch = 2, .tokens = kTokens + 2, .masked = true});
    const Pass one_pass = run_graph(one, {alone});
    const Tensor mask = Tensor::of<double>({2, 1, 1, kTokens + 2},
                                           {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, kHidden, kHidden});
    const Pass two_pass =
        run(two.graph,
            {{two.input, tensor_of({random_rows(kTokens + 2, 8, 15), padded})}, {two.mask, mask}},
            {.keep = Keep::kEverything, .outputs = {two.output}});
    const auto one_blocks = find_blocks(one.graph, one.found.sites);
    const auto two_blocks = find_blocks(two.graph, two.found.sites);
    Decomposition expected(one.graph, one_pass, 0, {});
    Decomposition actual(two.graph, two_pass, 1, {});
    for (size_t l = 0; l < one_blocks.size(); ++l) {
      const int64_t rows = one_blocks[l].rows;
      const Matrix map =
          norm_map(BlockVectors(one_blocks[l], one_pass, 0, {.reach = Reach::kBlock}));
      const Matrix same =
          norm_map(BlockVectors(two_blocks[l], two_pass, 1, {.reach = Reach::kBlock}));
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < kTokens; ++j) EXPECT_NEAR(same.at(i, j), map.at(i, j), 1e-13);
        for (int64_t j = kTokens; j < kTokens + 2; ++j) EXPECT_EQ(same.at(i, j), 0);
      }
      expected.through(one_blocks[l]);
      actual.through(two_blocks[l]);
      const Tensor real = actual.vectors().slice(0, 0, rows);
      expect_near(real.slice(1, 0, kTokens).to_doubles(), expected.vectors().to_doubles(), 1e-12,
                  "layer " + std::to_string(l));
      for (const double x : real.slice(1, kTokens, 2).to_doubles()) EXPECT_EQ(x, 0);
    }
  }
}

TEST(DecompX, GapIsHowFarTheScoresAreFromTheLogit) {
  const GoldenModel golden("roberta");
  auto explained = run_of(*golden.model, golden.input("pair").encoding(),
                          {.needs = kDecompX.needs, .dtype = DType::kFloat64});
  explained.set_target(1);
  const auto scores = [&](const std::string& biases) {
    return kDecompX.run(explained, complete_options(kDecompX, {{"biases", biases}}));
  };
  EXPECT_NEAR(*scores("absdot").completeness_gap, 0, 1e-9);
  const Scores without = scores("none");
  const double sum = std::accumulate(without.values.begin(), without.values.end(), 0.0);
  EXPECT_DOUBLE_EQ(*without.completeness_gap, sum - explained.target_value());
  EXPECT_GT(std::abs(*without.completeness_gap), 1e-3);
}

// The cosine's division by a length is held constant, as the deviation of a norm is.
TEST(DecompX, ExplainsASimilarityAsTheDimensionsOfTheEmbedding) {
  const GoldenModel golden("bert-mean-pooling");
  const Encoding encoding = golden.input("single").encoding();
  auto embedding =
      run_of(*golden.model, encoding,
             {.head = Head::kEmbedding, .needs = kDecompX.needs, .dtype = DType::kFloat64});
  const std::vector<double> vector = embedding.outputs();
  const double length =
      std::sqrt(std::inner_product(vector.begin(), vector.end(), vector.begin(), 0.0));
  std::vector<double> other(vector.rbegin(), vector.rend());  // another one, of unit length
  for (double& x : other) x /= length;
  std::vector<double> expected(encoding.ids.size(), 0.0);
  for (size_t d = 0; d < vector.size(); ++d) {
    embedding.set_target(static_cast<int64_t>(d));
    const Scores scores = kDecompX.run(embedding, complete_options(kDecompX, {}));
    EXPECT_NEAR(*scores.completeness_gap, 0, 1e-9);
    for (size_t k = 0; k < expected.size(); ++k)
      expected[k] += scores.values[k] * other[d] / length;
  }
  auto similarity = run_of(*golden.model, encoding,
                           {.head = Head::kSimilarity,
                            .reference = other,
                            .needs = kDecompX.needs,
                            .dtype = DType::kFloat64});
  const Scores scores = kDecompX.run(similarity, complete_options(kDecompX, {}));
  EXPECT_NEAR(*scores.completeness_gap, 0, 1e-9);
  expect_near(scores.values, expected, 1e-9, "scores");
}

TEST(Decomposition, NeedsMemoryThatGrowsWithTheSquareOfTheTokens) {
  const PlainEncoder encoder = random_encoder({}, 16);
  const auto bytes = [&](int64_t tokens) {
    const EncoderGraph built = graph_of(encoder, {.tokens = tokens});
    return Decomposition::memory_needed(built.graph,
                                        find_blocks(built.graph, built.found.sites)[0]);
  };
  EXPECT_EQ(bytes(10), 2 * 10 * 10 * 8 * 8) << "two buffers of 8-byte numbers, 8 wide";
  EXPECT_EQ(bytes(20), 4 * bytes(10));
}

}  // namespace
}  // namespace whyformer
