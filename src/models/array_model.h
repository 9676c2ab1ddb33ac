// An ONNX file of any kind that is read once and run on arrays.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "models/model_graph.h"
#include "models/onnx_probe.h"

namespace whyformer {

using NamedArrays = std::map<std::string, Tensor, std::less<>>;

// One element of an output as part of the answer: [1, 1], or a short row that the output is anyway.
struct ElementGraph : ModelGraph {
  int64_t target = 0;                      // in that row
  std::shared_ptr<const OnnxProbe> probe;  // of that output; its values are this graph's too
  std::shared_ptr<const OnnxProbe>
      whole;  // the same before rows were left out that the output does not read
};

class OnnxArrayModel {
 public:
  // An ONNX file, or a folder with one. Throws FileError and UnsupportedModel.
  explicit OnnxArrayModel(const std::filesystem::path& path, BatchAxes batch_axes = {});

  const std::filesystem::path& path() const { return path_; }
  const Config& config() const { return config_; }
  const onnx::OnnxFile& file() const { return model_.file(); }

  // The output that `asked` names, the main one where it is empty. Throws InvalidInput that lists
  // them.
  std::string output_named(const std::string& asked) const;

  // Graphs for arrays of these shapes, built once and shared. Masks and their like count by value,
  // too.
  std::shared_ptr<const OnnxProbe> probe(const NamedArrays& arrays,
                                         const ProbeRequest& request) const;
  std::shared_ptr<const ElementGraph> graph(const NamedArrays& arrays, const std::string& output,
                                            const std::vector<int64_t>& indices, DType dtype) const;

  // Arrays as the file takes them, for its graph: the batch of all of them in front.
  static NamedArrays with_batch_in_front(const OnnxProbe& probe, NamedArrays arrays);

  // Of such arrays. Throws InvalidInput where an array is missing, or an id is none of the table it
  // picks from; both name the input.
  static Feeds feeds(const OnnxProbe& probe, const NamedArrays& arrays);

 private:
  std::string key_of(const NamedArrays& arrays, const ProbeRequest& request) const;

  std::filesystem::path path_;
  BatchAxes batch_axes_;
  Config config_;
  onnx::OnnxModel model_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::shared_ptr<const OnnxProbe>> probes_;
  mutable std::map<std::string, std::shared_ptr<const ElementGraph>> graphs_;
};

}  // namespace whyformer
