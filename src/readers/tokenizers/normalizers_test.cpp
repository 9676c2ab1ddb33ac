#include "readers/tokenizers/normalizers.h"

#include <gtest/gtest.h>

#include <cstring>

#include "readers/tokenizers/graphemes.h"
#include "whyformer/error.h"

namespace whyformer::tokenization {
namespace {

std::string normalized(const Normalizer& normalizer, std::string_view text) {
  AlignedText aligned(text);
  normalizer(aligned);
  return aligned.text();
}

std::string normalized(std::string_view json, std::string_view text) {
  return normalized(read_normalizer(parse_json(json, "test.json"), "test.json"), text);
}

TEST(BertNormalizer, CleansLowersAndStripsAccents) {
  EXPECT_EQ(normalized(bert_normalizer({}), "H\u00e9llo\x01\tW\u00d6RLD\u200b"), "hello world");
}

TEST(BertNormalizer, KeepsAccentsOfACasedModel) {
  EXPECT_EQ(normalized(bert_normalizer({.lowercase = false}), "Caf\u00e9"), "Caf\u00e9");
}

TEST(BertNormalizer, PutsSpacesAroundChineseButNotKana) {
  EXPECT_EQ(normalized(bert_normalizer({}), "a\u4e2d\u6587\u3042"), "a \u4e2d  \u6587 \u3042");
}

TEST(BertNormalizer, PointsBackAtTheOriginalText) {
  AlignedText text("\u00c9\u4e2d");
  bert_normalizer({})(text);
  EXPECT_EQ(text.text(), "e \u4e2d ");
  EXPECT_EQ(text.original(0, 1), (Span{0, 2}));
  EXPECT_EQ(text.original(2, 5), (Span{2, 5}));
}

TEST(Normalizers, UnicodeFormsOrderAndComposeMarks) {
  EXPECT_EQ(normalized(R"({"type": "NFD"})", "q\u0307\u0323\u1e69"), "q\u0323\u0307s\u0323\u0307");
  EXPECT_EQ(normalized(R"({"type": "NFC"})", "s\u0307\u0323\u1100\u1161\u11a8"), "\u1e69\uac01");
  EXPECT_EQ(normalized(R"({"type": "NFKD"})", "\ufb01\u00bd"), "fi1\u20442");
  EXPECT_EQ(normalized(R"({"type": "NFKC"})", "\uff21\u1e9b\u0323"), "A\u1e69");
}

TEST(Normalizers, LowercaseOfDottedCapitalIIsTwoCharacters) {
  EXPECT_EQ(normalized(R"({"type": "Lowercase"})", "\u0130\u03a3"), "i\u0307\u03c3");
}

TEST(Normalizers, SequenceAppliesInOrder) {
  EXPECT_EQ(
      normalized(R"({"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "StripAccents"},
                           {"type": "Strip", "strip_left": true, "strip_right": false}]})",
                 " \u00e9 "),
      "e ");
}

TEST(Normalizers, ReplaceTakesAStringLiterallyAndARegexAsOne) {
  EXPECT_EQ(normalized(R"({"type": "Replace", "pattern": {"String": "."}, "content": "!"})", "a.b"),
            "a!b");
  EXPECT_EQ(normalized(R"({"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "})",
                       "a   b c"),
            "a b c");
}

TEST(Normalizers, PrependAndByteLevelAndNmt) {
  EXPECT_EQ(normalized(R"({"type": "Prepend", "prepend": "_"})", "a"), "_a");
  EXPECT_EQ(normalized(R"({"type": "ByteLevel"})", " \u00e9"), "\u0120\u00c3\u00a9");
  EXPECT_EQ(normalized(R"({"type": "Nmt"})", "a\x01\tb\u200bc"), "a b c");
}

TEST(Normalizers, NameTheUnknownOne) {
  try {
    read_normalizer(parse_json(R"({"type": "Reverse"})", "t.json"), "t.json");
    FAIL();
  } catch (const UnsupportedModel& error) {
    EXPECT_STREQ(error.what(), "'t.json': the normalizer 'Reverse' is not supported");
  }
}

// A double array for the one rule "A" -> "xyz": root, node of 'A' and its leaf.
std::string tiny_charsmap() {
  constexpr uint32_t kOffset = 0x100, kByte = 'A';
  std::vector<uint32_t> units(0x400, 0);
  units[0] = kOffset << 10;                                   // children of the root start at 0x100
  units[kOffset ^ kByte] = (0x200u << 10) | 1u << 8 | kByte;  // has a leaf, at node ^ 0x200
  units[(kOffset ^ kByte) ^ 0x200] = 0x80000000u | 0u;  // value: position 0 of the normal forms
  std::string blob(sizeof(uint32_t), '\0');
  const auto size = static_cast<uint32_t>(units.size() * sizeof(uint32_t));
  std::memcpy(blob.data(), &size, sizeof(size));
  blob.append(reinterpret_cast<const char*>(units.data()), size);
  return blob + std::string("xyz\0", 4);
}

