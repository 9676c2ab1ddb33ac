// Methods on pictures: small random models of tests/golden/pictures, a picture of generated pixels.
#include "readers/picture_part.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/files.h"
#include "graph/walk_back.h"
#include "methods/method.h"
#include "models/model_files.h"
#include "models/onnx_source.h"
#include "readers/picture_reader.h"
#include "readers/pictures/linear_imputation.h"
#include "run/run.h"
#include "tests/support/hiding_test_helpers.h"
#include "tests/support/source_folder.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using testing::HasSubstr;

// Every architecture whose maps go over all patches.
const std::vector<std::string> kByPatch{"vit", "deit", "deit-teacher", "dinov2", "beit"};

std::shared_ptr<const PictureSource> source_at(const std::filesystem::path& path) {
  if (path.extension() == ".onnx") return onnx_picture_source(open_onnx(path), path.stem(), "");
  const FileLookup files = files_in(path);
  return checkpoint_picture_source(files, weights_in(files), path.filename());
}

// To the model's own size.
std::shared_ptr<const PictureProcessor> processor_for(const PictureSource& source,
                                                      const PictureSettings& like = {}) {
  PictureSettings settings = like;
  settings.size = PictureSize{.width = source.width(), .height = source.height()};
  return std::make_shared<PictureProcessor>(settings);
}

struct Case {
  explicit Case(const std::string& name)
      : Case(source_folder() / "tests/golden/pictures" / name, {}) {}

  struct Anywhere {};
  Case(const std::filesystem::path& path, Anywhere) : model(source_at(path)) {
    const Needs needs{
        .attention = true, .attention_gradient = true, .embedding_gradient = true, .values = true};
    PictureSettings settings;
    settings.normalisation = {{0.5, 0.5, 0.5}, {0.25, 0.5, 0.75}};
    const PictureReader reader(model, processor_for(*model, settings), nullptr);
    Picture picture{model->width(), model->height(), {}};
    for (int64_t i = 0; i < 3 * picture.width * picture.height; ++i) {
      picture.pixels.push_back(static_cast<uint8_t>((i * 37 + i * i % 101) % 256));
    }
    explained = std::make_unique<Run>(
        reader.input_of(reader.processed(picture), {.dtype = DType::kFloat64}),
        Run::Settings{.needs = needs, .memory_bytes = 1 << 24});
    explained->set_target(1);
  }

  const Input& input() const { return explained->input(); }
  const PatchGrid& grid() const {
    return static_cast<const PicturePart&>(*input().parts()[0]).grid();
  }
  Scores scores(const Method& method, const Options& options = {}) {
    return method.run(*explained, complete_options(method, options));
  }

  std::shared_ptr<const PictureSource> model;
  std::unique_ptr<Run> explained;
};

double sum(const std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += value;
  return total;
}

// The file rounds pixels by the span they have while it runs, which is the first patch's: where
// that is hidden, all others come out otherwise.
TEST(PicturePart, RoundedWhileItRunsAnswersTheSameWhateverRunsBesideIt) {
  const auto model = source_at(source_folder() / "tests/golden/onnx_optimised/vit_dynamic.onnx");
  PictureSettings settings;
  settings.normalisation = {{0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}};
  const auto processor = processor_for(*model, settings);
  Picture picture{model->width(), model->height(), {}};
  for (int64_t i = 0; i < 3 * picture.width * picture.height; ++i) {
    const int64_t row = i / 3 / picture.width, column = i / 3 % picture.width;
    const bool first = row < picture.height / 2 && column < picture.width / 2;
    picture.pixels.push_back(static_cast<uint8_t>(first ? i * 37 % 256 : 100 + i * 11 % 57));
  }
  picture.pixels[0] = 0;
  picture.pixels[1] = 255;
  const PicturePart part(model, processor, (*processor)(picture), {});
  const int64_t first = part.grid().first, count = part.grid().count();
  std::vector<Variant> inputs;
  for (int64_t coalition = 0; coalition < int64_t{1} << count; ++coalition) {
    std::vector<bool> hidden(part.units().size(), false);
    for (int64_t patch = 0; patch < count; ++patch)
      hidden[first + patch] = (coalition >> patch & 1) != 0;
    inputs.push_back(part.hiding(hidden, "grey", {}));
  }
  const auto answers = [&](std::span<const Variant> some) {
    const auto one = part.run_of(some);
    return run(one.graph->graph, one.feeds, {.outputs = {one.graph->output}})[one.graph->output]
        .to_doubles();
  };
  std::vector<double> alone;
  for (const Variant& input : inputs) {
    const std::vector<double> own = answers({&input, 1});
    alone.insert(alone.end(), own.begin(), own.end());
  }
  EXPECT_EQ(answers(inputs), alone);
}

