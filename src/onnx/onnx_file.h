// An ONNX file as it is written: plain structures, nothing computed. The bytes of its tensors stay
// where they were read.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "onnx/element_type.h"
#include "tensor/tensor.h"

namespace whyformer::onnx {

// A tensor of the file. Its size was checked against its shape.
struct FileTensor {
  std::string name;
  ElementType type = ElementType::kFloat;
  Shape shape;
  Bytes data;  // elements as the file stores them, little-endian; two per byte for 4-bit types

  // As the engine holds that type (see held_as). Floats of the wanted width are not copied.
  Tensor tensor(DType floats) const;
};

struct FileGraph;

using Attribute =
    std::variant<int64_t, double, std::string, std::vector<int64_t>, std::vector<double>,
                 std::vector<std::string>, FileTensor, std::shared_ptr<const FileGraph>>;

struct OnnxNode {
  std::string name;
  std::string domain;  // empty for ai.onnx
  std::string kind;
  std::vector<std::string> inputs;  // empty where an optional input is left out
  std::vector<std::string> outputs;
  std::map<std::string, Attribute, std::less<>> attributes;
  // In the body of a function: attributes whose value the caller gives.
  std::map<std::string, std::string, std::less<>> attribute_of_caller;

  std::string title() const { return name.empty() ? outputs.empty() ? "" : outputs[0] : name; }
};

// An input of the model: -1 for axes of any length.
struct DeclaredValue {
  std::string name;
  ElementType type = ElementType::kFloat;
  Shape shape;
  std::vector<std::string> axis_names;  // names of axes of any length, else empty
};

struct FileGraph {
  std::vector<OnnxNode> nodes;  // in an order in which they can run
  std::map<std::string, FileTensor, std::less<>> initialisers;
  std::vector<DeclaredValue> inputs;  // without those that are initialisers
  std::vector<DeclaredValue> outputs;
};

struct OnnxFunction {
  std::vector<std::string> inputs, outputs;
  std::map<std::string, Attribute, std::less<>> defaults;
  std::map<std::string, int64_t, std::less<>> opsets;
  std::vector<OnnxNode> nodes;
};

struct ParameterCount {
  int64_t numbers = 0;
  int64_t tensors = 0;

  void add(const Shape& shape) {
    numbers += element_count(shape);
    ++tensors;
  }
};

struct OnnxFile {
  std::string producer;
  std::map<std::string, int64_t, std::less<>> opsets;  // by domain
  FileGraph graph;
  std::map<std::pair<std::string, std::string>, OnnxFunction> functions;  // (domain, name)

  int64_t opset() const;  // of ai.onnx
  // Stored tensors, and weights that are Constant nodes; also those of branches, loops and
  // functions.
  ParameterCount parameters() const;
};

// Tensors outside the file are looked for in its folder. Throws FileError for anything that is not
// a sound ONNX file, with what is wrong and where.
OnnxFile read_onnx(const std::filesystem::path& path);

// From bytes; `external` finds files of the model's folder by plain name.
OnnxFile read_onnx(const Bytes& bytes, const FileLookup& external);

}  // namespace whyformer::onnx
