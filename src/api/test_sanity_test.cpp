// Sanity checks over every kind of input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "api/explained_input.h"
#include "readers/reader.h"
#include "tests/support/source_folder.h"
#include "whyformer/error.h"
#include "whyformer/sanity.h"

namespace whyformer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::string> kTexts{"I cannot wait for next time",
                                      "This is so boring",
                                      "a warm and funny film",
                                      "the plot makes no sense at all",
                                      "the acting is good but it is long",
                                      "nobody should ever have to watch this"};

std::vector<InputValue> texts(size_t count = kTexts.size()) {
  std::vector<InputValue> inputs;
  for (size_t i = 0; i < count; ++i) inputs.push_back(TextInput{kTexts[i], {}});
  return inputs;
}

const Model& sentiment() {
  static const Model model = Model::built_in();
  return model;
}

const MethodSanity& method(const SanityReport& report, const std::string& name) {
  return *std::ranges::find(report.methods, name, &MethodSanity::method);
}

const SanityComparison* comparison(const MethodSanity& of, SanityChange change,
                                   const std::string& step) {
  const auto found = std::ranges::find_if(of.comparisons, [&](const SanityComparison& one) {
    return one.change == change && one.step == step;
  });
  return found == of.comparisons.end() ? nullptr : &*found;
}

const SanityReport& text_report() {
  static const SanityReport report = test_sanity(
      sentiment(), texts(),
      {.methods = {{"raw-attention"}, {"rollout"}, {"gradient-x-input"}, {"gae"}}, .seed = 3});
  return report;
}

TEST(Sanity, StepsLeadFromTheHeadToTheEmbeddings) {
  const SanityReport& report = text_report();
  const auto layers = static_cast<int>(sentiment().inspect().sites.size());
  ASSERT_EQ(static_cast<int>(report.steps.size()), layers + 2);
  EXPECT_EQ(report.steps.front().name, "head");
  for (int layer = 0; layer < layers; ++layer)
    EXPECT_EQ(report.steps[layers - layer].name, "layer " + std::to_string(layer));
  EXPECT_EQ(report.steps.back().name, "embeddings");
  for (const MethodSanity& one : report.methods)
    EXPECT_EQ(one.comparisons.size(), 2 * report.steps.size() + 1) << one.method;
  EXPECT_EQ(report.inputs, 6);
  EXPECT_EQ(report.kind, "texts");
  EXPECT_FALSE(report.stopped_early);
}

TEST(Sanity, AttentionAloneSeesNeitherTheClassNorTheHead) {
  for (const std::string name : {"raw-attention", "rollout"}) {
    const MethodSanity& one = method(text_report(), name);
    EXPECT_EQ(one.depends_on_class, SanityVerdict::kNo) << name;
    const SanityComparison& head = *comparison(one, SanityChange::kCascading, "head");
    EXPECT_EQ(head.identical, 6) << name;
    EXPECT_EQ(*head.magnitudes.mean, 1) << name;
    EXPECT_NE(one.depends_on_weights, SanityVerdict::kYes) << name;
    EXPECT_THAT(one.findings.front(), HasSubstr("Cannot see the class"));
    EXPECT_THAT(one.findings.back(), HasSubstr("Cannot see the layers behind"));
  }
}

TEST(Sanity, AttentionOfTheLastLayerSeesWhatLiesBeforeIt) {
  const MethodSanity& one = method(text_report(), "raw-attention");
  for (const SanityStep& step : text_report().steps) {
    const SanityComparison& alone = *comparison(one, SanityChange::kIndependent, step.name);
    EXPECT_EQ(alone.identical, step.name == "head" ? 6 : 0) << step.name;
  }
}

TEST(Sanity, RandomWeightsOfALayerLeaveTheMapsBelowItAsTheyAre) {
  const auto maps_with = [](std::optional<Randomisation> randomisation) {
    const ExplainRequest request{.methods = {{"raw-attention"}}};
    ExplainedInput explained(sentiment(), TextInput{kTexts[2], {}}, request, WholeRun::kNo,
                             randomisation);
    std::vector<std::vector<float>> layers;
    for (const AttentionMap& map : explained.explain(explained.targets()[0]).attention) {
      const float* numbers = map.values.get();
      layers.emplace_back(numbers, numbers + map.heads * map.queries * map.keys);
    }
    return layers;
  };
  const auto own = maps_with(std::nullopt);
  const auto layers = static_cast<int64_t>(own.size());
  ASSERT_GT(layers, 1);
  for (int64_t layer = 0; layer < layers; ++layer) {
    for (const bool cascading : {false, true}) {
      // Step 0 is the head.
      const auto random = maps_with(Randomisation{cascading, layers - layer, 3});
      for (int64_t other = 0; other < layers; ++other) {
        const bool same = random[other] == own[other];
        EXPECT_EQ(same, other < layer) << "layer " << other << ", random from " << layer;
      }
    }
  }
}

