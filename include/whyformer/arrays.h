// Models of any kind, given their inputs as arrays.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "whyformer/model.h"

namespace whyformer {

struct ArrayTarget {
  std::string output;            // by name; empty: the logits, or the first output
  std::vector<int64_t> indices;  // one per axis of the output; empty: its largest element
};

// What one run of an ONNX model with given inputs holds.
struct ArrayTrace {
  ModelInfo info;                    // sites and streams for these lengths
  std::string output;                // that was chosen
  std::vector<int64_t> indices;      // of the target
  double value = 0;
  std::string safetensors;           // the bytes of a file, see trace_arrays
};

// Runs an ONNX file of any kind on the arrays of a safetensors file, named as the model's inputs (masks,
// positions, flags and caches may be left out). The result holds `attention.L` and
// `attention_gradient.L` for every site, each [heads, queries, keys] (with an axis for inputs or windows in
// front where there are several), `output.NAME`, and `input_gradient.NAME` for inputs of numbers.
ArrayTrace trace_arrays(const std::filesystem::path& model, const std::filesystem::path& inputs,
                        const ArrayTarget& target);

// Scores of the tokens of one stream.
struct StreamScores {
  int stream = 0;
  std::string units;  // what they stand for
  std::vector<double> scores;
};

struct ArrayExplanation {
  static constexpr const char* kSchema = "whyformer.array-explanation/1";

  ModelInfo info;
  std::string output;
  std::vector<int64_t> indices;
  double value = 0;
  std::string method = "gae";
  std::vector<StreamScores> streams;  // those that matter to what is read
};

// Generic attention explainability (Chefer et al., ICCV 2021, equations 5 to 11) of one element of an
// output, for self-, cross- and co-attention. A token's relevance to itself is left out. Throws
// UnsupportedModel for windows, whose tokens are not those of the whole input.
ArrayExplanation explain_arrays(const std::filesystem::path& model,
                                const std::filesystem::path& inputs, const ArrayTarget& target);

}  // namespace whyformer
