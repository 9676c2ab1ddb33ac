// What concept tests need of a model and its examples, whatever they are: graphs with their blocks'
// outputs, and what to feed them. Readers give them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "discovery/attention_sites.h"
#include "graph/pass.h"
#include "whyformer/concepts.h"

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
  // What is said of the examples so far, one note for each that there is something to say about:
  // that texts were cut off, say.
  virtual std::vector<std::string> notes() const { return {}; }
};

// Examples [first, first + count) of the inputs.
struct ExampleRange {
  std::string name;
  int64_t first = 0;
  int64_t count = 0;
};

struct TargetExamples {
  ExampleRange examples;
  int64_t output = 0;
};

struct ConceptExamples {
  std::vector<ExampleRange> concepts;
  std::vector<ExampleRange> random;
  std::vector<TargetExamples> targets;
};

// The sets of a study as the user gives them.
struct GivenConcepts {
  const std::vector<ExampleSet>& concepts;
  const std::vector<ExampleSet>& random;
  const std::vector<TargetSet>& targets;
};

// The same as the study runs them.
struct ListedConcepts {
  std::unique_ptr<const ConceptInputs> inputs;
  ConceptExamples examples;
  std::string unit;  // what they are: "texts", "rows"
};

// `list` takes the inputs of a set and gives their range; `target` gives the name of a target and
// the number of its output.
template <class List, class Target>
ConceptExamples listed(List& list, const GivenConcepts& sets, const Target& target) {
  ConceptExamples examples;
  for (const ExampleSet& set : sets.concepts) {
    examples.concepts.push_back(list.add(set.name, set.inputs));
  }
  for (const ExampleSet& set : sets.random) {
    examples.random.push_back(list.add(set.name, set.inputs));
  }
  for (const TargetSet& set : sets.targets) {
    const auto [name, output] = target(set.label);
    examples.targets.push_back({list.add(name, set.inputs), output});
  }
  return examples;
}

}  // namespace whyformer
