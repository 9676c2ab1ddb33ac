// Models that cannot be used get one clear line.
#include <string>

#include "command_line_fixture.h"

namespace whyformer::cli {
namespace {

const std::string kTinyBert = WHYFORMER_SOURCE_DIR "/tests/golden/models/bert";

TEST_F(CommandLine, RefusesBrokenModels) {
  const auto copy = [&](const std::string& name) {
    std::filesystem::copy(kTinyBert, folder_ / name);
    std::filesystem::copy(WHYFORMER_SOURCE_DIR "/models/sentiment/tokenizer.json",
                          folder_ / name / "tokenizer.json");
    return path(name);
  };
  std::string folder = copy("truncated");
  std::filesystem::resize_file(folder + "/model.safetensors", 1000);
  expect_refusal("explain x --model " + folder, "model.safetensors");
  folder = copy("badjson");
  std::ofstream(folder + "/config.json") << "{\"model_type\": ";
  expect_refusal("explain x --model " + folder, "'config.json' is not valid JSON");
  folder = copy("unknown");
  std::ofstream(folder + "/config.json") << R"({"model_type": "mystery"})";
  expect_refusal("explain x --model " + folder, "models of type 'mystery' are not supported");
  folder = copy("wrongshape");
  std::ofstream(folder + "/config.json")
      << R"({"model_type": "bert", "hidden_size": 24, "num_hidden_layers": 2,
             "num_attention_heads": 2, "intermediate_size": 99})";
  expect_refusal(
      "explain x --model " + folder,
      "intermediate.dense.weight' has the shape [40, 24] but config.json asks for [99, 24]");
  folder = copy("nohead");
  std::ofstream(folder + "/config.json")
      << R"({"model_type": "roberta", "architectures": ["RobertaForSequenceClassification"]})";
  expect_refusal("explain x --model " + folder, "lacks the tensor 'classifier.out_proj.weight'");
  folder = copy("toomanylayers");
  std::ofstream(folder + "/config.json")
      << R"({"model_type": "bert", "hidden_size": 24, "num_hidden_layers": 3,
             "num_attention_heads": 2, "intermediate_size": 40})";
  expect_refusal("explain x --model " + folder, "lacks the tensor 'bert.encoder.layer.2");
}

TEST_F(CommandLine, RefusesOnnxFilesThatCannotBeUsed) {
  const std::string golden = WHYFORMER_SOURCE_DIR "/tests/golden/onnx/QLinearAdd_int8.onnx";
  write("text.onnx", "This is a text, whatever its name says.\n");
  write("empty.onnx", "");
  std::filesystem::copy(golden, folder_ / "whole.onnx");
  std::filesystem::copy(golden, folder_ / "cut.onnx");
  std::filesystem::resize_file(folder_ / "cut.onnx", 300);
  for (const std::string& command : {"explain x --json " + path("out"), "inspect" + std::string(),
                                     "trace x --save " + path("out")}) {
    const std::string with = command + " --model ";
    expect_refusal(with + path("none.onnx"), "there is no '" + path("none.onnx") + "'");
    expect_refusal(with + path("text.onnx"),
                   "'" + path("text.onnx") + "': this is not a whole ONNX file");
    expect_refusal(with + path("empty.onnx"), "not a whole ONNX file");
    expect_refusal(with + path("cut.onnx"), "not a whole ONNX file");
  }
  expect_refusal("explain x --model " + path("whole.onnx"), "no tokenizer: put tokenizer.json");
  expect_refusal("tokenize x --model " + path("none.onnx"),
                 "there is no '" + path("none.onnx") + "'");
  expect_refusal("tokenize x --model " + path("whole.onnx"), "no tokenizer: put tokenizer.json");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
  // With a tokenizer it still is no model of texts; the tokenizer itself can be used.
  std::filesystem::copy(WHYFORMER_SOURCE_DIR "/models/sentiment/tokenizer.json",
                        folder_ / "tokenizer.json");
  expect_refusal("explain x --model " + path("whole.onnx"), "a text model takes token ids");
  EXPECT_EQ(run("tokenize x --model " + path("whole.onnx")).code, 0);
}

}  // namespace
}  // namespace whyformer::cli
