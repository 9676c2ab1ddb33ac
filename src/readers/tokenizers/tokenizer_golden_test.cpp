// Whole tokenizers against the reference; scripts/golden/tokenizers_golden.py wrote the files.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "readers/tokenizers/tokenizer.h"
#include "tests/support/source_folder.h"

namespace whyformer {
namespace {

const std::filesystem::path kGolden = source_folder() / "tests/golden/tokenizers";

std::vector<std::string> read_gzip_lines(const std::filesystem::path& path) {
  std::string text;
  gzFile file = gzopen(path.c_str(), "rb");
  EXPECT_NE(file, nullptr) << path;
  if (file == nullptr) return {};
  char buffer[1 << 14];
  for (int size; (size = gzread(file, buffer, sizeof(buffer))) > 0;)
    text.append(buffer, static_cast<size_t>(size));
  gzclose(file);
  std::vector<std::string> lines;
  for (size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    lines.push_back(text.substr(begin, end - begin));
  }
  return lines;
}

std::shared_ptr<const Tokenizer> load_golden(const std::string& name) {
  return load_tokenizer([&](std::string_view file) -> std::optional<Bytes> {
    const auto path = kGolden / name / file;
    if (!std::filesystem::exists(path)) return std::nullopt;
    return map_file(path);
  });
}

std::string line_of(const Encoding& encoding) {
  std::vector<std::string> offsets, special;
  for (const auto& [start, end] : encoding.offsets)
    offsets.push_back(fmt::format("{}-{}", start, end));
  for (const bool flag : encoding.special) special.push_back(flag ? "1" : "0");
  return fmt::format("{}\t{}\t{}\t{}\t{}", fmt::join(encoding.ids, " "), fmt::join(offsets, " "),
                     fmt::join(encoding.word, " "), fmt::join(encoding.type_ids, " "),
                     fmt::join(special, " "));
}

class TokenizerGolden : public testing::TestWithParam<std::string> {};

TEST_P(TokenizerGolden, EncodesNastyTextsLikeTheReference) {
  const auto tokenizer = load_golden(GetParam());
  const std::vector<std::string> inputs = read_gzip_lines(kGolden / "texts.jsonl.gz");
  const std::vector<std::string> expected =
      read_gzip_lines(kGolden / (GetParam() + ".expected.gz"));
  ASSERT_GE(inputs.size(), 2000u);
  ASSERT_EQ(inputs.size(), expected.size());
  int failures = 0;
  for (size_t i = 0; i < inputs.size() && failures < 5; ++i) {
    if (expected[i] == "-") continue;
    const auto input = nlohmann::json::parse(inputs[i]);
    const auto text = input.at("text").get<std::string>();
    const auto pair = input.value("pair", "");
    const Encoding encoding = tokenizer->encode(
        text, input.contains("pair") ? std::optional<std::string_view>(pair) : std::nullopt,
        input.value("max_length", 0));
    const std::string line = line_of(encoding);
    EXPECT_EQ(line, expected[i]) << inputs[i];
    failures += line != expected[i];
    EXPECT_EQ(encoding.tokens.size(), encoding.ids.size());
    EXPECT_EQ(encoding.segment.size(), encoding.ids.size());
  }
}

INSTANTIATE_TEST_SUITE_P(All, TokenizerGolden,
                         testing::Values("bert_vocab_txt", "bert_cased", "roberta",
                                         "roberta_vocab_json", "albert", "xlm_roberta", "unigram",
                                         "bpe_words", "bpe_regex"),
                         [](const auto& info) { return info.param; });

TEST(TokenizerGolden, KnowsTheSpecialTokensOfAFolderWithoutTokenizerJson) {
  const auto tokenizer = load_golden("bert_vocab_txt");
  EXPECT_EQ(tokenizer->pad_id(), 0);
  EXPECT_EQ(tokenizer->unk_id(), 1);
  EXPECT_EQ(tokenizer->cls_id(), 2);
  EXPECT_EQ(tokenizer->sep_id(), 3);
  EXPECT_EQ(tokenizer->mask_id(), 4);
  EXPECT_EQ(tokenizer->vocabulary_size(), 700);
  EXPECT_EQ(tokenizer->model_max_length(), 512);
}

TEST(TokenizerGolden, ShiftsXlmRobertaIdsByTheSpecialTokensOfFairseq) {
  const auto tokenizer = load_golden("xlm_roberta");
  EXPECT_EQ(tokenizer->token(0), "<s>");
  EXPECT_EQ(tokenizer->token(1), "<pad>");
  EXPECT_EQ(tokenizer->token(2), "</s>");
  EXPECT_EQ(tokenizer->unk_id(), 3);
  EXPECT_EQ(tokenizer->mask_id(), tokenizer->vocabulary_size() - 1);
}

}  // namespace
}  // namespace whyformer
