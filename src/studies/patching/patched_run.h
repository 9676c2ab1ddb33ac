// The run of one input with its named values, and runs that go on from it with some of them
// replaced.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "discovery/named_values.h"
#include "run/input.h"
#include "studies/patching/answer_metric.h"
#include "whyformer/patching.h"

namespace whyformer {

// Values by name, [1, …] with their axes as they are told.
using ValuesByName = std::map<std::string, Tensor, std::less<>>;

// Told how many runs were made, and of how many whole forwards that was the work; throws
// Interrupted where the user wants to stop.
using RunsMade = std::function<void(int64_t runs, double forwards)>;

class PatchedRun {
 public:
  // With `entering` in place of what the input gives, as noise on its vectors.
  PatchedRun(Input input, int64_t memory_bytes, ValuesByName entering = {});

  const Input& input() const { return input_; }
  const std::vector<double>& outputs() const { return outputs_; }
  const NamedValues& names() const { return names_of(1); }
  // Encoder blocks in their order: "blocks.0", "blocks.1", …
  const std::vector<std::string>& blocks() const { return blocks_; }
  // Throws InvalidInput for a name that there is not.
  const Tensor& value(const std::string& name) const;
  // The table that the vectors at "words" are picked from; nothing where that was not recognised.
  std::optional<Tensor> vector_table() const;
  // The gradient of a number with the given slope by each output, at those values.
  ValuesByName gradients(const std::vector<double>& slopes,
                         const std::vector<std::string>& names) const;

  // What happens at a value on the way: it is changed, or held as it is in this run.
  struct Stop {
    std::string name;
    bool held = false;
  };
  // Gets the value as it is by then in one of the samples, without the batch, to change it.
  using Change = std::function<void(int64_t sample, size_t stop, Tensor value)>;
  using TakeRow = std::function<void(int64_t sample, const Tensor& row)>;

  // Runs on from the first of the stops, which must be in the order of the graph. `take` gets what
  // each sample then has at `read`; the outputs [outputs] where that is empty. Samples run together
  // as far as the memory allows, and give the same bits as alone.
  void go_on(const std::vector<Stop>& stops, int64_t samples, const Change& change,
             const std::string& read, const TakeRow& take, const RunsMade& made) const;
  // About which share of a forward a run from there is.
  double forwards_behind(const std::string& name) const;
  // The answers alone.
  std::vector<std::vector<double>> answers(const std::vector<Stop>& stops, int64_t samples,
                                           const Change& change, const RunsMade& made) const;

 private:
  struct Batch {
    FedGraph fed;
    NamedValues names;
  };
  const Batch& batch(int64_t size) const;
  const NamedValues& names_of(int64_t size) const { return batch(size).names; }
  // What is known of this run and lies in front of the value, so that nothing above is run again.
  std::vector<std::string> in_front_of(const std::string& name) const;
  Tensor repeated(const NamedValue& at, const Tensor& value, int64_t size) const;
  Tensor held_at(const Stop& stop, const Batch& batch, const Feeds& feeds, int64_t size,
                 bool is_first) const;
  Feeds feeds_from(const Batch& batch, const std::string& first, int64_t size) const;

  Input input_;
  ValuesByName entering_;
  int64_t most_together_ = 1;
  std::vector<std::string> blocks_;
  ValuesByName values_;
  std::vector<double> outputs_;
  mutable std::map<int64_t, std::unique_ptr<Batch>> batches_;
};

}  // namespace whyformer
