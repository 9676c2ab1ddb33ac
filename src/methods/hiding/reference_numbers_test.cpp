// Numbers printed in a course on explaining transformers, for `textattack/bert-base-uncased-SST-2`.
// The weights are not part of the project: download the folder and set WHYFORMER_SST2_MODEL to its
// path to run these tests.
#include <gmock/gmock.h>

#include <cstdlib>

#include "api/prepare.h"
#include "tests/support/hiding_test_helpers.h"
#include "whyformer/model.h"

namespace whyformer {
namespace {

class ReferenceNumbers : public testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("WHYFORMER_SST2_MODEL");
    if (folder == nullptr)
      GTEST_SKIP()
          << "set WHYFORMER_SST2_MODEL to the folder of textattack/bert-base-uncased-SST-2";
    model_ = Model::load(folder);
  }

  Explanation explained(const std::string& text, const std::string& method,
                        const std::string& option, const TargetChoice& target) {
    ExplainRequest request;
    request.target = target;
    request.methods = {
        {method, option.empty() ? Options{} : parse_option(method_named(method), option)}};
    return explain(*model_, TextInput{text, {}}, request)[0];
  }

  // The positive class's logit where these words, counted from 1, are masked.
  double masked(const std::string& text, const std::vector<int>& words) {
    const InputValue input = TextInput{text, {}};
    Prepared prepared = prepare(model_->reader_of(input), input, {.target = int64_t{1}}, {});
    std::vector<bool> hidden(prepared.run().tokens(), false);
    for (const int word : words) hidden[word] = true;
    return answers_hiding(prepared.run(), {hidden}, "mask")[0][1];
  }

  std::optional<Model> model_;
};

struct Sentence {
  std::string text;
  double whole, nothing;
  double without_first, without_last, last_alone, first_and_last, third_or_second;
  std::vector<double> shap;
  double base;
};

const std::vector<Sentence> kFourWords{
    {"I like the movie",
     3.663560,
     0.062263,
     2.964231,
     3.512536,
     1.271817,
     0.747083,
     2.944985,
     {-0.1295938, 0.56973486, 2.80113666, -0.14384789, 0.32744559, 0.17642172},
     0.06226253},
    {"She hates the book",
     -3.145779,
     0.062263,
     -3.147297,
     -2.857780,
     1.533051,
     0.538116,
     -3.479752,
     {0.04401805, 0.04553582, -3.53780551, -0.05805362, 0.00513234, 0.29313125},
     0.06226253},
    {"This is so boring",
     -3.421771,
     0.062263,
     -3.370594,
     1.840488,
     -3.301062,
     -3.384438,
     -0.000288,
     {0.30843912, 0.25726233, 0.28962884, 0.28991709, -4.94576939, 0.3164889},
     0.06226253},
    {"You look extremely confused",
     -2.903021,
     0.062263,
     -2.792616,
     2.499923,
     -1.947228,
     -1.934721,
     0.332833,
     {0.59630368, 0.48589848, 0.27857004, -0.05426301, -4.83736869, 0.56557564},
     0.06226253}};

const std::string kSixWords = "I cannot wait for next time";

TEST_F(ReferenceNumbers, FollowForMaskedSentences) {
  for (const Sentence& sentence : kFourWords) {
    const std::string& text = sentence.text;
    EXPECT_NEAR(masked(text, {}), sentence.whole, 1e-5) << text;
    EXPECT_NEAR(masked(text, {1, 2, 3, 4}), sentence.nothing, 1e-5) << text;
    EXPECT_NEAR(masked(text, {1}), sentence.without_first, 1e-5) << text;
    EXPECT_NEAR(masked(text, {4}), sentence.without_last, 1e-5) << text;
    EXPECT_NEAR(masked(text, {1, 2, 3}), sentence.last_alone, 1e-5) << text;
    EXPECT_NEAR(masked(text, {2, 3}), sentence.first_and_last, 1e-5) << text;
    EXPECT_NEAR(masked(text, {3}) - masked(text, {2}), sentence.third_or_second, 2e-5) << text;
  }
  EXPECT_NEAR(masked(kSixWords, {}), 2.665551, 1e-5);
  EXPECT_NEAR(masked(kSixWords, {1, 2, 3, 4, 5, 6}), -0.427058, 1e-5);
  EXPECT_NEAR(masked(kSixWords, {1}), 2.265341, 1e-5);
  EXPECT_NEAR(masked(kSixWords, {6}), 2.221344, 1e-5);
}

TEST_F(ReferenceNumbers, FollowForPartitionShap) {
  const auto check = [&](const std::string& text, double base,
                         const std::vector<double>& expected) {
    const Attribution found =
        explained(text, "partition-shap", "preset=shap-context-1", int64_t{1}).attributions[0];
    EXPECT_NEAR(found.estimate->base, base, 1e-5) << text;
    ASSERT_EQ(found.scores.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(found.scores[i], expected[i], 2e-5) << text << ' ' << i;
  };
  for (const Sentence& sentence : kFourWords) check(sentence.text, sentence.base, sentence.shap);
  check(kSixWords, -0.42705753,
        {-0.10001853, 0.30019138, 1.07011396, 1.28322518, 0.11099461, 0.42985061, 0.22122911,
         -0.22297784});
}

TEST_F(ReferenceNumbers, FollowForGradSam) {
  const auto check = [&](const std::string& text, const std::vector<double>& expected) {
    const Attribution found = explained(text, "grad-sam", "", {}).attributions[0];
    ASSERT_EQ(found.scores.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(found.scores[i], expected[i], std::max(2e-8, 1e-4 * expected[i]))
          << text << ' ' << i;
    }
  };
  check("You look extremely confused",
        {0.00099815, 0.00054431, 0.00051781, 0.00039444, 0.00080487, 0.00013036});
  check(kSixWords, {0.00215395, 0.00055223, 0.00151768, 0.00163126, 0.00057652, 0.00080023,
                    0.00056583, 0.00027473});
  check("This is so boring",
        {0.00047818, 0.00012859, 0.00013792, 0.00017947, 0.00025618, 0.00005025});
}

}  // namespace
}  // namespace whyformer
