// Every method explains a model with edits as it explains any other.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/support/golden_model.h"
#include "tests/support/source_folder.h"
#include "whyformer/error.h"
#include "whyformer/probe.h"

namespace whyformer {
namespace {

const InputValue kSentence = TextInput{"w11 w23 w31 w47", {}};

Model model_of(const std::string& name) { return Model::load(parts_of(golden_files(name), name)); }

std::optional<Attribution> attribution_with(const Model& model, const std::string& method,
                                            const std::vector<Edit>& edits) {
  try {
    return explain(model, kSentence, {.methods = {{method, {}}}, .edits = edits})[0]
        .attributions[0];
  } catch (const InvalidInput&) {
    return std::nullopt;
  } catch (const UnsupportedModel&) {
    return std::nullopt;
  }
}

double largest_of(const std::vector<double>& scores) {
  double largest = 0;
  for (const double score : scores) largest = std::max(largest, std::abs(score));
  return largest;
}

void expect_same_scores(const Attribution& found, const Attribution& own, const std::string& what) {
  ASSERT_EQ(found.scores.size(), own.scores.size());
  const double scale = std::max(1e-6, largest_of(own.scores));
  for (size_t i = 0; i < own.scores.size(); ++i)
    EXPECT_NEAR(found.scores[i], own.scores[i], 1e-4 * scale) << what << ' ' << i;
}

TEST(EditedModel, ThatIsTheSameHasTheSameExplanationsByEveryMethod) {
  const Model model = model_of("bert");
  int compared = 0;
  for (const MethodInfo& method : methods()) {
    const auto own = attribution_with(model, method.name, {});
    if (!own) continue;
    for (const char* value : {"embeddings", "words", "blocks.1.attention.pattern", "readout"}) {
      const Edit same = parse_edit(fmt::format("scale {} 1", value));
      const auto found = attribution_with(model, method.name, {same});
      ASSERT_TRUE(found) << method.name << ' ' << value;
      expect_same_scores(*found, *own, method.name + " " + value);
      ++compared;
    }
  }
  EXPECT_GT(compared, 60);
}

TEST(EditedModel, ThatIsTheSameIsSoWhereverTheEditStands) {
  for (const std::string name : {"bert", "roberta"}) {
    const Model model = model_of(name);
    std::vector<std::string> values;
    for (const ValueInfo& value : values_inside(model, kSentence)) {
      if (!value.name.starts_with("inputs.")) values.push_back(value.name);
    }
    for (const std::string method : {"gae", "integrated-gradients", "shap", "attn-lrp", "lrp",
                                     "rollout", "transformer-attribution", "occlusion"}) {
      const auto own = attribution_with(model, method, {});
      if (!own) continue;
      for (const std::string& value : values) {
        const auto found = attribution_with(model, method, {parse_edit("scale " + value + " 1")});
        ASSERT_TRUE(found) << method << ' ' << value;
        expect_same_scores(*found, *own, name + " " + method + " " + value);
      }
    }
  }
}

// The sum of integrated gradients is the difference of the answers of the edited model.
TEST(EditedModel, IsWhatMethodsExplain) {
  const Model model = model_of("bert");
  const std::vector<Edit> edits{parse_edit("zero blocks.0.attention.context head=1"),
                                parse_edit("scale blocks.1.mlp.output 0.5 token=0")};
  ExplainRequest request{.methods = {{"integrated-gradients", {}}, {"leave-one-out", {}}},
                         .target = int64_t{1},
                         .edits = edits};
  const Explanation edited = explain(model, kSentence, request)[0];
  EXPECT_THAT(edited.edits, testing::ElementsAre(to_text(edits[0]), to_text(edits[1])));
  EXPECT_THAT(edited.notes, testing::Contains(testing::HasSubstr(to_text(edits[0]))));
  EXPECT_EQ(edited.output.values, probe(model, kSentence, {.edits = edits}).output.values);
  request.edits.clear();
  const Explanation own = explain(model, kSentence, request)[0];
  EXPECT_NE(edited.output.values, own.output.values);
  EXPECT_NE(edited.attributions[1].scores, own.attributions[1].scores);
  for (const Explanation* one : {&edited, &own})
    EXPECT_LT(std::abs(*one->attributions[0].completeness_gap), 0.02);
}

// What is taken away leaves other tokens at the places that the edit names.
TEST(EditedModel, RefusesInputsOfAnotherLengthWhereAnEditNamesTokens) {
  const Model model = model_of("bert");
  const auto explain_by_deleting = [&](const std::string& edit) {
    return explain(model, kSentence,
                   {.methods = {{"leave-one-out", {{"how", std::string("delete")}}}},
                    .edits = {parse_edit(edit)}});
  };
  EXPECT_NO_THROW(explain_by_deleting("zero blocks.0.attention.context head=1"));
  try {
    explain_by_deleting("zero blocks.0.output token=2");
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("another length"));
  }
}

// Sanitizers keep what was freed, and tell the allocator's own numbers as 0.
int64_t bytes_in_use() {
  const struct mallinfo2 told = mallinfo2();
  return static_cast<int64_t>(told.uordblks + told.hblkhd);
}

TEST(EditedModel, KeepsNothingOfAThousandProbes) {
  const Model model = model_of("bert");
  int64_t early = 0;
  for (int i = 0; i < 1000; ++i) {
    if (i == 200) early = bytes_in_use();
    const Edit edit{.op = EditOp::kScale,
                    .value = "blocks.0.output",
                    .at = {{"token", {i % 4}}},
                    .number = 1 + 0.001 * i};
    probe(model, kSentence, {.edits = {edit}});
  }
  EXPECT_LT(bytes_in_use() - early, 8 << 20);
}

void expect_refused(const Model& model, const InputValue& input, const std::string& edit,
                    const std::string& reason) {
  const ExplainRequest request{.methods = {{"leave-one-out", {}}}, .edits = {parse_edit(edit)}};
  try {
    explain(model, input, request);
    ADD_FAILURE() << edit;
  } catch (const InvalidInput& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(reason)) << edit;
  }
}