TEST(PicturePart, EveryPixelBelongsToTheUnitThatSeesIt) {
  const Case test("vit");
  const PatchGrid& grid = test.grid();
  EXPECT_EQ(test.input().units(), grid.first + grid.count());
  const Tensor pixels = test.explained->embeddings(Depth::kInput);
  const std::vector<Tensor> back = test.input().from_rows(Depth::kInput, pixels);
  EXPECT_EQ(test.input().rows(Depth::kInput, back).to_doubles(), pixels.to_doubles());
  // Hiding a patch changes its own embedding and no other.
  const auto own = test.input().copies(1);
  const ModelGraph& graph = *own.graph;
  const std::vector<double> before =
      run(graph.graph, own.feeds, {.outputs = {graph.patches}})[graph.patches].to_doubles();
  std::vector<bool> hidden(test.input().units(), false);
  const int64_t patch = grid.columns + 1;
  hidden[grid.first + patch] = true;
  const Variant variant = test.input().hiding(hidden, "black");
  const auto other = test.input().run_of({&variant, 1});
  const std::vector<double> after =
      run(graph.graph, other.feeds, {.outputs = {graph.patches}})[graph.patches].to_doubles();
  const int64_t width = static_cast<int64_t>(before.size()) / grid.count();
  for (int64_t i = 0; i < grid.count(); ++i) {
    const bool same = std::equal(before.begin() + i * width, before.begin() + (i + 1) * width,
                                 after.begin() + i * width);
    EXPECT_EQ(same, i != patch) << i;
  }
}

TEST(PicturePart, PixelGradientsAreSlopes) {
  for (const std::string name : {"vit", "swin", "beit"}) {
    Case test(name);
    const Tensor input = test.explained->embeddings(Depth::kInput);
    const std::vector<double> gradient =
        test.explained->embedding_gradient(Depth::kInput).to_doubles();
    const int64_t patch = test.grid().first, width = input.dim(1);
    for (const int64_t element : {patch * width, patch * width + 17, (patch + 3) * width + 5}) {
      const double step = 1e-5;
      std::vector<Tensor> moved;
      for (const double side : {-step, step}) {
        std::vector<double> values = input.to_doubles();
        values[element] += side;
        moved.push_back(Tensor::of<double>(input.shape(), std::span<const double>(values)));
      }
      const auto slopes = test.explained->slopes(Depth::kInput, moved);
      EXPECT_NEAR((slopes[1].value - slopes[0].value) / (2 * step), gradient[element], 1e-8)
          << name;
    }
  }
}

TEST(PictureMethods, AllGiveAScoreForEveryUnit) {
  for (const std::string& name : kByPatch) {
    Case test(name);
    for (const Method* method : catalogue()) {
      if (method == &kAttentionFlow && name != "vit") continue;  // slow
      const bool of_all = method == &kExactShap || method == &kShapleyTaylor;
      if (of_all && test.input().players().size() > 12) {
        EXPECT_THROW(test.scores(*method, small_budget(*method)), InvalidInput) << name;
        continue;
      }
      const Scores scores = test.scores(*method, small_budget(*method));
      ASSERT_EQ(static_cast<int64_t>(scores.values.size()), test.input().units())
          << method->info.name;
      for (const double score : scores.values)
        EXPECT_TRUE(std::isfinite(score)) << name << method->info.name;
      if (method == &kDecompX) {
        EXPECT_NEAR(*scores.completeness_gap, 0, 1e-4) << name;
      }
      if (method == &kGradCam) continue;  // 0 everywhere if every head speaks against the target
      EXPECT_TRUE(
          std::any_of(scores.values.begin(), scores.values.end(), [](double x) { return x != 0; }))
          << name << ' ' << method->info.name;
    }
  }
}

