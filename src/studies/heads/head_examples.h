// What heads are measured on: inputs of any kind, with what is right about them.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "readers/reader.h"
#include "readers/sample_batches.h"
#include "run/run.h"
#include "whyformer/heads.h"

namespace whyformer {

// Inputs are read when they are run: a corpus may not fit in memory.
class HeadExamples {
 public:
  // Throws InvalidInput for an input that the model cannot take, where that costs little to see.
  HeadExamples(const Reader& reader, const std::vector<LabelledInput>& corpus);

  std::string kind() const { return reader_.what(); }  // "texts", for people
  std::optional<Problem> problem() const { return answered_.problem; }
  const std::vector<std::string>& output_names() const { return answered_.labels; }

  int64_t count() const { return static_cast<int64_t>(corpus_.size()); }
  const std::optional<std::vector<std::string>>& labels(int64_t example) const {
    return corpus_[example].labels;
  }
  const std::string& place(int64_t example) const { return corpus_[example].place; }

  const DependencyTree* tree(int64_t example) const { return corpus_[example].tree.get(); }

  // One example as units. Throws InvalidInput where attention does not go over all of them.
  Input input(int64_t example, DType dtype) const;
  // The run of one example, with what the settings ask for. Throws as input().
  std::unique_ptr<Run> run(int64_t example, DType dtype, Run::Settings settings) const;

  // Calls take(graph with feeds, numbers of the examples) for examples that run together, about so
  // many tokens at once; in the order of the corpus as far as equal lengths allow, so that those of
  // work that was cut short are no special ones.
  void in_batches(int64_t tokens_at_once, DType dtype, const SampleBatches::Take& take) const;

  // What the reader must know about the examples.
  std::vector<std::string> notes() const;

 private:
  template <class Work>
  auto at(int64_t example, const Work& work) const;

  const Reader& reader_;
  const std::vector<LabelledInput>& corpus_;
  Answered answered_;
  int64_t max_at_once_ = 1;
  mutable std::vector<std::string> notes_of_inputs_;
};

}  // namespace whyformer
