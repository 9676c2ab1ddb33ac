#include "models/checkpoint_row_source.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "graph/walk_back.h"
#include "tests/support/golden_table.h"
#include "tests/support/tiny_model.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using onnx::refusal;
using testing::HasSubstr;

struct TableTolerances {
  double answers, maps, gradients;  // those of gradients relative to the largest
};

std::vector<double> answers_of(const RowSource& source, std::span<const Sample> samples,
                               DType type) {
  const FedGraph fed = source.fed(samples, {.head = source.own_head(), .dtype = type});
  return run(fed.graph->graph, fed.feeds, {.outputs = {fed.graph->output}})[fed.graph->output]
      .to_doubles();
}

double largest(const std::vector<double>& numbers) {
  double most = 0;
  for (const double number : numbers) most = std::max(most, std::abs(number));
  return most;
}

void expect_near(const std::vector<double>& ours, const std::vector<double>& theirs,
                 double tolerance, const std::string& what) {
  ASSERT_EQ(ours.size(), theirs.size()) << what;
  double worst = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    // A number that is not one must not pass.
    const double gap = std::abs(ours[i] - theirs[i]);
    worst = std::isnan(gap) ? std::numeric_limits<double>::infinity() : std::max(worst, gap);
  }
  EXPECT_LE(worst, tolerance) << what;
}

// PyTorch's maps may have the class token's row alone in the last block, which is the only one that
// the answer depends on.
Tensor rows_of(const Tensor& map, int64_t queries, int64_t read_out) {
  if (map.dim(2) == queries) return map;
  return map.slice(2, read_out, queries);
}

class GoldenTables : public testing::TestWithParam<std::string> {
 protected:
  void expect_like_pytorch(DType type, const TableTolerances& tolerances) {
    const GoldenTable golden(GetParam());
    const auto source = golden.source();
    const std::vector<Sample> samples = golden.samples(type);
    const FedGraph fed = source->fed(samples, {.head = source->own_head(), .dtype = type});
    const ModelGraph& model = *fed.graph;
    std::vector<Value> maps;
    for (const AttentionSite& site : model.found.sites) maps.push_back(site.attention);
    std::vector<Value> outputs = maps;
    outputs.push_back(model.output);
    const Pass pass = run(model.graph, fed.feeds, {.keep = Keep::kEverything, .outputs = outputs});
    expect_near(pass[model.output].to_doubles(), golden.values("answers"), tolerances.answers,
                "answers");
    Tensor seed = Tensor::zeros(model.graph.shape(model.output), type);
    seed.slice(1, 0, 1).fill(1);
    auto gradients = walk_back(model.graph, pass, model.output, seed, gradient_rule(), maps);
    if (golden.has("block")) return;  // maps are of rows alone and in blocks
    EXPECT_FALSE(golden.has("map." + std::to_string(maps.size())));
    for (size_t i = 0; i < maps.size(); ++i) {
      const std::string number = std::to_string(i);
      ASSERT_TRUE(golden.has("map." + number)) << "a site too many";
      const int64_t queries = golden.shape("map." + number)[2];
      const int64_t row = std::max<int64_t>(0, model.found.read_out.row);
      expect_near(rows_of(pass[maps[i]], queries, row).to_doubles(), golden.values("map." + number),
                  tolerances.maps, "map " + number);
      const std::vector<double> expected = golden.values("gradient." + number);
      expect_near(rows_of(gradients.at(maps[i]), queries, row).to_doubles(), expected,
                  tolerances.gradients * largest(expected), "gradient " + number);
    }
  }
};

TEST_P(GoldenTables, GiveThePackagesAnswersMapsAndGradientsInDoubles) {
  expect_like_pytorch(DType::kFloat64, {.answers = 1e-9, .maps = 1e-9, .gradients = 1e-6});
}

TEST_P(GoldenTables, GiveThePackagesAnswersMapsAndGradientsInFloats) {
  expect_like_pytorch(DType::kFloat32, {.answers = 1e-5, .maps = 1e-6, .gradients = 1e-5});
}

TEST_P(GoldenTables, RowsHaveTheSameAnswersAloneAndTogether) {
  const GoldenTable golden(GetParam());
  const auto source = golden.source();
  const std::vector<Sample> samples = golden.samples(DType::kFloat32);
  const std::vector<double> together = answers_of(*source, samples, DType::kFloat32);
  std::vector<double> alone;
  for (const Sample& sample : samples) {
    const std::vector<double> one = answers_of(*source, {&sample, 1}, DType::kFloat32);
    alone.insert(alone.end(), one.begin(), one.end());
  }
  EXPECT_EQ(alone, together);
}

TEST_P(GoldenTables, HaveNoTensorsLeftOver) {
  const auto source = GoldenTable(GetParam()).source();
  for (const std::string& note : source->facts().notes)
    EXPECT_THAT(note, testing::Not(HasSubstr("left out")));
}

