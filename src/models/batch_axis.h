// Where the inputs of an ONNX file have their batch: most in front, some behind their tokens, some
// nowhere. Everything behind the importer sees it in front.
#pragma once

#include <map>
#include <string>

#include "onnx/onnx_model.h"
#include "whyformer/model.h"

namespace whyformer {

enum class BatchAxis {
  kFirst,
  kSecond,  // [tokens, batch, …], as nn.Transformer takes it unless it is told otherwise
  kNone     // one input alone, [tokens, …]
};

struct BatchPlace {
  BatchAxis axis = BatchAxis::kFirst;
  bool sure = true;
};

using BatchPlaces = std::map<std::string, BatchPlace, std::less<>>;  // by input

// From what the graph does with the axes of each input that it explains.
BatchPlaces find_batches(const onnx::BuiltGraph& built);

// Puts in what was told instead. Throws InvalidInput for names of no such input and axes that it
// does not have.
void tell_batches(const onnx::BuiltGraph& built, const BatchAxes& told, BatchPlaces& places);

// Of an input [1, several, …]: whether the several may be a batch behind a single token, which is
// to be seen with other lengths; and whether it is so, of an input [several, …].
bool may_have_tokens_first(const Graph& graph, Value input);
bool has_tokens_first(const Graph& graph, Value input);

// The same graph, its inputs with the batch in front.
onnx::BuiltGraph with_batch_in_front(onnx::BuiltGraph built, const BatchPlaces& places);

// An array as the file takes it, for that graph; and the way back.
Tensor with_batch_in_front(const Tensor& array, BatchAxis axis);
Tensor as_in_file(const Tensor& array, BatchAxis axis);

// How many inputs an array of that shape, as the file takes it, holds.
int64_t batch_length(const Shape& shape, BatchAxis axis);

}  // namespace whyformer
