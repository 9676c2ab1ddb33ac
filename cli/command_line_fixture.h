// Runs the program in a shell, in a folder of its own.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace whyformer::cli {

struct CommandResult {
  int code = -1;
  std::string out;
  std::string error;
};

class CommandLine : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "whyformer-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder_ / name, std::ios::binary).rdbuf();
    return text.str();
  }

  void write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
  }

  // Runs `whyformer ARGUMENTS` in a shell; `before` comes in front (a pipe, a variable).
  CommandResult run(const std::string& arguments, const std::string& before = "") const {
    const std::string command = before + " " + WHYFORMER_BINARY + " " + arguments + " 2>" +
                                path("stderr") + (before.empty() ? " </dev/null" : "");
    CommandResult answer;
    FILE* pipe = popen(command.c_str(), "r");
    std::array<char, 4096> buffer;
    while (const size_t count = fread(buffer.data(), 1, buffer.size(), pipe)) {
      answer.out.append(buffer.data(), count);
    }
    answer.code = WEXITSTATUS(pclose(pipe));
    answer.error = read("stderr");
    return answer;
  }

  // One line on standard error, exit code 2, nothing on standard output.
  void expect_refusal(const std::string& arguments, const std::string& message) const {
    const CommandResult answer = run(arguments);
    EXPECT_EQ(answer.code, 2) << arguments;
    EXPECT_EQ(answer.out, "") << arguments;
    EXPECT_THAT(answer.error, testing::HasSubstr(message)) << arguments;
    EXPECT_EQ(std::count(answer.error.begin(), answer.error.end(), '\n'), 1) << answer.error;
  }

  std::filesystem::path folder_;
};

}  // namespace whyformer::cli
