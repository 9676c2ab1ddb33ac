// TCAV on the built-in picture model, whose concepts are known because its world is painted: zebras
// differ from horses and dalmatians by their stripes alone. scripts/golden/painted_pictures.py
// painted tests/data/concepts: patchworks of one texture, patchworks of all textures (a random
// concept, and what concepts stand against), and zebras.
#include <gtest/gtest.h>

#include <algorithm>

#include "formats/pictures/picture.h"
#include "tests/support/source_folder.h"
#include "whyformer/concepts.h"

namespace whyformer {
namespace {

std::vector<InputValue> painted_set(const std::string& name) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(source_folder() / "tests/data/concepts" / name)) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<InputValue> pictures;
  for (const std::filesystem::path& file : files)
    pictures.push_back(PictureInput(PictureFile{file}));
  return pictures;
}

// All targets look at the pictures of zebras.
ConceptReport report_of(const std::vector<std::string>& targets, int64_t seed) {
  const std::vector<ExampleSet> concepts = {{"striped", painted_set("striped")},
                                            {"dotted", painted_set("dotted")},
                                            {"random", painted_set("random")}};
  std::vector<TargetSet> pictures;
  for (const std::string& target : targets) pictures.push_back({target, painted_set("zebra")});
  ConceptsRequest request;
  request.layers = {1};
  request.rows = TokenRows::kAll;
  request.level = 0.01;
  request.seed = seed;
  return test_concepts(Model::built_in_for_pictures(), concepts,
                       {{"others", painted_set("others")}}, pictures, request);
}

const ConceptTest& find_test(const ConceptReport& report, const std::string& concept_name,
                             const std::string& target) {
  return *std::find_if(report.tests.begin(), report.tests.end(), [&](const ConceptTest& test) {
    return test.concept_name == concept_name && test.target == target;
  });
}

// The pictures of a set as pixels instead of files.
std::vector<InputValue> in_memory(const std::vector<InputValue>& files) {
  std::vector<InputValue> pictures;
  for (const InputValue& given : files) {
    const std::filesystem::path& file = std::get<PictureFile>(std::get<PictureInput>(given)).path;
    const auto picture = std::make_shared<Picture>(read_picture(file));
    const std::shared_ptr<const uint8_t[]> pixels(picture, picture->pixels.data());
    pictures.push_back(PictureInput(PicturePixels{"", picture->width, picture->height, 3, pixels}));
  }
  return pictures;
}

TEST(BuiltInConcepts, AreTheSameOfPixelsAsOfFiles) {
  const auto report = [](const auto& given) {
    ConceptsRequest request;
    request.layers = {1};
    request.counterparts = 5;
    request.permutations = 20;
    return test_concepts(Model::built_in_for_pictures(), {{"striped", given("striped")}},
                         {{"others", given("others")}}, {{"zebra", given("zebra")}}, request);
  };
  const ConceptReport files = report(painted_set);
  const ConceptReport pixels =
      report([](const std::string& name) { return in_memory(painted_set(name)); });
  ASSERT_EQ(files.tests.size(), 1u);
  EXPECT_EQ(pixels.tests[0].scores, files.tests[0].scores);
  EXPECT_EQ(pixels.tests[0].mean.magnitude, files.tests[0].mean.magnitude);
  EXPECT_EQ(pixels.tests[0].random_scores, files.tests[0].random_scores);
}

TEST(BuiltInConcepts, StripesCountForZebrasAndARandomConceptDoesNot) {
  for (const int64_t seed : {0, 1, 2}) {
    SCOPED_TRACE(seed);
    const ConceptReport report = report_of({"zebra"}, seed);
    const ConceptTest& striped = find_test(report, "striped", "zebra");
    EXPECT_EQ(striped.verdict, Verdict::kSignificant);
    ASSERT_TRUE(striped.t_test && striped.magnitude_permutation);
    EXPECT_LT(striped.t_test->p, 0.01);
    EXPECT_LT(striped.magnitude_permutation->p, 0.01);
    EXPECT_GT(striped.mean.score, striped.random_mean + striped.random_deviation);
    EXPECT_GT(striped.mean.unit_magnitude, 0);
    EXPECT_NE(find_test(report, "random", "zebra").verdict, Verdict::kSignificant);
  }
}

TEST(BuiltInConcepts, DotsCountForDalmatiansAndAgainstZebras) {
  const ConceptReport report = report_of({"zebra", "dalmatian"}, 0);
  const ConceptTest& zebra = find_test(report, "dotted", "zebra");
  EXPECT_EQ(zebra.verdict, Verdict::kSignificant);
  EXPECT_LT(zebra.mean.score, 0.5);
  EXPECT_LT(zebra.mean.unit_magnitude, 0);
  const ConceptTest& dalmatian = find_test(report, "dotted", "dalmatian");
  EXPECT_EQ(dalmatian.verdict, Verdict::kSignificant);
  EXPECT_GT(dalmatian.mean.score, 0.5);
  EXPECT_GT(dalmatian.mean.unit_magnitude, 0);
  EXPECT_LT(find_test(report, "striped", "dalmatian").mean.score, 0.5);
}

}  // namespace
}  // namespace whyformer
