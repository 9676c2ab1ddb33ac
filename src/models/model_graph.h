// A model's graph for inputs of given shapes, with what was found in it.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "discovery/named_values.h"
#include "graph/pass.h"
#include "models/edit_shape.h"
#include "models/randomisation.h"

namespace whyformer {

// What the last value of the graph is.
enum class Head {
  kLogits,     // [batch, labels]
  kEmbedding,  // [batch, width]: the pooled hidden states of an encoder without a classifier
  kSimilarity  // [batch, 1]: cosine between that and a given vector
};

using SampleShapes = std::map<std::string, Shape, std::less<>>;

// What a graph is built for.
struct ShapeKey {
  int64_t batch = 1;
  SampleShapes shapes = {};  // of one input's tensors, without an axis for the batch
  Head head = Head::kLogits;
  DType dtype = DType::kFloat32;
  bool all_rows = false;  // those of the last layer too that the output does not read
  std::optional<Randomisation> randomisation = {};  // of the weights
  std::vector<EditShape> edits = {};                // of values inside
  auto operator<=>(const ShapeKey&) const = default;

  // Of a tensor of the input; empty where the input has none of that name.
  Shape shape(std::string_view name) const;
};

// Tokens [first, first + rows · columns) are patches of the picture, row by row; the others are
// special (class, distillation).
struct PatchGrid {
  int64_t first = 1;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t patch_height = 0;  // pixels; a rest of the picture may be cut off, or padded to a patch
  int64_t patch_width = 0;
  int64_t count() const { return rows * columns; }
};

// Where a gradient or relevance with respect to the input is taken.
enum class Depth {
  kInput,           // word vectors, pixels, the numbers of columns
  kEmbeddingBlock,  // positions added
  kFirstLayer
};
inline constexpr std::array kDepths{Depth::kInput, Depth::kEmbeddingBlock, Depth::kFirstLayer};

// Where numbers of an input enter the computation as real numbers: the input itself [batch,
// positions, …], or the vectors [batch, positions, width] (of one position also [batch, width])
// that whole numbers pick from a table.
struct Entry {
  Value value;
  std::string input;
  int64_t first = 0;  // position of the input
  // For each position from there on; those that pick vectors enter elsewhere. Empty: all of them.
  std::vector<bool> enters = {};
};

struct ModelGraph {
  Graph graph;
  ShapeKey key;
  std::map<std::string, Value, std::less<>> inputs;  // what must be fed, by name
  Value reference;             // [batch, width, 1] of the similarity head; invalid elsewhere
  std::vector<Entry> entries;  // where the parts of the input enter, one after the other
  Value embeddings;            // [batch, tokens, width], positions added
  Value layers_input;          // what enters the first layer
  std::vector<Value> beside;   // the same of parts in front of the last, which has no layer before
  // Of models given arrays: what enters the first layer of each stream, as far as that was found.
  std::optional<std::vector<Value>> stream_inputs;
  // Of rows of a table that attend to each other: maps [rows, heads, 1, 1 + others] from each
  // explained row to itself and to the others. They are no sites: tokens are columns there.
  std::vector<Value> row_maps;
  // The token that the answer reads, where the architecture tells: steps that join all tokens of a
  // row end the streams that could be followed to it, and the explained row is cut out of others
  // as a token would be.
  std::optional<int64_t> read_token;
  PatchGrid grid;  // of a picture
  Value patches;   // of a picture, [batch, patches, width], before positions
  Value output;
  // What the edits of the key are fed with, one for each; and what is read in place of the values
  // that they change, which stay in the graph with their ids.
  std::vector<EditInputs> edit_inputs;
  std::map<Value, Value> edited;
  std::shared_ptr<const NamedValues> names;  // of a graph with edits: those before them
  Value read;  // the stream that the output reads, where all rows of it are there
  Discovery found;

  // Invalid where the graph has no such input.
  Value input(std::string_view name) const;
  // Behind all edits of it.
  Value edited_value(Value value) const {
    const auto found = edited.find(value);
    return found == edited.end() ? value : found->second;
  }
  // One value, or several where the input enters the model at several.
  std::vector<Value> values_at(Depth depth) const;
};

// The cosine between vectors [batch, width] and the reference, which becomes an input.
Value add_similarity(GraphBuilder& graph, Value vector, ModelGraph& built);
// Gives the graph its reference, if it has one. Throws InvalidInput for one of another width.
void feed_reference(const ModelGraph& graph, const std::vector<double>& reference, Feeds& feeds);

// Finds attention in the graph, and leaves out what nobody reads, unless the key asks for all rows.
// `batch` inputs go through it at once, as far as that can be told by their first axis.
void finish_graph(const Graph& whole, ModelGraph& built, int64_t batch);
// The second half of it, where what is found in the graph is known already.
void keep_what_is_read(const Graph& whole, ModelGraph& built);

// Tokens of each input; `otherwise` where the graph's embeddings do not tell.
int64_t tokens_in(const ModelGraph& graph, int64_t otherwise);

// The names of what is inside, as it is in front of edits.
NamedValues names_in(const ModelGraph& graph, const NativeNames& native);

// How many inputs of so many tokens can run together in the memory and gain by it. `graph` may be
// for another number.
int64_t most_inputs_at_once(const ModelGraph& graph, int64_t tokens, int64_t memory_bytes);

}  // namespace whyformer
