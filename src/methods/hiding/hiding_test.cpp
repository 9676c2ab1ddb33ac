// Inputs with hidden parts: what runs, how often, and that shortcuts change nothing.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "api/prepare.h"
#include "methods/hiding/input_game.h"
#include "run/two_states.h"
#include "tests/support/hiding_test_helpers.h"
#include "whyformer/error.h"
#include "whyformer/model.h"

namespace whyformer {
namespace {

using ::testing::Contains;
using ::testing::DoubleNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;
using ::testing::ThrowsMessage;

constexpr const char* kText = "I cannot wait for next time";

Prepared prepared_text(const std::string& text = kText, ExplainRequest request = {}) {
  static const Model model = Model::built_in();
  const InputValue input = TextInput{text, {}};
  return prepare(model.reader_of(input), input, request, {});
}

// Some of all coalitions of the ordinary tokens.
std::vector<std::vector<bool>> hidden_sets(const Input& input, size_t count) {
  std::vector<std::vector<bool>> sets;
  for (size_t set = 0; set < count; ++set) {
    sets.emplace_back(input.units(), false);
    for (int64_t unit = 0, bit = 0; unit < input.units(); ++unit) {
      if (input.special()[unit]) continue;
      sets.back()[unit] = (set * 7 + 3) >> bit++ & 1;
    }
  }
  return sets;
}

TEST(TwoStates, GiveTheSameBitsAsRunningEachInput) {
  Prepared text = prepared_text();
  const Input& input = text.run().input();
  std::vector<Variant> inputs;
  for (const auto& hidden : hidden_sets(input, 16)) inputs.push_back(input.hiding(hidden, "mask"));
  const auto together = input.run_of(inputs);
  const std::vector<Value> fed = values_of_single_units(*together.graph);
  // Embeddings, queries, keys and values of the first layer.
  ASSERT_EQ(fed.size(), 4u);
  for (const Value value : fed) EXPECT_TRUE(together.feeds.contains(value));
  const Value output = together.graph->output;
  const auto answers =
      run(together.graph->graph, together.feeds, {.outputs = {output}})[output].to_doubles();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto alone = input.run_of({&inputs[i], 1});
    EXPECT_FALSE(alone.feeds.contains(values_of_single_units(*alone.graph)[1]));
    const Value own = alone.graph->output;
    const auto expected =
        run(alone.graph->graph, alone.feeds, {.outputs = {own}})[own].to_doubles();
    EXPECT_EQ(std::vector(answers.begin() + i * 2, answers.begin() + i * 2 + 2), expected);
  }
}

TEST(Answers, AreAskedForOnceInACall) {
  Prepared text = prepared_text();
  auto& explained = text.run();
  const auto sets = hidden_sets(explained.input(), 8);
  const int before = explained.spent().forwards;
  const auto first = answers_hiding(explained, sets, "mask");
  EXPECT_EQ(explained.spent().forwards - before, 8);
  auto twice = sets;
  twice.insert(twice.end(), sets.begin(), sets.end());
  const auto second = answers_hiding(explained, twice, "mask");
  EXPECT_EQ(explained.spent().forwards - before, 8);
  for (size_t i = 0; i < sets.size(); ++i) EXPECT_EQ(second[i + 8], first[i]);
}

TEST(Answers, ComeBackInOrderWhateverTheirLengths) {
  Prepared text = prepared_text();
  const auto sets = hidden_sets(text.run().input(), 12);
  const auto together = answers_hiding(text.run(), sets, "delete");
  for (size_t i = 0; i < sets.size(); ++i) {
    EXPECT_EQ(answers_hiding(prepared_text().run(), {sets[i]}, "delete")[0], together[i]);
  }
}

TEST(Answers, DoNotChangeWithTheMemoryTheyMayTake) {
  Prepared roomy = prepared_text(), narrow = prepared_text(kText, {.memory_bytes = 1});
  const auto sets = hidden_sets(roomy.run().input(), 12);
  EXPECT_EQ(answers_hiding(roomy.run(), sets, "mask"), answers_hiding(narrow.run(), sets, "mask"));
}

TEST(Retokenizing, OfWholeWordsIsMaskingThem) {
  Prepared text = prepared_text();
  const auto sets = hidden_sets(text.run().input(), 8);
  EXPECT_EQ(answers_hiding(text.run(), sets, "mask"),
            answers_hiding(text.run(), sets, "retokenize"));
}

TEST(OutputSpaces, AreThoseOfTheSoftmax) {
  Prepared text = prepared_text();
  const std::vector<double> logits{0.3, -1.2};
  const double p = std::exp(logits[text.run().target()]) / (std::exp(0.3) + std::exp(-1.2));
  EXPECT_NEAR(text.run().in_space(OutputSpace::kProbability, logits), p, 1e-12);
  EXPECT_NEAR(text.run().in_space(OutputSpace::kLogOdds, logits), std::log(p / (1 - p)), 1e-12);
  EXPECT_EQ(in_space(OutputSpace::kLogOdds, {2.5, 1, -1}, 0, Problem::kMultiLabel), 2.5);
  EXPECT_THAT([] { in_space(OutputSpace::kProbability, {2.5}, 0, Problem::kRegression); },
              ThrowsMessage<InvalidInput>(HasSubstr("no probability")));
}

// §2.4.4 of the method's description: with siblings visible, the first word's lead over [CLS], its
// sibling in the tree, is what leaving it out costs.
TEST(PartitionShap, OfVisibleSiblingsTellsWhatLeavingOutTells) {
  ExplainRequest request;
  request.methods = {{"partition-shap", {{"context", std::string("1")}}}, {"leave-one-out", {}}};
  const Explanation found =
      explain(Model::built_in(), TextInput{"I like the movie", {}}, request)[0];
  ASSERT_EQ(found.units.size(), 6u);  // each word is a token
  const std::vector<double>& shap = found.attributions[0].scores;
  const std::vector<double>& left_out = found.attributions[1].scores;
  EXPECT_NEAR(shap[1] - shap[0], left_out[1], 1e-6);
  EXPECT_NEAR(shap[shap.size() - 2] - shap.back(), left_out[left_out.size() - 2], 1e-6);
}

TEST(ShapMethods, AddUpInEverySpaceAndAgree) {
  for (const std::string space : {"logit", "probability", "log-odds"}) {
    ExplainRequest request;
    for (const std::string method :
         {"exact-shap", "kernel-shap", "partition-shap", "permutation-shap", "sampling-shap"}) {
      request.methods.push_back({method, {{"space", space}}});
    }
    const Explanation found = explain(Model::built_in(), TextInput{kText, {}}, request)[0];
    for (const Attribution& one : found.attributions) {
      double sum = one.estimate->base;
      for (const double score : one.scores) sum += score;
      EXPECT_NEAR(sum, one.estimate->value, 1e-6) << one.method << ' ' << space;
      EXPECT_EQ(one.estimate->space, space);
    }
    EXPECT_THAT(found.attributions[1].scores,
                Pointwise(DoubleNear(1e-9), found.attributions[0].scores));
    EXPECT_NEAR(found.attributions[0].estimate->value,
                space == "logit" ? found.target.value
                : space == "probability"
                    ? *found.target.probability
                    : std::log(*found.target.probability / (1 - *found.target.probability)),
                1e-6);
  }
}

TEST(ShapMethods, GiveTheEstimateSoFarWhenInterrupted) {
  for (const std::string method :
       {"permutation-shap", "kernel-shap", "partition-shap", "sampling-shap", "lime"}) {
    ExplainRequest request;
    request.methods = {{method, method == "lime" ? Options{{"samples", int64_t{5000}}} : Options{}},
                       {"leave-one-out", {}}};
    request.memory_bytes = 1;  // one input at a time
    bool stopped = false;
    request.progress = [&](int64_t done, int64_t) { return !(stopped |= done >= 300); };
    const std::string text =
        "The story is thin and the jokes are stale, but the two leads are so charming that nobody "
        "in the room minded.";
    const Explanation found = explain(Model::built_in(), TextInput{text, {}}, request)[0];
    ASSERT_EQ(found.attributions.size(), 1u) << method;
    EXPECT_FALSE(found.attributions[0].estimate->finished) << method;
    EXPECT_THAT(found.notes.back(), HasSubstr("Interrupted before leave-one-out")) << method;
    if (method == "lime") continue;
    EXPECT_NEAR(*found.attributions[0].completeness_gap, 0, 1e-6) << method;
  }
}

TEST(ShapMethods, LeaveASeparatorOfTheTextAlone) {
  ExplainRequest request;
  request.methods = {{"exact-shap", {}}};
  const Explanation found = explain(Model::built_in(), TextInput{"good [SEP] bad", {}}, request)[0];
  ASSERT_EQ(found.units[2].text, "[SEP]");
  EXPECT_EQ(found.attributions[0].scores[2], 0);
}

TEST(Lime, FoldsToOneNumberForEachWord) {
  ExplainRequest request;
  request.methods = {{"lime", {}}};
  const Explanation found =
      explain(Model::built_in(), TextInput{"unpretentious but unpretentious", {}}, request)[0];
  const auto& words = found.attributions[0].words;
  ASSERT_EQ(words.size(), 3u);
  EXPECT_NEAR(words[0].score, words[2].score, 1e-12);
}

Attribution attribution_of(const std::string& method, const Options& options,
                           const std::string& text = kText) {
  ExplainRequest request;
  request.methods = {{method, options}};
  return explain(Model::built_in(), TextInput{text, {}}, request)[0].attributions[0];
}

TEST(KernelShapMethod, SaysThatTooFewSamplesLeaveValuesOpen) {
  const Attribution found =
      attribution_of("kernel-shap", {{"samples", int64_t{4}}}, "I cannot wait for next time again");
  EXPECT_THAT(found.notes, Contains(HasSubstr("4 coalitions underdetermine 7 players")));
  for (size_t i = 1; i + 1 < found.scores.size(); ++i)
    EXPECT_TRUE(std::isinf(found.estimate->errors[i]));
}

TEST(KernelShapMethod, SaysThatErrorsAreUnknownWhereCoalitionsBarelySuffice) {
  int barely = 0;
  for (const int64_t samples : {4, 8, 10, 12, 14, 16, 20}) {
    const Attribution found = attribution_of("kernel-shap", {{"samples", samples}});
    const bool unknown =
        std::ranges::any_of(found.estimate->errors, [](double error) { return std::isinf(error); });
    EXPECT_EQ(found.notes.empty(), !unknown) << samples;
    for (const std::string& note : found.notes) {
      EXPECT_THAT(note, HasSubstr("Raise kernel-shap.samples")) << samples;
      barely += note.find("standard errors are unknown, and the values are rough") != note.npos;
    }
  }
  EXPECT_GT(barely, 0);
}

// They are never hidden, so 0 ± 0 would be an estimate that nobody made.
TEST(SampledMethods, HaveNoErrorOfSpecialTokens) {
  for (const std::string method : {"kernel-shap", "permutation-shap", "sampling-shap", "lime"}) {
    ExplainRequest request;
    request.methods = {{method, {}}};
    const Explanation found =
        explain(Model::built_in(),
                TextInput{"The story is thin and the jokes are stale but the leads are good", {}},
                request)[0];
    const std::vector<double>& errors = found.attributions[0].estimate->errors;
    ASSERT_EQ(errors.size(), found.units.size()) << method;
    for (size_t i = 0; i < errors.size(); ++i) {
      EXPECT_EQ(std::isnan(errors[i]), found.units[i].special) << method << ' ' << i;
      EXPECT_TRUE(found.units[i].special || errors[i] > 0) << method << ' ' << i;
    }
  }
}

TEST(LimeMethod, HasNoErrorOfTokensOutsideWords) {
  const Attribution found = attribution_of("lime", {}, "good, bad");
  EXPECT_TRUE(std::isnan(found.estimate->errors[2]));  // the comma
  EXPECT_GT(found.estimate->errors[1], 0);
  EXPECT_GT(found.estimate->errors[3], 0);
}

TEST(LimeMethod, RefusesOptionsThatSayNothingToATextOrAPicture) {
  EXPECT_THAT([] { attribution_of("lime", {{"how", std::string("grey")}}); },
              ThrowsMessage<InvalidInput>(HasSubstr("lime.how=grey: words of a text")));
  ExplainRequest request;
  request.methods = {{"lime", {{"words", std::string("places")}, {"samples", int64_t{10}}}}};
  const std::shared_ptr<uint8_t[]> grey(new uint8_t[3 * 32 * 32]());
  EXPECT_THAT(
      [&] {
        explain(Model::built_in_for_pictures(), PicturePixels{"black", 32, 32, 3, grey}, request);
      },
      ThrowsMessage<InvalidInput>(HasSubstr("lime.words=places: a picture has no words")));
}

TEST(LimeMethod, SaysThatThePenaltyDecidesWhereInputsAreFewerThanWords) {
  const Attribution found =
      attribution_of("lime", {{"samples", int64_t{3}}}, "I cannot wait for next time again");
  EXPECT_THAT(found.notes, Contains(HasSubstr("3 different inputs for 8 coefficients")));
}

TEST(LinkOption, NeedsProbabilities) {
  EXPECT_THAT([] { attribution_of("exact-shap", {{"link", std::string("logit")}}); },
              ThrowsMessage<InvalidInput>(HasSubstr("add space=probability")));
}

// Of a text there is one way to hide a token, and the log-odds of its probability are the log-odds.
TEST(LinkOption, OfOneBackgroundGivesLogOdds) {
  for (const std::string method :
       {"exact-shap", "kernel-shap", "permutation-shap", "partition-shap", "shap"}) {
    const Attribution linked = attribution_of(
        method, {{"space", std::string("probability")}, {"link", std::string("logit")}});
    const Attribution plain = attribution_of(method, {{"space", std::string("log-odds")}});
    EXPECT_THAT(linked.scores, Pointwise(DoubleNear(1e-5), plain.scores)) << method;
    EXPECT_EQ(linked.estimate->space, "log-odds");
  }
}

}  // namespace
}  // namespace whyformer
