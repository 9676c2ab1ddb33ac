// The shared runs of inputs that have equal shapes, done as one: one product for all of them, and
// one walk back. Each gets the bits of a run of its own.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "graph/walk_back.h"
#include "run/input.h"
#include "run/needs.h"

namespace whyformer {

class RunBatch {
 public:
  // How many inputs like this one may run together in the memory.
  static int64_t most_together(const Input& input, const Needs& needs, int64_t memory_bytes);
  // Of the first inputs, as many as have equal shapes; null for fewer than two.
  static std::shared_ptr<RunBatch> of_first(std::span<const Input* const> inputs,
                                            const Needs& needs);

  int64_t size() const { return static_cast<int64_t>(targets_.size()); }
  // The values of one input.
  Pass pass_of(int64_t number) const;
  double seconds() const { return seconds_; }  // for each input, of the run

  // What is explained of one input.
  void set_target(int64_t number, int64_t target) { targets_[number] = target; }
  // [1, …]: by the targets that were set when the first was asked for; nothing where this input's
  // was another then, or where it is not wanted.
  std::optional<Tensor> gradient(int64_t number, Value value);

 private:
  RunBatch(FedGraph fed, std::vector<Value> read, const Needs& needs);

  std::shared_ptr<const ModelGraph> graph_;
  std::vector<Value> read_;
  bool walks_back_;
  Pass pass_;
  double seconds_ = 0;
  std::vector<int64_t> targets_, walked_targets_;
  std::unique_ptr<BackwardWalk> walk_;
};

}  // namespace whyformer
