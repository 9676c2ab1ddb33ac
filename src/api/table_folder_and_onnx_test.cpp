// The same weights as a folder of a table package and as an ONNX file: two ways to the same graph.
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "tests/support/golden_table.h"
#include "tests/support/source_folder.h"
#include "tests/support/temporary_folder.h"
#include "whyformer/answers.h"
#include "whyformer/error.h"
#include "whyformer/methods.h"
#include "whyformer/tables.h"

namespace whyformer {
namespace {

using testing::ElementsAre;

const char* const kColumns = R"("columns": [
  {"name": "age", "kind": "number", "input": "x_cont", "at": [0],
   "steps": [{"op": "standard", "mean": 40, "scale": 10}]},
  {"name": "hours", "kind": "number", "input": "x_cont", "at": [1]},
  {"name": "gain", "kind": "number", "input": "x_cont", "at": [2]},
  {"name": "town", "kind": "category", "input": "x_cat", "at": [0],
   "categories": ["Bonn", "Graz", "Wien"]},
  {"name": "sex", "kind": "category", "input": "x_cat", "at": [1], "categories": ["f", "m"]}])";
const char* const kBackground =
    "age,hours,gain,town,sex\n31,0.5,0.1,Bonn,m\n52,-0.7,1.2,Graz,f\n44,0.2,-0.4,Wien,m\n";

Model loaded_with(const std::string& golden, const std::string& suffix, const std::string& task) {
  const TemporaryFolder folder;
  const std::filesystem::path from = source_folder() / "tests/golden/tables/onnx";
  std::filesystem::copy_file(from / (golden + suffix), folder.path() / ("model" + suffix));
  std::ofstream(folder.path() / "background.csv") << kBackground;
  std::ofstream(folder.path() / "table.json")
      << R"({"schema": "whyformer.table/1", "model": {"heads": 2}, "task": )" << task << ", "
      << kColumns << R"(, "background": {"rows": "background.csv"}})";
  return Model::load(folder.path());
}

RowInput own_row() {
  RowInput row{.names = {"age", "hours", "gain", "town", "sex"}, .values = {47, 1.1, -0.3, 0, 0}};
  row.values[3] = row.values[4] = std::nan("");
  row.cells = {"47", "1.1", "-0.3", "Wien", "f"};
  return row;
}

// Noise is a share of the range of vectors that enter the graph together, which are all categories'
// in a folder and each column's own in the file.
Options without_noise(const std::string& method) {
  return method == "smooth-grad" ? Options{{"noise", 0.0}} : Options{};
}

