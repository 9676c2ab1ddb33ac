#include "models/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace whyformer {
namespace {

StoredTensor stored_doubles(const std::vector<double>& numbers) {
  std::string bytes(numbers.size() * sizeof(double), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return {WeightType::kF64, {static_cast<int64_t>(numbers.size())}, bytes_of(bytes)};
}

TEST(CheckpointTensors, Of64BitsKeepAllOfThem) {
  const Checkpoint checkpoint({{"x", stored_doubles({0.1, 1e-300, 3})}});
  EXPECT_THAT(checkpoint.tensor("x", {3}, DType::kFloat64).to_doubles(),
              testing::ElementsAre(0.1, 1e-300, 3));
  EXPECT_THAT(checkpoint.tensor("x", {3}, DType::kFloat32).to_doubles(),
              testing::ElementsAre(0.1f, 0, 3));
}

TEST(CheckpointNotes, NameLayersThatNobodyAskedForBesideOthers) {
  StoredTensors tensors;
  for (const char* name :
       {"layer.0.a", "layer.0.b", "layer.1.a", "layer.2.a", "layer.10.a", "other.layers.0.a",
        "heads.1.a", "stages.layers.0.blocks.0.a", "stages.layers.0.blocks.1.a"}) {
    tensors[name] = stored_doubles({1});
  }
  const Checkpoint checkpoint(std::move(tensors));
  EXPECT_TRUE(checkpoint.notes().empty());
  for (const char* name : {"layer.0.a", "layer.1.a", "stages.layers.0.blocks.0.a"})
    checkpoint.tensor(name, {1}, DType::kFloat32);
  EXPECT_THAT(checkpoint.notes(),
              testing::ElementsAre(testing::EndsWith(
                  "left out: 'layer.10', 'layer.2', 'stages.layers.0.blocks.1'.")));
}

}  // namespace
}  // namespace whyformer
