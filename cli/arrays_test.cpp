// Models of any kind, given arrays on the command line.
#include <bit>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command_line_fixture.h"

namespace whyformer::cli {
namespace {

using testing::HasSubstr;

const std::string kDecoder = WHYFORMER_SOURCE_DIR "/tests/golden/onnx/models/t5.eager.new.18.onnx";

// A safetensors file with the ids of an encoder and of a decoder.
std::string ids_of_both() {
  const std::vector<int64_t> ids{5, 9, 3, 7, 2, 8, 4, 6, 0, 3, 9, 5};
  const nlohmann::json header{
      {"input_ids", {{"dtype", "I64"}, {"shape", {1, 8}}, {"data_offsets", {0, 64}}}},
      {"decoder_input_ids", {{"dtype", "I64"}, {"shape", {1, 4}}, {"data_offsets", {64, 96}}}}};
  const std::string text = header.dump();
  const uint64_t length = text.size();
  std::string file(reinterpret_cast<const char*>(&length), sizeof length);
  file += text;
  return file.append(reinterpret_cast<const char*>(ids.data()), ids.size() * sizeof(int64_t));
}

TEST_F(CommandLine, ExplainsArraysByStreamsAndLeavesOutWhatHasNoMeaning) {
  write("ids.safetensors", ids_of_both());
  const CommandResult answer =
      run("explain --model " + kDecoder + " --inputs " + path("ids.safetensors") +
          " --element 0,3,7 --method gae,alti,leave-one-out --option gae.start=1 --hiding-id 1 "
          "--json " +
          path("out.json") + " --html " + path("out.html") + " --svg " + path("out.svg"));
  ASSERT_EQ(answer.code, 0) << answer.error;
  EXPECT_THAT(answer.error, HasSubstr("alti was left out"));
  EXPECT_THAT(answer.out, HasSubstr("input_ids 0 = 5"));
  const auto json = nlohmann::json::parse(read("out.json"));
  EXPECT_EQ(json["schema"], "whyformer.explanation/1");
  EXPECT_THAT(json["target"]["label"], testing::EndsWith("[0,3,7]"));
  ASSERT_EQ(json["attributions"].size(), 2u);
  EXPECT_EQ(json["attributions"][0]["options"]["start"], 1);
  EXPECT_EQ(json["attributions"][1]["scores"].size(), 12u);
  EXPECT_EQ(json["streams"][0]["count"], 8);
  EXPECT_EQ(json["streams"][1]["first"], 8);
  EXPECT_EQ(json["units"][8 + 2]["text"], "decoder_input_ids 2 = 9");
  ASSERT_EQ(json["refused"].size(), 1u);
  EXPECT_EQ(json["refused"][0]["method"], "alti");
  EXPECT_THAT(read("out.html"), HasSubstr("</html>"));
  EXPECT_THAT(read("out.svg"), testing::AllOf(HasSubstr("</svg>"), testing::Not(HasSubstr("()"))));
}

TEST_F(CommandLine, TakesABatchWhereItIsSaidToBe) {
  const std::string file = WHYFORMER_SOURCE_DIR "/tests/golden/onnx/layouts/tokens-first.onnx";
  const auto report = [&](const std::string& options) {
    return run("inspect " + file + " --shape numbers=5,3,4 " + options).out;
  };
  EXPECT_THAT(report(""), HasSubstr("has its tokens in front of the batch"));
  EXPECT_THAT(report("--batch-axis numbers=1"), HasSubstr("has its tokens in front of the batch"));
  EXPECT_THAT(report("--batch-axis numbers=none"), HasSubstr("has no axis for a batch"));
  expect_refusal("inspect " + file + " --batch-axis numbers", "NAME=0, NAME=1 or NAME=none");
  expect_refusal("inspect " + file + " --batch-axis numbers=2", "NAME=0, NAME=1 or NAME=none");
  expect_refusal("inspect " + file + " --batch-axis other=1", "no input 'other'");
}

TEST_F(CommandLine, ChoosesAnOutputOfAnOnnxFileForAnyKindOfInput) {
  const std::string file =
      WHYFORMER_SOURCE_DIR "/tests/golden/onnx/models/ft-transformer.sdpa.legacy.14.onnx";
  write("row.csv", "a,b,c,d,e,f\n1,0.5,0.2,0,1,2\n");
  expect_refusal("explain --model " + file + " --table " + path("row.csv") + " --output none",
                 "no output 'none'; its outputs are '");
  expect_refusal("explain --output logits 'a fine film'", "--output goes with an ONNX file");
  expect_refusal("explain --model " + std::string(WHYFORMER_SOURCE_DIR "/models/sentiment") +
                     " --output logits 'a fine film'",
                 "outputs have no names");
}

TEST_F(CommandLine, EndsWithAnErrorWhereNoMethodHasAMeaning) {
  write("ids.safetensors", ids_of_both());
  expect_refusal("explain --model " + kDecoder + " --inputs " + path("ids.safetensors") +
                     " --method alti,attention-flow",
                 "2 token streams");
  expect_refusal("explain --model " + kDecoder + " --inputs " + path("ids.safetensors") +
                     " --method leave-one-out",
                 "--hiding-id");
}

TEST_F(CommandLine, OneMethodThatRefusesATextLeavesTheOthers) {
  const CommandResult answer = run(
      "explain 'a fine film' --method gae,raw-attention --option raw-attention.layer=99 --json -");
  ASSERT_EQ(answer.code, 0) << answer.error;
  const auto json = nlohmann::json::parse(answer.out);
  EXPECT_EQ(json["attributions"].size(), 1u);
  EXPECT_EQ(json["refused"][0]["method"], "raw-attention");
}

}  // namespace
}  // namespace whyformer::cli
