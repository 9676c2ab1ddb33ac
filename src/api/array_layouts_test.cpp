// One transformer in several files that differ in where the batch is: every method must say the
// same.
#include <gmock/gmock.h>

#include <algorithm>

#include "onnx/onnx_model.h"
#include "tests/support/array_test_helpers.h"
#include "tests/support/temporary_folder.h"
#include "whyformer/methods.h"

namespace whyformer {
namespace {

constexpr int64_t kBatch = 3, kLayoutTokens = 5, kLastSample = 2;

std::filesystem::path file_of(const std::string& name) {
  return source_folder() / "tests/golden/onnx/layouts" / (name + ".onnx");
}

Tensor stored(const std::string& name, const std::string& what) {
  return onnx::read_onnx(file_of(name)).graph.initialisers.at(what).tensor(DType::kFloat32);
}

ArrayViews views_of(const Tensor& given) {
  const auto kept = std::make_shared<Tensor>(given.contiguous());
  const bool ids = kept->dtype() == DType::kInt64;
  const void* numbers = ids ? static_cast<const void*>(kept->data<int64_t>()) : kept->data<float>();
  return {{ids ? "input_ids" : "numbers",
           {ids ? "I64" : "F32", kept->shape(), std::shared_ptr<const void>(kept, numbers),
            static_cast<size_t>(kept->size()) * (ids ? sizeof(int64_t) : sizeof(float))}}};
}

// One sample of the batch, as a file with the batch in front takes it.
ArrayViews sample(const std::string& name, int64_t index) {
  return views_of(stored(name, "given").slice(0, index, 1));
}

ArrayViews all(const std::string& name) { return views_of(stored(name, "given")); }

Explanation explained(const std::string& name, const ArrayViews& views, const std::string& method,
                      std::vector<int64_t> element) {
  ExplainRequest request;
  request.target = OutputElement{.indices = std::move(element)};
  request.methods = {{method, {}}};
  request.hiding_id = 1;
  request.precision = Precision::kDouble;
  return explain(Model::load(file_of(name), {.arrays = true}), views, request)[0];
}

// Where each file has the second answer of the class token for a sample.
struct Layout {
  std::string name;
  std::string same_as;  // with the batch in front
  int64_t sample;
  std::vector<int64_t> element;
};

void PrintTo(const Layout& layout, std::ostream* out) { *out << layout.name; }

class ArrayLayouts : public testing::TestWithParam<Layout> {};

TEST_P(ArrayLayouts, EveryMethodSaysWhatItSaysWithTheBatchInFront) {
  const auto& [name, same_as, index, element] = GetParam();
  int compared = 0;
  for (const MethodInfo& method : methods()) {
    SCOPED_TRACE(method.name);
    const std::string id(method.name);
    Explanation expected;
    try {
      expected = explained(same_as, sample(same_as, index), id, {0, 1});
    } catch (const Error&) {
      continue;  // tells pictures or texts alone
    }
    const Explanation found = explained(name, all(name), id, element);
    const std::vector<double>& a = found.attributions[0].scores;
    const std::vector<double>& b = expected.attributions[0].scores;
    double most = 0;
    for (const double score : b) most = std::max(most, std::abs(score));
    EXPECT_THAT(a, testing::Pointwise(testing::DoubleNear(1e-4 * most), b));
    EXPECT_NEAR(found.target.value, expected.target.value, 1e-5);
    ++compared;
  }
  EXPECT_GT(compared, 20);
}

TEST_P(ArrayLayouts, FindsHeadsAndTokens) {
  const auto& [name, same_as, index, element] = GetParam();
  const ModelInfo info = Model::load(file_of(name), {.arrays = true}).inspect(all(name));
  ASSERT_EQ(info.sites.size(), 2u);
  for (const SiteInfo& site : info.sites) {
    EXPECT_EQ(site.heads, 4);
    EXPECT_EQ(site.queries, kLayoutTokens + 1);
    EXPECT_EQ(site.kind, "self");
    EXPECT_EQ(site.windows, 1);
  }
  ASSERT_EQ(info.streams.size(), 1u);
  EXPECT_THAT(info.streams[0].units, testing::HasSubstr("1 learned + "));
  const bool alone = name.starts_with("alone");
  EXPECT_THAT(info.notes, testing::Contains(testing::HasSubstr(
                              alone ? "has no axis for a batch" : "tokens in front of the batch")));
}

TEST_P(ArrayLayouts, TracesInTheLayoutOfTheFile) {
  const auto& [name, same_as, index, element] = GetParam();
  const TracedArrays trace =
      traced(Model::load(file_of(name), {.arrays = true}), all(name), {"", element});
  const std::vector<double> expected = stored(name, "expected").to_doubles();
  EXPECT_THAT(tensor(trace, "output.output"),
              testing::Pointwise(testing::FloatNear(1e-4f), expected));
  // Ids have no gradient, and where each token answers, PyTorch's is that of all of them.
  if (name.ends_with("ids") || element.size() == 3 || name == "alone-new") return;
  // PyTorch's gradient is that of all samples' answers, which do not depend on each other's
  // numbers.
  const Tensor whole = stored(name, "gradient");
  const std::vector<float> flat = tensor(trace, "input_gradient.numbers");
  const Tensor found = Tensor::of<float>(whole.shape(), std::span<const float>(flat));
  const bool alone = name == "alone";
  const Tensor own = alone ? found : found.select(1, index),
               theirs = alone ? whole : whole.select(1, index);
  EXPECT_THAT(own.contiguous().to_doubles(),
              testing::Pointwise(testing::DoubleNear(1e-4), theirs.contiguous().to_doubles()));
}

INSTANTIATE_TEST_SUITE_P(
    Files, ArrayLayouts,
    testing::Values(Layout{"tokens-first", "batch-first", kLastSample, {kLastSample, 1}},
                    Layout{"tokens-first-new", "batch-first", kLastSample, {kLastSample, 1}},
                    Layout{"tokens-first-plain", "batch-first", 1, {0, 1, 1}},
                    Layout{"tokens-first-ids", "batch-first-ids", kLastSample, {0, kLastSample, 1}},
                    Layout{"alone", "batch-first", 0, {1}},
                    Layout{"alone-new", "batch-first", 0, {0, 1}}),
    [](const testing::TestParamInfo<Layout>& info) {
      std::string name = info.param.name;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

TEST(ArrayLayoutsOfBatches, EachSampleOfABatchIsExplainedAsIfItWereAlone) {
  for (int64_t index = 0; index < kBatch; ++index) {
    const auto together = explained("batch-first", all("batch-first"), "gae", {index, 1});
    const auto alone = explained("batch-first", sample("batch-first", index), "gae", {0, 1});
    EXPECT_THAT(together.attributions[0].scores,
                testing::Pointwise(testing::DoubleNear(1e-6), alone.attributions[0].scores));
  }
}

// With no arrays to look at, lengths are chosen; as few as the file's table of positions has.
TEST(InspectLayouts, LengthsAreChosenForWhereTheTokensAre) {
  const ModelInfo info = inspect(file_of("tokens-first-ids"));
  EXPECT_EQ(info.inputs[0].shape, (Shape{4, 1}));
  EXPECT_EQ(info.sites[0].heads, 4);
  EXPECT_EQ(info.sites[0].queries, 5);
}

TEST(TextLayouts, AFileThatTakesTokensFirstIsNoTextModel) {
  const TemporaryFolder folder;
  std::filesystem::copy_file(file_of("tokens-first-ids"), folder.path() / "model.onnx");
  std::filesystem::copy_file(source_folder() / "models/sentiment/tokenizer.json",
                             folder.path() / "tokenizer.json");
  std::string message;
  try {
    default_methods(Model::load(folder.path()));
  } catch (const UnsupportedModel& error) {
    message = error.what();
  }
  EXPECT_THAT(message,
              testing::AllOf(testing::HasSubstr("'input_ids'"), testing::HasSubstr("give arrays")));
}

}  // namespace
}  // namespace whyformer
