// Edits keep what they say through their text and through JSON.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "whyformer/edits.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

TEST(Edits, SayInTextWhatTheyAre) {
  const Edit edit = parse_edit("zero blocks.3.attention.context head=5,7 token=-1");
  EXPECT_EQ(edit.op, EditOp::kZero);
  EXPECT_EQ(edit.value, "blocks.3.attention.context");
  EXPECT_EQ(edit.at, (EditPlaces{{"head", {5, 7}}, {"token", {-1}}}));
  EXPECT_EQ(parse_edit("scale blocks.2.mlp.output 0.5").number, 0.5);
  const Edit copy = parse_edit("copy other.blocks.4.output token=2");
  EXPECT_EQ(copy.value, "blocks.4.output");
  EXPECT_EQ(copy.source, "other.blocks.4.output");
  const Edit noise = parse_edit("noise embeddings sd=0.1 seed=3");
  EXPECT_EQ(noise.number, 0.1);
  EXPECT_EQ(noise.seed, 3);
}

TEST(Edits, AreTheSameAfterTextAndJson) {
  std::vector<Edit> edits;
  for (const char* text :
       {"set blocks.1.output 0.1 token=2", "add blocks.1.output 1,2,0.30000000000000004",
        "scale blocks.2.mlp.output 0.5 token=3", "zero blocks.3.attention.context head=5",
        "mean blocks.0.output", "copy other.blocks.4.output token=2", "freeze blocks.1.mlp.output",
        "permute blocks.1.attention.pattern axis=key head=0 seed=4",
        "noise embeddings sd=0.1 seed=3"}) {
    edits.push_back(parse_edit(text));
    EXPECT_EQ(to_text(edits.back()), text);
    EXPECT_EQ(parse_edit(to_text(edits.back())), edits.back());
  }
  edits[5].array = {{1, 1, 2},
                    std::make_shared<const std::vector<double>>(std::vector{0.1, -1.0 / 3})};
  edits[0].number = 0;
  edits[0].array = {{3},
                    std::make_shared<const std::vector<double>>(
                        std::vector{-0.0, std::numeric_limits<double>::infinity(),
                                    -std::numeric_limits<double>::infinity()})};
  EXPECT_EQ(edits_from_json(edits_to_json(edits)), edits);
}

TEST(Edits, ThatSayNothingAreRefused) {
  for (const char* text :
       {"", "zero", "wipe blocks.1.output", "scale blocks.1.output", "scale blocks.1.output x",
        "scale blocks.1.output 1,2", "zero blocks.1.output 3", "set a 1 2", "noise embeddings",
        "noise embeddings sd=-1", "permute a", "copy blocks", "zero a head=x",
        "zero a head=", "zero a head=1 head=2", "set a nan", "set a inf"})
    EXPECT_THROW(parse_edit(text), InvalidInput) << text;
  for (const char* json :
       {"", "{}", "[1]", "[{}]", R"([{"op": "zero"}])", R"([{"op": "wipe", "value": "a"}])",
        R"([{"op": "zero", "value": "a", "more": 1}])",
        R"([{"op": "set", "value": "a", "array": {"shape": [3], "numbers": [1, 2]}}])",
        R"([{"op": "set", "value": "a", "array": {"shape": [-1], "numbers": []}}])",
        R"([{"op": "set", "value": "a", )"
        R"("array": {"shape": [9000000000, 9000000000], "numbers": [1]}}])"})
    EXPECT_THROW(edits_from_json(json), InvalidInput) << json;
}

TEST(Edits, OfJsonSayWhatTheirTextMustSayAndNoMore) {
  const auto refusal = [](const std::string& fields) -> std::string {
    try {
      edits_from_json(R"([{"value": "a", )" + fields + "}]");
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "";
  };
  using testing::HasSubstr;
  for (const char* op : {"set", "add", "scale"}) {
    EXPECT_THAT(refusal(fmt::format(R"("op": "{}")", op)), HasSubstr("needs a number")) << op;
    EXPECT_EQ(refusal(fmt::format(R"("op": "{}", "number": 0)", op)), "") << op;
  }
  for (const char* number : {"", R"(, "number": 0)", R"(, "number": -1)", R"(, "number": "NaN")",
                             R"(, "number": "Infinity")"})
    EXPECT_THAT(refusal(fmt::format(R"("op": "noise"{})", number)), HasSubstr("above 0")) << number;
  EXPECT_THAT(refusal(R"("op": "permute")"), HasSubstr("needs the axis"));
  const std::string array = R"("array": {"shape": [1], "numbers": [1]})";
  EXPECT_THAT(refusal(R"("op": "scale", "number": 2, )" + array), HasSubstr("'array'"));
  EXPECT_THAT(refusal(R"("op": "set", "number": 2, )" + array), HasSubstr("one of them"));
  EXPECT_EQ(refusal(R"("op": "set", )" + array), "");
  EXPECT_THAT(refusal(R"("op": "zero", "number": 2)"), HasSubstr("'number'"));
  EXPECT_THAT(refusal(R"("op": "mean", "seed": 2)"), HasSubstr("'seed'"));
  EXPECT_THAT(refusal(R"("op": "noise", "number": 2, "axis": "key")"), HasSubstr("'axis'"));
  EXPECT_THAT(refusal(R"("op": "freeze", "source": "other.a")"), HasSubstr("'source'"));
}

}  // namespace
}  // namespace whyformer
