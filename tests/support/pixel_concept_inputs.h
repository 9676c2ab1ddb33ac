// Pixels that a graph of one's own reads, as examples of concepts.
#pragma once

#include <functional>
#include <map>

#include <fmt/format.h>

#include "run/concept_inputs.h"
#include "whyformer/error.h"

namespace whyformer {

// A picture model built for some pictures at once.
struct PixelGraph {
  BlockGraph blocks;
  Value pixels;          // [pictures, channels, height, width]
  Feeds constants = {};  // what else the graph is to be given
};

class PixelConceptInputs final : public ConceptInputs {
 public:
  using Build = std::function<PixelGraph(int64_t pictures, LastBlock last)>;
  // One picture as the model reads it, [channels, height, width]. Called when it is needed, so that
  // not all pictures are in memory at once.
  using Load = std::function<Tensor(int64_t example)>;

  PixelConceptInputs(int64_t count, Build build, Load load, int64_t max_at_once = int64_t{1} << 30)
      : count_(count),
        build_(std::move(build)),
        load_(std::move(load)),
        max_at_once_(max_at_once) {}

  int64_t count() const override { return count_; }
  int64_t length(int64_t) const override { return 0; }
  BlockGraph graph(int64_t length, int64_t examples, LastBlock last) const override;
  int64_t max_at_once() const override { return max_at_once_; }
  Feeds feeds(const BlockGraph& graph, std::span<const int64_t> examples) const override;

 private:
  int64_t count_;
  Build build_;
  Load load_;
  int64_t max_at_once_;
  mutable std::map<std::pair<int64_t, LastBlock>, std::shared_ptr<const PixelGraph>> built_;
};

inline BlockGraph PixelConceptInputs::graph(int64_t, int64_t examples, LastBlock last) const {
  auto& built = built_[{examples, last}];
  if (built == nullptr) built = std::make_shared<PixelGraph>(build_(examples, last));
  BlockGraph blocks = built->blocks;  // `built` holds the owner of the graph itself
  blocks.owner = built;
  return blocks;
}

inline Feeds PixelConceptInputs::feeds(const BlockGraph& graph,
                                       std::span<const int64_t> examples) const {
  const auto built = std::static_pointer_cast<const PixelGraph>(graph.owner);
  const ValueType& type = graph.graph->type(built->pixels);
  Tensor pixels = Tensor::empty(type.shape, type.dtype);
  for (size_t i = 0; i < examples.size(); ++i) {
    const Tensor picture = load_(examples[i]).cast(type.dtype);
    Tensor place = pixels.select(0, static_cast<int64_t>(i));
    if (picture.shape() != place.shape()) {
      throw InvalidInput(fmt::format("a picture has the shape {} but the model reads {}",
                                     to_string(picture.shape()), to_string(place.shape())));
    }
    place.copy_from(picture);
  }
  Feeds feeds = built->constants;
  feeds[built->pixels] = pixels;
  return feeds;
}

}  // namespace whyformer
