#include "studies/concepts/concept_study.h"

#include <gtest/gtest.h>

#include <cmath>

#include "graph/walk_back.h"
#include "ops/ops.h"
#include "readers/sample_concept_inputs.h"
#include "studies/concepts/activations.h"
#include "tests/support/concepts_test_helpers.h"
#include "tests/support/golden_model.h"
#include "tests/support/pixel_concept_inputs.h"
#include "tests/support/token_reader.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// Texts of random ids; lengths in turn.
std::vector<Encoding> random_texts(int64_t count, const std::vector<int64_t>& lengths) {
  const CounterRandom random(5, "texts", 0);
  std::vector<Encoding> texts(count);
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t j = 0; j < lengths[i % lengths.size()]; ++j) {
      texts[i].ids.push_back(5 + static_cast<int64_t>(random.uniform(i * 64 + j) * 50));
    }
    texts[i].type_ids.assign(texts[i].ids.size(), 0);
  }
  return texts;
}

using TakenRows = std::map<std::pair<int64_t, size_t>, std::vector<float>>;

RowRequest request_for(std::vector<int> layers, TokenRows rows, TakenRows& taken) {
  return {.layers = std::move(layers),
          .rows = rows,
          .take = [&](int64_t example, size_t slot, auto row) {
            taken[{example, slot}] = {row.begin(), row.end()};
          }};
}

class ActivationsOfTexts : public testing::TestWithParam<std::string> {};

TEST_P(ActivationsOfTexts, AreTheSameAloneAndInBatchesAndForManyLayers) {
  const GoldenModel golden(GetParam());
  const TokenReader reader(golden, random_texts(9, {5, 8}));
  const SampleConceptInputs inputs(reader, reader.inputs(), DType::kFloat32);
  for (const TokenRows rows :
       {TokenRows::kFirst, TokenRows::kLast, TokenRows::kMean, TokenRows::kAll}) {
    TakenRows together, together_slopes;
    take_activations(inputs, numbered(0, 9), request_for({1, 0}, rows, together));
    take_gradients(inputs, numbered(0, 9), 1, request_for({1, 0}, rows, together_slopes));
    ASSERT_EQ(together.size(), 18u);
    for (int64_t example = 0; example < 9; ++example) {
      for (const size_t slot : {0, 1}) {
        const int layer = slot == 0 ? 1 : 0;
        TakenRows alone, slopes;
        take_activations(inputs, ExampleRows{example}, request_for({layer}, rows, alone));
        take_gradients(inputs, ExampleRows{example}, 1, request_for({layer}, rows, slopes));
        const auto same = [&](const std::vector<float>& a, const std::vector<float>& b) {
          ASSERT_EQ(a.size(), b.size());
          for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 2e-6);
        };
        same((together[{example, slot}]), (alone[{example, 0}]));
        same((together_slopes[{example, slot}]), (slopes[{example, 0}]));
        EXPECT_EQ(static_cast<int64_t>(alone[std::make_pair(example, size_t{0})].size()),
                  row_width(inputs, inputs.length(example), layer, rows));
      }
    }
  }
}