// Scores by column, or nothing where the method refuses this model.
std::optional<std::map<std::string, double>> scores_by_column(const Model& model,
                                                              const std::string& method) {
  const ExplainRequest request{.methods = {{method, without_noise(method)}},
                               .target = int64_t{1},
                               .precision = Precision::kDouble};
  try {
    const Explanation found = explain(model, own_row(), request)[0];
    std::map<std::string, double> scores;
    for (size_t i = 0; i < found.units.size(); ++i)
      scores[found.units[i].column] = found.attributions[0].scores[i];
    return scores;
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::vector<std::string> local_methods() {
  std::vector<std::string> names;
  for (const MethodInfo& method : methods()) {
    if (method.scope == Scope::kLocal) names.push_back(method.name);
  }
  return names;
}

class FolderAndOnnx : public testing::TestWithParam<std::string> {};

TEST_P(FolderAndOnnx, HaveTheSameScores) {
  const std::string one = R"({"kind": "binary", "labels": ["no", "yes"], "output": "one-logit"})";
  const std::string two = R"({"kind": "binary", "labels": ["no", "yes"], "output": "logits"})";
  for (const auto& [golden, task] : {std::pair("one-logit", one), std::pair("two", two)}) {
    const auto folder = scores_by_column(loaded_with(golden, ".safetensors", task), GetParam());
    const auto onnx = scores_by_column(loaded_with(golden, ".onnx", task), GetParam());
    ASSERT_EQ(folder.has_value(), onnx.has_value()) << golden;
    if (!folder) continue;
    EXPECT_EQ(folder->size(), onnx->size());
    double largest = 1e-3;
    for (const auto& [column, score] : *folder) largest = std::max(largest, std::abs(score));
    for (const auto& [column, score] : *folder) {
      ASSERT_TRUE(onnx->contains(column)) << column;
      EXPECT_NEAR(onnx->at(column), score, 1e-5 * largest) << golden << " " << column;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, FolderAndOnnx, testing::ValuesIn(local_methods()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(OneLogitOnnx, IsTwoClassesAsTheSameWeightsInAFolderAre) {
  const std::string task = R"({"kind": "binary", "labels": ["no", "yes"], "output": "one-logit"})";
  const auto answered = [&](const std::string& suffix) {
    return answers(loaded_with("one-logit", suffix, task), {own_row()},
                   {.precision = Precision::kDouble});
  };
  const Answers onnx = answered(".onnx"), folder = answered(".safetensors");
  EXPECT_THAT(onnx.labels, ElementsAre("no", "yes"));
  ASSERT_EQ(onnx.inputs[0].values.size(), 2u);
  for (size_t i = 0; i < 2; ++i)
    EXPECT_NEAR(onnx.inputs[0].values[i], folder.inputs[0].values[i], 1e-9);
  EXPECT_EQ(onnx.inputs[0].values[0], -onnx.inputs[0].values[1]);
  EXPECT_NEAR(onnx.inputs[0].probabilities[0] + onnx.inputs[0].probabilities[1], 1, 1e-12);
}

TEST(OneLogitOnnx, WithoutATableJsonTheNumberIsAValueAndThatIsSaid) {
  const auto notes_of = [](const std::string& file) {
    const Model model = Model::load(source_folder() / "tests/golden/tables/onnx" / file);
    const RowInput row{.names = {"a", "b", "c", "d", "e"}, .values = {0.7, 1.1, -0.3, 2, 0}};
    return explain(model, row, {.methods = {{"saliency", {}}}})[0].notes;
  };
  using testing::Contains, testing::HasSubstr, testing::Not;
  EXPECT_THAT(notes_of("one-logit.onnx"), Contains(HasSubstr("the logit of two classes")));
  EXPECT_THAT(notes_of("two.onnx"), Not(Contains(HasSubstr("the logit of two classes"))));
}

TEST(OneLogitOnnx, ARegressionIsToldInTheUsersUnit) {
  const auto value = [](const std::string& scale) {
    return answers(loaded_with("one-logit", ".onnx", R"({"kind": "regression")" + scale + "}"),
                   {own_row()}, {.precision = Precision::kDouble})
        .inputs[0]
        .values[0];
  };
  EXPECT_NEAR(value(R"(, "scale": {"mean": 100, "std": 20})"), 100 + 20 * value(""), 1e-9);
}

TEST(WeightsOfATableWithoutADescription, AreNamedAndInspectedAsAFileAndInAFolder) {
  const TemporaryFolder folder;
  GoldenTable("rtdl-revisiting.mixed").save(folder.path());
  std::filesystem::remove(folder.path() / "table.json");
  const auto refused = testing::ThrowsMessage<UnsupportedModel>(testing::HasSubstr(
      "'model.safetensors' holds the weights of rtdl_revisiting_models.FTTransformer"));
  EXPECT_THAT([&] { Model::load(folder.path()); }, refused);
  EXPECT_THAT([&] { Model::load(folder.path() / "model.safetensors"); }, refused);
  const ModelInfo info = inspect(folder.path() / "model.safetensors");
  EXPECT_EQ(info.family, "rtdl-revisiting");
  EXPECT_FALSE(info.not_told.empty());
}

}  // namespace
}  // namespace whyformer
