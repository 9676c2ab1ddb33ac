// Edits of values inside a model as nodes of its graph: behind the value stands the changed one,
// which everything reads in its place. Gradients and relevance walk through it as through any node.
#pragma once

#include <memory>
#include <vector>

#include "models/model_graph.h"
#include "whyformer/edits.h"

namespace whyformer {

// Edits of one run. Those of tokens are about one input.
struct AppliedEdits {
  std::vector<Edit> edits;
  SampleShapes own = {};  // of that input; empty where it is not known
  // Of the input, which edits along "batch" tell apart. Fewer may run, to look at the graph.
  int64_t copies = 1;

  std::vector<EditShape> shapes() const;
};

// The graph with edits put in. `model` has all rows and no edits; values keep their ids. Attention,
// the output and what is read for it become the edited ones; what enters the model stays in front
// of the edits, which are part of the model. Throws InvalidInput for a value or an axis that there
// is none of.
ModelGraph with_edits(const ModelGraph& model, const std::vector<EditShape>& edits,
                      NamedValues names);

// Feeds what the edits need. `shapes` are those of the inputs that run. Throws InvalidInput for
// places that the value has not, and for inputs of other tokens than those that edits speak of.
void feed_edits(const ModelGraph& graph, const AppliedEdits& edits, const SampleShapes& shapes,
                Feeds& feeds);

// Places along the axes of a value, each checked and counted from the start.
std::vector<std::vector<int64_t>> places_along(const NamedValue& value, const Shape& shape,
                                               const EditPlaces& at);

}  // namespace whyformer
