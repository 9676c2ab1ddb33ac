// Rows that attend to each other (SAINT), against PyTorch's batches of the same rows.
#include <gmock/gmock.h>

#include <cmath>

#include "graph/walk_back.h"
#include "models/checkpoint_row_source.h"
#include "tests/support/golden_table.h"
#include "tests/support/tiny_model.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using onnx::refusal;
using testing::DoubleNear;
using testing::Pointwise;

constexpr DType kDoubles = DType::kFloat64;

struct AnswersAndMaps {
  std::vector<double> answers;
  std::vector<std::vector<double>> row_maps;  // one for each site
  std::vector<double> gradient;               // of the first answer to the first row's numbers
};

AnswersAndMaps answered(const RowSource& source, std::span<const Sample> samples) {
  const FedGraph fed = source.fed(samples, {.head = source.own_head(), .dtype = kDoubles});
  const ModelGraph& model = *fed.graph;
  std::vector<Value> outputs = model.row_maps;
  outputs.push_back(model.output);
  const Pass pass = run(model.graph, fed.feeds, {.keep = Keep::kEverything, .outputs = outputs});
  AnswersAndMaps result{pass[model.output].to_doubles(), {}, {}};
  for (const Value map : model.row_maps) result.row_maps.push_back(pass[map].to_doubles());
  Tensor seed = Tensor::zeros(model.graph.shape(model.output), kDoubles);
  seed.mutable_data<double>()[0] = 1;
  const Value numbers = model.input("x_cont");
  const auto back = walk_back(model.graph, pass, model.output, seed, gradient_rule(), {numbers});
  result.gradient = back.at(numbers).to_doubles();
  return result;
}

std::vector<Sample> without(std::vector<Sample> samples, int64_t row) {
  samples.erase(samples.begin() + row);
  return samples;
}

// Row by row, each with all others as its context.
std::vector<double> answers_in_context(const GoldenTable& golden, ContextMode mode) {
  const auto alone = golden.source();
  const std::vector<Sample> samples = golden.samples(kDoubles);
  std::vector<double> answers;
  for (int64_t row = 0; row < golden.rows(); ++row) {
    const auto source = alone->in_context(without(samples, row), mode);
    const auto one = answered(*source, std::span(samples).subspan(row, 1)).answers;
    answers.insert(answers.end(), one.begin(), one.end());
  }
  return answers;
}

const std::vector<std::string> kAttendingModels{"saint.colrow", "saint.row", "saint.deep"};

TEST(RowsInContext, BlocksGivePyTorchsAnswersOfTheBatch) {
  std::vector<std::string> names = kAttendingModels;
  names.insert(names.end(), {"wd-saint.class", "wd-saint.flat"});
  for (const std::string& name : names) {
    const GoldenTable golden(name);
    const auto block = answered(*golden.source()->in_blocks(), golden.samples(kDoubles));
    EXPECT_THAT(block.answers, Pointwise(DoubleNear(1e-9), golden.values("block"))) << name;
  }
}

TEST(RowsInContext, LiveContextsGivePyTorchsAnswersOfTheBatch) {
  std::vector<std::string> names = kAttendingModels;
  names.insert(names.end(), {"wd-saint.class", "wd-saint.flat"});
  for (const std::string& name : names) {
    const GoldenTable golden(name);
    EXPECT_THAT(answers_in_context(golden, ContextMode::kLive),
                Pointwise(DoubleNear(1e-9), golden.values("block")))
        << name;
  }
}

TEST(RowsInContext, FrozenContextsHaveTheKeysAndValuesOfTheRowsAmongThemselves) {
  for (const std::string& name : kAttendingModels) {
    const GoldenTable golden(name);
    EXPECT_THAT(answers_in_context(golden, ContextMode::kFrozen),
                Pointwise(DoubleNear(1e-9), golden.values("frozen")))
        << name;
  }
}

TEST(RowsInContext, FrozenIsLiveWhereThereIsOneBlock) {
  for (const std::string name : {"saint.colrow", "saint.row"}) {
    const GoldenTable golden(name);
    EXPECT_THAT(answers_in_context(golden, ContextMode::kFrozen),
                Pointwise(DoubleNear(1e-9), golden.values("block")))
        << name;
  }
  const GoldenTable deep("saint.deep");
  EXPECT_NE(answers_in_context(deep, ContextMode::kFrozen),
            answers_in_context(deep, ContextMode::kLive));
}

// The gradient of a sum over a batch would be another one.
TEST(RowsInContext, TheGradientIsThatOfTheExplainedRowsAnswer) {
  for (const std::string& name : kAttendingModels) {
    const GoldenTable golden(name);
    const std::vector<Sample> samples = golden.samples(kDoubles);
    const std::vector<double> expected = golden.values("block_gradient");
    const int64_t numbers = golden.shape("x_cont")[1];
    for (int64_t row = 0; row < golden.rows(); ++row) {
      const auto source = golden.source()->in_context(without(samples, row), ContextMode::kLive);
      const auto own = answered(*source, std::span(samples).subspan(row, 1)).gradient;
      EXPECT_THAT(own,
                  Pointwise(DoubleNear(1e-9), std::span(expected).subspan(row * numbers, numbers)));
    }
  }
}

