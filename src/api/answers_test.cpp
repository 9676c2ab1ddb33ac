// Answers are the outputs of explanations, whatever else runs beside an input.
#include "whyformer/answers.h"

#include <gmock/gmock.h>

#include "base/files.h"
#include "tests/support/golden_model.h"
#include "tests/support/golden_weights.h"
#include "tests/support/source_folder.h"

namespace whyformer {
namespace {

using testing::HasSubstr;

ExplainRequest cheapest() {
  ExplainRequest request;
  request.methods = {{"raw-attention", {}}};
  return request;
}

// Lengths come several times, not side by side.
std::vector<InputValue> some_texts() {
  std::vector<InputValue> texts;
  for (const char* text :
       {"A dull film.", "A warm, funny film with a fine ending.", "A fine film.", "Dull",
        "A warm, funny film with a dull ending.", "I liked it.", "A film.", "A warm film.",
        "A sweet, funny play with a fine ending.", "Fine"}) {
    texts.push_back(TextInput{text, {}});
  }
  texts.push_back(TextInput{"A dull film.", "A fine one."});
  return texts;
}

void expect_explained(const Answers& own, size_t i, const Output& output, const Target& target) {
  EXPECT_EQ(own.space, output.space);
  EXPECT_EQ(own.labels, output.labels);
  EXPECT_EQ(own.inputs[i].values, output.values);
  if (!target.probability) {
    EXPECT_TRUE(own.inputs[i].probabilities.empty());
  } else {
    ASSERT_EQ(own.inputs[i].probabilities.size(), output.values.size());
    EXPECT_EQ(own.inputs[i].probabilities[target.index], *target.probability);
  }
}

TEST(Answers, ToTextsAreTheOutputsOfTheirExplanations) {
  const Model model = Model::built_in();
  const std::vector<InputValue> texts = some_texts();
  const Answers own = answers(model, texts);
  ASSERT_EQ(own.inputs.size(), texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    SCOPED_TRACE(std::get<TextInput>(texts[i]).text);
    const Explanation explanation = explain(model, texts[i], cheapest())[0];
    expect_explained(own, i, explanation.output, explanation.target);
    double sum = 0;
    for (const double p : own.inputs[i].probabilities) sum += p;
    EXPECT_NEAR(sum, 1, 1e-12);
  }
}

TEST(Answers, AreTheSameHoweverLittleMemoryThereIs) {
  const Model model = Model::built_in();
  const std::vector<InputValue> texts = some_texts();
  std::vector<int64_t> told;
  AnswersRequest one_by_one{.memory_bytes = 1};
  one_by_one.progress = [&](int64_t done, int64_t total) {
    EXPECT_EQ(total, 11);
    // Slow runs ask again in between.
    if (told.empty() || told.back() != done) told.push_back(done);
    return true;
  };
  std::vector<int64_t> told_together;
  AnswersRequest together;
  together.progress = [&](int64_t done, int64_t) {
    told_together.push_back(done);
    return true;
  };
  const Answers alone = answers(model, texts, one_by_one), beside = answers(model, texts, together);
  EXPECT_THAT(told, testing::ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  EXPECT_LT(told_together.size(), 9u);
  EXPECT_EQ(told_together.back(), 11);
  for (size_t i = 0; i < texts.size(); ++i)
    EXPECT_EQ(alone.inputs[i].values, beside.inputs[i].values);
}

TEST(Answers, SayWhichTextsWereCutOff) {
  const Model model = Model::built_in();
  std::string longest;
  for (int i = 0; i < 600; ++i) longest += "film ";
  const Answers own = answers(model, {TextInput{"A film.", {}}, TextInput{longest, {}}});
  EXPECT_TRUE(own.inputs[0].notes.empty());
  ASSERT_EQ(own.inputs[1].notes.size(), 1u);
  const Explanation explanation = explain(model, TextInput{longest, {}}, cheapest())[0];
  EXPECT_EQ(own.inputs[1].notes, explanation.notes);
  EXPECT_EQ(own.inputs[1].values, explanation.output.values);
}

TEST(Answers, StopWhenTheyAreTold) {
  const AnswersRequest request{.memory_bytes = 1,
                               .progress = [](int64_t done, int64_t) { return done < 2; }};
  EXPECT_THROW(answers(Model::built_in(), some_texts(), request), Interrupted);
}

TEST(Answers, TellWhichInputIsAtFault) {
  const Model texts = Model::built_in(), pictures = Model::built_in_for_pictures();
  EXPECT_EQ(message_of<InvalidInput>(
                [&] { answers(texts, {TextInput{"A film.", {}}, TextInput{" ", {}}}); }),
            "input 1: the text is empty: there is nothing to explain");
  const std::vector<InputValue> none{PictureInput(PicturePixels{"none", 0, 0, 3, nullptr})};
  EXPECT_THAT(message_of<InvalidInput>([&] { answers(pictures, none); }),
              HasSubstr("input 0: the picture 'none' has 0"));
  EXPECT_THAT(message_of<InvalidInput>([&] { answers(texts, none); }),
              HasSubstr("reads texts, not pictures"));
  EXPECT_THAT(message_of<InvalidInput>([&] { answers(texts, some_texts(), {.similar_to = "x"}); }),
              HasSubstr("needs an encoder without a classifier"));
  EXPECT_TRUE(answers(texts, {}).inputs.empty());
}

std::vector<InputValue> some_pictures() {
  std::vector<InputValue> pictures;
  for (int i = 0; i < 9; ++i) {
    pictures.push_back(PictureInput(PictureFile{source_folder() / "tests/data/pictures/objects" /
                                                ("object-00" + std::to_string(i) + ".png")}));
  }
  return pictures;
}

TEST(Answers, ToPicturesAreTheOutputsOfTheirExplanations) {
  const Model model = Model::built_in_for_pictures();
  const std::vector<InputValue> pictures = some_pictures();
  const Answers own = answers(model, pictures);
  for (size_t i = 0; i < pictures.size(); ++i) {
    const Explanation explanation = explain(model, pictures[i], cheapest())[0];
    expect_explained(own, i, explanation.output, explanation.target);
  }
}

TEST(Answers, OfEncodersAreVectorsOrSimilarities) {
  const Model clip = Model::load(source_folder() / "tests/golden/pictures/clip");
  const std::vector<InputValue> pictures = some_pictures();
  const Answers vectors = answers(clip, pictures);
  EXPECT_EQ(vectors.space, "embedding");
  const Answers likeness = answers(clip, pictures, {.similar_to = "a cat"});
  EXPECT_EQ(likeness.space, "similarity");
  const Model among = clip.among({"a cat", "a dog"});
  const Answers classes = answers(among, pictures, {.precision = Precision::kDouble});
  for (size_t i = 0; i < pictures.size(); ++i) {
    ExplainRequest request = cheapest();
    const Explanation plain = explain(clip, pictures[i], request)[0];
    expect_explained(vectors, i, plain.output, plain.target);
    request.similar_to = "a cat";
    const Explanation similar = explain(clip, pictures[i], request)[0];
    expect_explained(likeness, i, similar.output, similar.target);
    request.similar_to.reset();
    request.precision = Precision::kDouble;
    const Explanation chosen = explain(among, pictures[i], request)[0];
    expect_explained(classes, i, chosen.output, chosen.target);
  }
}

TEST(Answers, ToPicturesOfSeveralSizesKeepTheirOrder) {
  ModelParts parts = parts_of(files_in(source_folder() / "tests/golden/pictures/dinov2"), "dinov2");
  parts.documents["preprocessor_config.json"] =
      R"({"image_processor_type": "ViTImageProcessor", "do_resize": false})";
  const Model model = Model::load(parts);
  std::vector<InputValue> pictures;
  for (const int64_t height : {32, 32, 32, 40, 32}) {
    const std::shared_ptr<uint8_t[]> pixels(new uint8_t[32 * height * 3]);
    for (int64_t i = 0; i < 32 * height * 3; ++i) {
      pixels[i] = static_cast<uint8_t>(i * (17 + static_cast<int64_t>(pictures.size())));
    }
    pictures.push_back(PictureInput(PicturePixels{"pattern", 32, height, 3, pixels}));
  }
  const Answers own = answers(model, pictures);
  for (size_t i = 0; i < pictures.size(); ++i) {
    const Explanation explanation = explain(model, pictures[i], cheapest())[0];
    EXPECT_EQ(explanation.picture->height, i == 3 ? 40 : 32);
    expect_explained(own, i, explanation.output, explanation.target);
  }
}

TEST(Answers, ToRowsAreTheOutputsOfTheirExplanations) {
  const Model model =
      Model::load(source_folder() / "tests/golden/onnx/models/ft-transformer.sdpa.legacy.14.onnx");
  NamedTable rows{{"a", "b", "c", "d", "k", "l", "m"}, {.rows = 300, .columns = 7}};
  for (int64_t i = 0; i < 300 * 7; ++i) {
    rows.table.values.push_back(i % 7 < 4 ? static_cast<double>(i * i % 101) / 50 - 1
                                          : static_cast<double>(i / 7 % 2));
  }
  const Answers own = answers(model, rows_of(rows));
  ASSERT_EQ(own.inputs.size(), 300u);
  for (int64_t row = 0; row < 300; row += 23) {
    const auto first = rows.table.values.begin() + row * 7;
    const Explanation explanation =
        explain(model, RowInput{rows.names, {first, first + 7}}, cheapest())[0];
    expect_explained(own, static_cast<size_t>(row), explanation.output, explanation.target);
  }
  rows.table.rows = 301;
  EXPECT_EQ(message_of<InvalidInput>([&] { answers(model, rows_of(rows)); }),
            "a table of 301 rows and 7 columns has 7 names and 2100 numbers");
}

}  // namespace
}  // namespace whyformer
