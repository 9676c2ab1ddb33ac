// Pictures of one size as examples of concepts.
#pragma once

#include <functional>
#include <map>

#include "studies/concepts/concept_inputs.h"

namespace whyformer {

// A picture model built for some pictures at once.
struct PixelGraph {
  BlockGraph blocks;
  Value pixels;          // [pictures, channels, height, width]
  Feeds constants = {};  // what else the graph is to be given
};

class PictureConceptInputs final : public ConceptInputs {
 public:
  using Build = std::function<PixelGraph(int64_t pictures, LastBlock last)>;
  // One picture as the model reads it, [channels, height, width]. Called when it is needed, so that
  // not all pictures are in memory at once.
  using Load = std::function<Tensor(int64_t example)>;

  PictureConceptInputs(int64_t count, Build build, Load load,
                       int64_t most_at_once = int64_t{1} << 30)
      : count_(count),
        build_(std::move(build)),
        load_(std::move(load)),
        most_at_once_(most_at_once) {}

  int64_t count() const override { return count_; }
  int64_t length(int64_t) const override { return 0; }
  BlockGraph graph(int64_t length, int64_t examples, LastBlock last) const override;
  int64_t most_at_once() const override { return most_at_once_; }
  Feeds feeds(const BlockGraph& graph, std::span<const int64_t> examples) const override;

 private:
  int64_t count_;
  Build build_;
  Load load_;
  int64_t most_at_once_;
  mutable std::map<std::pair<int64_t, LastBlock>, std::shared_ptr<const PixelGraph>> built_;
};

}  // namespace whyformer