// What the logit does when the block's output is moved along a direction, by feeding the moved
// output.
TEST_P(ActivationsOfTexts, GradientsAreFiniteDifferences) {
  const GoldenModel golden(GetParam());
  const TokenReader reader(golden, random_texts(2, {6}));
  const SampleConceptInputs inputs(reader, reader.inputs(), DType::kFloat64);
  for (const TokenRows rows :
       {TokenRows::kFirst, TokenRows::kLast, TokenRows::kMean, TokenRows::kAll}) {
    for (const int layer : {0, 1}) {
      TakenRows slopes;
      take_gradients(inputs, ExampleRows{1}, 1, request_for({layer}, rows, slopes));
      const std::vector<float>& slope = slopes.at({1, 0});
      const TestRows direction = normal_rows(1, static_cast<int64_t>(slope.size()), "direction");
      const BlockGraph graph = inputs.graph(6, 1, LastBlock::kAllRows);
      const Value block = graph.blocks[layer];
      Feeds feeds = inputs.feeds(graph, ExampleRows{1});
      const Tensor output = run(*graph.graph, feeds, {.outputs = {block}})[block].contiguous();
      const auto moved = [&](double step) {
        Tensor place = output.copy();
        const int64_t width = place.dim(2);
        for (int64_t i = 0; i < place.size(); ++i) {
          if (rows == TokenRows::kFirst && i >= width) break;
          if (rows == TokenRows::kLast && i < place.size() - width) continue;
          place.mutable_data<double>()[i] +=
              step * direction.numbers[rows == TokenRows::kAll ? i : i % width];
        }
        feeds[block] = place;
        return run(*graph.graph, feeds, {.outputs = {graph.output}})[graph.output].to_doubles()[1];
      };
      double expected = 0;
      for (size_t i = 0; i < slope.size(); ++i) expected += slope[i] * direction.numbers[i];
      constexpr double kStep = 1e-4;
      EXPECT_NEAR((moved(kStep) - moved(-kStep)) / (2 * kStep), expected, 1e-6) << layer;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, ActivationsOfTexts,
                         testing::Values("bert", "distilbert", "albert-shared",
                                         "bert-mean-pooling"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// Passes its input on, unless it may not run, or may not be walked back.
class Guard final : public Op {
 public:
  Guard(bool may_run, bool may_go_back) : may_run_(may_run), may_go_back_(may_go_back) {}
  std::string_view kind() const override { return "Guard"; }
  std::vector<ValueType> infer(ValueTypes inputs) const override { return {inputs[0]}; }
  Forward forward(std::span<Tensor> inputs, KeepForBackward keep) const override {
    if (!may_run_) throw Error("ran too far");
    if (!may_go_back_ && keep == KeepForBackward::kYes) throw Error("kept something for nothing");
    return {{inputs[0]}, {}};
  }
  Tensors gradient(const Call&, TensorSpan dy, const Wanted&) const override {
    if (!may_go_back_) throw Error("went too far back");
    return {dy[0]};
  }
  std::optional<AxisFlow> follow(int, ValueTypes) const override { return std::nullopt; }

 private:
  bool may_run_, may_go_back_;
};

// x → guard → block 0 → block 1 (2 x) → guard → answers.
PixelConceptInputs guarded(bool may_answer, std::vector<int>& built) {
  const auto build = [may_answer, &built](int64_t pictures, LastBlock) {
    built.push_back(static_cast<int>(pictures));
    GraphBuilder graph;
    PixelGraph result;
    result.pixels = graph.input("pixels", {pictures, 2, 3}, DType::kFloat32);
    const Value first = graph.add(std::make_shared<Guard>(true, false), {result.pixels}, "below");
    const Value second = add(graph, first, first, "block 1");
    const Value third = graph.add(std::make_shared<Guard>(may_answer, true), {second}, "above");
    result.blocks.output = mean(graph, third, 1, "answers");
    result.blocks.blocks = {first, second};
    const auto owner = std::make_shared<const Graph>(graph.finish());
    result.blocks.graph = owner.get();
    result.blocks.owner = owner;
    return result;
  };
  const auto load = [](int64_t example) {
    Tensor picture = Tensor::zeros({2, 3}, DType::kFloat32);
    picture.fill(static_cast<double>(example));
    return picture;
  };
  return {4, build, load};
}

TEST(Activations, NothingPastTheWantedLayerRuns) {
  std::vector<int> built;
  TakenRows taken;
  const PixelConceptInputs inputs = guarded(false, built);
  take_activations(inputs, numbered(0, 4), request_for({0, 1}, TokenRows::kMean, taken));
  EXPECT_EQ((taken[{3, 0}]), (std::vector<float>{3, 3, 3}));
  EXPECT_EQ((taken[{3, 1}]), (std::vector<float>{6, 6, 6}));
  EXPECT_THROW(take_gradients(inputs, numbered(0, 4), 0, request_for({1}, TokenRows::kMean, taken)),
               Error);
}

TEST(Activations, GradientsKeepAndWalkNothingBelowTheLowestLayer) {
  std::vector<int> built;
  TakenRows taken;
  const PixelConceptInputs inputs = guarded(true, built);
  take_gradients(inputs, numbered(0, 4), 1, request_for({0, 1}, TokenRows::kAll, taken));
  EXPECT_EQ((taken[{2, 1}]), (std::vector<float>{0, 0.5, 0, 0, 0.5, 0}));
  EXPECT_EQ((taken[{2, 0}]), (std::vector<float>{0, 1, 0, 0, 1, 0}));
}

// 12 + 12 examples of concepts, 30 random ones, 8 of a target.
const ConceptExamples kExamples{
    {{"first", 0, 12}, {"second", 12, 12}}, {{"random", 24, 30}}, {{{"LABEL_1", 54, 8}, 1}}};

ConceptsRequest small_request() { return {.counterparts = 6, .permutations = 19}; }

void expect_same(const ConceptReport& a, const ConceptReport& b) {
  ASSERT_EQ(a.tests.size(), b.tests.size());
  for (size_t i = 0; i < a.tests.size(); ++i) {
    EXPECT_EQ(a.tests[i].scores, b.tests[i].scores);
    EXPECT_EQ(a.tests[i].mean.magnitude, b.tests[i].mean.magnitude);
    EXPECT_EQ(a.tests[i].held_out.accuracy, b.tests[i].held_out.accuracy);
  }
}

TEST(ConceptStudy, SweepsAllLayersWithOneRunPerExample) {
  const GoldenModel golden("bert");
  const TokenReader reader(golden, random_texts(62, {6, 7, 9}));
  const SampleConceptInputs inputs(reader, reader.inputs(), DType::kFloat32);
  const ConceptReport swept = study_concepts(inputs, kExamples, small_request());
  EXPECT_EQ(swept.layers, 2);
  EXPECT_EQ(swept.runs, 62);
  ASSERT_EQ(swept.tests.size(), 4u);
  ASSERT_EQ(swept.pairs.size(), 2u);
  ConceptsRequest one_layer = small_request();
  one_layer.layers = {0};
  const ConceptReport first = study_concepts(inputs, kExamples, one_layer);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(first.tests[i].scores, swept.tests[i].scores);
    EXPECT_EQ(first.tests[i].concept_name, swept.tests[i].concept_name);
    EXPECT_NEAR(first.tests[i].mean.magnitude, swept.tests[i].mean.magnitude, 1e-6);
    // Twice as many tests: a stricter correction.
    EXPECT_NEAR(swept.tests[i].t_test->bonferroni,
                swept.tests[i].verdict == Verdict::kNotLearnt
                    ? 1
                    : std::min(1.0, 4 * swept.tests[i].t_test->p),
                1e-12);
  }
}

TEST(ConceptStudy, IsTheSameFromATemporaryFile) {
  const GoldenModel golden("bert");
  const TokenReader reader(golden, random_texts(62, {6}));
  const SampleConceptInputs inputs(reader, reader.inputs(), DType::kFloat32);
  ConceptsRequest request = small_request();
  request.rows = TokenRows::kAll;
  const ConceptReport in_memory = study_concepts(inputs, kExamples, request);
  request.memory_bytes = 0;
  expect_same(in_memory, study_concepts(inputs, kExamples, request));
}

TEST(ConceptStudy, SaysWhatIsWrongWithARequest) {
  const GoldenModel golden("bert");
  const TokenReader reader(golden, random_texts(62, {6, 7}));
  const SampleConceptInputs inputs(reader, reader.inputs(), DType::kFloat32);
  const auto refuses = [&](auto change) {
    ConceptsRequest request = small_request();
    ConceptExamples examples = kExamples;
    change(request, examples);
    EXPECT_THROW(study_concepts(inputs, examples, request), InvalidInput);
  };
  refuses([](auto& request, auto&) { request.layers = {2}; });
  refuses([](auto& request, auto&) { request.layers = {-1}; });
  refuses([](auto& request, auto&) { request.layers = {0, 0}; });
  refuses([](auto& request, auto&) { request.rows = TokenRows::kAll; });  // two lengths
  refuses([](auto& request, auto&) { request.counterparts = 1; });
  refuses([](auto& request, auto&) { request.counterparts = 0; });  // one random set has no pairs
  refuses([](auto& request, auto&) { request.permutations = -1; });
  refuses([](auto& request, auto&) { request.strength = 0; });
  refuses([](auto& request, auto&) { request.level = 1; });
  refuses([](auto&, auto& examples) { examples.concepts.clear(); });
  refuses([](auto&, auto& examples) { examples.random[0].count = 11; });
  refuses([](auto&, auto& examples) { examples.concepts[0].count = 5; });
  refuses([](auto&, auto& examples) { examples.targets[0].examples.count = 0; });
  refuses([](auto&, auto& examples) { examples.targets[0].output = 3; });
}

TEST(ConceptStudy, StopsWhenProgressSaysSo) {
  const GoldenModel golden("bert");
  const TokenReader reader(golden, random_texts(62, {6}));
  const SampleConceptInputs inputs(reader, reader.inputs(), DType::kFloat32);
  ConceptsRequest request = small_request();
  int64_t last = 0, total = 0;
  request.progress = [&](int64_t done, int64_t all) {
    last = done;
    total = all;
    return true;
  };
  study_concepts(inputs, kExamples, request);
  EXPECT_EQ(last, total);
  request.progress = [](int64_t done, int64_t) { return done < 60; };
  EXPECT_THROW(study_concepts(inputs, kExamples, request), Interrupted);
}

}  // namespace
}  // namespace whyformer