TEST(PictureMethods, PixelsAddUpToPatches) {
  Case test("vit");
  for (const Method* method : {&kGradientTimesInput, &kIntegratedGradients, &kAttnLrp}) {
    const Scores scores = test.scores(*method);
    ASSERT_EQ(static_cast<int64_t>(scores.pixels.size()),
              test.model->height() * test.model->width());
    const std::vector<double> means = test.input().unit_means(scores.pixels);
    const PatchGrid& grid = test.grid();
    const auto area = static_cast<double>(grid.patch_height * grid.patch_width);
    for (int64_t i = 0; i < grid.count(); ++i) {
      EXPECT_NEAR(means[grid.first + i] * area, scores.values[grid.first + i], 1e-12);
    }
  }
}

TEST(PictureMethods, GreyIsNeitherBlackNorWhiteWhereNothingIsNormalised) {
  const Case test("vit");
  const auto processor = processor_for(*test.model);
  Picture picture{test.model->width(), test.model->height(), {}};
  picture.pixels.assign(3 * picture.width * picture.height, 200);
  const PicturePart part(test.model, processor, (*processor)(picture), {});
  const PatchGrid& grid = part.grid();
  const Tensor grey = part.baseline(Depth::kInput, "grey").slice(0, grid.first, grid.count());
  for (const double value : grey.to_doubles()) ASSERT_NEAR(value, 0.5, 0.005);
}

TEST(PictureMethods, IntegratedGradientsAddUpToTheDifferenceFromTheBaseline) {
  Case test("dinov2");
  for (const std::string baseline : {"black", "grey", "white", "blur"}) {
    const Scores scores =
        test.scores(kIntegratedGradients, {{"baseline", baseline}, {"tolerance", 1e-6}});
    const Variant hidden = test.input().hiding(std::vector<bool>(test.input().units(), true),
                                               baseline == "white" ? "grey" : baseline);
    const auto other = test.input().run_of({&hidden, 1});
    EXPECT_LT(std::abs(*scores.completeness_gap), 1e-4) << baseline;
    if (baseline == "white") continue;
    const double at = run(other.graph->graph, other.feeds,
                          {.outputs = {other.graph->output}})[other.graph->output]
                          .to_doubles()[1];
    EXPECT_NEAR(sum(scores.values), test.explained->target_value() - at, 1e-4) << baseline;
  }
}

TEST(PictureMethods, OcclusionByPatchesIsLeaveOneOut) {
  for (const std::string name : {"vit", "swin"}) {
    Case test(name);
    const std::vector<double> left_out = test.scores(kLeaveOneOut).values;
    const std::vector<double> occluded = test.scores(kOcclusion).values;
    ASSERT_EQ(left_out.size(), occluded.size());
    for (size_t i = 0; i < left_out.size(); ++i) EXPECT_NEAR(left_out[i], occluded[i], 1e-12);
  }
}

// A ViT that reads its class token cannot tell a patch that is left out from one that no token
// attends to; without any patch, only the class token is left.
TEST(PicturePart, DropsPatchesFromTheTokens) {
  for (const std::string name : {"vit", "dinov2"}) {
    Case test(name);
    const Input& input = test.input();
    const std::vector<bool> nothing(input.units(), false);
    const std::vector<double> whole = answers_hiding(*test.explained, {nothing}, "drop")[0];
    for (size_t i = 0; i < whole.size(); ++i)
      EXPECT_NEAR(whole[i], test.explained->outputs()[i], 1e-6) << name;
    std::vector<std::vector<bool>> hidden(3, nothing);
    hidden[0][input.units() - 1] = hidden[1][input.units() - 2] = hidden[2][input.units() - 1] =
        true;
    hidden[2][input.units() - 3] = true;
    const auto answers = answers_hiding(*test.explained, hidden, "drop");
    EXPECT_NE(answers[0], answers[1]) << name;
    EXPECT_NE(answers[0], answers[2]) << name;
    const Variant variant = input.hiding(hidden[2], "drop");
    const auto run = input.run_of({&variant, 1});
    EXPECT_EQ(run.graph->graph.shape(run.graph->embeddings)[1], input.units() - 2) << name;
  }
  Case beit("beit");
  const std::vector<bool> nothing(beit.input().units(), false);
  EXPECT_THROW(answers_hiding(*beit.explained, {nothing}, "drop"), InvalidInput);
}

