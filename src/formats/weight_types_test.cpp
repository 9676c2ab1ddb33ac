#include <gmock/gmock.h>

#include <bit>
#include <cmath>

#include "tests/support/golden_weights.h"

namespace whyformer {
namespace {

template <typename Stored>
StoredTensor stored(WeightType type, const std::vector<Stored>& values) {
  const std::string bytes(reinterpret_cast<const char*>(values.data()),
                          values.size() * sizeof(Stored));
  return {type, {static_cast<int64_t>(values.size())}, bytes_of(bytes)};
}

// IEEE 754-2019, 3.4: the value by its definition, in double.
float half_by_definition(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  double value =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 31) value = fraction == 0 ? INFINITY : NAN;
  return static_cast<float>((bits & 0x8000) != 0 ? -value : value);
}

TEST(ToFloat32, GivesEachOfThe65536HalvesItsDefinedValue) {
  std::vector<uint16_t> halves(65536);
  for (size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<uint16_t>(i);
  const std::vector<float> floats = to_float32(stored(WeightType::kF16, halves));
  for (size_t i = 0; i < halves.size(); ++i) {
    const float expected = half_by_definition(halves[i]);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(floats[i])) << i;
    } else {
      ASSERT_EQ(std::bit_cast<uint32_t>(floats[i]), std::bit_cast<uint32_t>(expected)) << i;
    }
  }
}

TEST(ToFloat32, TakesBfloat16AsTheUpperHalfOfAFloat) {
  const std::vector<uint16_t> stored_bits = {0x3f80, 0xc049, 0x0001, 0x8000};
  const std::vector<float> expected = {1.0f, -3.140625f, 0x1p-133f, -0.0f};
  EXPECT_EQ(to_float32(stored(WeightType::kBF16, stored_bits)), expected);
}

TEST(ToFloat32, RoundsDoublesToTheNearestFloat) {
  const std::vector<double> doubles = {0.1, 1.0 + 0x1p-24, 1.0 + 0x1.8p-24, 1e300};
  const std::vector<float> expected = {0.1f, 1.0f, 1.0f + 0x1p-23f, INFINITY};
  EXPECT_EQ(to_float32(stored(WeightType::kF64, doubles)), expected);
}

TEST(ToFloat32, ReadsUnalignedData) {
  const float value = 1.5f;
  std::string bytes(5, 'x');
  std::memcpy(bytes.data() + 1, &value, sizeof(value));
  Bytes data = bytes_of(bytes);
  data.view = data.view.subspan(1);
  EXPECT_THAT(to_float32({WeightType::kF32, {}, data}), testing::ElementsAre(1.5f));
}

TEST(ToFloat32, RefusesIntegersByTheNameOfTheirType) {
  const StoredTensor tensor = stored(WeightType::kI64, std::vector<int64_t>{1});
  EXPECT_THAT(message_of<UnsupportedModel>([&] { to_float32(tensor); }), testing::HasSubstr("I64"));
}

}  // namespace
}  // namespace whyformer
