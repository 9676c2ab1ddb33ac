// The built-in picture model and what its explanations point at. scripts/golden/painted_pictures.py
// painted tests/data/pictures, with masks of the objects.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/random.h"
#include "formats/pictures/picture.h"
#include "tests/support/source_folder.h"
#include "whyformer/evaluate.h"
#include "whyformer/model.h"

namespace whyformer {
namespace {

struct PaintedObject {
  std::string label;
  Picture mask;
};

struct PaintedPicture {
  std::filesystem::path file;
  std::vector<PaintedObject> objects;
};

std::vector<PaintedPicture> painted(const std::string& kind) {
  const std::filesystem::path folder = source_folder() / "tests/data/pictures" / kind;
  std::map<std::string, PaintedPicture> pictures;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".tsv") continue;
    std::ifstream list(entry.path());
    std::string line;
    std::getline(list, line);
    while (std::getline(list, line)) {
      std::istringstream fields(line);
      std::string file, label, mask;
      std::getline(fields, file, '\t');
      std::getline(fields, label, '\t');
      std::getline(fields, mask, '\t');
      pictures[file].file = folder / file;
      pictures[file].objects.push_back({label, read_picture(folder / mask)});
    }
  }
  std::vector<PaintedPicture> result;
  for (auto& [name, picture] : pictures) result.push_back(std::move(picture));
  return result;
}

TEST(BuiltInPictures, FitInSixMegabytes) {
  uintmax_t bytes = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(source_folder() / "models/pictures")) {
    bytes += file.file_size();
  }
  EXPECT_LE(bytes, uintmax_t{6} << 20);
}

// No statistic tells photographs from painted pictures well enough, so it is always said.
TEST(BuiltInPictures, EveryExplanationSaysThatPhotographsMeanNothing) {
  const Model model = Model::built_in_for_pictures();
  const PictureFile painted_picture{painted("objects").front().file};
  ExplainRequest request;
  request.methods = {{"gae", {}}};
  for (const std::vector<std::string>& notes :
       {explain(model, painted_picture, request).front().notes,
        trace(model, painted_picture, request).notes}) {
    EXPECT_EQ(std::count_if(notes.begin(), notes.end(),
                            [](const std::string& note) {
                              return note.find("photographs mean nothing to it") != note.npos;
                            }),
              1);
  }
}

TEST(BuiltInPictures, NamesPaintedObjects) {
  const Model model = Model::built_in_for_pictures();
  ExplainRequest request;
  request.methods = {{"raw-attention", {}}};
  int right = 0, all = 0;
  for (const PaintedPicture& picture : painted("objects")) {
    ++all;
    right += explain(model, PictureFile{picture.file}, request)[0].target.label ==
             picture.objects[0].label;
  }
  EXPECT_EQ(all, 24);
  EXPECT_GE(right, 22);
}

TEST(BuiltInPictures, GivesTheLogitsOfTransformers) {
  // From the file of the picture to the logits: decoding, processing and the model.
  const std::filesystem::path folder = source_folder() / "tests/data/pictures";
  std::ifstream file(folder / "logits.json");
  const nlohmann::json expected = nlohmann::json::parse(file);
  const Model model = Model::built_in_for_pictures();
  ExplainRequest request;
  request.methods = {{"raw-attention", {}}};
  ASSERT_EQ(expected["logits"].size(), 8);
  for (const auto& [name, logits] : expected["logits"].items()) {
    const Explanation explanation = explain(model, PictureFile{folder / name}, request)[0];
    ASSERT_EQ(explanation.output.labels, expected["labels"].get<std::vector<std::string>>());
    for (size_t i = 0; i < logits.size(); ++i) {
      EXPECT_NEAR(explanation.output.values[i], logits[i].get<double>(), 1e-5) << name;
    }
  }
}

// Whether the strongest pixel of the enlarged map lies in the mask.
bool points_at(const Explanation& explanation, const std::vector<double>& scores,
               const Picture& mask) {
  const PictureView& view = *explanation.picture;
  const std::vector<double> patches(scores.begin() + view.first_patch,
                                    scores.begin() + view.first_patch + view.rows * view.columns);
  const std::vector<double> map =
      bilinear(patches, {view.rows, view.columns}, {mask.height, mask.width});
  std::vector<bool> region;
  for (size_t i = 0; i < map.size(); ++i) region.push_back(mask.pixels[3 * i] > 127);
  return localisation("pointing-game", map, region) == 1;
}

TEST(BuiltInPictures, ClassSpecificMethodsPointAtTheObjectOfTheirClass) {
  const Model model = Model::built_in_for_pictures();
  ExplainRequest request;
  for (const char* name : {"gae", "transformer-attribution", "attn-lrp", "cp-lrp", "rollout"}) {
    request.methods.push_back({name, {}});
  }
  std::map<std::string, int> hits;
  int objects = 0;
  const CounterRandom random(0, "random maps", 0);
  for (const PaintedPicture& picture : painted("pairs")) {
    request.target = picture.objects[0].label;
    request.other_targets = {picture.objects[1].label};
    const std::vector<Explanation> explanations =
        explain(model, PictureFile{picture.file}, request);
    for (size_t i = 0; i < 2; ++i) {
      const Picture& mask = picture.objects[i].mask;
      for (const Attribution& attribution : explanations[i].attributions) {
        hits[attribution.method] += points_at(explanations[i], attribution.scores, mask);
      }
      std::vector<double> noise;
      for (size_t k = 0; k < explanations[i].units.size(); ++k) {
        noise.push_back(random.normal(1000 * objects + static_cast<int64_t>(k)));
      }
      hits["random"] += points_at(explanations[i], noise, mask);
      ++objects;
    }
  }
  ASSERT_EQ(objects, 24);
  EXPECT_LE(hits["random"], 8);
  // Rollout knows no class: of two objects it points at one, whichever is asked about.
  EXPECT_LE(hits["rollout"], 14);
  for (const char* method : {"gae", "transformer-attribution", "attn-lrp", "cp-lrp"}) {
    RecordProperty(method, hits[method]);
    EXPECT_GT(hits[method], hits["rollout"]) << method;
    EXPECT_GT(hits[method], objects / 2) << method;
  }
}

}  // namespace
}  // namespace whyformer
