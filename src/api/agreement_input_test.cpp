// Inputs that are compared together are compared as each by itself.
#include <gmock/gmock.h>

#include <algorithm>

#include "whyformer/error.h"
#include "whyformer/method_agreement.h"
#include "whyformer/tables.h"
#include "whyformer/threads.h"

namespace whyformer {
namespace {

std::vector<EvaluationEntry> some_rows(const Model& model, int64_t count) {
  std::vector<EvaluationEntry> corpus;
  for (int64_t row = 0; row < count; ++row) {
    corpus.push_back({{.name = "row " + std::to_string(row),
                       .input = row_of(rows_with(model), row),
                       .target = {}}});
  }
  return corpus;
}

void expect_same_scores(const AgreementInput& one, const AgreementInput& other) {
  EXPECT_EQ(one.name, other.name);
  EXPECT_EQ(one.problem, other.problem);
  EXPECT_EQ(one.columns, other.columns);
  EXPECT_EQ(one.methods, other.methods);
  EXPECT_EQ(one.is_signed, other.is_signed);
  EXPECT_EQ(one.scores, other.scores);
  EXPECT_EQ(one.again, other.again);
}

TEST(AgreementOfACorpus, IsThatOfEachInputWhateverTheThreads) {
  const Model model = Model::built_in_for_tables();
  std::vector<EvaluationEntry> corpus = some_rows(model, 60);
  corpus[7].problem = "line 8 has too few cells";
  corpus[9].input.input = RowInput{.values = {1}};
  for (size_t i = 20; i < 25; ++i) corpus[i].input.target = int64_t{0};
  const AgreementRequest request{
      .explain = {.methods = {{"gae"}, {"smooth-grad", {{"samples", int64_t{2}}}}}}};
  for (const int count : {1, 2}) {
    set_threads(count);
    const std::vector<AgreementInput> found = agreement_inputs(model, corpus, request, {});
    ASSERT_EQ(found.size(), corpus.size());
    for (size_t i = 0; i < corpus.size(); ++i) {
      const EvaluationInput& input = corpus[i].input;
      AgreementRequest own = request;
      own.explain.target = input.target;
      const AgreementInput alone =
          corpus[i].problem.empty()
              ? agreement_input(model, input.name, input.input, own)
              : AgreementInput{.name = input.name, .problem = corpus[i].problem};
      expect_same_scores(found[i], alone);
    }
  }
  set_threads(2);
}

TEST(AgreementOfACorpus, KeepsWhatIsDoneWhereItIsInterrupted) {
  const Model model = Model::built_in_for_tables();
  const std::vector<EvaluationEntry> corpus = some_rows(model, 40);
  const AgreementRequest request{.explain = {.methods = {{"gae"}, {"rollout"}}}};
  const std::vector<AgreementInput> found =
      agreement_inputs(model, corpus, request, [](int64_t done, int64_t) { return done < 11; });
  ASSERT_GE(found.size(), 11u);
  EXPECT_LT(found.size(), corpus.size());
  auto entry = corpus.begin();
  for (const AgreementInput& one : found) {  // in the order of the corpus
    entry = std::find_if(entry, corpus.end(), [&](const EvaluationEntry& other) {
      return other.input.name == one.name;
    });
    ASSERT_NE(entry, corpus.end()) << one.name;
  }
  // It is asked after each input at the latest.
  const auto never = [](int64_t, int64_t) { return false; };
  EXPECT_EQ(agreement_inputs(model, corpus, request, never).size(), 1u);
}

}  // namespace
}  // namespace whyformer