TEST(Sanity, GradientsSeeTheClassAndEveryWeight) {
  for (const std::string name : {"gradient-x-input", "gae"}) {
    const MethodSanity& one = method(text_report(), name);
    EXPECT_EQ(one.depends_on_class, SanityVerdict::kYes) << name;
    for (const SanityComparison& each : one.comparisons)
      EXPECT_EQ(each.identical, 0) << name << " " << each.step;
  }
}

// ρ without ties is 1 - 6 Σd² / (n (n² - 1)).
double plain_spearman(const std::vector<double>& a, const std::vector<double>& b) {
  const auto rank = [](const std::vector<double>& all, double x) {
    return std::ranges::count_if(all, [x](double other) { return other < x; });
  };
  double squares = 0;
  for (size_t i = 0; i < a.size(); ++i) squares += std::pow(rank(a, a[i]) - rank(b, b[i]), 2);
  const auto n = static_cast<double>(a.size());
  return 1 - 6 * squares / (n * (n * n - 1));
}

TEST(Sanity, ComparesTheScoresOfOneFixedClass) {
  const SanityReport& report = text_report();
  double sum = 0;
  for (const std::string& text : kTexts) {
    const auto ordinary = [&](const Explanation& explanation) {
      std::vector<double> scores;
      for (size_t i = 0; i < explanation.units.size(); ++i) {
        if (!explanation.units[i].special) scores.push_back(explanation.attributions[0].scores[i]);
      }
      return scores;
    };
    ExplainRequest request{.methods = {{"gradient-x-input"}}};
    const Explanation before = explain(sentiment(), TextInput{text, {}}, request)[0];
    request.target = before.target.index;
    ExplainedInput randomised(sentiment(), TextInput{text, {}}, request, WholeRun::kNo,
                              Randomisation{true, 2, 3});
    const Explanation after = randomised.explain(randomised.targets()[0]);
    EXPECT_EQ(after.target.index, before.target.index);
    sum += plain_spearman(ordinary(before), ordinary(after));
  }
  const SanityComparison& found = *comparison(method(report, "gradient-x-input"),
                                              SanityChange::kCascading, report.steps[2].name);
  EXPECT_NEAR(*found.signed_scores.mean, sum / 6, 1e-12);
}

TEST(Sanity, TheFirstStepAloneIsTheFirstOfTheCascade) {
  const MethodSanity& one = method(text_report(), "gae");
  const auto& down = *comparison(one, SanityChange::kCascading, "head");
  const auto& alone = *comparison(one, SanityChange::kIndependent, "head");
  EXPECT_EQ(down.signed_scores.mean, alone.signed_scores.mean);
  const SanityReport independent =
      test_sanity(sentiment(), texts(),
                  {.methods = {{"gae"}}, .cascading = false, .other_target = false, .seed = 3});
  const auto& by_itself =
      *comparison(method(independent, "gae"), SanityChange::kIndependent, "head");
  EXPECT_EQ(by_itself.signed_scores.mean, alone.signed_scores.mean);
}

TEST(Sanity, WithTheSameSeedIsTheSame) {
  const SanityRequest request{.methods = {{"gradient-x-input"}}, .independent = false, .seed = 5};
  const SanityReport one = test_sanity(sentiment(), texts(3), request);
  const SanityReport two = test_sanity(sentiment(), texts(3), request);
  for (size_t i = 0; i < one.methods[0].comparisons.size(); ++i) {
    EXPECT_EQ(one.methods[0].comparisons[i].signed_scores.mean,
              two.methods[0].comparisons[i].signed_scores.mean);
  }
}

