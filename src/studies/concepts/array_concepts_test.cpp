#include "readers/array_concept_inputs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/files.h"
#include "formats/weights.h"
#include "models/onnx_probe.h"
#include "studies/concepts/activations.h"
#include "tests/support/concepts_test_helpers.h"
#include "tests/support/source_folder.h"
#include "tests/support/temporary_folder.h"
#include "whyformer/concepts.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// A transformer over 4 numbers and 3 categories, each a token, behind a learned first one.
std::filesystem::path table_model() {
  return source_folder() / "tests/golden/onnx/models/ft-transformer.sdpa.legacy.14.onnx";
}

NamedArrays table(int64_t rows, int64_t instance, double shift = 0) {
  const TestRows numbers = normal_rows(rows, 4, "table", instance);
  NamedArrays arrays;
  std::vector<float> moved = numbers.numbers;
  for (int64_t i = 0; i < rows; ++i) moved[i * 4 + 1] += static_cast<float>(shift);
  arrays["numbers"] = Tensor::of<float>({rows, 4}, std::span<const float>(moved));
  std::vector<int64_t> categories(rows * 3);
  for (int64_t i = 0; i < rows * 3; ++i) categories[i] = i % 2;
  arrays["categories"] = Tensor::of<int64_t>({rows, 3}, std::span<const int64_t>(categories));
  return arrays;
}

TEST(ArrayConceptInputs, RowsAreTheSameAloneAndTogether) {
  const OnnxArrays file(open_onnx(table_model()));
  const ArrayConceptInputs inputs(file, table(5, 0));
  for (const TokenRows rows : {TokenRows::kFirst, TokenRows::kMean, TokenRows::kAll}) {
    std::map<int64_t, std::vector<float>> together, alone, slopes_together, slopes_alone;
    const auto request = [&](auto& into) {
      return RowRequest{
          .layers = {0}, .rows = rows, .take = [&](int64_t example, size_t, auto row) {
            into[example] = {row.begin(), row.end()};
          }};
    };
    take_activations(inputs, numbered(0, 5), request(together));
    take_gradients(inputs, numbered(0, 5), 1, request(slopes_together));
    for (int64_t i = 0; i < 5; ++i) take_activations(inputs, ExampleRows{i}, request(alone));
    for (int64_t i = 0; i < 5; ++i)
      take_gradients(inputs, ExampleRows{i}, 1, request(slopes_alone));
    for (int64_t i = 0; i < 5; ++i) {
      ASSERT_EQ(together[i].size(), alone[i].size());
      for (size_t j = 0; j < alone[i].size(); ++j) {
        EXPECT_NEAR(together[i][j], alone[i][j], 1e-6);
        EXPECT_NEAR(slopes_together[i][j], slopes_alone[i][j], 1e-6);
      }
    }
    EXPECT_NE(alone[0], alone[1]);
  }
}

TEST(ArrayConceptInputs, RefuseArraysThatDoNotAgree) {
  NamedArrays uneven = table(5, 0);
  uneven["numbers"] = table(4, 0)["numbers"];
  EXPECT_THROW(example_count(uneven, "x"), InvalidInput);
  EXPECT_THROW(example_count({}, "x"), InvalidInput);
  NamedArrays fewer = table(5, 0), narrow = table(5, 0);
  fewer.erase("numbers");
  narrow["numbers"] = Tensor::zeros({5, 3});
  EXPECT_THROW(joined({table(5, 0), fewer}, {"a", "b"}), InvalidInput);
  EXPECT_THROW(joined({table(5, 0), narrow}, {"a", "b"}), InvalidInput);
  EXPECT_EQ(joined({table(5, 0), table(2, 1)}, {"a", "b"}).at("numbers").dim(0), 7);
}

// Files that go away again.
class TableFiles : public testing::Test {
 protected:
  std::vector<InputValue> written(const std::string& name, const NamedArrays& arrays) {
    std::vector<Tensor> floats;
    std::vector<NamedFloats> named;
    for (const auto& [input, array] : arrays) {
      floats.push_back(array.cast(DType::kFloat32).contiguous());
    }
    size_t i = 0;
    for (const auto& [input, array] : arrays) {
      named.push_back(
          {input, array.shape(), {floats[i].data<float>(), static_cast<size_t>(array.size())}});
      ++i;
    }
    const std::filesystem::path path = folder_.path() / (name + ".safetensors");
    write_file(path, write_safetensors(named));
    return {read_array_views(path)};
  }

  const TemporaryFolder folder_;
};

TEST_F(TableFiles, AColumnThatIsMovedIsADirection) {
  const ConceptReport report = test_concepts(
      Model::load(table_model(), {.arrays = true}),
      {{"high", written("high", table(20, 1, 3))}, {"none", written("none", table(20, 2))}},
      {{"any", written("any", table(60, 3))}}, {{"1", written("examples", table(16, 4))}},
      {.layers = {0}, .counterparts = 10, .permutations = 50});
  EXPECT_EQ(report.unit, "rows");
  EXPECT_EQ(report.runs, 116);
  ASSERT_EQ(report.tests.size(), 2u);
  EXPECT_GT(report.tests[0].held_out.accuracy, 0.8);
  EXPECT_NE(report.tests[0].verdict, Verdict::kNotLearnt);
  EXPECT_EQ(report.tests[1].verdict, Verdict::kNotLearnt);
}

}  // namespace
}  // namespace whyformer
