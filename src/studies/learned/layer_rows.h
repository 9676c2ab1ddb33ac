// Activations of all layers as rows that have a label each: one of an input, or one of each word.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "readers/reader.h"
#include "studies/concepts/gram.h"
#include "whyformer/learned.h"

namespace whyformer {

// A row of activations: which input it comes from, and what stands there.
struct RowOrigin {
  int64_t input = 0;
  std::string label;
  std::string word = {};            // in lower case; empty for whole inputs
  std::vector<int64_t> units = {};  // tokens whose mean it is; empty for whole inputs
};

struct RowOrigins {
  std::vector<RowOrigin> rows;
  int64_t words_left_out = 0;  // without a token: cut off, or not written
};
// Throws InvalidInput that names the place of an input that has no label, or that is no text though
// words of it have labels.
RowOrigins row_origins(const Reader& reader, const std::vector<LearnedExample>& examples,
                       const std::function<void()>& advance);

// Rows of some layers of one model.
struct LayerRows {
  std::vector<int> layers = {};  // -1: the embeddings
  int64_t width = 0;
  std::vector<std::vector<float>> floats = {};  // of each layer, [rows, width]

  FloatRows of(size_t layer) const {
    const auto count = static_cast<int64_t>(floats[layer].size()) / width;
    return {floats[layer].data(), count, width};
  }
};
struct LayerRowsRequest {
  std::vector<int> layers = {};  // empty: all
  TokenRows rows = TokenRows::kMean;
  DType dtype = DType::kFloat32;
  std::optional<Randomisation> randomisation = {};
  std::function<void(int64_t examples)> done = {};  // may throw to stop
};
LayerRows layer_rows(const Reader& reader, const std::vector<LearnedExample>& examples,
                     const std::vector<RowOrigin>& rows, const LayerRowsRequest& request);

}  // namespace whyformer
