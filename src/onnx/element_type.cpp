#include "onnx/element_type.h"

#include <fmt/format.h>

#include "whyformer/error.h"

namespace whyformer::onnx {
namespace {

struct Facts {
  ElementType type;
  const char* name;
  int bits;
  bool is_float;
  IntegerRange range;
};

constexpr Facts kFacts[] = {
    {ElementType::kFloat, "float32", 32, true, {}},
    {ElementType::kUint8, "uint8", 8, false, {0, 255}},
    {ElementType::kInt8, "int8", 8, false, {-128, 127}},
    {ElementType::kUint16, "uint16", 16, false, {0, 65535}},
    {ElementType::kInt16, "int16", 16, false, {-32768, 32767}},
    {ElementType::kInt32, "int32", 32, false, {-2147483648.0, 2147483647.0}},
    {ElementType::kInt64, "int64", 64, false, {}},
    {ElementType::kBool, "bool", 8, false, {0, 1}},
    {ElementType::kFloat16, "float16", 16, true, {}},
    {ElementType::kDouble, "float64", 64, true, {}},
    {ElementType::kUint32, "uint32", 32, false, {0, 4294967295.0}},
    {ElementType::kUint64, "uint64", 64, false, {}},
    {ElementType::kBfloat16, "bfloat16", 16, true, {}},
    {ElementType::kUint4, "uint4", 4, false, {0, 15}},
    {ElementType::kInt4, "int4", 4, false, {-8, 7}},
};

const Facts* find(int number) {
  for (const Facts& facts : kFacts) {
    if (static_cast<int>(facts.type) == number) return &facts;
  }
  return nullptr;
}

const Facts& facts_of(ElementType type) { return *find(static_cast<int>(type)); }

}  // namespace

ElementType element_type(int number, const std::string& what) {
  const Facts* facts = find(number);
  if (facts == nullptr) {
    throw UnsupportedModel(fmt::format(
        "{} has ONNX's element type {}; only floats, integers and booleans can be imported", what,
        number));
  }
  return facts->type;
}

std::string name_of(ElementType type) { return facts_of(type).name; }
bool is_float(ElementType type) { return facts_of(type).is_float; }
int bits_of(ElementType type) { return facts_of(type).bits; }
IntegerRange range_of(ElementType type) { return facts_of(type).range; }

DType held_as(ElementType type, DType floats) {
  const Facts& facts = facts_of(type);
  const bool narrow = facts.bits <= 16 && type != ElementType::kBool;
  return facts.is_float || narrow ? floats : DType::kInt64;
}

}  // namespace whyformer::onnx
