// Files and lines that a command cannot use: one clear line, exit code 2, nothing half done.
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "command_line_fixture.h"

namespace whyformer::cli {
namespace {

class Refusals : public CommandLine {
 protected:
  // A copy of the built-in model's folder.
  std::string copied_model(const std::string& name) const {
    std::filesystem::copy(WHYFORMER_SOURCE_DIR "/models/sentiment", folder_ / name);
    return path(name);
  }
  std::string with_config(const std::string& name, const nlohmann::json& changes) const {
    const std::string folder = copied_model(name);
    auto config = nlohmann::json::parse(read(name + "/config.json"));
    config.update(changes);
    write(name + "/config.json", config.dump());
    return folder;
  }
};

TEST_F(Refusals, ConfigurationsThatMakeNoSense) {
  expect_refusal("explain x --model " + with_config("decoder", {{"is_decoder", true}}),
                 "export the model to ONNX");
  expect_refusal("explain x --model " + with_config("number", {{"hidden_act", 3}}),
                 "'hidden_act' must be a text but is 3");
  expect_refusal("explain x --model " + with_config("null", {{"hidden_act", nullptr}}),
                 "'hidden_act' must be a text but is null");
  expect_refusal("explain x --model " + with_config("negative", {{"layer_norm_eps", -1}}),
                 "'layer_norm_eps' must be");
  expect_refusal("explain x --model " + with_config("text", {{"layer_norm_eps", "x"}}),
                 "'layer_norm_eps' must be");
}

TEST_F(Refusals, ModelFilesThatAreNoFiles) {
  for (const char* command : {"explain x --model ", "inspect --model "}) {
    const std::string model = copied_model("model");
    std::filesystem::remove(model + "/model.safetensors");
    ASSERT_EQ(mkfifo((model + "/model.safetensors").c_str(), 0600), 0);
    expect_refusal(command + model, "model.safetensors': it is not a file");
    std::filesystem::remove(model + "/model.safetensors");
    std::filesystem::create_symlink("model.safetensors", model + "/model.safetensors");
    expect_refusal(command + model, "model.safetensors': Too many levels of symbolic links");
    std::filesystem::remove_all(model);
  }
}

TEST_F(Refusals, ABlankLineOfJsonIsNamedAndNotSkipped) {
  const CommandResult answer = run("tokenize --json", R"(printf '%s\n' '"a"' '' '"b"' |)");
  EXPECT_EQ(answer.code, 2);
  EXPECT_EQ(std::count(answer.out.begin(), answer.out.end(), '\n'), 1);
  EXPECT_THAT(answer.error, testing::HasSubstr("line 2 is empty"));
}

TEST_F(Refusals, OneFileThatCannotBeWrittenLeavesTheOthersUnwritten) {
  write("old.json", "kept");
  expect_refusal("explain x --method rollout --html " + path("a.html") + " --json " +
                     path("old.json") + " --svg " + path("missing/x.svg"),
                 "cannot write '" + path("missing/x.svg") + "'");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.html"));
  EXPECT_EQ(read("old.json"), "kept");
  expect_refusal("inspect --svg " + path("a.svg") + " --html " + path("missing/x.html"),
                 "cannot write");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.svg"));
}

}  // namespace
}  // namespace whyformer::cli
