// Names and labels in files that try to steer the terminal: they are spelled out wherever they
// leave the program.
#include <nlohmann/json.hpp>

#include "command_line_fixture.h"

namespace whyformer::cli {
namespace {

using testing::HasSubstr;

// Sets the title, clears the screen, writes from right to left, and goes to the start of the line.
const std::string kHostile = "\x1b]0;owned\x07\x1b[2J\u202e\u009b31m\r";

// Fields of protocol buffers: numbers, and strings or messages.
std::string number(int field, int value) {
  return {static_cast<char>(field << 3), static_cast<char>(value)};
}
std::string text(int field, const std::string& bytes) {
  std::string length;
  for (size_t left = bytes.size(); length.empty() || left > 0; left >>= 7) {
    length += static_cast<char>((left & 127) | (left > 127 ? 128 : 0));
  }
  return static_cast<char>((field << 3) | 2) + length + bytes;
}

std::string value_info(const std::string& name, int columns) {
  const std::string axes = text(1, number(1, 1)) + text(1, number(1, columns));
  return text(1, name) + text(2, text(1, number(1, 1) + text(2, axes)));
}

// y = x W with x [1, 4] and W [4, 3], each with a hostile name.
std::string hostile_onnx() {
  const std::string x = "x" + kHostile, y = "y" + kHostile, weight = "w" + kHostile;
  const std::string node =
      text(1, x) + text(1, weight) + text(2, y) + text(3, "node" + kHostile) + text(4, "MatMul");
  const std::string tensor =
      number(1, 4) + number(1, 3) + number(2, 1) + text(8, weight) + text(9, std::string(48, '\0'));
  const std::string graph = text(1, node) + text(2, "g") + text(5, tensor) +
                            text(11, value_info(x, 4)) + text(12, value_info(y, 3));
  return number(1, 8) + text(7, graph) + text(8, number(2, 17));
}

class HostileText : public CommandLine {
 protected:
  // A copy of the built-in model whose labels are hostile.
  std::string hostile_model() const {
    std::filesystem::copy(WHYFORMER_SOURCE_DIR "/models/sentiment", folder_ / "model");
    auto config = nlohmann::json::parse(read("model/config.json"));
    config["id2label"] = {{"0", "bad" + kHostile}, {"1", "good" + kHostile}};
    config["label2id"] = {{"bad" + kHostile, 0}, {"good" + kHostile, 1}};
    write("model/config.json", config.dump());
    return path("model");
  }

  void expect_harmless(const std::string& arguments, const std::string& shown) const {
    const CommandResult answer = run(arguments);
    EXPECT_THAT(answer.out + answer.error, HasSubstr(shown)) << arguments;
    for (const char* steering : {"\x1b", "\x07", "\r", "\u202e", "\u009b"}) {
      EXPECT_EQ((answer.out + answer.error).find(steering), std::string::npos)
          << arguments << "\n"
          << answer.out << answer.error;
    }
  }
};

TEST_F(HostileText, LabelsInErrorsAndReports) {
  const std::string model = " --model " + hostile_model();
  expect_harmless("explain fine --method gae" + model,
                  "good\\x1b]0;owned\\x07\\x1b[2J\\u{202e}\\x9b");
  expect_harmless("explain fine --target nope" + model, "good\\x1b]0;owned");
  expect_harmless("explain fine --json - --method gae" + model, "good\\u001b]0;owned\\u0007");
  expect_harmless("inspect" + model, "good\\x1b]0;owned");
  expect_harmless("inspect --json" + model, "good\\u001b]0;owned");
  expect_harmless("inspect --relevance" + model, "good\\x1b]0;owned");
  expect_harmless("trace fine --save " + path("maps") + model, "good\\x1b]0;owned");
  write("texts", "fine\nbad\n");
  expect_harmless("importance --method gae --target 1 --file " + path("texts") + model,
                  "good\\x1b]0;owned");
  expect_harmless("explain --method gae --file " + path("texts") + model, "good\\u001b]0;owned");
}

TEST_F(HostileText, NamesInAnOnnxFile) {
  write("model.onnx", hostile_onnx());
  const std::string model = path("model.onnx");
  expect_harmless("inspect " + model, "x\\x1b]0;owned");
  expect_harmless("inspect --json " + model, "x\\u001b]0;owned");
  expect_harmless("inspect --shape y=1 " + model, "x\\x1b]0;owned");
  write("rows.csv", "a,b\n1,2\n");
  expect_harmless("explain --table " + path("rows.csv") + " --model " + model, "columns");
  write("four.csv", "a\x1b]0;owned\x07\u202e,b,c,d\n1,2,3,4\n5,6,7,8\n");
  expect_harmless("explain --row 0 --method shap --table " + path("four.csv") + " --model " + model,
                  "a\\x1b]0;owned");
  expect_harmless("importance --method shap --table " + path("four.csv") + " --model " + model,
                  "a\\x1b]0;owned");
  EXPECT_EQ(
      run("inspect --html " + path("page.html") + " --svg " + path("picture.svg") + " " + model)
          .code,
      0);
  for (const char* file : {"page.html", "picture.svg"}) {
    EXPECT_THAT(read(file), testing::Not(HasSubstr("\x1b"))) << "XML has no control characters";
  }
}

TEST_F(HostileText, NamesThatAreNoUtf8AreShownAllTheSame) {
  std::string bytes = hostile_onnx();
  for (size_t at = bytes.find("\x1b]0"); at != bytes.npos; at = bytes.find("\x1b]0"))
    bytes.replace(at, 3, "\xff\xfe\xfd");
  write("model.onnx", bytes);
  const CommandResult answer = run("inspect --json " + path("model.onnx"));
  EXPECT_EQ(answer.code, 0) << answer.error;
  EXPECT_THAT(nlohmann::json::parse(answer.out)["inputs"][0]["name"].get<std::string>(),
              HasSubstr("x\ufffd\ufffd\ufffd;owned"));
}

TEST_F(HostileText, TokensAndNamesOfFiles) {
  std::filesystem::copy(WHYFORMER_SOURCE_DIR "/models/sentiment", folder_ / "model");
  auto tokenizer = nlohmann::json::parse(read("model/tokenizer.json"));
  tokenizer["added_tokens"].push_back({{"id", 9},
                                       {"content", "evil" + kHostile},
                                       {"special", true},
                                       {"single_word", false},
                                       {"lstrip", false},
                                       {"rstrip", false},
                                       {"normalized", false}});
  write("model/tokenizer.json", tokenizer.dump());
  write("text", "evil" + kHostile);
  expect_harmless("tokenize --text \"$(cat " + path("text") + ")\" --model " + path("model"),
                  "evil\\x1b]0;owned");
  expect_harmless("tokenize --json --text \"$(cat " + path("text") + ")\" --model " + path("model"),
                  "evil\\u001b]0;owned");
  const std::string name = path("file" + kHostile);
  write("file" + kHostile, "no picture");
  expect_harmless("explain --picture '" + name + "'", "file\\x1b]0;owned");
  expect_harmless("explain fine --model '" + name + "'", "file\\x1b]0;owned");
  expect_harmless("explain fine --method gae --svg '" + name + ".svg'", "wrote ");
  expect_harmless("explain '--" + kHostile + "'", "\\x1b]0;owned");
  expect_harmless("'" + kHostile + "'", "\\x1b]0;owned");
}

}  // namespace
}  // namespace whyformer::cli
