// Finished inputs of an evaluation in a file, so that a stopped one goes on where it was. Inputs
// are known by what they hold: one file may serve several corpora.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "whyformer/evaluation.h"
#include "whyformer/growing_file.h"

namespace whyformer {

class KeptInputs {
 public:
  // Throws InvalidInput where the file keeps inputs of another question (another model, method,
  // metric, seed, …), or is no such file. Nothing is written before the first call of add().
  KeptInputs(std::filesystem::path path, const Model& model, const EvaluationRequest& request);

  // How many the file had when it was opened.
  int64_t size() const { return static_cast<int64_t>(before_.size()); }
  // The input measured before, by the name it has now. Broken entries are never found. May be
  // called from any thread, also beside add().
  std::optional<EvaluatedInput> find(const EvaluationEntry& entry) const;
  // Adds a finished input to the file, unless it has a problem or is there already.
  void add(const EvaluationEntry& entry, const EvaluatedInput& input);
  void finish() { file_.finish(); }

 private:
  GrowingFile file_;
  std::string question_;
  std::map<std::string, EvaluatedInput> before_;  // by content, as the file was opened
  std::set<std::string> added_;
  bool started_ = false;
};

}  // namespace whyformer
