// Many inputs explained together are explained as each by itself.
#include <gmock/gmock.h>

#include "tests/support/source_folder.h"
#include "whyformer/edits.h"
#include "whyformer/error.h"
#include "whyformer/tables.h"
#include "whyformer/threads.h"

namespace whyformer {
namespace {

std::vector<std::vector<Explanation>> explained_together(const Model& model,
                                                         const std::vector<InputValue>& inputs,
                                                         const ExplainRequest& request) {
  std::vector<std::vector<Explanation>> all;
  explain_each(model, inputs, request, [&](size_t input, std::vector<Explanation> explanations) {
    EXPECT_EQ(input, all.size());
    all.push_back(std::move(explanations));
    return true;
  });
  return all;
}

void expect_same_explanation(const Explanation& one, const Explanation& other) {
  EXPECT_EQ(one.target.index, other.target.index);
  EXPECT_EQ(one.output.values, other.output.values);
  ASSERT_EQ(one.attributions.size(), other.attributions.size());
  for (size_t i = 0; i < one.attributions.size(); ++i) {
    EXPECT_EQ(one.attributions[i].scores, other.attributions[i].scores)
        << one.attributions[i].method;
  }
  ASSERT_EQ(one.attention.size(), other.attention.size());
  EXPECT_EQ(one.notes, other.notes);
}

void expect_same_cost(const Explanation& one, const Explanation& other) {
  for (size_t i = 0; i < one.attributions.size(); ++i) {
    EXPECT_EQ(one.attributions[i].cost.forwards, other.attributions[i].cost.forwards);
    EXPECT_EQ(one.attributions[i].cost.backwards, other.attributions[i].cost.backwards);
  }
}

class ManyRows : public testing::Test {
 protected:
  void TearDown() override { set_threads(2); }

  void expect_as_each_alone(const ExplainRequest& request) const {
    const auto together = explained_together(model_, inputs_, request);
    ASSERT_EQ(together.size(), inputs_.size());
    for (size_t row = 0; row < inputs_.size(); ++row) {
      const auto alone = explain(model_, inputs_[row], request);
      ASSERT_EQ(together[row].size(), alone.size());
      for (size_t i = 0; i < alone.size(); ++i) expect_same_explanation(together[row][i], alone[i]);
      // Further targets of a row need a forward run of its own.
      expect_same_cost(together[row][0], alone[0]);
    }
  }

  Model model_ = Model::built_in_for_tables();
  std::vector<InputValue> inputs_ = rows_of(rows_with(model_));
};

TEST_F(ManyRows, HaveTheBitsOfEachRowByItself) {
  const ExplainRequest request{
      .methods = {{"raw-attention:gorishniy"}, {"rollout"}, {"gae"}, {"gradient-x-input"}}};
  for (const int threads : {1, 2}) {
    set_threads(threads);
    expect_as_each_alone(request);
  }
}

// The walk back of a batch is by the first targets.
TEST_F(ManyRows, HaveTheBitsOfEachRowForEveryTarget) {
  expect_as_each_alone({.methods = {{"gae"}}, .top = 2});
  expect_as_each_alone({.methods = {{"gae"}, {"rollout"}}, .target = std::string(">50K")});
}

// What an edit freezes is each row's own.
TEST_F(ManyRows, HaveTheBitsOfEachRowOfAChangedModel) {
  inputs_.resize(4);
  expect_as_each_alone(
      {.methods = {{"gae"}, {"gradient-x-input"}},
       .edits = {parse_edit("freeze blocks.0.output"), parse_edit("zero embeddings")}});
}

TEST_F(ManyRows, RunByThemselvesWhereAMethodLooksInsideLayers) {
  inputs_.resize(3);
  expect_as_each_alone({.methods = {{"attn-lrp"}, {"leave-one-out"}}});
}

TEST_F(ManyRows, AreTakenUpToTheOneThatIsRefused) {
  inputs_.resize(5);
  inputs_[3] = RowInput{.values = {1, 2}};
  std::vector<size_t> taken;
  const auto take = [&](size_t input, const std::vector<Explanation>&) {
    taken.push_back(input);
    return true;
  };
  EXPECT_THROW(explain_each(model_, inputs_, {.methods = {{"rollout"}}}, take), InvalidInput);
  EXPECT_THAT(taken, testing::ElementsAre(0, 1, 2));
}

TEST_F(ManyRows, GoOnBehindThoseThatAreRefusedWhereTheCallerTakesRefusals) {
  inputs_.resize(7);
  inputs_[0] = inputs_[3] = inputs_[6] = RowInput{.values = {1, 2}};
  const ExplainRequest request{.methods = {{"gae"}}};
  std::vector<size_t> order, refused;
  explain_each(
      model_, inputs_, request,
      [&](size_t input, const std::vector<Explanation>& found) {
        order.push_back(input);
        expect_same_explanation(found[0], explain(model_, inputs_[input], request)[0]);
        return true;
      },
      [&](size_t input, const Error&) {
        order.push_back(input);
        refused.push_back(input);
        return true;
      });
  EXPECT_THAT(order, testing::ElementsAre(0, 1, 2, 3, 4, 5, 6));
  EXPECT_THAT(refused, testing::ElementsAre(0, 3, 6));
}

// Its text is read, but there is no such target; those beside it are of the same batch.
TEST_F(ManyRows, LoseNothingByARefusalOfOneThatRunsWithThem) {
  inputs_.resize(3);
  size_t refused = 0;
  explain_each(
      model_, inputs_, {.methods = {{"rollout"}}, .target = std::string("no such label")},
      [&](size_t, const std::vector<Explanation>&) { return true; },
      [&](size_t input, const Error&) { return input == refused++; });
  EXPECT_EQ(refused, 3u);
}

TEST_F(ManyRows, StopWhereTheCallerHasSeenEnough) {
  size_t taken = 0;
  explain_each(model_, inputs_, {.methods = {{"rollout"}}},
               [&](size_t, const std::vector<Explanation>&) { return ++taken < 7; });
  EXPECT_EQ(taken, 7u);
}

TEST(ManyTexts, OfEqualAndOtherLengthsHaveTheBitsOfEachByItself) {
  const Model model = Model::built_in();
  std::vector<InputValue> texts;
  for (const char* text : {"a fine film", "a poor film", "a film that nobody will mind", "so good",
                           "so bad", "not so"}) {
    texts.push_back(TextInput{text, {}});
  }
  const ExplainRequest request{.methods = {{"gae"}, {"rollout"}, {"gradient-x-input"}}};
  const auto together = explained_together(model, texts, request);
  ASSERT_EQ(together.size(), texts.size());
  for (size_t i = 0; i < texts.size(); ++i)
    expect_same_explanation(together[i][0], explain(model, texts[i], request)[0]);
}

}  // namespace
}  // namespace whyformer
