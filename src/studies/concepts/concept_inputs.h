// What concept tests need of a model and its examples, whatever they are: graphs with their blocks'
// outputs, and what to feed them. Texts, pictures and tables each say it in their own file.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "discovery/attention_sites.h"
#include "graph/pass.h"

namespace whyformer {

// Whether the last block gives all its rows, or may leave out those that the output does not read.
enum class LastBlock { kReadRows, kAllRows };

// A graph for some examples at once.
struct BlockGraph {
  std::shared_ptr<const void> owner;  // keeps the graph alive
  const Graph* graph = nullptr;
  std::vector<Value> blocks = {};  // output of each block, [examples, tokens, width]
  Value output = {};               // [examples, outputs]
};

class ConceptInputs {
 public:
  virtual ~ConceptInputs() = default;

  virtual int64_t count() const = 0;
  // Examples of equal length fit one graph.
  virtual int64_t length(int64_t example) const = 0;
  // Called again and again for the same sizes: implementations keep what is costly to build.
  virtual BlockGraph graph(int64_t length, int64_t examples, LastBlock last) const = 0;
  // How many examples may run together.
  virtual int64_t max_at_once() const { return int64_t{1} << 30; }
  virtual Feeds feeds(const BlockGraph& graph, std::span<const int64_t> examples) const = 0;
};

}  // namespace whyformer
