#include "models/picture_source.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <ctime>

#include "base/files.h"
#include "base/parallel.h"
#include "discovery/blocks.h"
#include "graph/walk_back.h"
#include "readers/load_readers.h"
#include "readers/picture_reader.h"
#include "tests/support/golden_weights.h"

namespace whyformer {
namespace {

using testing::DoubleNear;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointwise;

std::filesystem::path golden_picture_model(std::string_view name) {
  return source_folder() / "tests/golden/pictures" / name;
}

Tensor golden_tensor(const StoredTensors& tensors, const std::string& name) {
  const StoredTensor& stored = tensors.at(name);
  std::vector<float> values = to_float32(stored);
  return Tensor::of<float>(stored.shape, std::span<const float>(values));
}

std::shared_ptr<const PictureReader> reader_in(const FileLookup& files, const std::string& name) {
  const LoadedReaders loaded = readers_of_folder(files, weights_in(files), name);
  return std::dynamic_pointer_cast<const PictureReader>(loaded.readers.at(0));
}

// A text's vector of length 1.
std::vector<double> vector_of(const PictureReader& reader, const std::string& text) {
  return reader.answered({}, {.similar_to = text}).kind.reference;
}

// [pictures, channels, height, width].
std::vector<Sample> pictures_of(const Tensor& pixels) {
  std::vector<Sample> pictures;
  for (int64_t i = 0; i < pixels.dim(0); ++i)
    pictures.push_back({{"pixel_values", pixels.select(0, i)}});
  return pictures;
}

struct Golden {
  std::filesystem::path folder;
  nlohmann::json expected;
  StoredTensors tensors;
  std::shared_ptr<const PictureReader> reader;

  explicit Golden(std::string_view name)
      : folder(golden_picture_model(name)),
        expected(nlohmann::json::parse(map_file(folder / "expected.json").text())),
        tensors(
            read_safetensors(map_file(folder / "expected.safetensors"), "expected.safetensors")),
        reader(reader_in(files_in(folder), folder.filename().string())) {}

  const PictureSource& model() const { return reader->source(); }
  Tensor tensor(const std::string& name) const { return golden_tensor(tensors, name); }

  // The model that gives the case's outputs.
  std::shared_ptr<const PictureReader> reader_of(const nlohmann::json& one) const {
    if (one["head"] != "logits" || !expected.contains("texts")) return reader;
    return reader->among(expected["texts"].get<std::vector<std::string>>());
  }

