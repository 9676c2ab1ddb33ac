// For tests: the files of tests/golden/weights and what PyTorch says is in them.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "formats/weights.h"
#include "tests/support/source_folder.h"
#include "whyformer/error.h"

namespace whyformer {

inline std::filesystem::path golden_weights(std::string_view name) {
  return source_folder() / "tests/golden/weights" / name;
}

inline std::string golden_bytes(std::string_view name) {
  return std::string(map_file(golden_weights(name)).text());
}

// Files of one folder, as a model folder is looked up.
inline FileLookup golden_folder(std::string_view folder) {
  return [folder = golden_weights(folder)](std::string_view name) -> std::optional<Bytes> {
    const auto path = folder / name;
    if (!std::filesystem::exists(path)) return std::nullopt;
    return map_file(path);
  };
}

// Element `i` as a number, whatever its type; 64-bit integers in the golden files fit.
inline double element(const StoredTensor& tensor, size_t i) {
  const auto load = [&]<typename Number>(Number number) {
    std::memcpy(&number, tensor.data.view.data() + i * sizeof(number), sizeof(number));
    return static_cast<double>(number);
  };
  switch (tensor.type) {
    case WeightType::kF64:
      return load(double{});
    case WeightType::kI64:
      return load(int64_t{});
    case WeightType::kI32:
      return load(int32_t{});
    case WeightType::kI16:
      return load(int16_t{});
    case WeightType::kI8:
      return load(int8_t{});
    case WeightType::kU64:
      return load(uint64_t{});
    case WeightType::kU32:
      return load(uint32_t{});
    case WeightType::kU16:
      return load(uint16_t{});
    case WeightType::kU8:
    case WeightType::kBool:
      return load(uint8_t{});
    default:
      return to_float32(tensor)[i];
  }
}

inline void expect_golden(const StoredTensors& tensors, std::string_view name) {
  const auto all = nlohmann::json::parse(golden_bytes("expected.json"));
  const auto& expected = all.at(std::string(name));
  EXPECT_EQ(tensors.size(), expected.size());
  for (const auto& [key, facts] : expected.items()) {
    SCOPED_TRACE(std::string(name) + ": " + key);
    ASSERT_TRUE(tensors.contains(key));
    const StoredTensor& tensor = tensors.at(key);
    EXPECT_EQ(name_of(tensor.type), facts.at("type").get<std::string>());
    EXPECT_EQ(tensor.shape, facts.at("shape").get<std::vector<int64_t>>());
    const auto& values = facts.at("values");
    ASSERT_EQ(static_cast<size_t>(tensor.count()), values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      double value = 0;
      if (values[i].is_string()) {
        value = std::stod(values[i].get<std::string>());
      } else {
        value = values[i].is_boolean() ? values[i].get<bool>() : values[i].get<double>();
      }
      EXPECT_EQ(element(tensor, i), value);
      EXPECT_EQ(std::signbit(element(tensor, i)), std::signbit(value));
    }
  }
}

// The message of the FileError, InvalidInput or UnsupportedModel which `read` throws.
template <typename Kind, typename Read>
std::string message_of(const Read& read) {
  try {
    read();
  } catch (const Kind& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.find('\n'), std::string::npos) << "an error is one line";
    return message;
  }
  ADD_FAILURE() << "nothing of the right kind was thrown";
  return {};
}

}  // namespace whyformer
