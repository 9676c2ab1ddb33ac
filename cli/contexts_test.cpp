// Rows that explained ones attend to: where the program takes them, and where it refuses them.
#include <nlohmann/json.hpp>

#include "command_line_fixture.h"

namespace whyformer::cli {
namespace {

const std::string kModels = WHYFORMER_SOURCE_DIR "/tests/golden";

class Contexts : public CommandLine {
 protected:
  // The golden SAINT of columns and rows: its weights, as they are called in the checkpoint.
  std::string saint() const {
    std::ifstream file(kModels + "/tables/models/saint.colrow.safetensors", std::ios::binary);
    std::string all((std::istreambuf_iterator<char>(file)), {});
    uint64_t size = 0;
    std::memcpy(&size, all.data(), sizeof size);
    const auto stored = nlohmann::json::parse(all.substr(8, size));
    nlohmann::json header = nlohmann::json::object();
    for (const auto& [name, tensor] : stored.items())
      header[name.starts_with("weights.") ? name.substr(8) : "other." + name] = tensor;
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');
    const uint64_t length = text.size();
    std::filesystem::create_directory(folder_ / "saint");
    write("saint/model.safetensors",
          std::string(reinterpret_cast<const char*>(&length), 8) + text + all.substr(8 + size));
    write("saint/table.json", R"({"schema": "whyformer.table/1", "model": {},
      "task": {"kind": "multiclass", "labels": ["no", "yes"], "output": "logits"},
      "columns": [{"name": "age", "kind": "number", "input": "x_cont", "at": [0]},
                  {"name": "job", "kind": "category", "input": "x_cat", "at": [0],
                   "categories": ["a", "b", "c"], "ids": [0, 1, 2]}]})");
    write("rows.csv", "age,job\n0.5,a\n-1,b\n0.2,c\n1.5,a\n");
    return path("saint");
  }
};

TEST_F(Contexts, AreRefusedWhereTheyMeanNothing) {
  const std::string missing = " --context " + path("no-such-file.csv");
  expect_refusal("explain --row 17" + missing, "--context and --context-mode go with a model");
  expect_refusal("explain 'a film'" + missing, "--context and --context-mode go with a model");
  expect_refusal("explain 'a film' --model " WHYFORMER_SOURCE_DIR "/models/sentiment" + missing,
                 "a context has no meaning for 'sentiment'");
  write("wine.csv", "1,2\n");
  expect_refusal("explain --model " + kModels +
                     "/onnx/models/ft-transformer.sdpa.legacy.14.onnx --table " + path("wine.csv") +
                     missing,
                 "a context has no meaning for");
  expect_refusal("explain 'a film' --by rows", "--by goes with a row of a table");
  expect_refusal("explain --row 17 --by rows", "which rows count can be told");
}

TEST_F(Contexts, ARowIsExplainedInItsBlockOfTheTableInAFileOrAlone) {
  const std::string start = "explain --model " + saint() + " --table " + path("rows.csv") +
                            " --row 1 --method leave-one-out --json - ";
  const auto context = [&](const std::string& options) {
    const CommandResult answer = run(start + options);
    EXPECT_EQ(answer.code, 0) << answer.error;
    const auto json = nlohmann::json::parse(answer.out);
    return json.contains("context") ? json["context"] : nlohmann::json();
  };
  const auto block = context("");
  EXPECT_EQ(block["from"], "block");
  EXPECT_EQ(block["rows"], 3);
  EXPECT_EQ(block["random"]["contexts"], 5);
  const auto file = context("--context " + path("rows.csv") + " --context-mode live");
  EXPECT_EQ(file["from"], "rows.csv");
  EXPECT_EQ(file["rows"], 4);
  EXPECT_EQ(file["mode"], "live");
  EXPECT_EQ(file["deviation"], 0);
  EXPECT_EQ(context("--context alone"), nlohmann::json());
}

TEST_F(Contexts, RowsOfTheContextAreUnitsOfReportsAndPictures) {
  const CommandResult answer =
      run("explain --model " + saint() + " --table " + path("rows.csv") +
          " --row 1 --by rows --json " + path("found.json") + " --html " + path("found.html") +
          " --attention-svg " + path("map.svg") + " --svg " + path("bars.svg"));
  ASSERT_EQ(answer.code, 0) << answer.error;
  EXPECT_THAT(answer.out, testing::HasSubstr("itself"));
  EXPECT_THAT(answer.out, testing::HasSubstr("row 2"));
  const auto found = nlohmann::json::parse(read("found.json"));
  EXPECT_EQ(found["units"].size(), 4);
  EXPECT_EQ(found["units"][0]["context_row"]["row"], -1);
  EXPECT_EQ(found["units"][1]["context_row"]["value"], "0.5, a");
  EXPECT_EQ(found["attributions"][0]["method"], "leave-one-out");
  EXPECT_TRUE(found["attributions"][0]["scores"][0].is_null());
  EXPECT_THAT(read("map.svg"), testing::HasSubstr("row 0"));
  EXPECT_THAT(read("found.html"), testing::HasSubstr("\"unit\":\"row\""));
}

}  // namespace
}  // namespace whyformer::cli
