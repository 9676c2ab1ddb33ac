// A picture with a text, against PyTorch and against definitions: tests/golden/pairs.
#include "readers/pair_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "formats/weights.h"
#include "methods/method.h"
#include "models/checkpoint.h"
#include "readers/given_picture.h"
#include "run/run.h"
#include "tests/support/golden_weights.h"
#include "tests/support/source_folder.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using testing::DoubleNear;
using testing::HasSubstr;
using testing::Pointwise;

const std::filesystem::path kFolder = source_folder() / "tests/golden/pairs";
constexpr int64_t kPatches = 9;

const nlohmann::json& expected() {
  static const nlohmann::json json =
      nlohmann::json::parse(map_file(kFolder / "expected.json").text());
  return json;
}

const Model& clip() {
  static const Model model = Model::load(kFolder / "model");
  return model;
}

PictureWithText pair_named(const std::string& name) {
  return {PictureFile{kFolder / "picture.png"}, expected()[name]["text"].get<std::string>()};
}

// Each side with the other as it is, and both.
struct RunsOfPair {
  RunsOfPair(const std::string& name, const Needs& needs) {
    Reading reading =
        clip().reader_of(pair_named(name)).read(pair_named(name), {.dtype = DType::kFloat64});
    for (Input& input : reading.inputs) {
      runs.push_back(std::make_unique<Run>(
          std::move(input), Run::Settings{.needs = needs, .memory_bytes = int64_t{1} << 30}));
    }
  }
  Run& text() const { return *runs.at(0); }
  Run& picture() const { return *runs.at(1); }
  Run& together() const { return *runs.at(2); }

  std::vector<std::unique_ptr<Run>> runs;
};

Attribution explained(const std::string& name, const std::string& method,
                      const Options& options = {}) {
  ExplainRequest request{.methods = {{method, options}}};
  request.precision = Precision::kDouble;
  return explain(clip(), pair_named(name), request)[0].attributions[0];
}

std::vector<double> golden_scores(const std::string& name, const std::string& method) {
  const nlohmann::json& sides = expected()[name][method];
  auto scores = sides["text"].get<std::vector<double>>();
  for (const double score : sides["picture"].get<std::vector<double>>()) scores.push_back(score);
  return scores;
}

double total_of(const std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += value;
  return total;
}

// The logit where bit i of `text` and `picture` shows token or patch i of the short text.
double worth(int64_t text, int64_t picture) {
  return expected()["coalitions"][text][picture].get<double>();
}

// Scores of units as players of the short text: two tokens between the ends, then the patches
// behind a class token.
std::vector<double> of_players(const std::vector<double>& scores) {
  std::vector<double> players{scores[1], scores[2]};
  players.insert(players.end(), scores.begin() + 5, scores.end());
  return players;
}

TEST(Pair, AllThreeRunsAnswerTheLogitOfTransformers) {
  for (const char* name : {"short", "long"}) {
    const RunsOfPair pair(name, {});
    const double logit = expected()[name]["logit"].get<double>();
    EXPECT_NEAR(pair.text().outputs()[0], logit, 1e-5);
    EXPECT_NEAR(pair.picture().outputs()[0], logit, 1e-5);
    EXPECT_NEAR(pair.together().outputs()[0], logit, 1e-5);
    std::vector<std::string> notes;
    const Tensor ids = clip()
                           .reader_of(pair_named(name))
                           .sample(pair_named(name), DType::kFloat64, notes)
                           .at("input_ids");
    EXPECT_EQ(std::vector<int64_t>(ids.data<int64_t>(), ids.data<int64_t>() + ids.size()),
              expected()[name]["ids"].get<std::vector<int64_t>>());
    EXPECT_EQ(pair.together().tokens(), pair.text().tokens() + pair.picture().tokens());
  }
}

TEST(Pair, MapsAndTheirGradientsOnBothSidesAreThoseOfTransformers) {
  const Checkpoint file(
      read_safetensors(map_file(kFolder / "expected.safetensors"), "expected.safetensors"));
  const auto golden = [&](const std::string& map, int layer) {
    return file.tensor(map + std::to_string(layer), {-1, -1, -1}, DType::kFloat64).to_doubles();
  };
  for (const std::string name : {"short", "long"}) {
    const RunsOfPair pair(name, {.attention = true, .attention_gradient = true});
    const std::vector<std::pair<std::string, whyformer::Run*>> sides{{"text", &pair.text()},
                                                                     {"picture", &pair.picture()}};
    for (const auto& [side, explained] : sides) {
      ASSERT_EQ(explained->layers(), side == "text" ? 3 : 2);
      EXPECT_EQ(explained->read_out_row(), side == "text" ? explained->tokens() - 1 : 0);
      for (int layer = 0; layer < explained->layers(); ++layer) {
        const std::string base = name + "/" + side + ".";
        EXPECT_THAT(explained->attention(layer).to_doubles(),
                    Pointwise(DoubleNear(1e-5), golden(base + "map.", layer)));
        EXPECT_THAT(explained->attention_gradient(layer).to_doubles(),
                    Pointwise(DoubleNear(1e-5), golden(base + "gradient.", layer)));
      }
    }
  }
}