  std::vector<double> reference(const nlohmann::json& one) const {
    if (one["head"] != "similarity") return {};
    return vector_of(*reader,
                     expected["texts"][expected["similar_to"].get<size_t>()].get<std::string>());
  }
};

Head head_of(const nlohmann::json& one) {
  if (one["head"] == "logits") return Head::kLogits;
  return one["head"] == "similarity" ? Head::kSimilarity : Head::kEmbedding;
}

ShapeKey key_for(const Tensor& pixels, Head head, DType dtype = DType::kFloat32) {
  return picture_key(pixels.dim(1), pixels.dim(2), pixels.dim(3),
                     {.batch = pixels.dim(0), .head = head, .dtype = dtype});
}

// The largest difference, in units of `unit`.
double distance(const Tensor& a, const Tensor& b, double unit = 1) {
  EXPECT_EQ(a.shape(), b.shape());
  if (a.shape() != b.shape()) return INFINITY;
  const std::vector<double> x = a.to_doubles(), y = b.to_doubles();
  double most = 0;
  for (size_t i = 0; i < x.size(); ++i) most = std::max(most, std::abs(x[i] - y[i]) / unit);
  return most;
}

double largest(const Tensor& tensor) {
  double most = 0;
  for (const double x : tensor.to_doubles()) most = std::max(most, std::abs(x));
  return most;
}

class PictureModels : public testing::TestWithParam<const char*> {};

// Outputs, maps and gradients of one case. The files hold 32-bit numbers, which limits the double
// run.
void expect_case(const Golden& golden, const nlohmann::json& one, DType dtype) {
  const double exactness = dtype == DType::kFloat64 ? 0.2 : 1;
  const std::string name = one["name"];
  SCOPED_TRACE(name + (dtype == DType::kFloat64 ? " in double precision" : ""));
  const Tensor pixels = golden.tensor(name + "/pixels");
  const auto reader = golden.reader_of(one);
  const auto built = reader->source().graph(key_for(pixels, head_of(one), dtype));
  const Feeds feeds = reader->source().feeds(*built, pictures_of(pixels), golden.reference(one));
  std::vector<Value> maps;
  for (const AttentionSite& site : built->found.sites) maps.push_back(site.attention);
  std::vector<Value> wanted = maps;
  wanted.push_back(built->output);
  const Pass pass = run(built->graph, feeds, {Keep::kGradients, wanted});
  EXPECT_LT(distance(pass[built->output], golden.tensor(name + "/output")), 1e-5 * exactness);

  Tensor seed = Tensor::zeros(built->graph.shape(built->output), DType::kFloat64);
  for (int64_t i = 0; i < seed.dim(0); ++i) {
    seed.mutable_data<double>()[i * seed.dim(1) + one["column"].get<int64_t>()] = 1;
  }
  const auto gradients =
      walk_back(built->graph, pass, built->output, seed.cast(dtype), gradient_rule(), maps);
  EXPECT_FALSE(golden.tensors.contains(name + "/map." + std::to_string(maps.size())));
  for (size_t layer = 0; layer < maps.size(); ++layer) {
    SCOPED_TRACE(layer);
    EXPECT_LT(distance(pass[maps[layer]], golden.tensor(name + "/map." + std::to_string(layer))),
              1e-6 * exactness);
    const Tensor expected = golden.tensor(name + "/gradient." + std::to_string(layer));
    EXPECT_LT(distance(gradients.at(maps[layer]), expected, largest(expected)), 1e-4 * exactness);
  }
}

TEST_P(PictureModels, GiveOutputsMapsAndGradientsOfPyTorch) {
  const Golden golden(GetParam());
  for (const auto& one : golden.expected["cases"]) {
    expect_case(golden, one, DType::kFloat32);
    expect_case(golden, one, DType::kFloat64);
  }
}

TEST_P(PictureModels, GiveTheSameForAPictureAloneAsInABatch) {
  const Golden golden(GetParam());
  const auto& one = golden.expected["cases"][0];
  const Tensor both = golden.tensor(one["name"].get<std::string>() + "/pixels");
  ASSERT_EQ(both.dim(0), 2);
  const auto outputs = [&](const Tensor& pixels) {
    const auto built = golden.reader_of(one)->source().graph(key_for(pixels, head_of(one)));
    const Feeds feeds = golden.model().feeds(*built, pictures_of(pixels), golden.reference(one));
    return run(built->graph, feeds, {.outputs = {built->output}})[built->output];
  };
  const Tensor together = outputs(both);
  for (int64_t i = 0; i < 2; ++i) {
    EXPECT_LT(distance(outputs(both.slice(0, i, 1).contiguous()), together.slice(0, i, 1)), 1e-6);
  }
}

TEST_P(PictureModels, KeepWhatExplanationsStartFrom) {
  const Golden golden(GetParam());
  const Tensor pixels =
      golden.tensor(golden.expected["cases"][0]["name"].get<std::string>() + "/pixels");
  const auto built = golden.model().graph(key_for(pixels, Head::kEmbedding));
  const Shape patches = built->graph.shape(built->patches);
  EXPECT_EQ(patches[1], built->grid.count());
  const Shape embeddings = built->graph.shape(built->embeddings);
  EXPECT_EQ(embeddings[1], built->grid.first + built->grid.count());
  EXPECT_EQ(built->graph.shape(built->layers_input), embeddings);
  // Replacing the embeddings by themselves changes nothing.
  const Pass pass = run(built->graph, golden.model().feeds(*built, pictures_of(pixels)),
                        {.outputs = {built->embeddings, built->output}});
  const Pass again = run(built->graph,
                         {{built->input("pixel_values"), Tensor::zeros(pixels.shape())},
                          {built->embeddings, pass[built->embeddings]}},
                         {.outputs = {built->output}});
  EXPECT_EQ(distance(again[built->output], pass[built->output]), 0);
}

INSTANTIATE_TEST_SUITE_P(Golden, PictureModels,
                         testing::Values("vit", "dino", "deit", "deit-teacher", "dinov2",
                                         "dinov2-gated", "beit", "beit-shared", "swin",
                                         "swin-whole", "clip"),
                         [](const auto& name) {
                           std::string words = name.param;
                           std::replace(words.begin(), words.end(), '-', '_');
                           return words;
                         });

std::shared_ptr<const ModelGraph> graph_of(const Golden& golden) {
  const bool classifies = golden.model().has_classifier();
  return golden.model().graph(
      picture_key(3, 32, 32, {.head = classifies ? Head::kLogits : Head::kEmbedding}));
}

TEST(PictureModel, FindsSitesHeadsAndTokens) {
  for (const char* name : {"vit", "dino", "deit", "dinov2", "beit", "clip"}) {
    SCOPED_TRACE(name);
    const auto built = graph_of(Golden(name));
    ASSERT_EQ(built->found.sites.size(), 2u);
    for (const AttentionSite& site : built->found.sites) {
      EXPECT_EQ(site.heads, 4);
      EXPECT_EQ(site.queries, built->grid.first + 16);
      EXPECT_TRUE(site.is_self_attention());
      EXPECT_FALSE(site.causal);
      EXPECT_EQ(site.windows, 1);
    }
    const std::vector<StreamSegment>& segments = built->found.streams.at(0).segments;
    ASSERT_EQ(segments.size(), 2u);
    EXPECT_EQ(segments[0].kind, StreamSegment::Kind::kLearned);
    EXPECT_EQ(segments[1].kind, StreamSegment::Kind::kPatches);
    EXPECT_THAT(segments[1].grid, ElementsAre(4, 4));
  }
}

TEST(PictureModel, TakesItsBlocksApart) {
  for (const char* name :
       {"vit", "dino", "deit", "deit-teacher", "dinov2", "beit", "beit-shared", "clip"}) {
    SCOPED_TRACE(name);
    const auto built = graph_of(Golden(name));
    const auto blocks = find_blocks(built->graph, built->found.sites);
    ASSERT_EQ(blocks.size(), 2u);
    EXPECT_TRUE(blocks[0].norms_before());
    EXPECT_EQ(blocks[0].input, built->layers_input);
  }
}

TEST(PictureModel, ReadsTheClassTokenAndRunsTheLastLayerOnItAlone) {
  for (const char* name : {"vit", "dino", "deit", "beit-shared", "clip"}) {
    SCOPED_TRACE(name);
    const auto built = graph_of(Golden(name));
    EXPECT_EQ(built->found.read_out.kind, ReadOut::Kind::kRow);
    EXPECT_EQ(built->found.read_out.row, 0);
    EXPECT_EQ(find_blocks(built->graph, built->found.sites).back().rows, 1);
  }
}

TEST(PictureModel, ReadsTheMeanOfThePatches) {
  const auto beit = graph_of(Golden("beit"));
  EXPECT_EQ(beit->found.read_out.kind, ReadOut::Kind::kMean);
  EXPECT_EQ(beit->found.read_out.row, 1);
  EXPECT_EQ(beit->found.read_out.rows, 16);
  for (const char* name : {"swin", "swin-whole"}) {
    SCOPED_TRACE(name);
    const auto swin = graph_of(Golden(name));
    EXPECT_EQ(swin->found.read_out.kind, ReadOut::Kind::kMean);
    EXPECT_EQ(swin->found.read_out.row, 0);
    EXPECT_EQ(swin->found.read_out.rows, 16);
  }
}

TEST(PictureModel, ReadsTwoTokensAlikeAfterATeacher) {
  const auto built = graph_of(Golden("deit-teacher"));
  EXPECT_EQ(built->found.read_out.kind, ReadOut::Kind::kShares);
  std::vector<double> shares(18, 0);
  shares[0] = shares[1] = 0.5;
  EXPECT_EQ(built->found.read_out.shares, shares);
}

TEST(PictureModel, ReadsHalfFromTheClassTokenAndHalfFromThePatches) {
  const auto built = graph_of(Golden("dinov2"));
  EXPECT_EQ(built->found.read_out.kind, ReadOut::Kind::kShares);
  std::vector<double> shares(17, 1.0 / 32);
  shares[0] = 0.5;
  EXPECT_THAT(built->found.read_out.shares, Pointwise(DoubleNear(1e-12), shares));
}

TEST(PictureModel, TellsWindowsFromBatches) {
  const auto built = Golden("swin").model().graph(picture_key(3, 32, 32, {.batch = 3}));
  ASSERT_EQ(built->found.sites.size(), 4u);
  EXPECT_EQ(built->found.sites[0].windows, 9);  // 8x8 tokens in windows of 3x3
  EXPECT_EQ(built->found.sites[3].windows, 4);
  EXPECT_EQ(built->found.sites[0].queries, 9);
  EXPECT_EQ(built->grid.first, 0);
  EXPECT_EQ(built->grid.rows, 8);
}

TEST(PictureModel, NamesItsLabels) {
  const Golden vit("vit");
  EXPECT_THAT(vit.model().facts().output_names, ElementsAre("cat", "dog", "hen"));
  EXPECT_EQ(vit.model().facts().problem, Problem::kSingleLabel);
  const Golden dino("dino");
  EXPECT_FALSE(dino.model().has_classifier());
  EXPECT_EQ(dino.model().facts().output_names.size(), 16u);
}

// The golden folder with other contents of some files.
FileLookup instead(const std::filesystem::path& folder,
                   std::map<std::string, std::string> contents) {
  return [=, files = files_in(folder)](std::string_view name) -> std::optional<Bytes> {
    const auto found = contents.find(std::string(name));
    if (found == contents.end()) return files(name);
    return bytes_of(found->second);
  };
}

std::string text_of(const std::filesystem::path& file) {
  return std::string(map_file(file).text());
}

TEST(PictureModel, ReadsTheNamesThatTransformers5HasInMemory) {
  for (const char* name : {"vit", "beit-shared", "dinov2-gated", "swin"}) {
    SCOPED_TRACE(name);
    const Golden golden(name);
    Golden renamed(name);
    renamed.reader = reader_in(
        instead(golden.folder,
                {{"model.safetensors", text_of(golden.folder / "new_names.safetensors")}}),
        name);
    for (const auto& one : golden.expected["cases"]) expect_case(renamed, one, DType::kFloat32);
  }
}

TEST(PictureModel, ComparesPicturesWithTexts) {
  const Golden clip("clip");
  EXPECT_TRUE(clip.model().reads_texts());
  EXPECT_NEAR(clip.model().similarity_scale(), clip.expected["scale"].get<double>(), 1e-5);
  const std::vector<double> vectors = clip.tensor("texts").to_doubles();
  const size_t width = vectors.size() / 3;
  for (size_t i = 0; i < 3; ++i) {
    SCOPED_TRACE(i);
    const std::vector<double> expected(vectors.begin() + i * width,
                                       vectors.begin() + (i + 1) * width);
    const auto ids = clip.expected["ids"][i].get<std::vector<int64_t>>();
    EXPECT_THAT(clip.model().text_embedding(ids), Pointwise(DoubleNear(1e-5), expected));
    EXPECT_THAT(vector_of(*clip.reader, clip.expected["texts"][i].get<std::string>()),
                Pointwise(DoubleNear(1e-5), expected));
    // What follows the end is not read.
    std::vector<int64_t> padded = ids;
    padded.insert(padded.end(), 2, ids.back());
    EXPECT_EQ(clip.model().text_embedding(padded), clip.model().text_embedding(ids));
  }
  const auto among = clip.reader->among({"a cat", "a dog"});
  EXPECT_THAT(among->source().facts().output_names, ElementsAre("a cat", "a dog"));
  EXPECT_TRUE(among->source().has_classifier());
}

TEST(PictureModel, FindsTheEndOfATextWhereEarlyConfigsMisnameIt) {
  const Golden clip("clip");
  nlohmann::json config = nlohmann::json::parse(text_of(clip.folder / "config.json"));
  config["text_config"]["eos_token_id"] = 2;
  const auto early = reader_in(instead(clip.folder, {{"config.json", config.dump()}}), "clip");
  EXPECT_EQ(vector_of(*early, "a cat"), vector_of(*clip.reader, "a cat"));
}

TEST(PictureModel, RefusesWhatItCannotTake) {
  const Golden vit("vit"), swin("swin"), beit("beit"), dino("dino");
  const auto graph = [](const Golden& golden, int64_t height, int64_t width) {
    return golden.model().graph(picture_key(3, height, width));
  };
  EXPECT_THAT(message_of<InvalidInput>([&] { graph(vit, 7, 32); }),
              HasSubstr("7x32 pixels gives 0x4 patches"));
  EXPECT_THAT(message_of<InvalidInput>([&] { graph(vit, 32, 1 << 30); }), HasSubstr("pixels"));
  EXPECT_THAT(message_of<InvalidInput>([&] { graph(swin, 16, 16); }), HasSubstr("too small"));
  EXPECT_THAT(message_of<InvalidInput>([&] { graph(beit, 48, 32); }),
              HasSubstr("give it pictures of 32x32 pixels"));
  EXPECT_THAT(message_of<InvalidInput>([&] { graph(dino, 32, 32); }), HasSubstr("no classifier"));
  EXPECT_THAT(message_of<UnsupportedModel>([&] { vit.reader->among({"a cat"}); }),
              HasSubstr("CLIP"));
  const auto built = graph_of(vit);
  EXPECT_THAT(message_of<InvalidInput>(
                  [&] { vit.model().feeds(*built, pictures_of(Tensor::zeros({1, 3, 32, 31}))); }),
              HasSubstr("[1, 3, 32, 31]"));
  const auto other = instead(vit.folder, {{"config.json", R"({"model_type": "resnet"})"}});
  EXPECT_THAT(message_of<UnsupportedModel>(
                  [&] { checkpoint_picture_source(other, weights_in(other), "other"); }),
              HasSubstr("supported are beit, clip"));
  const auto wider =
      instead(vit.folder, {{"config.json", R"({"model_type": "vit", "hidden_size": 20})"}});
  EXPECT_THAT(message_of<FileError>([&] { reader_in(wider, "wider"); }),
              HasSubstr("config.json asks for"));
}

// Processor seconds of the fastest of some calls.
template <typename Call>
double best_seconds(const Call& call) {
  double best = INFINITY;
  for (int i = 0; i < 5; ++i) {
    const std::clock_t start = std::clock();
    call();
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

// The folder that scripts/compare_pictures.py makes, with models of full size.
TEST(PictureModelsOfFullSize, AreAsNearToPyTorchAsSmallOnes) {
  const char* folder = std::getenv("WHYFORMER_PICTURE_MODELS");
  if (folder == nullptr) GTEST_SKIP() << "WHYFORMER_PICTURE_MODELS names no folder";
  const int threads = thread_count();
  set_thread_count(1);
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const Golden golden(entry.path().string());
    const auto& one = golden.expected["cases"][0];
    const std::string name = one["name"];
    const Tensor pixels = golden.tensor(name + "/pixels");
    const auto built = golden.reader_of(one)->source().graph(key_for(pixels, head_of(one)));
    const Feeds feeds = golden.model().feeds(*built, pictures_of(pixels), golden.reference(one));
    std::vector<Value> wanted;
    for (const AttentionSite& site : built->found.sites) wanted.push_back(site.attention);
    Tensor seed = Tensor::zeros(built->graph.shape(built->output));
    seed.mutable_data<float>()[one["column"].get<int64_t>()] = 1;
    std::map<Value, Tensor> gradients;
    Pass pass;
    const double both = best_seconds([&] {
      std::vector<Value> kept = wanted;
      kept.push_back(built->output);
      pass = run(built->graph, feeds, {Keep::kGradients, kept});
      gradients = walk_back(built->graph, pass, built->output, seed, gradient_rule(), wanted);
    });
    const double forward =
        best_seconds([&] { run(built->graph, feeds, {.outputs = {built->output}}); });
    const Tensor output = golden.tensor(name + "/output");
    const double outputs = distance(pass[built->output], output, largest(output));
    double maps = 0, slopes = 0;
    for (size_t layer = 0; layer < wanted.size(); ++layer) {
      const Tensor map = golden.tensor(name + "/map." + std::to_string(layer));
      const Tensor slope = golden.tensor(name + "/gradient." + std::to_string(layer));
      maps = std::max(maps, distance(pass[wanted[layer]], map));
      slopes = std::max(slopes, distance(gradients.at(wanted[layer]), slope, largest(slope)));
    }
    fmt::print(
        "{:<12} outputs {:.1e}  maps {:.1e}  gradients {:.1e}  forward {:.1f} ms  with gradients "
        "{:.1f} ms\n",
        entry.path().filename().string(), outputs, maps, slopes, forward * 1e3, both * 1e3);
    EXPECT_LT(outputs, 1e-5);
    EXPECT_LT(maps, 1e-6);
    EXPECT_LT(slopes, 1e-4);
  }
  set_thread_count(threads);
}

}  // namespace
}  // namespace whyformer
