// Inputs of several kinds, and of several parts, where one of one kind is asked for.
#include <gmock/gmock.h>

#include "tests/support/array_test_helpers.h"
#include "whyformer/answers.h"
#include "whyformer/concepts.h"
#include "whyformer/heads.h"
#include "whyformer/relevance.h"

namespace whyformer {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const std::filesystem::path kComparing = source_folder() / "tests/golden/pairs";

const Model& comparing_model() {
  static const Model model = Model::load(kComparing / "model");
  return model;
}

PictureInput seen_picture() { return PictureFile{kComparing / "picture.png"}; }

const Model& rows_alone() {
  static const Model model = Model::load(golden("ft-transformer.sdpa.legacy.14"));
  return model;
}

RowInput row_with(double number) {
  return {.names = {"a", "b", "c", "d", "k", "l", "m"}, .values = {number, -1, 0.5, 2, 1, 0, 1}};
}

TEST(InputsOfSeveralKinds, HaveNoAnswersTogether) {
  const TextInput text{"a dog", {}};
  EXPECT_THAT([&] { answers(comparing_model(), {text, text, seen_picture()}); },
              ThrowsMessage<InvalidInput>("input 2: expected texts, not pictures"));
  EXPECT_THAT([&] { answers(comparing_model(), {seen_picture(), text}); },
              ThrowsMessage<InvalidInput>("input 1: expected pictures, not texts"));
}

TEST(InputsOfSeveralKinds, ShowNothingAboutHeads) {
  const std::vector<LabelledInput> corpus{{TextInput{"a dog", {}}, {}, "line 1"},
                                          {seen_picture(), {}, "line 2"}};
  EXPECT_THAT([&] { head_importance(comparing_model(), corpus, {.measures = {"confidence"}}); },
              ThrowsMessage<InvalidInput>("line 2: expected texts, not pictures"));
}

TEST(InputsOfSeveralKinds, AreNoExamplesOfAConcept) {
  const TextInput text{"a dog", {}};
  const Model among = comparing_model().among({"a dog", "a cat"});
  const auto tested = [&](const InputValue& example, const InputValue& other,
                          const InputValue& last) {
    const auto ending_in = [](const InputValue& one) {
      std::vector<InputValue> pictures(6, seen_picture());
      pictures.push_back(one);
      return pictures;
    };
    return test_concepts(among, {{"dogs", ending_in(example)}}, {{"others", ending_in(other)}},
                         {{"a dog", ending_in(last)}}, {});
  };
  EXPECT_THAT([&] { tested(text, seen_picture(), seen_picture()); },
              ThrowsMessage<InvalidInput>("'dogs', input 6: expected pictures, not texts"));
  EXPECT_THAT([&] { tested(seen_picture(), text, seen_picture()); },
              ThrowsMessage<InvalidInput>("'others', input 6: expected pictures, not texts"));
  EXPECT_THAT([&] { tested(seen_picture(), seen_picture(), text); },
              ThrowsMessage<InvalidInput>("'a dog', input 6: expected pictures, not texts"));
}

TEST(InputsOfSeveralParts, HaveNoTraceOfThemAll) {
  const PictureWithText both{seen_picture(), "a dog"};
  EXPECT_THAT([&] { trace(comparing_model(), both, {}); },
              ThrowsMessage<InvalidInput>(HasSubstr("give the picture alone")));
  EXPECT_THAT([&] { relevance_report(comparing_model(), both, "chefer", {}); },
              ThrowsMessage<InvalidInput>(HasSubstr("give the picture alone")));
  EXPECT_THAT([&] { attention(comparing_model(), both); },
              ThrowsMessage<InvalidInput>(HasSubstr("give the picture alone")));
}

TEST(AttentionMaps, AreThoseOfATraceForAnyTarget) {
  const Model model = Model::built_in();
  const TextInput text{"A warm, funny film.", {}};
  const std::vector<AttentionMap> maps = attention(model, text);
  for (const int64_t target : {0, 1}) {
    const Trace traced = trace(model, text, {.target = target});
    ASSERT_EQ(maps.size(), traced.attention.size());
    for (size_t layer = 0; layer < maps.size(); ++layer) {
      const AttentionMap& own = maps[layer];
      const AttentionMap& other = traced.attention[layer];
      EXPECT_EQ(own.name, other.name);
      ASSERT_EQ(own.heads * own.queries * own.keys, other.heads * other.queries * other.keys);
      EXPECT_TRUE(std::equal(own.values.get(),
                             own.values.get() + own.heads * own.queries * own.keys,
                             other.values.get()));
    }
  }
}

TEST(RowsOfATable, ShowWhichHeadsMatterForTheirLabels) {
  std::vector<LabelledInput> corpus;
  for (const double number : {0.5, -0.25}) {
    corpus.push_back({row_with(number), std::vector<std::string>{"1"}, "row"});
  }
  const HeadImportance found =
      head_importance(rows_alone(), corpus, {.measures = {"michel"}, .prune = PruneRequest{}});
  EXPECT_EQ(found.labelled, 2);
  EXPECT_EQ(found.kind, "rows of a table");
  ASSERT_TRUE(found.pruning);
  EXPECT_EQ(found.pruning->examples, 2);
  // The accuracy of the whole model is that of its answers.
  double right = 0;
  for (const LabelledInput& one : corpus) {
    const std::vector<double> values = answers(rows_alone(), {one.input}).inputs[0].values;
    right += values[1] > values[0] ? 0.5 : 0;
  }
  EXPECT_EQ(found.pruning->steps.front().accuracy, right);
}

TEST(RowsOfATable, AreExamplesOfConcepts) {
  const auto some = [](double from) {
    std::vector<InputValue> rows;
    for (int i = 0; i < 12; ++i) rows.push_back(row_with(from + 0.07 * i));
    return rows;
  };
  const std::string label = answers(rows_alone(), some(0)).labels[1];
  const ConceptReport report = test_concepts(rows_alone(), {{"large", some(2)}},
                                             {{"others", some(-1)}}, {{label, some(0)}}, {});
  ASSERT_FALSE(report.tests.empty());
  EXPECT_EQ(report.tests[0].target, label);
  EXPECT_EQ(report.unit, "rows of a table");
}

TEST(Arrays, AreAnsweredOneAtATime) {
  const std::filesystem::path file = golden("ft-transformer.sdpa.legacy.14");
  const InputFile inputs(file);
  const Model model = Model::load(file, {.arrays = true});
  EXPECT_THAT([&] { answers(model, {read_array_views(inputs.path())}); },
              ThrowsMessage<InvalidInput>(HasSubstr("arrays are run one at a time")));
}

TEST(Arrays, AreWhatATextModelWithoutItsTokenizerTakes) {
  const std::filesystem::path file = golden("t5.eager.new.18");
  const Model model = Model::load(file);
  EXPECT_FALSE(model.reads_texts());
  const InputFile inputs(file);
  const ArrayViews arrays = read_array_views(inputs.path());
  const auto expected = Model::load(file, {.arrays = true}).run(arrays);
  for (const auto& [name, output] : model.run(arrays)) {
    EXPECT_EQ(output.values, expected.at(name).values) << name;
  }
  const auto without = ThrowsMessage<FileError>(HasSubstr("no tokenizer: put tokenizer.json"));
  EXPECT_THAT([&] { explain(model, TextInput{"a dog", {}}, {.methods = {{"gae", {}}}}); }, without);
  EXPECT_THAT([&] { default_methods(model); }, without);
  // An output is chosen for texts: whoever names one is told at once.
  EXPECT_THAT([&] { Model::load(file, {.output = "output"}); }, without);
}

}  // namespace
}  // namespace whyformer
