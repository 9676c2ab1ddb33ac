// Answers come as the lines do, and stay whatever ends the program.
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "command_line_fixture.h"
#include "running_program.h"

namespace whyformer::cli {
namespace {

using Clock = std::chrono::steady_clock;
using testing::HasSubstr;

using Streams = CommandLine;

int64_t lines_in(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

TEST_F(Streams, EndlessInputIsAnsweredLineByLine) {
  const CommandResult answer =
      run("explain --method gae | head -1", "timeout 60 yes 'good film' |");
  EXPECT_EQ(answer.code, 0);
  EXPECT_EQ(nlohmann::json::parse(answer.out).at("text"), "good film");
}

TEST_F(Streams, AnAnswerComesBeforeTheNextLine) {
  Running program({"explain", "--method", "gae"});
  for (const std::string text : {"good film", "bad film", "so bad it is good"}) {
    program.say(text + "\n");
    EXPECT_EQ(nlohmann::json::parse(program.line()).at("text"), text);
  }
  program.say("no line end");
  EXPECT_EQ(program.end(), 0);
  EXPECT_EQ(nlohmann::json::parse(program.line()).at("text"), "no line end");
}

TEST_F(Streams, FinishedAnswersStayWhenTheProgramIsKilled) {
  for (const int signal : {SIGTERM, SIGKILL, SIGINT}) {
    write("answers.jsonl", "what was here before\n");
    Running program({"explain", "--method", "gae", "--file", "-", "--json", path("answers.jsonl")});
    program.say("good film\nbad film\nhalf a li");
    const auto give_up = Clock::now() + std::chrono::seconds(60);
    while (lines_in(read("answers.jsonl")) < 2 && Clock::now() < give_up) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    program.send(signal);
    EXPECT_EQ(program.end(), 128 + signal);
    std::istringstream answers(read("answers.jsonl"));
    std::vector<std::string> texts;
    for (std::string line; std::getline(answers, line);)
      texts.push_back(nlohmann::json::parse(line).at("text"));
    EXPECT_THAT(texts, testing::ElementsAre("good film", "bad film")) << signal;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      EXPECT_EQ(entry.path().filename(), "answers.jsonl");
    }
  }
}

TEST_F(Streams, KillsAtAnyMomentLeaveWholeLines) {
  std::string lines;
  for (int i = 0; i < 500; ++i)
    lines += "the story is thin and the jokes are stale, but the two leads are so charming\n";
  write("lines.txt", lines);
  for (int milliseconds = 200; milliseconds < 500; milliseconds += 60) {
    std::filesystem::remove(path("answers.jsonl"));
    Running program({"explain", "--method", "saliency", "--file", path("lines.txt"), "--json",
                     path("answers.jsonl")});
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    program.send(SIGKILL);
    program.end();
    const std::string answers = read("answers.jsonl");
    EXPECT_TRUE(answers.empty() || answers.back() == '\n');
  }
}

TEST_F(Streams, CtrlCIsHeardWhileWaitingForALine) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"explain", "--method", "gae"}, {"tokenize", "--json"}}) {
    Running program(arguments);
    program.say("\"good film\"\n");
    program.line();
    const auto start = Clock::now();
    program.send(SIGINT);
    EXPECT_EQ(program.end(), 130);
    EXPECT_LT(Clock::now() - start, std::chrono::seconds(5));
  }
}

TEST_F(Streams, AFileThatCannotBeReadLeavesTheAnswersOfBefore) {
  write("answers.jsonl", "what was here before\n");
  EXPECT_EQ(
      run("explain --method gae --file " + path("none.txt") + " --json " + path("answers.jsonl"))
          .code,
      2);
  write("empty.txt", "");
  EXPECT_EQ(
      run("explain --method gae --file " + path("empty.txt") + " --json " + path("answers.jsonl"))
          .code,
      2);
  EXPECT_EQ(read("answers.jsonl"), "what was here before\n");
}

TEST_F(Streams, AnswersDoNotOverwriteWhatIsRead) {
  write("lines.txt", "good film\n");
  expect_refusal(
      "explain --method gae --file " + path("lines.txt") + " --json " + path("lines.txt"),
      "would overwrite what is read");
  EXPECT_EQ(read("lines.txt"), "good film\n");
}

TEST_F(Streams, ALineWithoutEndIsRefusedAndTheNextIsExplained) {
  write("long.txt", std::string(20'000'000, 'a') + "\ngood film\n");
  const CommandResult answer = run("explain --method gae --file " + path("long.txt"));
  EXPECT_EQ(answer.code, 2);
  std::istringstream lines(answer.out);
  std::string first, second;
  std::getline(lines, first);
  std::getline(lines, second);
  EXPECT_THAT(first, HasSubstr("line 1 is longer than 16 MB"));
  EXPECT_LT(first.size(), 1000u);
  EXPECT_EQ(nlohmann::json::parse(second).at("text"), "good film");
}

TEST_F(Streams, ALimitReadsNoFurther) {
  const CommandResult answer =
      run("heads - --limit 3 --measure confidence --json -", "timeout 60 yes 'good film' |");
  EXPECT_EQ(answer.code, 0);
  EXPECT_EQ(nlohmann::json::parse(answer.out).at("examples"), 3);
}

TEST_F(Streams, CtrlCEndsAnyCommandSoon) {
  std::string words;
  for (int i = 0; i < 100; ++i) words += "warm ";
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"explain", words, "--method", "smooth-grad", "-o",
                                 "smooth-grad.samples=10000"},
        {"explain", words, "--method", "leave-one-out,kernel-shap", "-o",
         "kernel-shap.samples=1000000"}}) {
    Running program(arguments);
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    const auto start = Clock::now();
    program.send(SIGINT);
    EXPECT_EQ(program.end(), 130) << arguments[3];
    EXPECT_LT(Clock::now() - start, std::chrono::seconds(4)) << arguments[3];
  }
}

}  // namespace
}  // namespace whyformer::cli
