// Answers to many inputs, as JSON lines: each is written before the next input is looked at.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "console.h"
#include "whyformer/error.h"
#include "whyformer/explanation.h"
#include "whyformer/growing_file.h"

namespace whyformer::cli {

class AnswerLines {
 public:
  // `path`: a file; empty or "-": standard output. `what`: the inputs, such as "lines"; `total`: 0
  // where it is not known.
  AnswerLines(const std::string& path, std::string what, int64_t total);

  // False where the user interrupted: there will be no more answers. An input that cannot be
  // explained keeps its place; its answer has `name` and what is wrong with it.
  bool add(const std::string& name, const std::function<Explanation()>& explain);
  bool add(const Explanation& explanation);
  bool add_problem(const std::string& name, const InvalidInput& error);

  // Throws Interrupted where the user interrupted, and InvalidInput where some inputs could not be
  // explained.
  void finish();

  int64_t count() const { return count_; }

 private:
  bool write(const std::string& line);

  std::string what_;
  std::unique_ptr<GrowingFile> file_;  // none: standard output
  ProgressBar bar_;
  int64_t total_, count_ = 0, failed_ = 0;
};

}  // namespace whyformer::cli
