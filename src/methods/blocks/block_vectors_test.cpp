// Kobayashi's vectors, and the maps that GlobEnc and ALTI make of them.
#include "methods/blocks/block_vectors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "methods/blocks/alti.h"
#include "methods/method.h"
#include "ops/ops.h"
#include "tests/support/golden_model.h"
#include "tests/support/plain_norms.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr int64_t kTokenCount = 5;

// Runs `check(graph, block, pass, name)` on every block of every golden model, in double.
using CheckBlock = std::function<void(const EncoderBlock&, const Pass&, const std::string&)>;
void for_each_golden_block(const CheckBlock& check) {
  for (const std::string& name : golden_models()) {
    const GoldenModel golden(name);
    const GoldenInput& input = golden.input("single");
    const auto text = golden.model->graph(
        {.tokens = input.tokens(), .head = golden.head(), .dtype = DType::kFloat64});
    const Pass pass = run(text->graph, golden.model->feeds(*text, input.batch),
                          {.keep = Keep::kEverything, .outputs = {text->output}});
    for (const EncoderBlock& block : find_blocks(text->graph, text->found.sites)) {
      check(block, pass, name + " " + block.name);
    }
  }
}

// Σ_j of a row's vectors.
std::vector<double> sums_of_rows(const BlockVectors& vectors) {
  std::vector<double> sums(vectors.rows() * vectors.width(), 0.0);
  vectors.for_each([&](int64_t i, int64_t, std::span<const double> vector) {
    for (int64_t d = 0; d < vectors.width(); ++d) sums[i * vectors.width() + d] += vector[d];
  });
  return sums;
}

void expect_rows_near(const std::vector<double>& actual, const std::vector<double>& expected,
                      double tolerance, const std::string& what) {
  EXPECT_THAT(actual, testing::Pointwise(testing::DoubleNear(tolerance), expected)) << what;
}

TEST(BlockVectors, AndTheOutputBiasAddUpToTheAttentionOutput) {
  for_each_golden_block([](const EncoderBlock& block, const Pass& pass, const std::string& name) {
    std::vector<double> sums = sums_of_rows(BlockVectors(block, pass, 0, {}));
    const std::vector<double> bias =
        linear_weights(*block.output_projection->op)->bias().to_doubles();
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += bias[i % bias.size()];
    expect_rows_near(sums, pass[block.output_projection->outputs[0]].to_doubles(), 1e-12, name);
  });
}

TEST(BlockVectors, OfHeadsAddUpToThoseOfAllHeads) {
  for_each_golden_block([](const EncoderBlock& block, const Pass& pass, const std::string& name) {
    const std::vector<double> all = sums_of_rows(BlockVectors(block, pass, 0, {}));
    std::vector<double> sum(all.size(), 0.0);
    for (int64_t head = 0; head < pass[block.attention].dim(1); ++head) {
      const std::vector<double> one = sums_of_rows(BlockVectors(block, pass, 0, {.head = head}));
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += one[i];
    }
    expect_rows_near(sum, all, 1e-12, name);
  });
}

TEST(BlockVectors, ThroughTheNormAddUpToItsOutputWithBothBiases) {
  for_each_golden_block([](const EncoderBlock& block, const Pass& pass, const std::string& name) {
    const BlockVectors vectors(block, pass, 0, {.reach = Reach::kAttentionNorm});
    std::vector<double> sums = sums_of_rows(vectors);
    const NormStep norm = norm_step(*block.attended.norm_after, pass, 0, 0, block.rows);
    const std::vector<double> bias =
        linear_weights(*block.output_projection->op)->bias().to_doubles();
    double mean = 0;
    for (const double b : bias) mean += b / static_cast<double>(bias.size());
    for (size_t i = 0; i < sums.size(); ++i) {
      const size_t d = i % bias.size();
      sums[i] += (bias[d] - mean) * norm.weight[d] * norm.inverse_deviation[i / bias.size()] +
                 norm.bias[d];
    }
    expect_rows_near(sums, pass[block.attended.output()].to_doubles(), 1e-11, name);
  });
}

