// What heads are measured on: texts, or pictures, with what is right about them.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "run/explained.h"
#include "whyformer/heads.h"

namespace whyformer {

class HeadExamples {
 public:
  virtual ~HeadExamples() = default;

  virtual ModelName model() const = 0;
  virtual std::string kind() const = 0;                // "texts" or "pictures", for people
  virtual std::optional<Problem> problem() const = 0;  // nothing without a classifier
  virtual const std::vector<std::string>& output_names() const = 0;

  virtual int64_t count() const = 0;
  virtual const std::optional<std::vector<std::string>>& labels(int64_t example) const = 0;
  virtual const std::string& place(int64_t example) const = 0;

  // The run of one example, with what the settings ask for.
  virtual std::unique_ptr<Explained> run(int64_t example, Explained::Settings settings) const = 0;

  // Examples that run together, about so many tokens at once; in the order of the corpus as far as
  // equal lengths allow, so that those of work that was cut short are no special ones.
  virtual std::vector<std::vector<int64_t>> batches(int64_t tokens_at_once) const = 0;
  virtual Run run_together(std::span<const int64_t> examples, DType dtype) const = 0;

  // What the reader must know about the examples.
  virtual std::vector<std::string> notes() const { return {}; }
};

}  // namespace whyformer
