// Restarts behind attention maps: the answers of a model whose maps in some layers are replaced,
// with everything in front of them as it was.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "run/run.h"

namespace whyformer {

// The map of one layer, [heads, rows, keys], among all that are replaced.
struct TailLayer {
  int layer = 0;
  int64_t heads = 0, rows = 0, keys = 0;
  int64_t first_row = 0;  // the token that row 0 belongs to
  int64_t first = 0;      // its place among the numbers of all maps

  int64_t size() const { return heads * rows * keys; }
};

// Where the output reads one row, only that row of the last layer's map is there, and only it is
// run.
class AttentionTail {
 public:
  // The run must have kept every value, and outlive the tail. Throws InvalidInput where a layer's
  // map is no map over the units.
  AttentionTail(const Run& run, const std::vector<int>& layers);
  AttentionTail(const Run& run, int layer) : AttentionTail(run, std::vector<int>{layer}) {}

  const std::vector<TailLayer>& layers() const { return layers_; }
  // Of the first of the layers.
  int64_t heads() const { return layers_[0].heads; }
  int64_t rows() const { return layers_[0].rows; }
  int64_t keys() const { return layers_[0].keys; }
  int64_t first_row() const { return layers_[0].first_row; }
  // The maps of all layers as they were, one behind the other, each row-major.
  const std::vector<double>& observed() const { return observed_; }
  int64_t map_size() const { return static_cast<int64_t>(observed_.size()); }
  const Run& run() const { return run_; }

  using Outputs = std::vector<std::vector<double>>;
  // Of maps one after the other, each as observed(); they run together, as many as fit the memory.
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
  std::vector<Value> maps_in(const ModelGraph& graph) const;
  Tensor map_of(const TailLayer& layer, std::span<const double> maps) const;
  template <class Take>
  void in_batches(const std::vector<double>& maps, Keep keep, const Take& take) const;

  const Run& run_;
  std::vector<TailLayer> layers_;
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
