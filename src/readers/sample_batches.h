// Samples of many inputs, run in batches of equal shapes. A batch runs as soon as it is full, so
// few inputs are in memory at once, and they come in their order as far as equal shapes allow.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <vector>

#include "models/graph_source.h"

namespace whyformer {

class SampleBatches {
 public:
  // How many samples of so many tokens may run together; `graph` may be for another number.
  using Room = std::function<int64_t(const ModelGraph& graph, int64_t tokens)>;
  // Gets the numbers of the inputs that run together.
  using Take = std::function<void(const FedGraph& together, std::span<const size_t> numbers)>;

  SampleBatches(const GraphSource& source, RunKind kind, Room room, Take take);

  void add(size_t number, Sample sample);
  // Runs what waits.
  void finish();

 private:
  struct Waiting {
    std::vector<Sample> samples;
    std::vector<size_t> numbers;
    size_t room = 1;
  };
  size_t room_for(const Sample& sample);
  void run(Waiting& waiting);

  const GraphSource& source_;
  RunKind kind_;
  Room room_;
  Take take_;
  std::shared_ptr<const ModelGraph> known_;  // of the first sample
  int64_t known_tokens_ = 1, known_size_ = 1;
  int64_t waiting_numbers_ = 0;
  std::map<SampleShapes, Waiting> waiting_;
};

}  // namespace whyformer