TEST(Pair, GaeIsThatOfTheAuthorsOnEachSide) {
  for (const char* name : {"short", "long"}) {
    EXPECT_THAT(explained(name, "gae").scores,
                Pointwise(DoubleNear(1e-4), golden_scores(name, "gae")));
    EXPECT_THAT(explained(name, "gae", {{"start", int64_t{-1}}}).scores,
                Pointwise(DoubleNear(1e-4), golden_scores(name, "gae_last")));
  }
}

TEST(Pair, GradientsAreThoseOfTransformers) {
  for (const char* name : {"short", "long"}) {
    EXPECT_THAT(explained(name, "saliency").scores,
                Pointwise(DoubleNear(1e-4), golden_scores(name, "saliency")));
    EXPECT_THAT(explained(name, "gradient-x-input").scores,
                Pointwise(DoubleNear(1e-4), golden_scores(name, "gradient_x_input")));
  }
}

TEST(Pair, IntegratedGradientsGoOneWayOnBothSidesAsInCaptum) {
  for (const char* name : {"short", "long"}) {
    const Attribution found = explained(name, "integrated-gradients", {{"steps", int64_t{64}}});
    EXPECT_THAT(found.scores,
                Pointwise(DoubleNear(1e-4), golden_scores(name, "integrated_gradients")));
    EXPECT_NEAR(*found.completeness_gap, 0, 1e-4);
    EXPECT_EQ(found.pixels.size(), 24u * 24u);
  }
}

TEST(Pair, ExactShapGivesShapleyValuesByTheirDefinition) {
  const Attribution found = explained("short", "exact-shap");
  EXPECT_THAT(of_players(found.scores),
              Pointwise(DoubleNear(1e-5), expected()["shapley"].get<std::vector<double>>()));
  EXPECT_NEAR(found.estimate->base, worth(0, 0), 1e-5);
  EXPECT_EQ(found.scores[0], 0);  // what the template adds stays
  EXPECT_EQ(found.scores[4], 0);
}

TEST(Pair, SampledShapleyValuesAddUp) {
  for (const char* method : {"kernel-shap", "permutation-shap", "partition-shap", "shap"}) {
    const Attribution found = explained("short", method);
    EXPECT_NEAR(total_of(found.scores), worth(3, 511) - worth(0, 0), 1e-5) << method;
  }
}

TEST(Pair, TheTreeSplitsTextFromPictureFirst) {
  const Attribution found = explained("short", "partition-shap", {{"max-evals", int64_t{100000}}});
  // An Owen value of a group at the root is its Shapley value in the game of the two groups.
  const std::vector<double> players = of_players(found.scores);
  EXPECT_NEAR(players[0] + players[1],
              (worth(3, 511) - worth(0, 511) + worth(3, 0) - worth(0, 0)) / 2, 1e-5);
}

TEST(Pair, TheJoinedTreeHasEveryPlayerOnce) {
  const RunsOfPair pair("long", {});
  const PlayerTree tree = pair.together().input().player_tree();
  const auto players = static_cast<int64_t>(pair.together().input().players().size());
  ASSERT_EQ(static_cast<int64_t>(tree.merges.size()), players - 1);
  std::vector<int> used(2 * players - 2, 0);
  for (size_t i = 0; i < tree.merges.size(); ++i) {
    for (const int64_t child : {tree.merges[i].left, tree.merges[i].right}) {
      ASSERT_LT(child, players + static_cast<int64_t>(i));
      ++used[child];
    }
  }
  EXPECT_THAT(used, testing::Each(1));
}

TEST(Pair, LeaveOneOutAndOcclusionReadTheSameCoalitions) {
  std::vector<double> falls;
  for (int64_t token = 0; token < 2; ++token)
    falls.push_back(worth(3, 511) - worth(3 ^ (1 << token), 511));
  for (int64_t patch = 0; patch < kPatches; ++patch)
    falls.push_back(worth(3, 511) - worth(3, 511 ^ (1 << patch)));
  EXPECT_THAT(of_players(explained("short", "leave-one-out").scores),
              Pointwise(DoubleNear(1e-5), falls));
  EXPECT_THAT(of_players(explained("short", "occlusion").scores),
              Pointwise(DoubleNear(1e-5), falls));
}

