// Transformers of table rows given arrays: a table of vectors for each column of ids, and a last layer whose only query is
// the class token.
#include <numeric>

#include "explain/array_test_helpers.h"

namespace whyformer {
namespace {

// Numbers and ids of one row, for tests/golden/onnx/models/ft-transformer*.
class Row {
 public:
  Row() = default;
  Row(std::vector<float> numbers, std::vector<int64_t> ids) : numbers_(std::move(numbers)), ids_(std::move(ids)) {}
  ArrayViews views() const {
    return {{"numbers", {"F32", {1, 4}, memory(numbers_.data()), 16}}, {"categories", {"I64", {1, 3}, memory(ids_.data()), 24}}};
  }

 private:
  static std::shared_ptr<const void> memory(const void* data) { return {std::shared_ptr<void>(), data}; }
  std::vector<float> numbers_{0.7f, -1.2f, 0.4f, 1.9f};
  std::vector<int64_t> ids_{2, 0, 2};
};

constexpr int64_t kHidingId = 1;
constexpr int64_t kTokens = 8;  // a class token, four numbers, three ids

ArrayExplanation explained_row(const std::string& model, const std::string& method, Options options = {}) {
  ArrayRequest request;
  request.target.indices = {0, 1};
  request.methods = {{method, std::move(options)}};
  request.hiding_id = kHidingId;
  request.precision = Precision::kDouble;
  const Row row;
  return ArrayModel::load(golden(model)).explain(row.views(), request);
}

std::vector<double> scores_of(const ArrayExplanation& found) { return found.explanation.attributions[0].scores; }

class ArrayTables : public testing::TestWithParam<const char*> {};

TEST_P(ArrayTables, IntegratedGradientsReachTheRowsOfEveryColumnsTable) {
  const ArrayModel model = ArrayModel::load(golden(GetParam()));
  const Row row, hidden({0, 0, 0, 0}, {kHidingId, kHidingId, kHidingId});
  const double difference =
      model.run(row.views()).at("output").values[1] - model.run(hidden.views()).at("output").values[1];
  const ArrayExplanation found = explained_row(GetParam(), "integrated-gradients", {{"steps", int64_t{300}}});
  const std::vector<double> scores = scores_of(found);
  EXPECT_NEAR(std::accumulate(scores.begin(), scores.end(), 0.0), difference, 1e-2 * std::abs(difference));  // ReLUs have kinks
  for (int64_t column = 5; column < kTokens; ++column) EXPECT_NE(scores[column], 0) << column;
}

TEST_P(ArrayTables, GradientsAndRelevanceGiveScoresToIds) {
  for (const std::string method : {"saliency", "gradient-x-input", "attn-lrp", "cp-lrp"}) {
    const std::vector<double> scores = scores_of(explained_row(GetParam(), method));
    for (int64_t column = 1; column < kTokens; ++column) EXPECT_NE(scores[column], 0) << method << " " << column;
  }
}

std::string letters_of(const testing::TestParamInfo<const char*>& info) {
  std::string name = info.param;
  for (char& letter : name) letter = std::isalnum(static_cast<unsigned char>(letter)) != 0 ? letter : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Files, ArrayTables,
                         testing::Values("ft-transformer.sdpa.legacy.14", "ft-transformer-einsum.eager.new.18",
                                         "ft-transformer-flat.eager.legacy.14"),
                         letters_of);

}  // namespace
}  // namespace whyformer