TEST(RowsInContext, ExplainedRowsNeverSeeEachOther) {
  for (const ContextMode mode : {ContextMode::kFrozen, ContextMode::kLive}) {
    const GoldenTable golden("saint.deep");
    const std::vector<Sample> samples = golden.samples(kDoubles);
    const auto source = golden.source()->in_context(without(samples, 0), mode);
    const auto together = answered(*source, samples).answers;
    std::vector<double> apart;
    for (const Sample& sample : samples) {
      const auto one = answered(*source, {&sample, 1}).answers;
      apart.insert(apart.end(), one.begin(), one.end());
    }
    EXPECT_THAT(together, Pointwise(DoubleNear(1e-12), apart));
  }
}

TEST(RowsInContext, TheOrderOfTheContextChangesNothing) {
  for (const ContextMode mode : {ContextMode::kFrozen, ContextMode::kLive}) {
    const GoldenTable golden("saint.deep");
    const std::vector<Sample> samples = golden.samples(kDoubles);
    std::vector<Sample> context = without(samples, 0);
    const auto first = golden.source()->in_context(context, mode);
    std::swap(context[0], context[3]);
    const auto second = golden.source()->in_context(context, mode);
    const std::span<const Sample> row(samples.data(), 1);
    const AnswersAndMaps a = answered(*first, row), b = answered(*second, row);
    EXPECT_THAT(a.answers, Pointwise(DoubleNear(1e-12), b.answers));
    // Itself first, then the context: weights move with their rows.
    ASSERT_FALSE(a.row_maps.empty());
    for (size_t site = 0; site < a.row_maps.size(); ++site) {
      std::vector<double> moved = b.row_maps[site];
      std::swap(moved[1], moved[4]);
      for (size_t key = 0; key < 5; ++key) EXPECT_NEAR(a.row_maps[site][key], moved[key], 1e-12);
    }
  }
}

TEST(RowsInContext, WithoutRowsAreAlone) {
  const GoldenTable golden("saint.colrow");
  const auto source = golden.source()->in_context({}, ContextMode::kFrozen);
  EXPECT_THAT(answered(*source, golden.samples(kDoubles)).answers,
              Pointwise(DoubleNear(1e-9), golden.values("answers")));
}

TEST(RowsInContext, WeightsAddUpToOneAndEqualRowsHaveEqualOnes) {
  const GoldenTable golden("saint.colrow");
  const std::vector<Sample> samples = golden.samples(kDoubles);
  const std::span<const Sample> row(samples.data(), 1);
  std::vector<Sample> context = without(samples, 0);
  const auto once = answered(*golden.source()->in_context(context, ContextMode::kFrozen), row);
  context.push_back(context[1]);
  const auto twice = answered(*golden.source()->in_context(context, ContextMode::kFrozen), row);
  const std::vector<double>&a = once.row_maps[0], &b = twice.row_maps[0];
  ASSERT_EQ(a.size(), 5u);
  ASSERT_EQ(b.size(), 6u);
  EXPECT_NEAR(a[0] + a[1] + a[2] + a[3] + a[4], 1, 1e-12);
  EXPECT_NEAR(b[2], b[5], 1e-12);
  // A copy leaves the ratios among all others as they were.
  for (size_t key = 0; key < 5; ++key) EXPECT_NEAR(a[key] / a[0], b[key] / b[0], 1e-9);
}

TEST(RowsInContext, SitesOfTheGraphAreThoseOfColumns) {
  const GoldenTable golden("saint.deep");
  const std::vector<Sample> samples = golden.samples(kDoubles);
  for (const ContextMode mode : {ContextMode::kFrozen, ContextMode::kLive}) {
    const auto source = golden.source()->in_context(without(samples, 0), mode);
    const FedGraph fed = source->fed(std::span(samples).subspan(0, 1),
                                     {.head = source->own_head(), .dtype = kDoubles});
    ASSERT_EQ(fed.graph->found.sites.size(), 2u);
    for (const AttentionSite& site : fed.graph->found.sites) EXPECT_EQ(site.keys, 3);
    EXPECT_EQ(fed.graph->row_maps.size(), 2u);
  }
}

TEST(RowsInContext, ModelsWhoseRowsStayApartTakeNone) {
  const GoldenTable golden("saint.col");
  EXPECT_FALSE(golden.source()->rows_attend());
  EXPECT_THAT(refusal<UnsupportedModel>([&] {
                golden.source()->in_context(golden.samples(kDoubles), ContextMode::kLive);
              }),
              testing::HasSubstr("do not attend to each other"));
}

}  // namespace
}  // namespace whyformer