// Parts that count the variants they are asked to run.
class CountedText final : public TextPart {
 public:
  CountedText(TextReading reading, ReadText text, int64_t& runs)
      : TextPart(std::move(reading), std::move(text), {Head::kEmbedding, {}, DType::kFloat64}),
        runs_(runs) {}
  FedGraph run_of(std::span<const Variant> inputs) const override {
    runs_ += static_cast<int64_t>(inputs.size());
    return TextPart::run_of(inputs);
  }

 private:
  int64_t& runs_;
};

class CountedPicture final : public PicturePart {
 public:
  CountedPicture(std::shared_ptr<const PictureSource> source,
                 std::shared_ptr<const PictureProcessor> processor, ProcessedPicture picture,
                 int64_t& runs)
      : PicturePart(std::move(source), std::move(processor), std::move(picture),
                    {Head::kEmbedding, {}, DType::kFloat64}),
        runs_(runs) {}
  FedGraph run_of(std::span<const Variant> inputs) const override {
    runs_ += static_cast<int64_t>(inputs.size());
    return PicturePart::run_of(inputs);
  }

 private:
  int64_t& runs_;
};

// The short text with the picture, as a PairReader puts them together.
Input counted_pair(int64_t& texts_run, int64_t& pictures_run) {
  const PictureWithText given = pair_named("short");
  const auto& texts = dynamic_cast<const TextReader&>(clip().reader_of(TextInput()));
  const auto& pictures = dynamic_cast<const PictureReader&>(clip().reader_of(given.picture));
  const auto unowned = []<class T>(const T& one) {
    return std::shared_ptr<const T>(std::shared_ptr<void>(), &one);
  };
  std::vector<std::string> notes;
  std::vector<std::unique_ptr<const Part>> parts;
  const TextInput text{given.text, {}};
  parts.push_back(std::make_unique<CountedText>(
      texts.reading(), ReadText{texts.encode(text, notes), text}, texts_run));
  parts.push_back(
      std::make_unique<CountedPicture>(unowned(pictures.source()), unowned(pictures.processor()),
                                       pictures.processed(pixels_of(given.picture)), pictures_run));
  InputFacts facts{.source = pictures.source().pair_source(),
                   .kind = {.dtype = DType::kFloat64},
                   .sample = clip().reader_of(given).sample(given, DType::kFloat64, notes),
                   .why_no_maps = "no map goes over both",
                   .scale = pictures.source().similarity_scale()};
  return {std::move(facts), std::move(parts)};
}

TEST(Pair, EachVariantOfASideRunsOnce) {
  int64_t texts_run = 0, pictures_run = 0;
  whyformer::Run together(counted_pair(texts_run, pictures_run),
                          {.memory_bytes = int64_t{1} << 30});
  const Input& input = together.input();
  std::vector<Variant> inputs;
  for (int64_t shown = 0; shown < 4; ++shown) {
    for (int64_t patch = 5; patch < input.units(); ++patch) {
      std::vector<bool> hidden(input.units(), false);
      hidden[1] = (shown & 1) == 0;
      hidden[2] = (shown & 2) == 0;
      hidden[patch] = true;
      inputs.push_back(input.hiding(hidden, "auto"));
    }
  }
  const auto answers = together.answers(inputs);
  for (int64_t shown = 0; shown < 4; ++shown) {
    for (int64_t patch = 0; patch < kPatches; ++patch) {
      EXPECT_NEAR(answers[shown * kPatches + patch][0], worth(shown, 511 ^ (1 << patch)), 1e-5);
    }
  }
  EXPECT_EQ(texts_run, 4);
  EXPECT_EQ(pictures_run, kPatches);
}

TEST(Pair, EveryWayToHideOneSideLeavesTheOtherItsOwn) {
  const RunsOfPair pair("short", {});
  const Input& input = pair.together().input();
  std::vector<bool> hidden(input.units(), false);
  hidden[2] = hidden[7] = true;
  EXPECT_EQ(input.hiding(hidden, "grey"), input.hiding(hidden, "auto"));
  EXPECT_EQ(input.hiding(hidden, "delete"), input.hiding(hidden, "auto"));
  EXPECT_NE(input.hiding(hidden, "black"), input.hiding(hidden, "auto"));
  EXPECT_NE(input.hiding(hidden, "drop"), input.hiding(hidden, "auto"));
  EXPECT_THROW(input.hiding(hidden, "background"), InvalidInput);
}

TEST(Pair, EveryMethodScoresEveryUnit) {
  for (const Method* method : catalogue()) {
    const std::string& name = method->info.name;
    EXPECT_EQ(explained("short", name).scores.size(), 4u + 1 + kPatches) << name;
  }
}

