// The program at work, for tests that talk to it or end it.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace whyformer::cli {

// The program at work, with a pipe to it and one from it.
class Running {
 public:
  explicit Running(std::vector<std::string> arguments) {
    int in[2], out[2];
    EXPECT_EQ(pipe2(in, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(out, O_CLOEXEC), 0);
    process_ = fork();
    if (process_ == 0) {
      dup2(in[0], STDIN_FILENO);
      dup2(out[1], STDOUT_FILENO);
      dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
      std::vector<char*> words{const_cast<char*>(WHYFORMER_BINARY)};
      for (std::string& argument : arguments) words.push_back(argument.data());
      words.push_back(nullptr);
      execv(WHYFORMER_BINARY, words.data());
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    to_ = in[1];
    from_ = out[0];
  }
  ~Running() {
    if (process_ > 0) send(SIGKILL), end();
    close(from_);
  }

  void say(const std::string& text) const {
    EXPECT_EQ(write(to_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  std::string line() const {
    std::string text;
    for (char c = 0; c != '\n' && read(from_, &c, 1) == 1;) text += c;
    return text;
  }
  void send(int signal) const { kill(process_, signal); }
  // 128 + signal where one ended it, as shells have it.
  int end() {
    close(to_);
    int status = 0;
    waitpid(process_, &status, 0);
    process_ = -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

 private:
  pid_t process_ = -1;
  int to_ = -1, from_ = -1;
};

}  // namespace whyformer::cli
