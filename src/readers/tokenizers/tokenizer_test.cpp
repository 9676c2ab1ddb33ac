#include "readers/tokenizers/tokenizer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "whyformer/error.h"

namespace whyformer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Offset = Encoding::Offset;

std::shared_ptr<const Tokenizer> load(
    const std::map<std::string, std::string, std::less<>>& files) {
  return load_tokenizer([&](std::string_view name) -> std::optional<Bytes> {
    const auto found = files.find(name);
    return found == files.end() ? std::nullopt : std::optional(bytes_of(found->second));
  });
}

// Words between spaces; the parts that tests vary are the added tokens and the post-processor.
std::string word_level_json(std::string_view added_tokens = "[]",
                            std::string_view post_processor = "null") {
  return fmt::format(
      R"({{"version": "1.0", "added_tokens": {}, "normalizer": {{"type": "Lowercase"}},
    "pre_tokenizer": {{"type": "WhitespaceSplit"}}, "post_processor": {},
    "model": {{"type": "WordLevel", "unk_token": "<unk>",
               "vocab": {{"<unk>": 0, "a": 1, "b": 2, "c": 3, "[CLS]": 4, "[SEP]": 5, "[MASK]": 6}}}}}})",
      added_tokens, post_processor);
}

constexpr std::string_view kBert =
    R"({"type": "BertProcessing", "cls": ["[CLS]", 4], "sep": ["[SEP]", 5]})";

std::shared_ptr<const Tokenizer> word_level(std::string_view added_tokens = "[]",
                                            std::string_view post_processor = kBert) {
  return load({{"tokenizer.json", word_level_json(added_tokens, post_processor)}});
}

TEST(Tokenizer, SurroundsAPairAsTheTemplateSays) {
  const Encoding encoding = word_level()->encode("a b", "c");
  EXPECT_THAT(encoding.ids, ElementsAre(4, 1, 2, 5, 3, 5));
  EXPECT_THAT(encoding.tokens, ElementsAre("[CLS]", "a", "b", "[SEP]", "c", "[SEP]"));
  EXPECT_THAT(encoding.type_ids, ElementsAre(0, 0, 0, 0, 1, 1));
  EXPECT_THAT(encoding.segment, ElementsAre(0, 0, 0, 0, 1, 1));
  EXPECT_THAT(encoding.special, ElementsAre(true, false, false, true, false, true));
  EXPECT_THAT(encoding.word, ElementsAre(-1, 0, 1, -1, 0, -1));
  EXPECT_THAT(encoding.offsets, ElementsAre(Offset{0, 0}, Offset{0, 1}, Offset{2, 3}, Offset{0, 0},
                                            Offset{0, 1}, Offset{0, 0}));
}

TEST(Tokenizer, CountsOffsetsInCodePoints) {
  const Encoding encoding = word_level()->encode("\u00e9\U0001F600 A");
  EXPECT_THAT(encoding.ids, ElementsAre(4, 0, 1, 5));
  EXPECT_THAT(encoding.offsets,
              ElementsAre(Offset{0, 0}, Offset{0, 2}, Offset{3, 4}, Offset{0, 0}));
}

TEST(Tokenizer, ReadsIllFormedUtf8AsReplacementCharacters) {
  const Encoding encoding = word_level()->encode("\xff a \xed\xa0\x80");
  EXPECT_EQ(encoding.invalid_bytes, 4);
  EXPECT_THAT(encoding.offsets,
              ElementsAre(Offset{0, 0}, Offset{0, 1}, Offset{2, 3}, Offset{4, 7}, Offset{0, 0}));
}

TEST(Tokenizer, EncodesNothingAsSpecialTokensOnly) {
  EXPECT_THAT(word_level()->encode("").ids, ElementsAre(4, 5));
  EXPECT_THAT(word_level()->encode(" \t\n").ids, ElementsAre(4, 5));
  EXPECT_THAT(word_level("[]", "null")->encode("").ids, ElementsAre());
}

