// Head importance against its formulas in PyTorch (tests/golden/relevance).
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "tests/support/heads_test_helpers.h"
#include "tests/support/source_folder.h"

namespace whyformer {
namespace {

class HeadsGolden : public testing::TestWithParam<std::string> {
 protected:
  static std::filesystem::path file() {
    return source_folder() / "tests/golden/relevance" / (GetParam() + ".safetensors");
  }

  void compare(const std::string& name, const std::string& measure, const HeadsRequest& request) {
    const HeadGrid scores = scores_of(golden_, measure, corpus_of(golden_), request);
    const StoredTensor& tensor = expected_.at("heads." + name);
    std::vector<double> expected(tensor.count());
    std::memcpy(expected.data(), tensor.data.view.data(), expected.size() * sizeof(double));
    ASSERT_EQ(tensor.shape, (std::vector<int64_t>{static_cast<int64_t>(scores.size()),
                                                  static_cast<int64_t>(scores[0].size())}));
    for (size_t layer = 0, at = 0; layer < scores.size(); ++layer) {
      for (size_t head = 0; head < scores[layer].size(); ++head, ++at) {
        EXPECT_NEAR(scores[layer][head], expected[at], 1e-9 * std::abs(expected[at]))
            << name << ", layer " << layer << ", head " << head;
      }
    }
  }

  GoldenModel golden_{GetParam()};
  StoredTensors expected_ = read_safetensors(map_file(file()), "the golden file");
};

TEST_P(HeadsGolden, EveryMeasureEqualsItsFormula) {
  HeadsRequest plain{.michel_scale = LayerScale::kNone};
  compare("michel", "michel", plain);
  compare("michel-positions", "michel-positions", plain);
  compare("michel-normalised", "michel", {});
  compare("michel-positions-normalised", "michel-positions", {});
  compare("confidence", "confidence", {});
  compare("confidence-all", "confidence", {.all_tokens = true});
  compare("entropy", "entropy", {});
  compare("voita-lrp", "voita-lrp", {});
  compare("voita-lrp-constant", "voita-lrp", {.attention_constant = true});
}

INSTANTIATE_TEST_SUITE_P(Cases, HeadsGolden,
                         testing::Values("bert", "bert-relu", "roberta", "albert-shared",
                                         "distilbert", "electra"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace whyformer
