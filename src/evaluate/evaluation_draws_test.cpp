// What is drawn for an input depends on what it holds, not on where it stands.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "whyformer/evaluation.h"

namespace whyformer {
namespace {

using Values = std::vector<MetricValue>;

// Of scores alone: the entropy of one random ranking's scores tells which were drawn.
Values random_scores_of(const std::string& name, const InputValue& input) {
  EvaluationRequest request{.metrics = {"complexity", "sparseness"}, .random_rankings = 1};
  request.explain.methods = {{"gradient-x-input"}};
  const EvaluatedInput found =
      evaluate(Model::built_in(), EvaluationInput{.name = name, .input = input}, request);
  EXPECT_EQ(found.problem, "");
  EXPECT_EQ(found.methods[1].method, kRandomBaseline);
  return found.methods[1].values;
}

TEST(EvaluationDraws, RandomRankingsOfInputsOfOneSizeDiffer) {
  const TextInput warm{"a warm and funny film", {}}, dull{"a dull and stale film", {}};
  const Values first = random_scores_of("line 1", warm);
  EXPECT_NE(random_scores_of("line 2", dull), first);
  EXPECT_EQ(random_scores_of("line 3", warm), first) << "in another place";
}

TEST(EvaluationDraws, RandomRankingsOfProtocolsDifferFromInputToInput) {
  EvaluationRequest request{.protocol = "eraser", .random_rankings = 1};
  request.explain.methods = {{"gradient-x-input"}};
  const auto curve = [&](const std::string& name, const std::string& text) {
    EvaluationInput input{
        .name = name, .input = TextInput{text, {}}, .label = std::string("positive")};
    // The same words are marked in both, so only the drawn scores make the difference.
    input.words = words_of_spans({{2, 6}, {11, 16}});
    const EvaluatedInput found = evaluate(Model::built_in(), input, request);
    EXPECT_EQ(found.problem, "");
    return found.methods[1].values;
  };
  const Values first = curve("a", "a warm and funny film to see");
  EXPECT_NE(curve("b", "a cold and funny film to see"), first);
  EXPECT_EQ(curve("c", "a warm and funny film to see"), first);
}

PicturePixels grey_square(uint8_t level, int64_t width = 2) {
  std::shared_ptr<uint8_t[]> pixels(new uint8_t[4]);
  std::memset(pixels.get(), level, 4);
  return {"square", width, 4 / width, 1, pixels};
}

TEST(ContentHash, TellsApartWhateverDiffersAndNothingElse) {
  const auto hash = [](const InputValue& input) { return content_hash(input); };
  const std::vector<InputValue> inputs{
      TextInput{"ab", {}},
      TextInput{"a", "b"},
      TextInput{"ab", ""},
      PictureInput(grey_square(1)),
      PictureInput(grey_square(2)),
      PictureInput(grey_square(1, 4)),
      PictureWithText{grey_square(1), "ab"},
      RowInput{.names = {"x"}, .values = {1}},
      RowInput{.names = {"x"}, .values = {1}, .background = {1, 1, {2}}},
      RowInput{.names = {"x"}, .values = {1}, .cells = {"1"}},
      ArrayViews{}};
  for (const InputValue& one : inputs) {
    EXPECT_EQ(hash(one).size(), 64u);
    for (const InputValue& other : inputs) EXPECT_EQ(hash(one) == hash(other), &one == &other);
  }
  EXPECT_EQ(hash(TextInput{"ab", {}}), hash(TextInput{"ab", {}}));
  PicturePixels renamed = grey_square(1);
  renamed.name = "another name";
  EXPECT_EQ(hash(PictureInput(renamed)), hash(inputs[3]));
}

TEST(ContentHash, OfAnEvaluationInputCoversWhatIsAskedAndKnown) {
  const EvaluationInput plain{.name = "a", .input = TextInput{"ab", {}}};
  EvaluationInput named = plain, target = plain, label = plain, known = plain;
  named.name = "b";
  target.target = std::string("positive");
  label.label = std::string("positive");
  known.known_from = [] { return std::string("mask"); };
  EXPECT_EQ(content_hash(named), content_hash(plain));
  for (const EvaluationInput* one : {&target, &label, &known}) {
    EXPECT_NE(content_hash(*one), content_hash(plain));
  }
  EXPECT_NE(content_hash(target), content_hash(label));
}

}  // namespace
}  // namespace whyformer