TEST(Pair, UnitsAreTokensOfTheTextThenThePicture) {
  ExplainRequest request{.methods = {{"gae", {}}}};
  const Explanation found =
      explain(clip(), PictureWithText{PictureFile{kFolder / "picture.png"}, "A photo of a dog!"},
              request)[0];
  EXPECT_EQ(found.text, "picture.png");
  EXPECT_EQ(found.pair, "A photo of a dog!");
  const int64_t tokens = found.picture->first_patch - 1;
  EXPECT_EQ(static_cast<int64_t>(found.units.size()), tokens + 1 + kPatches);
  EXPECT_EQ(found.units[tokens].text, "[CLS]");
  EXPECT_EQ(found.attributions[0].words.size(), 6u);  // the "!" too
  EXPECT_EQ(found.attributions[0].words[1].text, "photo");
  EXPECT_EQ(found.attention[0].first_unit, 0);
  EXPECT_EQ(found.attention[0].queries, tokens);
  EXPECT_EQ(found.attention.back().first_unit, tokens);
  EXPECT_FALSE(found.target.probability);
}

TEST(Pair, ChoosesAmongDifferentTexts) {
  const auto refusal = [](const std::vector<std::string>& texts) {
    return message_of<InvalidInput>([&] { clip().among(texts); });
  };
  EXPECT_THAT(refusal({}), HasSubstr("give at least two texts to choose among"));
  EXPECT_THAT(refusal({"a cat"}), HasSubstr("give at least two texts to choose among"));
  EXPECT_THAT(refusal({"a cat", " "}), HasSubstr("text 2 to choose among is empty"));
  EXPECT_THAT(refusal({"a cat", "a dog", "a cat"}), HasSubstr("texts 1 and 3 to choose among"));
  EXPECT_NO_THROW(clip().among({"a cat", "a dog"}));
}

TEST(Pair, RefusesWhatHasNoMeaning) {
  const PictureWithText input{PictureFile{kFolder / "picture.png"}, "a cat"};
  ExplainRequest request{.methods = {{"gae", {}}}};
  EXPECT_THROW(explain(Model::built_in_for_pictures(), input, request), UnsupportedModel);
  EXPECT_THROW(explain(clip().among({"a cat", "a dog"}), input, request), InvalidInput);
  EXPECT_THROW(explain(clip(), PictureWithText{input.picture, " "}, request), InvalidInput);
  request.similar_to = "a dog";
  EXPECT_THROW(explain(clip(), input, request), InvalidInput);
  request.similar_to = {};
  request.target = int64_t{0};
  EXPECT_THROW(explain(clip(), input, request), InvalidInput);
}

// The text side by itself.
TEST(ClipText, SimilarityToATextIsTheCosineOfTheirVectors) {
  ExplainRequest request{.methods = {{"gae", {}}}};
  request.similar_to = "a dog";
  const Explanation found = explain(clip(), TextInput{"a cat", {}}, request)[0];
  const auto embedding = [](const char* text) {
    const auto& texts = dynamic_cast<const TextReader&>(clip().reader_of(TextInput()));
    const auto& pictures = dynamic_cast<const PictureReader&>(clip().reader_of(PictureInput()));
    return pictures.source().text_embedding(texts.reading().encode({text, {}}).ids);
  };
  const std::vector<double> a = embedding("a cat"), b = embedding("a dog");
  double cosine = 0;
  for (size_t i = 0; i < a.size(); ++i) cosine += a[i] * b[i];
  EXPECT_NEAR(found.target.value, cosine, 1e-5);
  EXPECT_EQ(found.units.size(), 4u);
}

TEST(ClipText, NothingBehindTheEndIsRead) {
  ExplainRequest request{.methods = {{"gae", {}}}};
  const Explanation whole =
      explain(clip(), TextInput{"a cat <|endoftext|> of a dog", {}}, request)[0];
  EXPECT_EQ(whole.units.size(), 4u);
  EXPECT_EQ(whole.output.values, explain(clip(), TextInput{"a cat", {}}, request)[0].output.values);
}

TEST(ClipText, ATokenThatAttentionDoesNotSeeIsAsIfItHadAnotherWord) {
  // "drop" keeps positions: neither the token's word nor its row reaches the end token.
  const auto& texts = dynamic_cast<const TextReader&>(clip().reader_of(TextInput()));
  const auto answer = [&](const char* text) {
    const TextPart part(texts.reading(), {texts.reading().encode({text, {}}), {}},
                        {.head = Head::kEmbedding, .dtype = DType::kFloat64});
    const std::vector<Variant> one{part.hiding({false, false, true, false, false}, "drop", {})};
    const FedGraph run_of_one = part.run_of(one);
    const Value output = run_of_one.graph->output;
    return run(run_of_one.graph->graph, run_of_one.feeds, {.outputs = {output}})[output]
        .to_doubles();
  };
  EXPECT_THAT(answer("a cat of"), Pointwise(DoubleNear(1e-12), answer("a dog of")));
}

}  // namespace
}  // namespace whyformer