// Variants of an input run side by side: an edit must not tell them apart, nor join them.
TEST(EditedModel, IsTheSameForAllInputsThatRunTogether) {
  const Model model = model_of("bert");
  expect_refused(model, kSentence, "zero blocks.0.output batch=0", "names the batch");
  expect_refused(model, kSentence, "permute blocks.0.output axis=batch seed=1", "names the batch");
}

InputValue painted_picture() {
  const std::shared_ptr<uint8_t[]> pixels(new uint8_t[32 * 32 * 3]);
  for (int i = 0; i < 32 * 32 * 3; ++i) pixels[i] = static_cast<uint8_t>(i * i % 251);
  return PictureInput(
      PicturePixels{.name = "painted", .width = 32, .height = 32, .pixels = pixels});
}

// Windows of all inputs stand in one axis: what is changed in one of them is the same window of
// each input.
TEST(EditedModel, ChangesTheSameWindowsOfAllInputsThatRunTogether) {
  const Model swin = Model::load(source_folder() / "tests/golden/pictures/swin");
  const std::string query = "streams.0.blocks.0.attention.query";
  const Recording own = probe(swin, painted_picture(), {.reads = {{.value = query}}});
  std::set<std::vector<double>> answers{own.output.values};
  for (const Edit& edit :
       {parse_edit("zero " + query + " window=2"), parse_edit("noise " + query + " sd=1 seed=1"),
        parse_edit("permute " + query + " axis=window seed=1"),
        parse_edit("add " + query + " 1 window=-1 head=0 token=3")}) {
    ExplainRequest request{.methods = {{"leave-one-out", {}}}, .edits = {edit}};
    const Explanation together = explain(swin, painted_picture(), request)[0];
    request.memory_bytes = 1;
    const Explanation alone = explain(swin, painted_picture(), request)[0];
    EXPECT_EQ(together.attributions[0].scores, alone.attributions[0].scores) << to_text(edit);
    EXPECT_TRUE(answers.insert(together.output.values).second) << to_text(edit);
    const Recording copies = probe(swin, painted_picture(), {.edits = {edit}, .copies = 3});
    for (const auto& row : copies.outputs) EXPECT_EQ(row, together.output.values) << to_text(edit);
  }
  const Recording same =
      probe(swin, painted_picture(), {.edits = {own.copy(query, {{"window", {1, 3}}})}});
  EXPECT_EQ(same.output.values, own.output.values);
  expect_refused(swin, painted_picture(), "mean " + query, "hold some");
}

}  // namespace
}  // namespace whyformer
