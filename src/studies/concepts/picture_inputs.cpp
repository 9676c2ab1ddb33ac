#include "studies/concepts/picture_inputs.h"

#include <fmt/format.h>

#include "whyformer/error.h"

namespace whyformer {

BlockGraph PictureConceptInputs::graph(int64_t, int64_t examples, LastBlock last) const {
  auto& built = built_[{examples, last}];
  if (built == nullptr) built = std::make_shared<PixelGraph>(build_(examples, last));
  BlockGraph blocks = built->blocks;  // `built` holds the owner of the graph itself
  blocks.owner = built;
  return blocks;
}

Feeds PictureConceptInputs::feeds(const BlockGraph& graph,
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