// What fills a patch depends on whether its neighbour is hidden, so answers are those of pixels.
TEST(PicturePart, ImputesPatchesFromWhatIsAroundThem) {
  for (const std::string name : {"vit", "swin"}) {
    Case test(name);
    const Input& input = test.input();
    const auto& part = static_cast<const PicturePart&>(*input.parts()[0]);
    const Cells cells = part.cells();
    const std::vector<bool> nothing(input.units(), false);
    EXPECT_EQ(answers_hiding(*test.explained, {nothing}, "impute"),
              answers_hiding(*test.explained, {nothing}, "grey"))
        << name;
    std::vector<std::vector<bool>> hidden(3, nothing);
    const int64_t first = test.grid().first;
    hidden[0][first] = hidden[1][first + 1] = true;
    hidden[2][first] = hidden[2][first + 1] = true;
    const auto answers = answers_hiding(*test.explained, hidden, "impute");
    for (size_t i = 0; i < hidden.size(); ++i) {
      std::vector<bool> pixels;
      for (const int64_t unit : cells.unit) pixels.push_back(unit >= 0 && hidden[i][unit]);
      const std::vector<double> filled = noisily_imputed(
          part.sample().at("pixel_values").to_doubles(), {3, cells.height, cells.width}, pixels);
      const Variant variant = part.hiding_cells(pixels, "impute");
      const FedGraph by_pixels = part.run_of({&variant, 1});
      EXPECT_EQ(by_pixels.feeds.begin()->second.to_doubles(), filled) << name;
      const std::vector<double> outputs =
          run(by_pixels.graph->graph, by_pixels.feeds,
              {.outputs = {by_pixels.graph->output}})[by_pixels.graph->output]
              .to_doubles();
      for (size_t k = 0; k < outputs.size(); ++k) EXPECT_NEAR(answers[i][k], outputs[k], 1e-9);
    }
  }
}

TEST(PictureMethods, AWindowOverAllGivesOneNumberEverywhere) {
  Case test("vit");
  const Scores scores =
      test.scores(kOcclusion, {{"window", int64_t{1000}}, {"how", std::string("black")}});
  const Variant hidden =
      test.input().hiding(std::vector<bool>(test.input().units(), true), "black");
  const auto black = test.input().run_of({&hidden, 1});
  const double at =
      run(black.graph->graph, black.feeds, {.outputs = {black.graph->output}})[black.graph->output]
          .to_doubles()[1];
  for (const double pixel : scores.pixels)
    EXPECT_NEAR(pixel, test.explained->target_value() - at, 1e-12);
}

TEST(PictureMethods, WindowsOverlapAsCaptumAveragesThem) {
  // Plain loops over every pixel and window.
  Case test("vit");
  const int64_t size = test.model->height(), window = 12, stride = 5;
  const Scores scores = test.scores(kOcclusion, {{"window", window}, {"stride", stride}});
  const int64_t positions = (size - window + stride - 1) / stride + 1;
  std::vector<double> total(size * size, 0.0), count(size * size, 0.0);
  for (int64_t i = 0; i < positions * positions; ++i) {
    const int64_t top = i / positions * stride, left = i % positions * stride;
    std::vector<bool> hidden(size * size, false);
    for (int64_t y = top; y < std::min(size, top + window); ++y) {
      for (int64_t x = left; x < std::min(size, left + window); ++x) hidden[y * size + x] = true;
    }
    const double fall =
        test.explained->target_value() - answer_hiding_cells(*test.explained, hidden, "grey")[1];
    for (int64_t p = 0; p < size * size; ++p) {
      total[p] += hidden[p] ? fall : 0;
      count[p] += hidden[p];
    }
  }
  for (int64_t p = 0; p < size * size; ++p)
    EXPECT_NEAR(scores.pixels[p], total[p] / count[p], 1e-12);
}

