// Against scripts/golden/patching_golden.py: TransformerLens on the same weights.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/golden_model.h"
#include "tests/support/source_folder.h"
#include "tests/support/temporary_folder.h"
#include "whyformer/patching.h"

namespace whyformer {
namespace {

using Json = nlohmann::json;
using Rows = std::vector<std::vector<double>>;

struct PatchingCase {
  std::string name;
  Model model;
  Json expected;

  InputValue clean() const { return TextInput{expected["clean_text"].get<std::string>(), {}}; }
  InputValue corrupted() const {
    return TextInput{expected["corrupted_text"].get<std::string>(), {}};
  }
};

// The decoder is an ONNX file; the tokenizer is that of golden models, which adds no tokens.
Model golden_decoder() {
  const TemporaryFolder folder;
  std::filesystem::copy_file(source_folder() / "tests/golden/patching/gpt2.onnx",
                             folder.path() / "model.onnx");
  const FileLookup files = golden_files("bert");
  for (const char* name : {"tokenizer.json", "tokenizer_config.json"})
    save(folder.path() / name, files(name)->text());
  return Model::load(folder.path());
}

PatchingCase patching_case(const std::string& name) {
  std::ifstream file(source_folder() / "tests/golden/patching" / (name + ".json"));
  return {name, name == "bert" ? Model::load(parts_of(golden_files(name), name)) : golden_decoder(),
          Json::parse(file)};
}

PatchRequest request_of(const PatchingCase& test, const std::string& kind = "residual") {
  return {.kinds = {kind}, .target = test.expected["target"].get<int64_t>()};
}

// `cells` are the metric; what is compared is `offset` plus those of the grid.
void expect_cells(const std::vector<double>& cells, double offset, const Rows& expected,
                  const std::string& what) {
  size_t cell = 0;
  for (const auto& row : expected) {
    for (const double number : row) {
      ASSERT_LT(cell, cells.size()) << what;
      EXPECT_NEAR(cells[cell] + offset, number, 1e-5) << what << ' ' << cell;
      ++cell;
    }
  }
  EXPECT_EQ(cell, cells.size()) << what;
}

class PatchingGolden : public testing::TestWithParam<std::string> {};

TEST_P(PatchingGolden, HeatMapsAreThoseOfTransformerLens) {
  const PatchingCase test = patching_case(GetParam());
  for (const PatchKindInfo& kind : patch_kinds()) {
    const PatchReport found =
        patch(test.model, test.clean(), test.corrupted(), request_of(test, kind.name));
    EXPECT_NEAR(found.clean_value, test.expected["clean"].get<double>(), 1e-5);
    EXPECT_NEAR(*found.corrupted_value, test.expected["corrupted"].get<double>(), 1e-5);
    const EffectGrid& grid = found.grids[0];
    expect_cells(grid.changes, *found.corrupted_value, test.expected[kind.name], kind.name);
    const double gap = found.clean_value - *found.corrupted_value;
    for (size_t cell = 0; cell < grid.cells(); ++cell)
      EXPECT_DOUBLE_EQ(grid.effects[cell], grid.changes[cell] / gap);
  }
}

TEST_P(PatchingGolden, AblatedHeadsAreThoseOfTransformerLens) {
  const PatchingCase test = patching_case(GetParam());
  const std::pair<HeadAblation, const char*> ways[]{{HeadAblation::kZero, "zero"},
                                                    {HeadAblation::kTokenMean, "mean"}};
  for (const auto& [ablation, name] : ways) {
    const PatchReport found = ablate_heads(test.model, test.clean(), ablation, request_of(test));
    expect_cells(found.grids[0].changes, found.clean_value, test.expected[name], name);
  }
}

TEST_P(PatchingGolden, TheLensIsThatOfTransformerLens) {
  const PatchingCase test = patching_case(GetParam());
  const PatchReport found = logit_lens(test.model, test.clean(), request_of(test));
  expect_cells(found.grids[0].effects, 0, test.expected["lens"], "lens");
}

TEST_P(PatchingGolden, PathsAreThoseOfHooksInTransformerLens) {
  const PatchingCase test = patching_case(GetParam());
  const int layers = static_cast<int>(test.expected["zero"].size());
  for (const char* what : {"output", "query", "key", "value"}) {
    PathReceiver receiver{.what = what};
    if (receiver.what != "output") receiver.layer = layers - 1, receiver.head = 1;
    const PatchReport found =
        patch_paths(test.model, test.clean(), test.corrupted(), receiver, request_of(test));
    expect_cells(found.grids[0].changes, *found.corrupted_value,
                 test.expected[std::string("paths to the ") + what], what);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, PatchingGolden, testing::Values("gpt2", "bert"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace whyformer