std::string plain(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& letter : name) letter = letter == '-' || letter == '.' ? '_' : letter;
  return name;
}

INSTANTIATE_TEST_SUITE_P(Families, GoldenTables, testing::ValuesIn(golden_tables()), plain);

TEST(TableCheckpoint, OneLogitIsShownAsTwoClassesWhoseProbabilitiesAddUpToOne) {
  GoldenTable golden("rtdl-revisiting.numbers");
  golden.spec.task = {.kind = TaskSpec::Kind::kBinary,
                      .output = TaskSpec::Output::kOneLogit,
                      .labels = {"no", "yes"}};
  const auto source = golden.source();
  EXPECT_EQ(source->problem(3), Problem::kOneLogit);
  EXPECT_THAT(source->output_names(3), testing::ElementsAre("no", "yes"));
  const auto both = answers_of(*source, golden.samples(DType::kFloat64), DType::kFloat64);
  const auto z = golden.values("answers");
  ASSERT_EQ(both.size(), 2 * z.size());
  for (size_t row = 0; row < z.size(); ++row) {
    EXPECT_NEAR(both[2 * row], -z[row], 1e-9);
    EXPECT_NEAR(both[2 * row + 1], z[row], 1e-9);
  }
}

TEST(TableCheckpoint, ARegressionAnswersInTheUsersUnit) {
  GoldenTable golden("rtdl-revisiting.numbers");
  golden.spec.task.mean = 100;
  golden.spec.task.std = 20;
  const auto source = golden.source();
  EXPECT_EQ(source->problem(3), Problem::kRegression);
  std::vector<double> expected;
  for (const double z : golden.values("answers")) expected.push_back(100 + 20 * z);
  expect_near(answers_of(*source, golden.samples(DType::kFloat64), DType::kFloat64), expected, 1e-7,
              "answers");
}

TEST(TableCheckpoint, ColumnsAreNumbersThenCategories) {
  const auto source = GoldenTable("rtdl-revisiting.mixed").source();
  const auto columns = source->columns(6);
  EXPECT_EQ(columns[2].input, "x_cont");
  EXPECT_EQ(columns[3].input, "x_cat");
  EXPECT_EQ(columns[5].index, 2);
  EXPECT_TRUE(columns[5].whole);
  EXPECT_THAT(refusal<InvalidInput>([&] { source->columns(7); }),
              HasSubstr("6 columns (3 numbers, 3 categories), but the table has 7"));
}

TEST(TableCheckpoint, HeadsThatAreNotInTheFileAreAskedFor) {
  GoldenTable golden("rtdl-revisiting.mixed");
  golden.spec.model.heads.reset();
  EXPECT_THAT(possible_heads(golden.spec, golden.weights), testing::ElementsAre(2, 4, 8));
  EXPECT_THAT(refusal<UnsupportedModel>([&] { golden.source(); }),
              HasSubstr("do not store the number of attention heads"));
  golden.spec.model.heads = 3;
  EXPECT_THAT(refusal<UnsupportedModel>([&] { golden.source(); }), HasSubstr("allow 2, 4, 8"));
}

// rtdl leaves out the output projection of a single head.
TEST(TableCheckpoint, ASingleHeadShowsInTheTensors) {
  GoldenTable golden("rtdl-revisiting.categories");
  golden.spec.model.heads.reset();
  expect_near(answers_of(*golden.source(), golden.samples(DType::kFloat64), DType::kFloat64),
              golden.values("answers"), 1e-9, "answers");
}

TEST(TableCheckpoint, AnIdOfAnotherColumnIsRefusedByName) {
  GoldenTable golden("rtdl-revisiting.mixed");
  const auto source = golden.source();
  std::vector<Sample> samples = golden.samples(DType::kFloat32);
  samples[1].at("x_cat").mutable_data<int64_t>()[1] = 2;  // it has 2 categories
  EXPECT_THAT(refusal<InvalidInput>([&] { answers_of(*source, samples, DType::kFloat32); }),
              HasSubstr("'category 1' has the id 2, but the model knows 0 to 1"));
}

TEST(TableCheckpoint, AWrapperInFrontOfTheNamesChangesNothing) {
  for (const std::string wrapper : {"model.", "module.", "net.", "_orig_mod."}) {
    GoldenTable golden("rtdl-revisiting.mixed");
    StoredTensors wrapped;
    for (const auto& [name, tensor] : golden.weights) wrapped[wrapper + name] = tensor;
    golden.weights = wrapped;
    expect_near(answers_of(*golden.source(), golden.samples(DType::kFloat64), DType::kFloat64),
                golden.values("answers"), 1e-9, wrapper);
  }
}

