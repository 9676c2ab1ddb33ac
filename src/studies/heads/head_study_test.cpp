#include "studies/heads/head_study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/heads_test_helpers.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using testing::Contains;
using testing::HasSubstr;

std::string refusal(const GoldenModel& golden, const std::vector<LabelledInput>& corpus,
                    const HeadsRequest& request) {
  try {
    heads_of(golden, corpus, request);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(HeadStudy, TakesThePredictionWhereThereIsNoLabelAndSaysSo) {
  const GoldenModel golden("bert");
  std::vector<LabelledInput> corpus = corpus_of(golden, {"single", "pair"});
  corpus[1].labels.reset();
  HeadImportance result = heads_of(golden, corpus, {});
  EXPECT_EQ(result.labelled, 1);
  EXPECT_THAT(result.notes,
              Contains("1 of 2 texts have no label: the model's own predictions stand in."));
  corpus[0].labels.reset();
  result = heads_of(golden, corpus, {});
  EXPECT_THAT(result.notes,
              Contains("None of the texts has a label: the model's own predictions stand in."));
  EXPECT_TRUE(heads_of(golden, corpus, {.measures = {"entropy"}}).notes.empty());
}

TEST(HeadStudy, ReadsLabelsByNameAndByIndex) {
  const GoldenModel golden("bert");
  std::vector<LabelledInput> corpus = corpus_of(golden, {"pair"});
  corpus[0].labels = {{"2"}};
  const HeadGrid by_index = scores_of(golden, "michel", corpus);
  corpus[0].labels = {{"LABEL_2"}};
  EXPECT_EQ(scores_of(golden, "michel", corpus), by_index);
  corpus[0].labels = {{"1"}};
  EXPECT_NE(scores_of(golden, "michel", corpus), by_index);
}

TEST(HeadStudy, StopsWithWhatThereIsByThen) {
  const GoldenModel golden("bert");
  HeadsRequest request{.measures = {"michel"}, .precision = Precision::kDouble};
  request.progress = [](int64_t done, int64_t) { return done < 2; };
  const HeadImportance stopped = heads_of(golden, corpus_of(golden), request);
  EXPECT_TRUE(stopped.stopped_early);
  EXPECT_EQ(stopped.examples, 2);
  EXPECT_EQ(stopped.measures[0].values,
            scores_of(golden, "michel", corpus_of(golden, {"single", "pair"})));
}

TEST(HeadStudy, NamesTheTextWhoseLabelIsWrong) {
  const GoldenModel golden("bert");
  std::vector<LabelledInput> corpus = corpus_of(golden);
  corpus[2].labels = {{"happy"}};
  EXPECT_THAT(refusal(golden, corpus, {}),
              HasSubstr("special_only: there is no label 'happy': this model has 3 outputs"));
  corpus[2].labels = {{"0", "1"}};
  EXPECT_THAT(refusal(golden, corpus, {}), HasSubstr("2 labels were given but this model takes 1"));
}

TEST(HeadStudy, RefusesMeasuresThatDoNotFitTheModel) {
  const GoldenModel regression("bert-regression");
  std::vector<LabelledInput> corpus = corpus_of(regression, {"single"});
  corpus[0].labels.reset();
  EXPECT_THAT(refusal(regression, corpus, {}), HasSubstr("needs the right number"));
  HeadsRequest pruning{.measures = {"entropy"}};
  pruning.prune.emplace();
  EXPECT_THAT(refusal(regression, corpus, pruning), HasSubstr("needs a classifier"));
  const GoldenModel encoder("bert-mean-pooling");
  corpus = corpus_of(encoder, {"single"});
  EXPECT_THAT(refusal(encoder, corpus, {}), HasSubstr("'michel' needs a classifier"));
  EXPECT_EQ(heads_of(encoder, corpus, {.measures = {"confidence"}}).examples, 1);
  EXPECT_THAT(refusal(encoder, corpus, {.measures = {"mitchell"}}),
              HasSubstr("there is no measure 'mitchell'; known are michel"));
}

}  // namespace
}  // namespace whyformer