TEST(Tokenizer, CutsTheEndOfALongText) {
  const Encoding encoding = word_level()->encode("a b c a b", std::nullopt, 4);
  EXPECT_THAT(encoding.ids, ElementsAre(4, 1, 2, 5));
  EXPECT_EQ(encoding.truncated, 3);
}

TEST(Tokenizer, CutsTheLongerOfAPairFirst) {
  const auto lengths = [](int64_t max_length) {
    const Encoding encoding = word_level()->encode("a a a a a a", "b b", max_length);
    return std::pair(std::count(encoding.ids.begin(), encoding.ids.end(), 1),
                     std::count(encoding.ids.begin(), encoding.ids.end(), 2));
  };
  EXPECT_EQ(lengths(0), std::pair(6l, 2l));
  EXPECT_EQ(lengths(8), std::pair(3l, 2l));
  EXPECT_EQ(lengths(6), std::pair(2l, 1l))
      << "three tokens for both: the longer one gets the odd one";
  EXPECT_EQ(lengths(3), std::pair(0l, 0l));
}

TEST(Tokenizer, SaysThatSpecialTokensNeedRoom) {
  EXPECT_THROW(word_level()->encode("a", std::nullopt, 1), InvalidInput);
}

TEST(Tokenizer, KnowsItsVocabulary) {
  const auto tokenizer = word_level(R"([{"id": 99, "content": "new", "special": false}])");
  EXPECT_EQ(tokenizer->vocabulary_size(), 8);
  EXPECT_EQ(tokenizer->id_of("new"), 7) << "the package ignores the id in the file";
  EXPECT_EQ(tokenizer->token(7), "new");
  EXPECT_EQ(tokenizer->id_of("missing"), std::nullopt);
  EXPECT_THROW(tokenizer->token(8), InvalidInput);
  EXPECT_THROW(tokenizer->token(-1), InvalidInput);
  EXPECT_EQ(tokenizer->mask_id(), 6);
  EXPECT_EQ(tokenizer->cls_id(), 4);
  EXPECT_EQ(tokenizer->sep_id(), 5);
  EXPECT_EQ(tokenizer->unk_id(), 0);
  EXPECT_EQ(tokenizer->pad_id(), std::nullopt);
  EXPECT_EQ(tokenizer->model_max_length(), 0);
}

TEST(Tokenizer, TakesNamesAndLengthFromTheConfiguration) {
  const auto tokenizer = load(
      {{"tokenizer.json", word_level_json()},
       {"tokenizer_config.json", R"({"pad_token": {"content": "b"}, "model_max_length": 128})"}});
  EXPECT_EQ(tokenizer->pad_id(), 2);
  EXPECT_EQ(tokenizer->model_max_length(), 128);
  const auto unlimited =
      load({{"tokenizer.json", word_level_json()},
            {"tokenizer_config.json", R"({"model_max_length": 1000000000000000019884624838656})"}});
  EXPECT_EQ(unlimited->model_max_length(), 0);
}

TEST(AddedTokens, AreFoundBeforeTheTextIsNormalised) {
  const auto tokenizer = word_level(R"([{"id": 6, "content": "[MASK]", "special": true}])");
  const Encoding encoding = tokenizer->encode("a[MASK]b [mask]");
  EXPECT_THAT(encoding.ids, ElementsAre(4, 1, 6, 2, 0, 5));
  EXPECT_THAT(encoding.offsets, ElementsAre(Offset{0, 0}, Offset{0, 1}, Offset{1, 7}, Offset{7, 8},
                                            Offset{9, 15}, Offset{0, 0}));
  EXPECT_THAT(encoding.special, ElementsAre(true, false, false, false, false, true))
      << "only the template's are special";
}

TEST(AddedTokens, NormalizedOnesMatchTheNormalisedText) {
  const auto tokenizer = word_level(R"([{"id": 7, "content": "NEW", "normalized": true}])");
  EXPECT_THAT(tokenizer->encode("a New b").ids, ElementsAre(4, 1, 7, 2, 5));
}