TEST(Sanity, KeepsWhatIsDoneWhenItIsStopped) {
  int64_t most = 0;
  SanityRequest request{.methods = {{"rollout"}}};
  request.progress = [&](int64_t done, int64_t total) {
    EXPECT_LE(done, total);
    most = std::max(most, done);
    return done < 9;
  };
  const SanityReport report = test_sanity(sentiment(), texts(3), request);
  EXPECT_TRUE(report.stopped_early);
  EXPECT_EQ(most, 9);
  EXPECT_EQ(report.inputs, 3);
  // Three explanations, three of another class, three with all weights random.
  ASSERT_EQ(report.methods[0].comparisons.size(), 2u);
  EXPECT_EQ(report.methods[0].depends_on_class, SanityVerdict::kNo);
  request.progress = [](int64_t, int64_t) { return false; };
  EXPECT_THROW(test_sanity(sentiment(), texts(3), request), Interrupted);
}

TEST(Sanity, LeavesOutInputsThatTheModelCannotTakeAndSaysSo) {
  std::vector<InputValue> inputs = texts(2);
  inputs.insert(inputs.begin(), TextInput{" ", {}});
  const SanityReport report = test_sanity(
      sentiment(), inputs, {.methods = {{"rollout"}}, .cascading = false, .independent = false});
  EXPECT_EQ(report.inputs, 2);
  EXPECT_THAT(report.notes, ElementsAre(HasSubstr("Input 0 was left out: the text is empty")));
  const SanityReport named = test_sanity(sentiment(), inputs,
                                         {.methods = {{"rollout"}},
                                          .names = {"line 2", "line 5", "line 6"},
                                          .cascading = false,
                                          .independent = false});
  EXPECT_THAT(named.notes, ElementsAre(HasSubstr("line 2 was left out: the text is empty")));
  EXPECT_THROW(test_sanity(sentiment(), {TextInput{" ", {}}}, {.methods = {{"rollout"}}}),
               InvalidInput);
}

TEST(Sanity, RefusesWhatCannotBeCompared) {
  EXPECT_THROW(test_sanity(sentiment(), {}, {.methods = {{"gae"}}}), InvalidInput);
  EXPECT_THROW(test_sanity(sentiment(), texts(1), {}), InvalidInput);
  EXPECT_THROW(test_sanity(sentiment(), texts(1), {.methods = {{"gae"}, {"gae"}}}), InvalidInput);
}

TEST(Sanity, OfPicturesComparesTheirStructure) {
  std::vector<InputValue> pictures;
  for (const auto& entry :
       std::filesystem::directory_iterator(source_folder() / "tests/data/pictures/objects")) {
    if (entry.path().extension() != ".png" || pictures.size() == 2) continue;
    pictures.push_back(PictureFile{entry.path()});
  }
  const Model model = Model::built_in_for_pictures();
  const SanityReport report = test_sanity(
      model, pictures, {.methods = {{"rollout"}, {"gradient-x-input"}}, .independent = false});
  EXPECT_EQ(report.kind, "pictures");
  EXPECT_GE(report.window, 3);
  const auto& head = *comparison(method(report, "rollout"), SanityChange::kCascading, "head");
  EXPECT_NEAR(*head.structure.mean, 1, 1e-12);
  EXPECT_EQ(head.identical, 2);
  const auto& all = *comparison(method(report, "gradient-x-input"), SanityChange::kCascading,
                                report.steps.back().name);
  EXPECT_LT(*all.structure.mean, 0.9);
}

// What is hidden in a model with other weights runs with those weights: values of single units are
// computed once and picked, which must not pick those of the model itself.
TEST(Randomised, HidingRunsWithTheSameWeightsAloneAndInBatches) {
  const InputValue text = TextInput{kTexts[4], {}};
  const Randomisation everything{true, 100, 1};
  const Reader& reader = sentiment().reader_of(text);
  Reading own = reader.read(text, {}), other = reader.read(text, {.randomisation = everything});
  const auto answers = [](const Input& input, const std::vector<Variant>& variants) {
    const FedGraph fed = input.run_of(variants);
    const Value output = fed.graph->output;
    return run(fed.graph->graph, fed.feeds, {.outputs = {output}})[output].to_doubles();
  };
  const Input& input = other.inputs[0];
  std::vector<Variant> variants;
  for (int64_t unit = 1; unit < 7; ++unit) {
    std::vector<bool> hidden(input.units(), false);
    hidden[unit] = true;
    variants.push_back(input.hiding(hidden, "auto"));
  }
  const std::vector<double> together = answers(input, variants);
  std::vector<double> alone;
  for (const Variant& variant : variants) {
    for (const double x : answers(input, {variant})) alone.push_back(x);
  }
  ASSERT_EQ(together.size(), alone.size());
  for (size_t i = 0; i < alone.size(); ++i) EXPECT_NEAR(together[i], alone[i], 1e-6);
  EXPECT_NE(together, answers(own.inputs[0], variants));
}