TEST(TableCheckpoint, TensorsWithoutAPlaceAreNamed) {
  GoldenTable golden("rtdl-revisiting.mixed");
  golden.weights["another.head.weight"] = golden.weights.begin()->second;
  EXPECT_THAT(golden.source()->facts().notes,
              testing::ElementsAre(HasSubstr("left out: 'another.head.weight'")));
}

TEST(TableCheckpoint, WeightsOfNoKnownFamilyAreRefusedWithTheNamesOfTheirTensors) {
  GoldenTable golden("rtdl-revisiting.mixed");
  golden.weights.erase("cls_embedding.weight");
  const std::string why = refusal<UnsupportedModel>([&] { golden.source(); });
  EXPECT_THAT(why, HasSubstr("'backbone.blocks.0.attention.W_k.bias'"));
  EXPECT_THAT(why, HasSubstr("rtdl-revisiting"));
  golden.spec.model.family = "tabnet";
  EXPECT_THAT(refusal<UnsupportedModel>([&] { golden.source(); }),
              HasSubstr("names the family 'tabnet'"));
}

TEST(TableCheckpoint, HeadsThatTheShapesTellNeedNoTelling) {
  for (const std::string name : {"saint.col", "pt-ft.mixed", "pt-tab.mixed", "pyf-ft.mixed",
                                 "lucid-ft.mixed", "lucid-tab.0.3.0.mixed"}) {
    GoldenTable golden(name);
    golden.spec.model.heads.reset();
    expect_near(answers_of(*golden.source(), golden.samples(DType::kFloat64), DType::kFloat64),
                golden.values("answers"), 1e-9, name);
  }
}

// The package's default width of a head is assumed, which the reader of a result must know.
TEST(TableCheckpoint, AssumedHeadsAreNoted) {
  GoldenTable golden("lucid-ft.mixed");
  golden.spec.model.heads.reset();
  EXPECT_THAT(golden.source()->facts().notes,
              testing::ElementsAre(HasSubstr("2, as heads of width 16")));
}

TEST(TableCheckpoint, HyperConnectionsAreRefusedWithTheWayOut) {
  GoldenTable golden("lucid-ft.mixed");
  golden.weights["transformer.layers.0.0.branch.norm.weight"] = golden.weights.at("cls_token");
  EXPECT_THAT(
      refusal<UnsupportedModel>([&] { golden.source(); }),
      testing::AllOf(HasSubstr("hyper-connections"), HasSubstr("export the model to ONNX")));
}

TEST(TableCheckpoint, CategoriesThatAreNotThoseOfTheTableAreRefused) {
  GoldenTable golden("rtdl-old.mixed");  // 3, 2 and 4 of them
  golden.spec.columns.back().ids.pop_back();
  EXPECT_THAT(refusal<UnsupportedModel>([&] { golden.source(); }),
              HasSubstr("8 categories in all, but the table of the weights has 9 rows"));
  golden.spec.columns.pop_back();
  EXPECT_THAT(refusal<UnsupportedModel>([&] { golden.source(); }),
              HasSubstr("no categories for place 2 of 'x_cat'"));
}

// Whatever a file's tensors look like, it is read or refused.
TEST(TableCheckpoint, TensorsOfOtherShapesAreRefused) {
  for (const std::string name :
       {"rtdl-revisiting.mixed", "rtdl-old.linformer", "rtdl-paper.mixed", "lucid-ft.mixed",
        "lucid-tab.0.3.0.mixed", "saint.colrow", "pt-ft.mixed", "pt-tab.mixed", "pyf-ft.missing",
        "ag-ft.mixed", "wd-tab.class", "wd-saint.flat", "wd-ft.class"}) {
    const GoldenTable golden(name);
    for (const auto& [tensor, stored] : golden.weights) {
      for (const Shape& shape : std::vector<Shape>{{}, {0}, {1}, {0, 0}, {1, 0}, {0, 1}, {1, 1}}) {
        if (stored.shape == shape) continue;
        GoldenTable changed = golden;
        StoredTensor& one = changed.weights.at(tensor);
        one.shape = shape;
        one.data.view =
            one.data.view.first(static_cast<size_t>(element_count(shape)) * width_of(one.type));
        try {
          answers_of(*changed.source(), changed.samples(DType::kFloat32), DType::kFloat32);
        } catch (const Error&) {
          continue;
        } catch (const std::exception& other) {
          ADD_FAILURE() << name << ": " << tensor << " " << to_string(shape) << ": "
                        << other.what();
        }
      }
    }
  }
}

TEST(TableCheckpoint, AnActivationThatTheShapesContradictIsRefused) {
  GoldenTable golden("rtdl-revisiting.mixed");
  golden.spec.model.activation = "relu";
  EXPECT_THAT(refusal<UnsupportedModel>([&] { golden.source(); }),
              HasSubstr("are gated, so it is one of reglu, geglu"));
}

}  // namespace
}  // namespace whyformer