TEST(AddedTokens, TakeTheSpacesAroundThem) {
  const auto tokenizer = word_level(
      R"([{"id": 7, "content": "<x>", "lstrip": true, "rstrip": true, "normalized": false}])");
  EXPECT_THAT(tokenizer->encode("a  <x> \u3000b").offsets,
              ElementsAre(Offset{0, 0}, Offset{0, 1}, Offset{1, 8}, Offset{8, 9}, Offset{0, 0}));
}

TEST(AddedTokens, SingleWordsAreNotFoundInsideWords) {
  const auto tokenizer =
      word_level(R"([{"id": 1, "content": "a", "single_word": true, "normalized": false}])");
  EXPECT_THAT(tokenizer->encode("a -a- xa").ids, ElementsAre(4, 1, 0, 1, 0, 0, 5));
}

TEST(AddedTokens, TheLongestWins) {
  const auto tokenizer = word_level(
      R"([{"id": 7, "content": "<x", "special": true}, {"id": 8, "content": "<x>", "special": true}])");
  EXPECT_THAT(tokenizer->encode("<x><x").ids, ElementsAre(4, 8, 7, 5));
}

TEST(PostProcessor, TemplateMayNameSeveralIdsAndTypes) {
  const auto tokenizer = word_level("[]", R"({"type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "go", "type_id": 3}}, {"Sequence": {"id": "A", "type_id": 2}}],
    "pair": [{"Sequence": {"id": "B", "type_id": 1}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "special_tokens": {"go": {"id": "go", "ids": [4, 6], "tokens": ["[CLS]", "[MASK]"]}}})");
  const Encoding single = tokenizer->encode("a");
  EXPECT_THAT(single.ids, ElementsAre(4, 6, 1));
  EXPECT_THAT(single.type_ids, ElementsAre(3, 3, 2));
  const Encoding pair = tokenizer->encode("a", "b");
  EXPECT_THAT(pair.ids, ElementsAre(2, 1));
  EXPECT_THAT(pair.segment, ElementsAre(1, 0));
}

TEST(PostProcessor, RobertaTrimsSpacesOutOfOffsets) {
  const auto byte_level = [](bool add_prefix_space) {
    return load({{"tokenizer.json", fmt::format(R"({{
      "pre_tokenizer": {{"type": "ByteLevel", "add_prefix_space": {0}, "trim_offsets": true}},
      "post_processor": {{"type": "RobertaProcessing", "cls": ["<s>", 3], "sep": ["</s>", 4], "trim_offsets": true,
                          "add_prefix_space": {0}}},
      "model": {{"type": "BPE", "vocab": {{"\u0120": 0, "a": 1, "\u0120a": 2, "<s>": 3, "</s>": 4}},
                 "merges": ["\u0120 a"]}}}})",
                                                add_prefix_space)}});
  };
  EXPECT_THAT(byte_level(false)->encode("a a").offsets,
              ElementsAre(Offset{0, 0}, Offset{0, 1}, Offset{2, 3}, Offset{0, 0}));
  EXPECT_THAT(byte_level(true)->encode("a a").offsets,
              ElementsAre(Offset{0, 0}, Offset{0, 1}, Offset{2, 3}, Offset{0, 0}));
  EXPECT_THAT(byte_level(false)->encode("a", "a").ids, ElementsAre(3, 1, 4, 4, 1, 4));
}

// Files that must be refused, and what the message has to mention.
struct BadFile {
  std::string json, mention;
};

class HostileTokenizerJson : public testing::TestWithParam<BadFile> {};

TEST_P(HostileTokenizerJson, IsRefusedWithAMessage) {
  try {
    load({{"tokenizer.json", GetParam().json}});
    FAIL() << "loaded";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(GetParam().mention));
    EXPECT_THAT(error.what(), HasSubstr("tokenizer.json"));
    EXPECT_THAT(error.what(), testing::Not(HasSubstr("\n")));
  }
}

std::string with_model(std::string_view model) { return fmt::format(R"({{"model": {}}})", model); }

