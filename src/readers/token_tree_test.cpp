#include <gmock/gmock.h>
#include <zlib.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

#include "readers/token_segments.h"
#include "tests/support/source_folder.h"
#include "whyformer/games.h"

namespace whyformer {
namespace {

nlohmann::json read_json_gz(const std::filesystem::path& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  std::string text;
  char buffer[1 << 14];
  for (int size; file != nullptr && (size = gzread(file, buffer, sizeof(buffer))) > 0;) {
    text.append(buffer, static_cast<size_t>(size));
  }
  gzclose(file);
  return nlohmann::json::parse(text);
}

// Made by scripts/golden/text_masker_golden.py from the shap package.
class TextMaskerGolden : public testing::Test {
 protected:
  const nlohmann::json cases_ =
      read_json_gz(source_folder() / "tests/golden/games/text_masker.json.gz");

  static Encoding encode(const nlohmann::json& one) {
    const auto folder =
        source_folder() / "tests/golden/tokenizers" / one.at("tokenizer").get<std::string>();
    static std::map<std::filesystem::path, std::shared_ptr<const Tokenizer>> known;
    auto& tokenizer = known[folder];
    if (tokenizer == nullptr) {
      tokenizer = load_tokenizer([&](std::string_view name) -> std::optional<Bytes> {
        const auto path = folder / name;
        if (!std::filesystem::exists(path)) return std::nullopt;
        return map_file(path);
      });
    }
    return tokenizer->encode(one.at("text").get<std::string>());
  }
};

TEST_F(TextMaskerGolden, CutsTextsIntoTheSamePieces) {
  ASSERT_EQ(cases_.size(), 500u);
  for (const auto& one : cases_) {
    const auto text = one.at("text").get<std::string>();
    EXPECT_EQ(token_segments(encode(one), text, ""),
              one.at("segments").get<std::vector<std::string>>())
        << text;
  }
}

TEST_F(TextMaskerGolden, BuildsTheSameTree) {
  for (const auto& one : cases_) {
    const PlayerTree tree =
        token_tree(one.at("segments").get<std::vector<std::string>>(), one.at("separator"));
    std::vector<std::vector<int64_t>> merges;
    for (const auto& [left, right] : tree.merges) merges.push_back({left, right});
    EXPECT_EQ(merges, one.at("merges").get<std::vector<std::vector<int64_t>>>()) << one.at("text");
  }
}

TEST_F(TextMaskerGolden, MasksTheSameTexts) {
  int masked = 0;
  for (const auto& one : cases_) {
    const Encoding encoding = encode(one);
    for (const auto& example : one.at("masked")) {
      std::vector<bool> hidden;
      for (const int shown : example.at("shown")) hidden.push_back(shown == 0);
      EXPECT_EQ(masked_text(encoding, one.at("segments"), 0, hidden, one.at("mask")),
                example.at("text"));
      ++masked;
    }
  }
  EXPECT_GT(masked, 1500);
}

// The pixels under each node, as the image masker of the shap package groups them; same script.
TEST(GridTree, GroupsPatchesAsShapGroupsPixels) {
  std::ifstream file(source_folder() / "tests/golden/games/grid_tree.json");
  for (const auto& one : nlohmann::json::parse(file)) {
    const int64_t rows = one.at("rows"), columns = one.at("columns");
    const PlayerTree tree = grid_tree(rows, columns);
    std::vector<std::vector<int64_t>> under(rows * columns);
    for (int64_t patch = 0; patch < rows * columns; ++patch) under[patch] = {patch};
    std::vector<std::vector<int64_t>> groups;
    for (const auto& [left, right] : tree.merges) {
      std::vector<int64_t> group = under[left];
      group.insert(group.end(), under[right].begin(), under[right].end());
      std::sort(group.begin(), group.end());
      under.push_back(group);
      groups.push_back(std::move(group));
    }
    std::sort(groups.begin(), groups.end());
    EXPECT_EQ(groups, one.at("groups").get<std::vector<std::vector<int64_t>>>())
        << rows << 'x' << columns;
  }
}

TEST(TokenTree, OfOneTokenHasNoMerges) { EXPECT_TRUE(token_tree({"word"}, "").merges.empty()); }

}  // namespace
}  // namespace whyformer
