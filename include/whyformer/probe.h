// Looking inside a model: values by their names, their gradients and relevance, with some of them
// changed. A request is data; the same request gives the same bits.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "whyformer/edits.h"
#include "whyformer/model.h"

namespace whyformer {

// A value inside a model for one input.
struct ValueInfo {
  std::string name;
  std::vector<std::string> axes;  // "batch", "head", "query", "key", "token", "feature"
  std::vector<int64_t> shape;
  std::string native;    // its name in the model's own files
  std::string producer;  // the operator that makes it; empty for an input
};

// Values whose names match: `*` stands for any letters but a dot, `**` for any letters. Names begin
// with "module:" or "onnx:" where they are those of the model's own files. Throws InvalidInput
// where none matches, and for inputs of several parts.
std::vector<ValueInfo> values_inside(const Model& model, const InputValue& input,
                                     const std::string& pattern = "**");
// The same for a small input of the model's kind. Throws InvalidInput for rows and arrays.
std::vector<ValueInfo> values_inside(const Model& model, const std::string& pattern = "**");

enum class Reducer {
  kNone,
  kMean,
  kSum,
  kMax,
  kNorm,      // √Σx²
  kTopK,      // the `count` largest, in order, and where they are
  kDot,       // with `with`
  kGram,      // Σ x xᵀ over all axes but the last
  kHistogram  // `count` bins between the least and the largest number
};
inline constexpr std::array kReducerNames{"none", "mean", "sum",  "max",      "norm",
                                          "topk", "dot",  "gram", "histogram"};

struct Read {
  std::string value;   // a name, or a pattern of names
  EditPlaces at = {};  // places that are read; others are left out
  Reducer reduce = Reducer::kNone;
  std::vector<std::string> over = {};  // axes that disappear; none: the last one
  int64_t count = 0;
  EditArray with = {};

  bool operator==(const Read&) const = default;
};

// "blocks.*.output", "blocks.2.output token=0", "blocks.2.output reduce=norm over=feature",
// "logits reduce=topk:3". Throws InvalidInput.
Read parse_read(std::string_view text);

struct ProbeRequest {
  std::vector<Read> reads = {};
  std::vector<Edit> edits = {};
  // Values, or patterns, whose gradient of the target is read; or of the sum of `gradient_of`.
  std::vector<std::string> gradients = {};
  std::optional<Read> gradient_of = {};
  std::vector<std::string> relevance = {};
  std::string policy = "chefer";
  // The input so many times, for edits that differ from one to the next (axis "batch");
  // 4096 at most.
  int64_t copies = 1;
  TargetChoice target = {};
  std::optional<std::string> similar_to = {};
  Precision precision = Precision::kSingle;
  int64_t most_bytes = int64_t{4} << 30;  // of what is read; more is refused before anything runs
  Progress progress = {};
};

// What defines the numbers of a recording: all but limits and progress. Throws InvalidInput for
// what is no such request.
std::string to_json(const ProbeRequest& request, int indent = -1);
ProbeRequest probe_request_from_json(std::string_view json);

// One of `floats` and `doubles`, by the precision.
struct RecordedArray {
  std::string name;  // of the value; "gradient.NAME", "relevance.NAME"; with a reducer behind it
  std::vector<std::string> axes;
  std::vector<int64_t> shape;
  std::shared_ptr<const float[]> floats;
  std::shared_ptr<const double[]> doubles;
  bool whole = false;  // at all places, without a reducer
  bool exact = false;  // whole numbers, such as places and counts: never rounded to 16 bits

  int64_t size() const;
  double operator[](int64_t element) const {
    return floats ? static_cast<double>(floats[element]) : doubles[element];
  }
};

struct Recording {
  ModelName model;
  std::vector<RecordedArray> arrays;  // in the order that they were asked for
  std::vector<Unit> units;
  Output output;                             // of the first copy
  std::vector<std::vector<double>> outputs;  // of each copy
  Target target;
  std::vector<std::string> edits;  // see to_text(Edit)
  std::vector<std::string> notes;

  // Throws InvalidInput where it was not read.
  const RecordedArray& at(std::string_view name) const;
  // Its numbers at some places, for set, add and copy. Throws InvalidInput where it was not read
  // whole.
  EditArray numbers(std::string_view name, const EditPlaces& at = {}) const;
  // Puts there what this recording has; the value must have been read whole.
  Edit copy(std::string_view name, const EditPlaces& at = {},
            const std::string& run = "other") const;
};

// Throws InvalidInput for names and places that there are none of, and for inputs of several parts;
// Interrupted where the caller stops it, which is asked between any two operators.
Recording probe(const Model& model, const InputValue& input, const ProbeRequest& request);

// How numbers are kept: as they are, or in half the bytes, rounded to 16-bit floats
// where they are no whole numbers such as places.
enum class SavedAs { kRecorded, kF16 };
// By the name's ending: FILE.safetensors, FILE.npy (of one array), or a new folder FOLDER.zarr
// (Zarr version 2). Written piece by piece, and there whole or not at all. Throws FileError, and
// InvalidInput for another ending and for numbers that 16-bit floats do not have.
void save(const std::filesystem::path& path, const Recording& recording,
          SavedAs type = SavedAs::kRecorded);

std::string to_json(const Recording& recording, int indent = 2);

}  // namespace whyformer