TEST(AttentionNorm, IsAttentionTimesTheLengthIfAllValuesAreEquallyLong) {
  PlainEncoder encoder = random_encoder({.layers = 1, .heads = 1}, 3);
  PlainLayer& layer = encoder.layers[0];
  for (PlainLinear* linear : {&layer.value, &layer.output}) {
    for (size_t o = 0; o < 8; ++o) {
      for (size_t i = 0; i < 8; ++i) linear->weight[o][i] = o == i;
    }
  }
  layer.value.bias.clear();
  PlainRows input = random_rows(kTokenCount, 8, 3);
  for (PlainVector& row : input) {
    double sum = 0;
    for (const double x : row) sum += x * x;
    for (double& x : row) x *= 2 / std::sqrt(sum);
  }
  const EncoderGraph built = graph_of(encoder, {.tokens = kTokenCount, .restrict_rows = false});
  const Pass pass = run_graph(built, {input});
  const Matrix map =
      norm_map(BlockVectors(find_blocks(built.graph, built.found.sites)[0], pass, 0, {}));
  std::vector<double> expected = pass[built.found.sites[0].attention].to_doubles();
  for (double& x : expected) x *= 2;
  expect_rows_near(map.values, expected, 1e-14, "2·A");
}

TEST(Alti, RowsAreNeverNegativeAndSumToOne) {
  for_each_golden_block([](const EncoderBlock& block, const Pass& pass, const std::string& name) {
    for (const auto norm : {AltiOptions::Norm::kL1, AltiOptions::Norm::kL2}) {
      for (const auto through : {AltiOptions::Through::kAttention, AltiOptions::Through::kBlock}) {
        const Matrix map = alti_map(block, pass, 0, {norm, through});
        for (int64_t i = 0; i < map.rows; ++i) {
          double sum = 0;
          for (int64_t j = 0; j < map.columns; ++j) {
            EXPECT_GE(map.at(i, j), 0) << name;
            sum += map.at(i, j);
          }
          EXPECT_NEAR(sum, 1, 1e-12) << name;
        }
      }
    }
  });
}

// The rows that the block computes, of a plain map.
std::vector<double> rows_of(const EncoderBlock& block, const PlainRows& map) {
  std::vector<double> values;
  for (int64_t row = block.first_row; row < block.first_row + block.rows; ++row) {
    values.insert(values.end(), map[row].begin(), map[row].end());
  }
  return values;
}

struct Network {
  bool norms_before;
  bool restrict_rows;
  int64_t read_row;
  bool cut_queries = false;
};

void PrintTo(const Network& network, std::ostream* out) {
  *out << "norms " << (network.norms_before ? "before" : "after") << ", row " << network.read_row
       << (network.restrict_rows ? " alone" : "")
       << (network.cut_queries ? ", also in the map" : "");
}

class RandomNetworks : public testing::TestWithParam<Network> {};

