// What is written is read again by others' rules: safetensors by our reader, .npy by its format.
#include "formats/array_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/temporary_folder.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

std::string text_at(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

TEST(SavedArrays, AreReadFromSafetensorsBitForBit) {
  const TemporaryFolder folder;
  const std::vector<float> floats{1.5F, -0.0F, 3.14159F, 1e-40F, 65504, 2};
  const std::vector<double> doubles{0.1, -1e300};
  const auto path = folder.path() / "values.safetensors";
  save_safetensors(
      path, std::vector<ArrayToSave>{{"a.b", {"row", "column"}, {2, 3}, floats.data(), nullptr},
                                     {"d", {"x"}, {2}, nullptr, doubles.data(), WeightType::kF64}});
  const StoredTensors stored = read_safetensors(bytes_of(text_at(path)), "values");
  EXPECT_EQ(stored.at("a.b").shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(std::memcmp(stored.at("a.b").data.view.data(), floats.data(), 24), 0);
  EXPECT_EQ(stored.at("d").type, WeightType::kF64);
  EXPECT_EQ(std::memcmp(stored.at("d").data.view.data(), doubles.data(), 16), 0);
}

TEST(SavedArrays, AsHalvesAreTheNearestOnes) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "values.safetensors";
  std::vector<float> numbers;
  for (int i = -3000; i < 3000; ++i) {
    numbers.push_back(
        std::ldexp(1 + static_cast<float>(std::abs(i) % 997) / 997, i / (i < 0 ? 130 : 200)));
    if (i % 2 == 0) numbers.back() = -numbers.back();
  }
  numbers.insert(numbers.end(), {0, 65504, 65519, 0x1p-24F, 0x1p-25F, 0x1.8p-24F,
                                 std::numeric_limits<float>::infinity()});
  const auto count = static_cast<int64_t>(numbers.size());
  save_safetensors(path, std::vector<ArrayToSave>{
                             {"h", {"x"}, {count}, numbers.data(), nullptr, WeightType::kF16}});
  const std::vector<float> read =
      to_float32(read_safetensors(bytes_of(text_at(path)), "values").at("h"));
  for (size_t i = 0; i < numbers.size(); ++i) {
    // The spacing of halves around a number: 11 significant bits, and 2⁻²⁴ at the least.
    if (std::isinf(numbers[i])) {
      EXPECT_TRUE(std::isinf(read[i]));
      continue;
    }
    const float spacing = std::max(
        std::ldexp(1.0F, std::ilogb(std::max(std::abs(numbers[i]), 1e-30F)) - 10), 0x1p-24F);
    EXPECT_LE(std::abs(read[i] - numbers[i]), spacing / 2) << numbers[i];
  }
}

// A float between a double and its half would fall on the middle of two halves.
TEST(SavedArrays, AsHalvesAreTheNearestOnesOfDoubles) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "values.safetensors";
  const std::vector<double> numbers{
      1 + 0x1p-11 + 0x1p-40, -1 - 0x1p-11 - 0x1p-40, 1 + 0x1p-11, 65520 - 0x1p-30,
      0x1p-25 + 0x1p-60,     0x1p-14 - 0x1p-60,      0,           0.1};
  const std::vector<float> nearest{1 + 0x1p-10F, -1 - 0x1p-10F, 1, 65504,
                                   0x1p-24F,     0x1p-14F,      0, 0x1.998p-4F};
  const auto count = static_cast<int64_t>(numbers.size());
  save_safetensors(path, std::vector<ArrayToSave>{
                             {"h", {"x"}, {count}, nullptr, numbers.data(), WeightType::kF16}});
  EXPECT_EQ(to_float32(read_safetensors(bytes_of(text_at(path)), "values").at("h")), nearest);
}