TEST(Randomised, PairsAreComparedByVectorsOfTheSameWeights) {
  const std::filesystem::path folder = source_folder() / "tests/golden/pairs";
  const Model model = Model::load(folder / "model");
  const PictureWithText pair{PictureFile{folder / "picture.png"}, "a red ball"};
  const Randomisation everything{true, 100, 1};
  const Reading reading = model.reader_of(pair).read(pair, {.randomisation = everything});
  // The text with the picture as it is, the picture with the text as it is, and both.
  std::vector<double> logits;
  for (const Input& input : reading.inputs) {
    const FedGraph fed = input.copies(1);
    const Value output = fed.graph->output;
    logits.push_back(
        run(fed.graph->graph, fed.feeds, {.outputs = {output}})[output].to_doubles()[0]);
  }
  ASSERT_EQ(logits.size(), 3u);
  EXPECT_NEAR(logits[0], logits[2], 1e-4);
  EXPECT_NEAR(logits[1], logits[2], 1e-4);
  const Input& together = reading.inputs[2];
  const std::vector<Variant> whole{together.hiding(std::vector<bool>(together.units()), "auto")};
  const FedGraph compared = together.run_of(whole);
  EXPECT_NEAR(compared.feeds.at(compared.graph->output).to_doubles()[0], logits[2], 1e-4);
}

TEST(Sanity, OfAPictureWithATextJudgesTheWeightsAlone) {
  const std::filesystem::path folder = source_folder() / "tests/golden/pairs";
  const Model model = Model::load(folder / "model");
  const std::vector<InputValue> inputs{
      PictureWithText{PictureFile{folder / "picture.png"}, "a red ball"}};
  const SanityReport report =
      test_sanity(model, inputs, {.methods = {{"gradient-x-input"}}, .independent = false});
  EXPECT_EQ(report.methods[0].depends_on_class, SanityVerdict::kUnknown);
  EXPECT_THAT(report.notes, ElementsAre(HasSubstr("one output")));
  for (const SanityComparison& one : report.methods[0].comparisons)
    EXPECT_EQ(one.change, SanityChange::kCascading);
}

// Arrays have elements in place of classes; the largest is fixed by the model's own weights.
TEST(Sanity, OfArraysDrawsAnotherElement) {
  const std::vector<float> numbers{0.7f, -1.2f, 0.4f, 1.9f};
  const std::vector<int64_t> ids{2, 0, 2};
  const auto memory = [](const void* data) {
    return std::shared_ptr<const void>(std::shared_ptr<void>(), data);
  };
  const ArrayViews views{{"numbers", {"F32", {1, 4}, memory(numbers.data()), 16}},
                         {"categories", {"I64", {1, 3}, memory(ids.data()), 24}}};
  const Model model = Model::load(
      source_folder() / "tests/golden/onnx/models" / "ft-transformer.sdpa.legacy.14.onnx",
      {.arrays = true});
  const SanityReport report = test_sanity(
      model, {views}, {.methods = {{"gradient-x-input"}, {"rollout"}}, .independent = false});
  EXPECT_EQ(report.kind, "arrays");
  const MethodSanity& gradients = method(report, "gradient-x-input");
  EXPECT_EQ(comparison(gradients, SanityChange::kOtherTarget, "")->identical, 0);
  EXPECT_EQ(comparison(gradients, SanityChange::kCascading, "head")->identical, 0);
  const MethodSanity& rollout = method(report, "rollout");
  EXPECT_EQ(comparison(rollout, SanityChange::kOtherTarget, "")->identical, 1);
  EXPECT_EQ(comparison(rollout, SanityChange::kCascading, "head")->identical, 1);
}

}  // namespace
}  // namespace whyformer
