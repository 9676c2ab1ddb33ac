// The element types of ONNX and how the engine holds them.
#pragma once

#include <string>

#include "tensor/tensor.h"

namespace whyformer::onnx {

// Numbers as in TensorProto.DataType.
enum class ElementType : int {
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kBfloat16 = 16,
  kUint4 = 21,
  kInt4 = 22
};

// Throws FileError for types that no numeric model needs (strings, complex numbers).
ElementType element_type(int number, const std::string& what);
std::string name_of(ElementType type);
bool is_float(ElementType type);
int bits_of(ElementType type);

// Integers of at most 16 bits are held as floats, which hold them exactly, so that quantised values
// have gradients; wider ones and booleans (0 or 1) as 64-bit integers; every float as `floats`.
DType held_as(ElementType type, DType floats);

// Least and largest value of an integer type of at most 32 bits.
struct IntegerRange {
  double least = 0;
  double most = 0;
};
IntegerRange range_of(ElementType type);

}  // namespace whyformer::onnx