INSTANTIATE_TEST_SUITE_P(
    All, HostileTokenizerJson,
    testing::Values(
        BadFile{"", "not JSON"}, BadFile{"{", "not JSON"}, BadFile{"[]", "not a JSON object"},
        BadFile{"{}", "no 'model'"}, BadFile{std::string(100'000, '['), "deep"},
        BadFile{R"({"a":)" + std::string(100'000, '['), "deep"},
        BadFile{with_model("3"), "should be an object"},
        BadFile{with_model(R"({"type": "WordLevel", "vocab": {}})"), "no vocabulary"},
        BadFile{with_model(R"({"type": "Markov", "vocab": {"a": 0}})"), "'Markov'"},
        BadFile{with_model(R"({"type": "WordLevel", "vocab": {"a": -1}})"), "from 0 to"},
        BadFile{with_model(R"({"type": "WordLevel", "vocab": {"a": 99999999999}})"), "from 0 to"},
        BadFile{with_model(R"({"type": "WordLevel", "vocab": {"a": "b"}})"), "vocabulary"},
        BadFile{with_model(R"({"type": "WordLevel", "vocab": {"a": [1]}})"), "vocabulary"},
        BadFile{with_model(R"({"type": "Unigram", "vocab": [["a"]]})"), "vocabulary"},
        BadFile{with_model(R"({"type": "Unigram", "vocab": [["a", 0, 0]]})"), "vocabulary"},
        BadFile{with_model(R"({"type": "Unigram", "vocab": [["a", 0]], "unk_id": 5})"), "id 5"},
        BadFile{with_model(R"({"type": "Unigram", "vocab": {"a": 0}})"), "scores"},
        BadFile{with_model(R"({"type": "BPE", "vocab": {"a": 0}, "merges": ["a b c"]})"), "merges"},
        BadFile{with_model(R"({"type": "BPE", "vocab": {"a": 0}, "merges": [["a"]]})"), "merges"},
        BadFile{with_model(R"({"type": "BPE", "vocab": {"a": 0}, "merges": ["a b"]})"), "'b'"},
        BadFile{word_level_json("[]", R"({"type": "Mystery"})"), "'Mystery'"},
        BadFile{
            word_level_json("[]", R"({"type": "BertProcessing", "cls": ["x"], "sep": ["y", 1]})"),
            "'cls'"},
        BadFile{word_level_json(R"([{"id": 1}])"), "'content'"},
        BadFile{word_level_json("3"), "list"}),
    [](const auto& info) { return fmt::format("Case{}", info.index); });

TEST(LoadTokenizer, SaysWhichFilesItLookedFor) {
  try {
    load({});
    FAIL() << "loaded";
  } catch (const FileError& error) {
    EXPECT_THAT(error.what(), HasSubstr("tokenizer.json"));
    EXPECT_THAT(error.what(), HasSubstr("vocab.txt"));
  }
}

TEST(LoadTokenizer, RefusesSpecialTokensOutsideTheVocabulary) {
  EXPECT_THROW(word_level("[]", R"({"type": "BertProcessing", "cls": ["x", 4], "sep": ["y", 77]})"),
               FileError);
}

TEST(LoadTokenizer, RefusesAFolderOfAnotherKindOfModel) {
  EXPECT_THROW(
      load({{"vocab.txt", "[UNK]\n[CLS]\n[SEP]\n"}, {"config.json", R"({"model_type": "mpnet"})"}}),
      UnsupportedModel);
}

TEST(LoadTokenizer, RefusesABrokenConfiguration) {
  EXPECT_THROW(load({{"tokenizer.json", word_level_json()}, {"tokenizer_config.json", "{"}}),
               FileError);
  EXPECT_THROW(load({{"tokenizer.json", word_level_json()},
                     {"tokenizer_config.json", std::string(200'000, '[')}}),
               FileError);
}

TEST(LoadTokenizer, RefusesABrokenSentencePieceModel) {
  EXPECT_THROW(load({{"spiece.model", ""}}), FileError);
  EXPECT_THROW(load({{"spiece.model", std::string("\x0a\xff\xff\xff\xff\x0f", 6)}}), FileError)
      << "longer than the file";
  EXPECT_THROW(load({{"spiece.model", std::string(12, '\xff')}}), FileError)
      << "a number that does not end";
  EXPECT_THROW(load({{"spiece.model", std::string("\x0a\x03\x0a\x01\xff", 5)}}), FileError)
      << "a token that is not UTF-8";
}

std::string with_parts(std::string_view normalizer, std::string_view pre_tokenizer,
                       std::string_view added) {
  return fmt::format(
      R"({{"version": "1.0", "added_tokens": {}, "normalizer": {}, "pre_tokenizer": {}, "post_processor": null,
    "model": {{"type": "WordLevel", "unk_token": "<unk>", "vocab": {{"<unk>": 0}}}}}})",
      added, normalizer, pre_tokenizer);
}

std::string twice_as_long(int times) {
  std::string steps;
  for (int i = 0; i < times; ++i)
    steps +=
        fmt::format(R"({}{{"type": "ByteLevel", "add_prefix_space": true, "use_regex": false}})",
                    i == 0 ? "" : ", ");
  return fmt::format(R"({{"type": "Sequence", "pretokenizers": [{}]}})", steps);
}

TEST(Tokenizer, PreTokenizersThatMakeMoreAndMoreOfATextAreRefused) {
  const auto tokenizer = load({{"tokenizer.json", with_parts("null", twice_as_long(60), "[]")}});
  EXPECT_THROW(tokenizer->encode("h\u00e9 l\u00e9"), UnsupportedModel);
  EXPECT_EQ(load({{"tokenizer.json", with_parts("null", twice_as_long(2), "[]")}})
                ->encode("h\u00e9")
                .ids.size(),
            1u);
}

TEST(Tokenizer, AddedTokensAreNormalizedWithinTheSameLimit) {
  const std::string rule = R"({"type": "Replace", "pattern": {"String": "o"}, "content": ")" +
                           std::string(2000, 'o') + R"("})";
  const std::string file =
      with_parts(rule, "null", R"([{"id": 1, "content": "oo", "normalized": true}])");
  EXPECT_THROW(load({{"tokenizer.json", file}}), UnsupportedModel);
}

TEST(Tokenizer, TemplatesThatRepeatATextWithoutEndAreRefused) {
  std::string steps;
  for (int i = 0; i < 1000; ++i)
    steps += fmt::format(R"({}{{"Sequence": {{"id": "A", "type_id": 0}}}})", i == 0 ? "" : ", ");
  const std::string form = fmt::format(
      R"({{"type": "TemplateProcessing", "single": [{}], "pair": [], "special_tokens": {{}}}})",
      steps);
  EXPECT_THAT([&] { word_level("[]", form); },
              testing::ThrowsMessage<UnsupportedModel>(HasSubstr("1000 texts")));
}

// Each space is an added token that takes the spaces before it along: looking back to the start
// each time would take minutes.
TEST(Tokenizer, AddedTokensThatStripSpacesTakeTimeInProportionToTheText) {
  const auto tokenizer =
      word_level(R"([{"id": 7, "content": " ", "lstrip": true, "special": true}])", "null");
  EXPECT_EQ(tokenizer->encode(std::string(200'000, ' ')).ids.size(), 200'000u);
}

// One token of 20,000 letters in a small file: trying each length at each place would take hours.
TEST(Tokenizer, ALongTokenInTheVocabularyDoesNotMakeLongWordsSlow) {
  const std::string file = fmt::format(
      R"({{"version": "1.0", "added_tokens": [], "normalizer": null, "pre_tokenizer": {{"type": "WhitespaceSplit"}}, "post_processor": null,
    "model": {{"type": "WordPiece", "unk_token": "<unk>", "continuing_subword_prefix": "##", "max_input_chars_per_word": 1000000,
               "vocab": {{"<unk>": 0, "a": 1, "##a": 2, "##{}b": 3}}}}}})",
      std::string(20'000, 'a'));
  EXPECT_EQ(load({{"tokenizer.json", file}})->encode(std::string(20'000, 'a')).ids.size(), 20'000u);
}

}  // namespace
}  // namespace whyformer