TEST(Charsmap, ReplacesAndKeepsPlaces) {
  AlignedText text("bAc");
  Charsmap(tiny_charsmap(), "m").apply(text);
  EXPECT_EQ(text.text(), "bxyzc");
  EXPECT_EQ(text.original(1, 4), (Span{1, 2}));
  EXPECT_EQ(text.original(4, 5), (Span{2, 3}));
}

TEST(Charsmap, ReplacesAShortClusterByTheFormOfItsFirstCharacter) {
  AlignedText text("A\u0301");
  Charsmap(tiny_charsmap(), "m").apply(text);
  EXPECT_EQ(text.text(), "xyz") << "the package swallows the accent, so we do";
}

TEST(Charsmap, RefusesACutOffMap) {
  EXPECT_THROW(Charsmap("\x01", "m"), FileError);
  EXPECT_THROW(Charsmap(std::string("\xff\xff\xff\x7f", 4), "m"), FileError);
}

TEST(Charsmap, DoesNotFollowOffsetsOutOfTheMap) {
  std::string blob = tiny_charsmap();
  const uint32_t far_away = 0x3FFFFF;
  std::memcpy(blob.data() + 4, &far_away, sizeof(far_away));
  AlignedText text("A");
  Charsmap(blob, "m").apply(text);
  EXPECT_EQ(text.text(), "A");
}

TEST(Base64, DecodesAndRefuses) {
  EXPECT_EQ(decode_base64("aGVsbG8=", "m"), "hello");
  EXPECT_EQ(decode_base64("", "m"), "");
  EXPECT_THROW(decode_base64("aGVsbG8", "m"), FileError);
  EXPECT_THROW(decode_base64("a*Vs", "m"), FileError);
}

TEST(Graphemes, KeepTogetherWhatReadersSeeAsOne) {
  const auto first = [](std::string_view text) { return text.substr(0, grapheme_end(text, 0)); };
  EXPECT_EQ(first("ab"), "a");
  EXPECT_EQ(first("e\u0301x"), "e\u0301");
  EXPECT_EQ(first("\r\nx"), "\r\n");
  EXPECT_EQ(first("\n\u0301"), "\n");
  EXPECT_EQ(first("\u1100\u1161\u11a8\u1100"), "\u1100\u1161\u11a8");
  EXPECT_EQ(first("\U0001F1E9\U0001F1EA\U0001F1EB\U0001F1F7"), "\U0001F1E9\U0001F1EA");
  EXPECT_EQ(first("\U0001F469\u200D\U0001F680!"), "\U0001F469\u200D\U0001F680");
  EXPECT_EQ(first("\u0915\u094D\u0937\u093F"), "\u0915\u094D\u0937\u093F");
}

// Rules that make 1000 times as much of a letter, one behind the other.
std::string repeated_rules(std::string_view rule, int times) {
  std::string rules;
  for (int i = 0; i < times; ++i) rules += (i == 0 ? "" : ", ") + std::string(rule);
  return R"({"type": "Sequence", "normalizers": [)" + rules + "]}";
}

TEST(Normalizers, RulesThatMakeMoreAndMoreOfATextAreRefused) {
  const std::string grow = R"({"type": "Replace", "pattern": {"String": "o"}, "content": ")" +
                           std::string(1000, 'o') + R"("})";
  const std::string anywhere =
      R"({"type": "Replace", "pattern": {"Regex": ""}, "content": "abcdefgh"})";
  const std::string prefix =
      R"({"type": "Prepend", "prepend": ")" + std::string(800, 'p') + R"("})";
  for (const std::string& rule :
       {grow, anywhere, prefix, std::string(R"({"type": "ByteLevel"})")}) {
    EXPECT_THROW(normalized(repeated_rules(rule, 40), "no \u00e9"), UnsupportedModel)
        << rule.substr(0, 60);
  }
  EXPECT_EQ(normalized(grow, "no").size(), 1001u);
}

TEST(Normalizers, TheLongestCompatibilityFormsAreNotTooMuch) {
  std::string text, expected;
  for (int i = 0; i < 1000; ++i) {
    text += "\ufdfa";
    expected += "صلى الله عليه وسلم";
  }
  EXPECT_EQ(normalized(R"({"type": "NFKC"})", text), expected);
}

}  // namespace
}  // namespace whyformer::tokenization
