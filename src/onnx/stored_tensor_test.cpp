// Initialisers of every element type, as raw bytes and in the typed fields of the format.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/support/tiny_model.h"
#include "whyformer/error.h"

namespace whyformer::onnx {
namespace {

using testing::ElementsAreArray;

struct TypeCase {
  const char* name;
  int type;
  std::string raw;  // little-endian
  std::vector<double> numbers;
};

// Bytes written out by hand from the definitions of the formats.
const TypeCase kCases[] = {
    {"float", pb::TensorProto::FLOAT, {"\x00\x00\xc0\x3f\x00\x00\x00\xc0", 8}, {1.5, -2}},
    {"double",
     pb::TensorProto::DOUBLE,
     {"\x00\x00\x00\x00\x00\x00\xf8\x3f\x00\x00\x00\x00\x00\x00\x00\xc0", 16},
     {1.5, -2}},
    // Half: sign, 5 bits of exponent, 10 of fraction; the least is 2^-24.
    {"float16", pb::TensorProto::FLOAT16, {"\x00\x3e\x00\xc0\x01\x00", 6}, {1.5, -2, 0x1p-24}},
    {"bfloat16", pb::TensorProto::BFLOAT16, {"\xc0\x3f\x00\xc0", 4}, {1.5, -2}},
    {"uint8", pb::TensorProto::UINT8, {"\x00\x7f\xff", 3}, {0, 127, 255}},
    {"int8", pb::TensorProto::INT8, {"\x00\x7f\x80\xff", 4}, {0, 127, -128, -1}},
    {"uint16", pb::TensorProto::UINT16, {"\x01\x00\xff\xff", 4}, {1, 65535}},
    {"int16", pb::TensorProto::INT16, {"\x01\x00\x00\x80", 4}, {1, -32768}},
    {"uint32", pb::TensorProto::UINT32, {"\x01\x00\x00\x00\xff\xff\xff\xff", 8}, {1, 4294967295.0}},
    {"int32", pb::TensorProto::INT32, {"\x01\x00\x00\x00\x00\x00\x00\x80", 8}, {1, -2147483648.0}},
    {"uint64", pb::TensorProto::UINT64, {"\x05\x00\x00\x00\x01\x00\x00\x00", 8}, {4294967301.0}},
    {"int64", pb::TensorProto::INT64, {"\xfe\xff\xff\xff\xff\xff\xff\xff", 8}, {-2}},
    {"bool", pb::TensorProto::BOOL, {"\x00\x01\xff", 3}, {0, 1, 1}},
    // Two in a byte, the first in the low half; the last half of an odd number is not used.
    {"uint4", 21, {"\xf1\x08", 2}, {1, 15, 8}},
    {"int4", 22, {"\xf1\x08", 2}, {1, -1, -8}},
};

TinyModel model_with(const TypeCase& stored) {
  TinyModel model;
  pb::TensorProto& tensor = *model.graph().add_initializer();
  tensor.set_name("w");
  tensor.set_data_type(stored.type);
  tensor.add_dims(static_cast<int64_t>(stored.numbers.size()));
  return model;
}

TEST(FileTensor, RawBytesOfEveryTypeAreRead) {
  for (const TypeCase& stored : kCases) {
    TinyModel model = model_with(stored);
    model.graph().mutable_initializer(0)->set_raw_data(stored.raw);
    for (const DType floats : {DType::kFloat32, DType::kFloat64}) {
      const Tensor found = model.read().graph.initialisers.at("w").tensor(floats);
      EXPECT_THAT(found.to_doubles(), ElementsAreArray(stored.numbers)) << stored.name;
    }
  }
}

TEST(FileTensor, RawBytesThatAreTooFewOrTooManyAreRefused) {
  for (const TypeCase& stored : kCases) {
    TinyModel model = model_with(stored);
    std::string& raw = *model.graph().mutable_initializer(0)->mutable_raw_data();
    for (const std::string& wrong : {stored.raw.substr(1), stored.raw + '\0', std::string()}) {
      raw = wrong;
      EXPECT_NE(refusal<FileError>([&] { model.read(); }), "") << stored.name;
    }
  }
}

// The field that holds each type; small ones lie in 32-bit integers, halves by their bits.
TEST(FileTensor, TypedFieldsOfEveryTypeAreRead) {
  for (const TypeCase& stored : kCases) {
    TinyModel model = model_with(stored);
    pb::TensorProto& tensor = *model.graph().mutable_initializer(0);
    switch (stored.type) {
      case pb::TensorProto::FLOAT:
        for (const double number : stored.numbers)
          tensor.add_float_data(static_cast<float>(number));
        break;
      case pb::TensorProto::DOUBLE:
        for (const double number : stored.numbers) tensor.add_double_data(number);
        break;
      case pb::TensorProto::INT64:
        for (const double number : stored.numbers)
          tensor.add_int64_data(static_cast<int64_t>(number));
        break;
      case pb::TensorProto::UINT32:
      case pb::TensorProto::UINT64:
        for (const double number : stored.numbers)
          tensor.add_uint64_data(static_cast<uint64_t>(number));
        break;
      case pb::TensorProto::FLOAT16:
      case pb::TensorProto::BFLOAT16:
        for (size_t i = 0; i < stored.raw.size(); i += 2) {
          tensor.add_int32_data(static_cast<uint8_t>(stored.raw[i]) |
                                static_cast<uint8_t>(stored.raw[i + 1]) << 8);
        }
        break;
      case 21:
      case 22:
        for (const char byte : stored.raw) tensor.add_int32_data(static_cast<uint8_t>(byte));
        break;
      default:
        for (const double number : stored.numbers)
          tensor.add_int32_data(static_cast<int32_t>(number));
    }
    const Tensor found = model.read().graph.initialisers.at("w").tensor(DType::kFloat32);
    EXPECT_THAT(found.to_doubles(), ElementsAreArray(stored.numbers)) << stored.name;
  }
}

TEST(FileTensor, TensorsWithoutElementsAreRead) {
  for (const TypeCase& stored : kCases) {
    TinyModel model = model_with(stored);
    model.graph().mutable_initializer(0)->set_dims(0, 0);
    EXPECT_EQ(model.read().graph.initialisers.at("w").tensor(DType::kFloat32).size(), 0)
        << stored.name;
  }
}

}  // namespace
}  // namespace whyformer::onnx
