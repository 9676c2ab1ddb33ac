// Models of any kind, given their inputs as arrays.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "whyformer/model.h"
#include "whyformer/parts.h"

namespace whyformer {

class OnnxArrayModel;

// Inputs of a model by name. Masks, positions, flags and caches may be left out.
using ArrayViews = std::map<std::string, ArrayView, std::less<>>;

// The arrays of a safetensors file, which stays mapped as long as one of them is there. Throws
// FileError.
ArrayViews read_array_views(const std::filesystem::path& path);

// The axis along which inputs of a file hold several samples, by name; nothing for one that holds a
// single sample and has no such axis. For files where what the graph shows is not enough, or is a
// guess.
using BatchAxes = std::map<std::string, std::optional<int>, std::less<>>;

// What an ONNX file holds, as inspect(path, shapes) tells it, with the batch where it is said to
// be.
ModelInfo inspect(const std::filesystem::path& path, const InputShapes& shapes,
                  const BatchAxes& batch_axes);

struct ArrayTarget {
  std::string output;            // by name; empty: the logits, or the first output
  std::vector<int64_t> indices;  // one per axis of the output; empty: its largest element
};

// What one run of an ONNX model with given inputs holds.
struct ArrayTrace {
  ModelInfo info;                // sites and streams for these lengths
  std::string output;            // that was chosen
  std::vector<int64_t> indices;  // of the target
  double value = 0;
  std::string safetensors;  // the bytes of a file, see ArrayModel::trace
};

struct ArrayRequest {
  ArrayTarget target;
  std::vector<MethodRequest> methods;
  // What stands in for a token where tokens are hidden, and in neutral inputs. Without it: the mask
  // token of a tokenizer beside the file, else the padding of its config.json.
  std::optional<int64_t> hiding_id;
  Precision precision = Precision::kSingle;
  int64_t seed = 0;
  int64_t memory_bytes = int64_t{1} << 30;
  Progress progress;
};

// Scores of the tokens of one stream.
struct StreamScores {
  int stream = 0;
  std::string units;  // what they stand for
  std::vector<double> scores;
};

struct ArrayExplanation {
  static constexpr const char* kSchema = "whyformer.array-explanation/2";

  ModelInfo info;
  ArrayTarget target;  // that was chosen
  // Units are the tokens of all streams, one stream after the other. Where attention does not tell
  // what the tokens are (windows, no attention at all), they are positions of the inputs, and an
  // input is a stream.
  Explanation explanation;
  struct Stream {
    std::string units;  // what they stand for
    int64_t first = 0;  // among the units
    int64_t count = 0;
  };
  std::vector<Stream> streams;

  // One method's scores, stream by stream.
  std::vector<StreamScores> by_stream(const Attribution& attribution) const;
};

// An ONNX file that is read once; graphs are kept for the lengths that were asked for. Immutable;
// copies share everything; safe to use from several threads.
class ArrayModel {
 public:
  // A file, or a folder with one. Throws FileError or UnsupportedModel.
  static ArrayModel load(const std::filesystem::path& path, const BatchAxes& batch_axes = {});

  ModelName name() const;
  // Names of the outputs, in the file's order.
  std::vector<std::string> outputs() const;
  // What is found in the graph for arrays of these lengths.
  ModelInfo inspect(const ArrayViews& inputs) const;

  // Every output by name.
  struct Answer {
    std::vector<int64_t> shape;
    std::vector<double> values;
  };
  std::map<std::string, Answer, std::less<>> run(const ArrayViews& inputs) const;

  // `attention.L` and `attention_gradient.L` for every site, each [heads, queries, keys] (with an
  // axis for inputs or windows in front where there are several), `output.NAME`, and
  // `input_gradient.NAME` for inputs of numbers.
  ArrayTrace trace(const ArrayViews& inputs, const ArrayTarget& target) const;

  // Names of a few methods that fit the model, for those who name none.
  std::vector<std::string> usual_methods(const ArrayViews& inputs, const ArrayTarget& target) const;

  // One element of an output, by any method that has a meaning for the model's streams;
  // docs/onnx.md says how each works on several. Throws InvalidInput or UnsupportedModel where none
  // of the methods works.
  ArrayExplanation explain(const ArrayViews& inputs, const ArrayRequest& request) const;

 private:
  explicit ArrayModel(std::shared_ptr<const OnnxArrayModel> model) : model_(std::move(model)) {}
  std::shared_ptr<const OnnxArrayModel> model_;
};

}  // namespace whyformer
