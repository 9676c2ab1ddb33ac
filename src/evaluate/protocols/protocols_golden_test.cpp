// Protocols against the authors' scripts, written down in PyTorch and NumPy:
// scripts/golden/protocols_golden.py.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "api/explained_input.h"
#include "evaluate/protocols/protocol.h"
#include "tests/support/source_folder.h"

namespace whyformer {
namespace {

using Json = nlohmann::json;
using Numbers = std::vector<double>;

const Json& golden() {
  static const Json json =
      Json::parse(std::ifstream(source_folder() / "tests/golden/protocols.json"));
  return json;
}

// An input that is open, so that scores which come from anywhere can be measured.
struct OpenInput {
  OpenInput(const Model& model, const InputValue& value)
      : request{.methods = {{"gradient-x-input"}}},
        explained(model, value, request, WholeRun::kYes),
        explanation(explained.explain(explained.targets()[0])) {}

  MeasuredRow measure(const ProtocolPart& part, const EvaluationInput& input, const Numbers& scores,
                      std::optional<int64_t> label = {}) {
    std::vector<std::string> notes;
    const ProtocolCase one{input, explanation, label, explained.whole(), 0, notes};
    const ScoredInput scored{scores, {}};
    return part.measure(one, std::span(&scored, 1))[0];
  }

  // Of all units: these, in their order, for the ordinary ones of a side.
  void place(const Numbers& of_side, int64_t segment, Numbers& scores) const {
    scores.resize(explanation.units.size(), 0.0);
    size_t next = 0;
    for (size_t unit = 0; unit < scores.size(); ++unit) {
      const Unit& own = explanation.units[unit];
      if (!own.special && own.segment == segment) scores[unit] = of_side.at(next++);
    }
    EXPECT_EQ(next, of_side.size());
  }

  ExplainRequest request;
  ExplainedInput explained;
  Explanation explanation;
};

class PictureProtocols : public testing::TestWithParam<int> {
 protected:
  PictureProtocols()
      : expected_(golden()["pictures"][GetParam()]),
        open_(Model::built_in_for_pictures(), PictureInput{PictureFile{kObjects / name()}}) {
    open_.place(expected_["patches"].get<Numbers>(), 0, scores_);
  }

  std::string name() const { return expected_["picture"]; }
  static inline const std::filesystem::path kObjects =
      source_folder() / "tests/data/pictures/objects";

  const Json& expected_;
  OpenInput open_;
  Numbers scores_;
};

TEST_P(PictureProtocols, PaintBlackPixelsAsTheAuthorsDo) {
  const MeasuredRow found =
      open_.measure(kCvpr21Perturbation.parts[0], {}, scores_, expected_["label"].get<int64_t>());
  size_t column = 0, curve = 2;
  for (const char* sign : {"positive", "negative"}) {
    const Json& own = expected_["perturbation"][sign];
    EXPECT_NEAR(*found[column++].value, own["area"].get<double>(), 1e-9);
    for (const double accuracy : own["accuracy"]) EXPECT_EQ(found[curve++].value, accuracy) << sign;
  }
}

TEST_P(PictureProtocols, CutSegmentsAsTheAuthorsDo) {
  const EvaluationInput input{
      .pixels = pixels_of_mask(PictureInput{PictureFile{kObjects / "masks" / name()}})};
  const MeasuredRow found = open_.measure(kCvpr21Segmentation.parts[0], input, scores_);
  const Json& expected = expected_["segmentation"];
  EXPECT_NEAR(*found[0].value, expected["pixel-accuracy"].get<double>(), 1e-9);
  EXPECT_NEAR(*found[1].value, expected["mean-iou"].get<double>(), 1e-9);
  // Pixels outside the middles of the edge patches are equal but for rounding, so whether they tie
  // is left to the last bit.
  EXPECT_NEAR(*found[2].value, expected["mean-average-precision"].get<double>(), 5e-5);
}

TEST_P(PictureProtocols, DeleteAndInsertAsTheAuthorsDo) {
  const MeasuredRow found = open_.measure(kRise.parts[0], {}, scores_);
  EXPECT_NEAR(*found[0].value, expected_["rise"]["deletion"].get<double>(), 2e-5);
  EXPECT_NEAR(*found[1].value, expected_["rise"]["insertion"].get<double>(), 2e-5);
}

INSTANTIATE_TEST_SUITE_P(Golden, PictureProtocols, testing::Range(0, 4));

TEST(EraserGolden, WordsAreScoredAndTakenOutAsTheAuthorsDo) {
  const std::string text = golden()["review"]["text"];
  const OpenInput tokens(Model::built_in(), TextInput{text, {}});
  std::vector<TextSpan> marked;
  size_t start = 0;
  for (int64_t word = 0; start < text.size(); ++word) {
    const size_t end = std::min(text.find(' ', start), text.size());
    for (const int64_t one : golden()["review"]["marked"]) {
      if (one == word)
        marked.push_back({static_cast<int64_t>(start), static_cast<int64_t>(end), 0});
    }
    start = end + 1;
  }
  const EvaluationInput input{.words = words_of_spans(marked)};
  for (const Json& expected : golden()["eraser"]) {
    OpenInput open(Model::built_in(), TextInput{text, {}});
    const Numbers scores = expected["scores"];
    ASSERT_EQ(open.explanation.units.size(), scores.size());
    const MeasuredRow rationales = open.measure(kEraser.parts[0], input, scores);
    const Numbers f1 = expected["f1"];
    for (size_t i = 0; i < f1.size(); ++i) EXPECT_NEAR(*rationales[2 + i].value, f1[i], 1e-12);
    EXPECT_FALSE(rationales[2 + f1.size()].value) << "more words than the text has";
    EXPECT_NEAR(*rationales[1].value, expected["auprc"].get<double>(), 1e-12);
    const MeasuredRow removed = open.measure(kEraser.parts[1], input, scores);
    EXPECT_NEAR(*removed[0].value, expected["comprehensiveness"].get<double>(), 1e-5);
    EXPECT_NEAR(*removed[1].value, expected["sufficiency"].get<double>(), 1e-5);
  }
}

TEST(VqaPerturbationGolden, UnitsOfOneSideAreTakenOutAsTheAuthorsDo) {
  const std::filesystem::path folder = source_folder() / "tests/golden/pairs";
  const Model clip = Model::load(folder / "model");
  for (const Json& expected : golden()["pairs"]) {
    OpenInput open(clip, PictureWithText{PictureFile{folder / "picture.png"}, expected["text"]});
    Numbers scores;
    open.place(expected["patches"].get<Numbers>(), 0, scores);
    open.place(expected["tokens"].get<Numbers>(), 1, scores);
    const MeasuredRow found = open.measure(kVqaPerturbation.parts[0], {}, scores);
    size_t column = 4;  // areas under the answer
    for (const char* name :
         {"positive-first", "negative-first", "positive-second", "negative-second"}) {
      EXPECT_NEAR(*found[column++].value, expected[name].get<double>(), 1e-4) << name;
    }
  }
}

}  // namespace
}  // namespace whyformer