TEST(PictureMethods, GenericAttentionIsTheProductOfItsRule) {
  // R = (I + E_h(A∇A)⁺) … (I + …), its class row; written out.
  Case test("vit");
  const int64_t n = test.input().units();
  std::vector<double> relevance(n * n, 0.0);
  for (int64_t i = 0; i < n; ++i) relevance[i * n + i] = 1;
  for (int layer = 0; layer < test.explained->layers(); ++layer) {
    const Tensor map = test.explained->attention(layer);
    const std::vector<double> a = map.to_doubles(),
                              g = test.explained->attention_gradient(layer).to_doubles();
    std::vector<double> next = relevance;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t k = 0; k < n; ++k) {
        double mean = 0;
        for (int64_t h = 0; h < map.dim(0); ++h) {
          mean += std::max(0.0, a[(h * n + i) * n + k] * g[(h * n + i) * n + k]) /
                  static_cast<double>(map.dim(0));
        }
        for (int64_t j = 0; j < n; ++j) next[i * n + j] += mean * relevance[k * n + j];
      }
    }
    relevance = next;
  }
  const std::vector<double> scores = test.scores(kGenericAttention).values;
  for (int64_t j = 1; j < n; ++j) EXPECT_NEAR(scores[j], relevance[j], 1e-12);
  EXPECT_EQ(scores[0], 0);
}

TEST(PictureMethods, AreRefusedWhereWindowsAttendByThemselves) {
  Case test("swin");
  EXPECT_FALSE(test.input().attends_by_unit());
  for (const Method* method :
       {&kGenericAttention, &kRollout, &kRawAttention, &kGradCam, &kGradSam,
        &kTransformerAttribution, &kPartialLrp, &kAlti, &kGlobEnc, &kDecompX}) {
    try {
      test.scores(*method);
      ADD_FAILURE() << method->info.name;
    } catch (const InvalidInput& error) {
      EXPECT_THAT(error.what(), HasSubstr("attends within windows")) << method->info.name;
    }
  }
  for (const Method* method : {&kSaliency, &kGradientTimesInput, &kIntegratedGradients,
                               &kSmoothGrad, &kLeaveOneOut, &kAttnLrp, &kCpLrp}) {
    EXPECT_EQ(static_cast<int64_t>(test.scores(*method).values.size()), test.input().units());
  }
  EXPECT_EQ(static_cast<int64_t>(test.scores(kLrp, {{"at", std::string("pixels")}}).values.size()),
            test.input().units());
}

TEST(OnnxPictures, AreExplainedByTheSameMethods) {
  const auto folder = source_folder() / "tests/golden/onnx/models";
  for (const std::string name : {"vit.eager.legacy.17", "vit.sdpa.new.23", "deit.eager.legacy.11",
                                 "beit.eager.new.18", "dinov2.sdpa.legacy.14"}) {
    Case test(folder / (name + ".onnx"), {});
    ASSERT_TRUE(test.input().attends_by_unit()) << name;
    for (const Method* method : catalogue()) {
      if (method == &kAttentionFlow) continue;  // slow
      EXPECT_EQ(static_cast<int64_t>(test.scores(*method).values.size()), test.input().units())
          << name << ' ' << method->info.name;
    }
  }
}

TEST(OnnxPictures, WindowsAreFoundAndRefused) {
  Case test(source_folder() / "tests/golden/onnx/models/swin.eager.new.18.onnx", {});
  EXPECT_FALSE(test.input().attends_by_unit());
  EXPECT_THROW(test.scores(kRollout), InvalidInput);
  EXPECT_EQ(static_cast<int64_t>(test.scores(kSaliency).values.size()), test.input().units());
}

TEST(OnnxPictures, OtherFilesAreNoPictureModels) {
  const auto folder = source_folder() / "tests/golden/onnx/models";
  for (const std::string name :
       {"bert.eager.legacy.11", "whisper.eager.new.20", "lxmert.eager.new.20"}) {
    EXPECT_EQ(source_at(folder / (name + ".onnx")), nullptr) << name;
  }
}

TEST(PictureMethods, TwoTokensThatAreReadCountHalfEach) {
  Case test("deit-teacher");
  const std::vector<double> shares = test.explained->read_out();
  EXPECT_EQ(shares[0], 0.5);
  EXPECT_EQ(shares[1], 0.5);
  EXPECT_EQ(sum(shares), 1);
  EXPECT_EQ(test.grid().first, 2);
}

TEST(PictureMethods, RefuseWhatOnlyTextsHave) {
  Case test("vit");
  EXPECT_THROW(test.scores(kLeaveOneOut, {{"how", std::string("delete")}}), InvalidInput);
  EXPECT_THROW(test.scores(kIntegratedGradients, {{"baseline", std::string("mask")}}),
               InvalidInput);
  EXPECT_THROW(test.scores(kSaliency, {{"at", std::string("word-embeddings")}}), InvalidInput);
}

}  // namespace
}  // namespace whyformer