TEST(SavedArrays, ThatHalvesDoNotReachAreRefusedAndLeaveNoFile) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "values.npy";
  const float large = 70000;
  EXPECT_THROW(save_npy(path, {"x", {"a"}, {1}, &large, nullptr, WeightType::kF16}), InvalidInput);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(SavedArrays, AreNumpysFormat) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "values.npy";
  const std::vector<float> numbers{1, 2, 3};
  save_npy(path, {"x", {"a"}, {3}, numbers.data(), nullptr});
  const std::string file = text_at(path);
  EXPECT_EQ(file.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  uint16_t length = 0;
  std::memcpy(&length, file.data() + 8, 2);
  EXPECT_EQ((10 + length) % 64, 0);
  EXPECT_THAT(file.substr(10, length),
              testing::StartsWith("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }"));
  EXPECT_EQ(std::memcmp(file.data() + 10 + length, numbers.data(), 12), 0);
}

TEST(SavedArrays, AreZarrOfVersionTwo) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "values.zarr";
  const std::vector<float> numbers{1, 2, 3, 4, 5, 6};
  const std::vector<ArrayToSave> arrays{{"a.b", {"token", "feature"}, {2, 3}, numbers.data()}};
  save_zarr(path, arrays);
  EXPECT_EQ(nlohmann::json::parse(text_at(path / ".zgroup"))["zarr_format"], 2);
  const auto about = nlohmann::json::parse(text_at(path / "a.b" / ".zarray"));
  EXPECT_EQ(about["chunks"], about["shape"]);
  EXPECT_EQ(about["dtype"], "<f4");
  EXPECT_EQ(nlohmann::json::parse(text_at(path / "a.b" / ".zattrs"))["_ARRAY_DIMENSIONS"][1],
            "feature");
  const std::string chunk = text_at(path / "a.b" / "0.0");
  ASSERT_EQ(chunk.size(), 24U);
  EXPECT_EQ(std::memcmp(chunk.data(), numbers.data(), 24), 0);
  EXPECT_THROW(save_zarr(path, arrays), FileError) << "is there already";
}

TEST(SavedArrays, OfHostileNamesWriteNothingOutsideTheirFolder) {
  const TemporaryFolder folder;
  const float number = 1;
  const auto of = [&](const std::string& name) { return ArrayToSave{name, {"x"}, {1}, &number}; };
  for (const std::string& name :
       std::vector<std::string>{"", ".", "..", "../../x", ".zgroup", std::string("a\0b", 3)}) {
    const std::vector<ArrayToSave> arrays{of("good"), of(name)};
    EXPECT_THROW(save_zarr(folder.path() / "values.zarr", arrays), InvalidInput);
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  }
  EXPECT_THROW(save_zarr(folder.path() / "values.zarr", std::vector{of("a/b"), of("a|b")}),
               InvalidInput);
  save_zarr(folder.path() / "values.zarr/", std::vector{of("x/../../y"), of("onnx:/a/../b")});
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    EXPECT_EQ(entry.path().filename(), "values.zarr");
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "values.zarr" / "onnx:|a|..|b" / "0"));
}

TEST(SavedArrays, ThatCannotBeWrittenWholeLeaveNoFolder) {
  const TemporaryFolder folder;
  const std::vector<float> numbers{1, 70000};
  const std::vector<ArrayToSave> arrays{
      {"a", {"x"}, {2}, numbers.data()},
      {"b", {"x"}, {2}, numbers.data(), nullptr, WeightType::kF16}};
  EXPECT_THROW(save_zarr(folder.path() / "values.zarr", arrays), InvalidInput);
  EXPECT_THROW(save_zarr(folder.path() / "none" / "values.zarr", arrays), FileError);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(SavedArrays, WithoutAxesOrElementsAreZarrToo) {
  const TemporaryFolder folder;
  const float number = 7;
  const auto path = folder.path() / "values.zarr";
  save_zarr(path, std::vector<ArrayToSave>{{"one", {}, {}, &number},
                                           {"none", {"x", "y"}, {0, 3}, &number}});
  EXPECT_EQ(text_at(path / "one" / "0").size(), 4U);
  EXPECT_EQ(nlohmann::json::parse(text_at(path / "none" / ".zarray"))["chunks"],
            (std::vector<int64_t>{1, 3}));
}

}  // namespace
}  // namespace whyformer