TEST_P(RandomNetworks, GiveTheMapsThatPlainLoopsGive) {
  const Network& network = GetParam();
  PlainEncoder encoder = random_encoder({.norms_before = network.norms_before}, 5);
  encoder.read_row = network.read_row;
  const PlainRows input = random_rows(kTokenCount, 8, 6);
  const EncoderGraph built = graph_of(encoder, {.tokens = kTokenCount,
                                                .restrict_rows = network.restrict_rows,
                                                .cut_queries = network.cut_queries});
  const Pass pass = run_graph(built, {input});
  const std::vector<EncoderBlock> blocks = find_blocks(built.graph, built.found.sites);
  EXPECT_EQ(built.graph.shape(blocks.back().attention)[2], network.cut_queries ? 1 : kTokenCount);
  const std::vector<PlainStates> states = run_plain(encoder, input);
  expect_rows_near(pass[built.output].to_doubles(), plain_logits(encoder, states.back()), 1e-12,
                   "logits");
  for (int64_t l = 0; l < 3; ++l) {
    const EncoderBlock& block = blocks[l];
    const auto expect_map = [&](const Matrix& map, const PlainRows& plain,
                                const std::string& what) {
      expect_rows_near(map.values, rows_of(block, plain), 1e-12, what + std::to_string(l));
    };
    const auto lengths = [&](const BlockVectorOptions& options) {
      return norm_map(BlockVectors(block, pass, 0, options));
    };
    expect_map(lengths({}), plain_lengths(plain_attention_vectors(encoder, l, states[l])), "norm");
    expect_map(lengths({.head = 1}),
               plain_lengths(plain_attention_vectors(encoder, l, states[l], 1)), "head");
    expect_map(lengths({.reach = Reach::kResidual}),
               plain_lengths(plain_residual_vectors(encoder, l, states[l])), "residual");
    const PlainVectors normed = plain_normed_vectors(encoder, l, states[l]);
    expect_map(lengths({.reach = Reach::kAttentionNorm}), plain_lengths(normed), "ln");
    const PlainVectors carried = plain_block_vectors(encoder, l, states[l]);
    expect_map(lengths({.reach = Reach::kBlock}), plain_lengths(carried), "globenc");
    expect_map(alti_map(block, pass, 0, {}),
               plain_alti(normed, states[l].middle, AltiOptions::Norm::kL1), "alti");
    expect_map(alti_map(block, pass, 0, {.norm = AltiOptions::Norm::kL2}),
               plain_alti(normed, states[l].middle, AltiOptions::Norm::kL2), "alti l2");
    if (network.norms_before) continue;
    expect_map(alti_map(block, pass, 0, {.through = AltiOptions::Through::kBlock}),
               plain_alti(carried, states[l].output, AltiOptions::Norm::kL1), "alti block");
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, RandomNetworks,
                         testing::Values(Network{false, true, 0}, Network{false, false, 0},
                                         Network{true, true, 0}, Network{true, false, 0},
                                         Network{false, true, 3}, Network{true, true, 4},
                                         Network{false, true, 3, true},
                                         Network{true, true, 4, true}));

TEST(Alti, ThroughTheBlockIsRefusedWhereNormsStandBefore) {
  const PlainEncoder encoder = random_encoder({.norms_before = true}, 7);
  const EncoderGraph built = graph_of(encoder, {.tokens = kTokenCount});
  const Pass pass = run_graph(built, {random_rows(kTokenCount, 8, 7)});
  EXPECT_THROW(alti_map(find_blocks(built.graph, built.found.sites)[0], pass, 0,
                        {.through = AltiOptions::Through::kBlock}),
               InvalidInput);
}

TEST(Alti, LeavesARowToItselfThatNoTokenBringsNearer) {
  PlainEncoder encoder = random_encoder({.layers = 1}, 8);
  PlainLayer& layer = encoder.layers[0];
  // Nothing but the norm's bias reaches the output.
  for (double& weight : layer.first.weight) weight = 0;
  encoder.read_row = 2;
  const EncoderGraph built = graph_of(encoder, {.tokens = kTokenCount});
  const Pass pass = run_graph(built, {random_rows(kTokenCount, 8, 8)});
  const Matrix map = alti_map(find_blocks(built.graph, built.found.sites)[0], pass, 0, {});
  EXPECT_EQ(map.values, (std::vector<double>{0, 0, 1, 0, 0}));
}

// The row that a method gives of a golden model, whose read-out is token 0, with its maps
// multiplied by plain loops.
std::vector<double> plain_row(const std::vector<Matrix>& maps, size_t layer, bool alone) {
  std::vector<double> row(maps[layer].values.begin(),
                          maps[layer].values.begin() + maps[layer].columns);
  for (size_t below = layer; !alone && below-- > 0;) {
    std::vector<double> next(row.size(), 0.0);
    for (size_t i = 0; i < row.size(); ++i) {
      for (size_t j = 0; j < row.size(); ++j)
        next[j] += row[i] * maps[below].values[i * row.size() + j];
    }
    row = next;
  }
  return row;
}

TEST(PerLayerResults, AreRowsOfTheMapsUpToALayerOrOfThatLayerAlone) {
  const GoldenModel golden("bert");
  auto explained = run_of(*golden.model, golden.input("single").encoding(),
                          {.needs = kAlti.needs, .dtype = DType::kFloat64});
  std::vector<Matrix> alti, globenc;
  for (const EncoderBlock& block : find_blocks(explained.graph().graph, explained.found().sites)) {
    alti.push_back(alti_map(block, explained.pass(), 0, {}));
    globenc.push_back(norm_map(BlockVectors(block, explained.pass(), 0, {.reach = Reach::kBlock})));
  }
  const auto scores = [&](const Method& method, int64_t layer, bool alone) {
    return method.run(explained, complete_options(method, {{"layer", layer}, {"alone", alone}}))
        .values;
  };
  ASSERT_GE(alti.size(), 2u);
  const auto last = static_cast<int64_t>(alti.size()) - 1;
  for (int64_t layer = 0; layer <= last; ++layer) {
    for (const bool alone : {false, true}) {
      SCOPED_TRACE(layer);
      expect_rows_near(scores(kAlti, layer, alone), plain_row(alti, layer, alone), 1e-12, "alti");
      expect_rows_near(scores(kGlobEnc, layer, alone), plain_row(globenc, layer, alone), 1e-11,
                       "globenc");
    }
  }
  EXPECT_EQ(scores(kAlti, -1, false), kAlti.run(explained, complete_options(kAlti, {})).values);
  EXPECT_EQ(scores(kAlti, -2, true), scores(kAlti, last - 1, true));
  EXPECT_THROW(scores(kAlti, last + 1, false), InvalidInput);
  EXPECT_THROW(scores(kGlobEnc, -last - 2, false), InvalidInput);
}

TEST(AttentionNorm, RefusesOptionsThatDoNotFitTogether) {
  const GoldenModel golden("bert");
  auto explained =
      run_of(*golden.model, golden.input("single").encoding(), {.needs = kAttentionNorm.needs});
  const auto complaint = [&](const Options& options) -> std::string {
    try {
      kAttentionNorm.run(explained, complete_options(kAttentionNorm, options));
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(complaint({{"layer", int64_t{2}}}), testing::HasSubstr("layers 0 to 1"));
  EXPECT_THAT(complaint({{"head", int64_t{2}}}), testing::HasSubstr("heads 0 to 1"));
  EXPECT_THAT(complaint({{"layer-norm", true}}), testing::HasSubstr("needs residual=true"));
  EXPECT_THAT(complaint({{"head", int64_t{0}}, {"residual", true}}),
              testing::HasSubstr("leave head at -1"));
}

TEST(AttentionNorm, IsTheMeanOfAllRowsWhereTheMeanIsRead) {
  const GoldenModel golden("bert-mean-pooling");
  const GoldenInput& input = golden.input("single");
  auto explained =
      run_of(*golden.model, input.encoding(),
             {.head = golden.head(), .needs = kAttentionNorm.needs, .dtype = DType::kFloat64});
  const std::vector<double> scores =
      kAttentionNorm.run(explained, complete_options(kAttentionNorm, {})).values;
  const auto blocks = find_blocks(explained.graph().graph, explained.found().sites);
  const Matrix map = norm_map(BlockVectors(blocks.back(), explained.pass(), 0, {}));
  ASSERT_EQ(map.rows, input.tokens());
  for (int64_t j = 0; j < map.columns; ++j) {
    double mean = 0;
    for (int64_t i = 0; i < map.rows; ++i) mean += map.at(i, j) / static_cast<double>(map.rows);
    EXPECT_NEAR(scores[j], mean, 1e-14);
  }
}

}  // namespace
}  // namespace whyformer
