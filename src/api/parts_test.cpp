// Models handed over in memory are the models of their folders.
#include "whyformer/parts.h"

#include <gmock/gmock.h>

#include "base/files.h"
#include "models/checkpoint.h"
#include "models/picture_source.h"
#include "run/run.h"
#include "tests/support/golden_model.h"
#include "tests/support/golden_weights.h"
#include "whyformer/answers.h"
#include "whyformer/model.h"

namespace whyformer {
namespace {

using testing::HasSubstr;

ModelParts sentiment() {
  return parts_of(files_in(source_folder() / "models/sentiment"), "sentiment");
}

// How the model reads texts; it must live longer.
TestText texts_of(const Model& model) {
  const auto& reader = dynamic_cast<const TextReader&>(model.reader_of(TextInput()));
  return TestText(std::shared_ptr<const TextReader>(std::shared_ptr<void>(), &reader));
}

std::filesystem::path golden_pictures(const std::string& name) {
  return source_folder() / "tests/golden/pictures" / name;
}

TEST(ModelParts, GiveTheTextModelsOfTheirFolders) {
  for (const std::string& name : golden_models()) {
    SCOPED_TRACE(name);
    const GoldenModel golden(name);
    const Model model = Model::load(parts_of(golden_files(name), name));
    const TestText texts = texts_of(model);
    EXPECT_EQ(model.name().architecture, golden.model->source().facts().architecture);
    EXPECT_EQ(texts.output_names(), golden.model->output_names());
    EXPECT_EQ(texts.problem(), golden.model->problem());
    EXPECT_EQ(texts.source().pooling(), golden.model->source().pooling());
    for (const GoldenInput& input : golden.inputs) {
      const auto own = run_of(texts, input.encoding(), {.head = golden.head()});
      const auto expected = run_of(*golden.model, input.encoding(), {.head = golden.head()});
      EXPECT_EQ(own.outputs(), expected.outputs());
    }
  }
}

TEST(ModelParts, ExplainAsTheirFolderDoes) {
  ExplainRequest request;
  request.methods = {{"gae", {}}, {"attn-lrp", {}}, {"integrated-gradients", {}}};
  const TextInput text{"A warm, funny film with a dull ending.", {}};
  const Explanation own = explain(Model::load(sentiment()), text, request)[0];
  const Explanation expected =
      explain(Model::load(source_folder() / "models/sentiment"), text, request)[0];
  EXPECT_EQ(own.model.name, "sentiment");
  EXPECT_EQ(own.output.values, expected.output.values);
  EXPECT_EQ(own.output.labels, expected.output.labels);
  ASSERT_EQ(own.attributions.size(), 3u);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(own.attributions[i].scores, expected.attributions[i].scores);
}

// Pixels that no two models of the same family treat alike.
PicturePixels pattern() {
  const std::shared_ptr<uint8_t[]> pixels(new uint8_t[40 * 50 * 3]);
  for (int i = 0; i < 40 * 50 * 3; ++i) pixels[i] = static_cast<uint8_t>(i * i / 7 + 31 * i);
  return {"pattern", 50, 40, 3, pixels};
}

std::vector<double> scores_of(const Model& model) {
  ExplainRequest request;
  request.methods = {{"saliency", {}}};
  return explain(model, pattern(), request)[0].attributions[0].scores;
}

void expect_same_pictures(const Model& own, const Model& expected) {
  ExplainRequest request;
  request.methods = {{"saliency", {}}};
  const Explanation one = explain(own, pattern(), request)[0],
                    other = explain(expected, pattern(), request)[0];
  EXPECT_EQ(one.output.values, other.output.values);
  EXPECT_EQ(one.output.labels, other.output.labels);
  EXPECT_EQ(one.attributions[0].scores, other.attributions[0].scores);
}

TEST(ModelParts, GiveThePictureModelsOfTheirFolders) {
  for (const char* name : {"vit", "dino", "deit", "deit-teacher", "dinov2", "dinov2-gated", "beit",
                           "beit-shared", "swin", "swin-whole", "clip"}) {
    SCOPED_TRACE(name);
    const Model model = Model::load(parts_of(files_in(golden_pictures(name)), name));
    EXPECT_TRUE(model.reads_pictures());
    expect_same_pictures(model, Model::load(golden_pictures(name)));
  }
  expect_same_pictures(
      Model::load(parts_of(files_in(source_folder() / "models/pictures"), "pictures")),
      Model::built_in_for_pictures());
}

ModelParts with_processor_of(const std::string& name, int64_t height, int64_t width) {
  ModelParts parts = parts_of(files_in(golden_pictures(name)), name);
  const nlohmann::json processor{{"image_processor_type", "ViTImageProcessor"},
                                 {"size", {{"height", height}, {"width", width}}}};
  parts.documents["preprocessor_config.json"] = processor.dump();
  return parts;
}

// Those that transformers 5 refuses unless it is told to interpolate positions, and those that
// interpolate by themselves.
TEST(ModelParts, RefuseAProcessorOfAnotherSizeAsTransformersDoes) {
  ExplainRequest request;
  request.methods = {{"saliency", {}}};
  for (const char* name : {"vit", "deit", "clip"}) {
    EXPECT_NO_THROW(explain(Model::load(with_processor_of(name, 32, 32)), pattern(), request));
    EXPECT_THAT(message_of<InvalidInput>([&] {
                  explain(Model::load(with_processor_of(name, 48, 48)), pattern(), request);
                }),
                testing::AllOf(HasSubstr("gives 48x48 pixels"), HasSubstr("made for 32x32")));
    EXPECT_THROW(
        answers(Model::load(with_processor_of(name, 32, 40)), {PictureInput(pattern())}, {}),
        InvalidInput);
  }
  EXPECT_NO_THROW(explain(Model::load(with_processor_of("dinov2", 42, 42)), pattern(), request));
  EXPECT_NO_THROW(explain(Model::load(with_processor_of("swin", 48, 48)), pattern(), request));
}

TEST(ModelParts, OfPicturesWhoseHeadWasLeftOutAreRefusedWithoutATarget) {
  ModelParts parts = parts_of(files_in(golden_pictures("vit")), "vit");
  std::erase_if(parts.weights,
                [](const auto& one) { return one.first.starts_with("classifier."); });
  nlohmann::json config = nlohmann::json::parse(parts.documents.at("config.json"));
  const auto named = [&](const char* architecture) {
    config["architectures"] = {architecture};
    parts.documents.at("config.json") = config.dump();
    return Model::load(parts);
  };
  ExplainRequest request;
  request.methods = {{"saliency", {}}};
  EXPECT_NO_THROW(explain(named("ViTModel"), pattern(), request));
  EXPECT_THAT(message_of<UnsupportedModel>(
                  [&] { explain(named("ViTForMaskedImageModeling"), pattern(), request); }),
              HasSubstr("'ViTForMaskedImageModeling' has a head other than a classifier"));
  request.target = int64_t{2};
  const Explanation found = explain(named("ViTForMaskedImageModeling"), pattern(), request)[0];
  EXPECT_EQ(found.target.label, "dimension 2");
  EXPECT_THAT(found.notes, testing::Contains(HasSubstr("is left out")));
}

TEST(ModelParts, SayWhichLayersOfPictureModelsAreLeftOut) {
  const std::map<std::string, std::string> changes{
      {"vit", R"({"num_hidden_layers": 1})"},
      {"deit", R"({"num_hidden_layers": 1})"},
      {"beit", R"({"num_hidden_layers": 1})"},
      {"dinov2", R"({"num_hidden_layers": 1})"},
      {"clip", R"({"vision_config": {"num_hidden_layers": 1}})"}};
  for (const auto& [name, change] : changes) {
    SCOPED_TRACE(name);
    ModelParts parts = parts_of(files_in(golden_pictures(name)), name);
    const auto left_out = testing::Contains(testing::ContainsRegex("left out: '.*layers?[.]1'"));
    EXPECT_THAT(Model::load(parts).inspect().notes, testing::Not(left_out));
    nlohmann::json config = nlohmann::json::parse(parts.documents.at("config.json"));
    config.merge_patch(nlohmann::json::parse(change));
    parts.documents.at("config.json") = config.dump();
    EXPECT_THAT(Model::load(parts).inspect().notes, left_out);
  }
}

TEST(ModelParts, TakeTheNamesThatTransformers5HasInMemory) {
  const auto new_names = [](const char* name) {
    return Model::load(parts_of(files_in(golden_pictures(name)), name, "new_names.safetensors"));
  };
  for (const char* name : {"vit", "beit-shared", "swin"}) {
    SCOPED_TRACE(name);
    expect_same_pictures(new_names(name), Model::load(golden_pictures(name)));
  }
  // Files have the two halves of its gate in one matrix, memory in two, so that gradients are
  // summed in another order.
  const Model gated = new_names("dinov2-gated"),
              expected = Model::load(golden_pictures("dinov2-gated"));
  EXPECT_THAT(scores_of(gated), testing::Pointwise(testing::DoubleNear(1e-6), scores_of(expected)));
}

TEST(ModelParts, TakeTheNamesOfEarlyCheckpoints) {
  ModelParts parts = parts_of(golden_files("bert"), "bert");
  ModelParts early = parts;
  early.weights.clear();
  int renamed = 0;
  for (auto& [name, array] : parts.weights) {
    std::string old = name;
    const size_t norm = old.find("LayerNorm.");
    if (norm != old.npos) {
      old = old.substr(0, norm + 10) + (old.ends_with("weight") ? "gamma" : "beta");
      ++renamed;
    }
    early.weights[old] = array;
  }
  EXPECT_GT(renamed, 4);
  const GoldenInput input = GoldenModel("bert").inputs[0];
  const Model old = Model::load(early), plain = Model::load(parts);
  const auto own = run_of(texts_of(old), input.encoding(), {}),
             expected = run_of(texts_of(plain), input.encoding(), {});
  EXPECT_EQ(own.outputs(), expected.outputs());
}

TEST(ModelParts, CompareTextsWithTheTokenizerThatCameWithThem) {
  const ModelParts parts = parts_of(files_in(golden_pictures("clip")), "clip");
  const std::vector<std::string> texts{"a cat", "a dog"};
  expect_same_pictures(Model::load(parts).among(texts),
                       Model::load(golden_pictures("clip")).among(texts));
  ModelParts silent = parts;
  silent.documents.erase("tokenizer.json");
  const Model without = Model::load(silent);  // pictures alone need none
  EXPECT_THAT(message_of<FileError>([&] { without.among(texts); }),
              HasSubstr("hand it over with the model's other parts"));
}

TEST(ModelParts, ThatCompareBothReadPicturesWithoutATokenizer) {
  ModelParts parts = parts_of(files_in(golden_pictures("clip")), "clip");
  parts.documents.erase("tokenizer.json");
  const Model model = Model::load(parts);
  EXPECT_FALSE(default_methods(model).empty());
  EXPECT_THAT(message_of<FileError>([&] { model.reader_of(TextInput()); }),
              HasSubstr("no tokenizer"));
}

TEST(ModelParts, AreReadWhereTheyLieAndLiveAsLongAsTheModel) {
  ModelParts parts = sentiment();
  const std::string name = "bert.embeddings.word_embeddings.weight";
  ASSERT_TRUE(parts.weights.contains(name));
  ArrayView& words = parts.weights.at(name);
  const StoredTensors stored = stored_tensors(parts.weights);
  // Numbers of their own, so that their owner is known: 32-bit ones, which need no conversion.
  auto numbers = std::make_shared<std::vector<float>>(to_float32(stored.at(name)));
  words = {"F32", words.shape, std::shared_ptr<const void>(numbers, numbers->data()),
           4 * numbers->size()};
  {
    const Checkpoint checkpoint(stored_tensors(parts.weights));
    EXPECT_EQ(checkpoint.tensor(name, words.shape, DType::kFloat32).data<float>(), numbers->data());
  }

  std::weak_ptr<std::vector<float>> owner = numbers;
  std::optional<Model> model = Model::load(parts);
  parts = {};
  numbers.reset();
  EXPECT_FALSE(owner.expired());
  ExplainRequest request;
  request.methods = {{"rollout", {}}};
  EXPECT_EQ(explain(*model, TextInput{"A dull film.", {}}, request)[0].output.labels.size(), 2u);
  model.reset();
  EXPECT_TRUE(owner.expired());
}

TEST(ModelParts, SayWhatIsMissing) {
  ModelParts parts = sentiment();
  ModelParts none = parts;
  none.weights.clear();
  EXPECT_EQ(message_of<InvalidInput>([&] { Model::load(none); }),
            "'sentiment' comes without weights: hand it over with the model's other parts");
  ModelParts unknown = parts;
  unknown.documents.erase("config.json");
  EXPECT_THAT(message_of<InvalidInput>([&] { Model::load(unknown); }),
              HasSubstr("comes without config.json"));
  ModelParts wordless = parts;
  wordless.documents.erase("tokenizer.json");
  EXPECT_THAT(
      message_of<FileError>([&] { Model::load(wordless); }),
      HasSubstr("comes with no tokenizer: put tokenizer.json into its folder, or hand it over"));
  ModelParts misnamed = parts;
  auto classifier = misnamed.weights.extract("classifier.weight");
  classifier.key() = "head.weight";
  misnamed.weights.insert(std::move(classifier));
  EXPECT_THAT(message_of<FileError>([&] { Model::load(misnamed); }),
              HasSubstr("lacks the tensor 'classifier.weight'"));
}

TEST(ModelParts, RefuseWeightsOfAnotherSizeOrType) {
  ModelParts parts = sentiment();
  ArrayView& bias = parts.weights.at("classifier.bias");
  const ArrayView sound = bias;
  bias.bytes -= 1;
  EXPECT_THAT(message_of<InvalidInput>([&] { Model::load(parts); }),
              HasSubstr("weight 'classifier.bias' has"));
  bias = {"U8", {static_cast<int64_t>(sound.bytes)}, sound.data, sound.bytes};
  EXPECT_THAT(message_of<FileError>([&] { Model::load(parts); }),
              HasSubstr("'classifier.bias' has the shape"));
  bias = {"U8", sound.shape, sound.data, static_cast<size_t>(sound.shape[0])};
  EXPECT_THAT(message_of<UnsupportedModel>([&] { Model::load(parts); }), HasSubstr("stored as U8"));
}

TEST(ModelParts, TokenizeAsTheirFolderDoesWithoutALimit) {
  std::string text;
  for (int i = 0; i < 600; ++i) text += "unbelievable ";
  const TextInput input{text, "second"};
  const Model model = Model::load(sentiment());
  const TokenizedText own = model.tokenize(input);
  const TokenizedText expected =
      TextTokenizer::load(source_folder() / "models/sentiment").tokenize(input);
  EXPECT_EQ(own.ids, expected.ids);
  EXPECT_EQ(own.offsets, expected.offsets);
  EXPECT_EQ(own.tokens, expected.tokens);
  EXPECT_GT(static_cast<int64_t>(own.ids.size()), texts_of(model).max_tokens());
  EXPECT_THAT(message_of<InvalidInput>([] { Model::built_in_for_pictures().tokenize({"x", {}}); }),
              HasSubstr("reads pictures, not texts"));
}

}  // namespace
}  // namespace whyformer
