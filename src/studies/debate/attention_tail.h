// Restarts behind one attention map: the answers of a model whose map is replaced, with everything
// in front of it as it was.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "run/run.h"

namespace whyformer {

// Where the output reads one row, only that row of the last layer's map is there, and only it is
// run.
class AttentionTail {
 public:
  // The run must have kept every value, and outlive the tail. Throws InvalidInput where the layer's
  // map is no map over the units.
  AttentionTail(const Run& run, int layer);

  int64_t heads() const { return shape_[1]; }
  int64_t rows() const { return shape_[2]; }
  int64_t keys() const { return shape_[3]; }
  int64_t first_row() const { return first_row_; }  // the token that row 0 belongs to
  // [heads, rows, keys] as it was, row-major.
  const std::vector<double>& observed() const { return observed_; }
  int64_t map_size() const { return heads() * rows() * keys(); }
  const Run& run() const { return run_; }

  using Outputs = std::vector<std::vector<double>>;
  // Of maps one after the other, each as `observed`; they run together, as many as fit the memory.
  Outputs outputs(const std::vector<double>& maps) const;

  // And the gradient of what the slopes of each map's outputs stand for, with respect to the map.
  struct Slopes {
    Outputs outputs;
    std::vector<double> gradients;  // as the maps
  };
  using SlopesOf =
      std::function<std::vector<double>(int64_t number, const std::vector<double>& outputs)>;
  Slopes slopes(const std::vector<double>& maps, const SlopesOf& slopes_of) const;

 private:
  struct Batch;
  std::shared_ptr<const Batch> batch_of(int64_t count) const;
  int64_t max_at_once() const;
  template <class Take>
  void in_batches(const std::vector<double>& maps, Keep keep, const Take& take) const;

  const Run& run_;
  int layer_;
  Shape shape_;  // of the map, batch in front
  int64_t first_row_ = 0;
  std::vector<double> observed_;
  int64_t bytes_of_one_ = 0;
  mutable std::shared_ptr<const Batch> last_batch_;
};

// The value of a layer's map that the output depends on, which may have only some of its rows.
struct TailMap {
  Value value;
  int64_t first_row = 0;
};
TailMap tail_map(const ModelGraph& graph, int layer);

// What runs behind some values on the way to the output, and what it reads that was there before.
struct TailValues {
  std::vector<Value> read;  // in the order of the graph
  int64_t made = 0;         // numbers in all values behind
};
TailValues values_behind(const Graph& graph, const std::vector<Value>& from, Value output);

}  // namespace whyformer
