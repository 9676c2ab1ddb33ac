#include <gmock/gmock.h>

#include <array>

#include "tests/support/golden_weights.h"

namespace whyformer {
namespace {

using testing::HasSubstr;
using Arrays = std::map<std::string, ArrayView, std::less<>>;

// The tensors of a file as another program would hand them over.
Arrays arrays_in(std::string_view name) {
  const auto file = std::make_shared<const std::string>(golden_bytes(name));
  const Bytes bytes{std::as_bytes(std::span(*file)), file};
  Arrays arrays;
  for (const auto& [key, tensor] : read_safetensors(bytes, name)) {
    const auto data = std::shared_ptr<const void>(file, tensor.data.view.data());
    arrays[key] = {std::string(name_of(tensor.type)), tensor.shape, data, tensor.data.size()};
  }
  return arrays;
}

ArrayView six_floats() {
  return {"F32", {2, 3}, std::shared_ptr<const void>(std::make_shared<std::array<float, 6>>()), 24};
}

TEST(ArrayViews, AreTensorsOfEveryType) {
  expect_golden(stored_tensors(arrays_in("types.safetensors")), "types.safetensors");
}

TEST(ArrayViews, AreNotCopiedAndKeepTheirOwnerAlive) {
  ArrayView array = six_floats();
  const void* address = array.data.get();
  const std::weak_ptr<const void> owner = array.data;
  StoredTensors tensors = stored_tensors({{"w", std::move(array)}});
  EXPECT_EQ(tensors.at("w").data.view.data(), address);
  EXPECT_EQ(tensors.at("w").count(), 6);
  EXPECT_FALSE(owner.expired());
  tensors.clear();
  EXPECT_TRUE(owner.expired());
}

TEST(ArrayViews, WithoutElementsNeedNoData) {
  const StoredTensors tensors = stored_tensors({{"none", {"F32", {0, 3}, nullptr, 0}}});
  EXPECT_EQ(tensors.at("none").count(), 0);
}

TEST(ArrayViews, RefuseSizesThatAreNotTheirShape) {
  const auto refusal = [](std::vector<int64_t> shape, size_t bytes) {
    ArrayView array = six_floats();
    array.shape = std::move(shape);
    array.bytes = bytes;
    return message_of<InvalidInput>([&] { stored_tensors({{"a.weight", array}}); });
  };
  EXPECT_EQ(refusal({2, 4}, 24),
            "weight 'a.weight' has 24 bytes, which is not its shape [2, 4] of F32: hand over all "
            "of it, without gaps");
  EXPECT_THAT(refusal({2, 3}, 12), HasSubstr("has 12 bytes"));
  EXPECT_THAT(refusal({-2, -3}, 24), HasSubstr("[-2, -3]"));
  // 2^64 bytes, which 64 bits cannot tell from none.
  EXPECT_THAT(refusal({int64_t{1} << 32, int64_t{1} << 30}, 0),
              HasSubstr("which is not its shape"));
  EXPECT_THAT(refusal(std::vector<int64_t>(17, 1), 4), HasSubstr("17 dimensions: at most 16"));
}

TEST(ArrayViews, RefuseUnknownTypesAndMissingData) {
  ArrayView array = six_floats();
  array.type = "Q4\n";
  EXPECT_EQ(message_of<UnsupportedModel>([&] { stored_tensors({{"w", array}}); }),
            "weight 'w' is of type 'Q4\\n', which Whyformer cannot read: hand it over as F32, F16, "
            "BF16 or F64");
  EXPECT_EQ(message_of<InvalidInput>([] { stored_tensors({{"w", {"F32", {2}, nullptr, 8}}}); }),
            "weight 'w' has no data");
}

}  // namespace
}  // namespace whyformer
