// Blocks of every form have names for the stream and for what their two parts add to it.
#include <gmock/gmock.h>

#include "tests/support/array_test_helpers.h"
#include "whyformer/probe.h"

namespace whyformer {
namespace {

struct NamedBlocks {
  std::string file;
  std::vector<std::string> blocks;
};

class BlockNames : public testing::TestWithParam<NamedBlocks> {};

// Gated and plain parts, norms of both kinds, shared keys and values, windows.
TEST_P(BlockNames, AddTwoPartsToTheStream) {
  const auto file = golden(GetParam().file);
  const InputFile inputs(file);
  const Model model = Model::load(file, {.arrays = true});
  const Recording found = probe(model, InputValue(read_array_views(inputs.path())),
                                {.reads = {{.value = "**"}}, .precision = Precision::kDouble});
  std::vector<std::string> blocks;
  const auto sums = [&](const std::string& block, const std::string& from, const std::string& part,
                        const std::string& to) {
    const RecordedArray &stream = found.at(block + from), &added = found.at(block + part),
                        &sum = found.at(block + to);
    ASSERT_EQ(stream.shape, sum.shape);
    for (int64_t i = 0; i < sum.size(); ++i) EXPECT_NEAR(sum[i], stream[i] + added[i], 1e-9);
  };
  for (const RecordedArray& array : found.arrays) {
    if (!array.name.ends_with(".middle")) continue;
    const std::string block = array.name.substr(0, array.name.size() - 6);
    blocks.push_back(block.substr(0, block.size() - 1));
    sums(block, "input", "attention.output", "middle");
    sums(block, "middle", "mlp.output", "output");
  }
  EXPECT_EQ(blocks, GetParam().blocks);
}

INSTANTIATE_TEST_SUITE_P(
    Files, BlockNames,
    testing::Values(NamedBlocks{"llama.eager.new.18", {"blocks.0", "blocks.1"}},
                    NamedBlocks{"llama.sdpa.new.23", {"blocks.0", "blocks.1"}},
                    NamedBlocks{"gpt2.eager.legacy.17", {"blocks.0", "blocks.1"}},
                    NamedBlocks{"t5-gated.eager.new.20",
                                {"streams.0.blocks.0", "streams.0.blocks.1"}},
                    NamedBlocks{"swin.eager.new.18",
                                {"streams.0.blocks.0", "streams.1.blocks.0", "streams.2.blocks.0",
                                 "streams.3.blocks.0"}}),
    [](const auto& test) {
      std::string name = test.param.file;
      for (char& letter : name) letter = std::isalnum(letter) != 0 ? letter : '_';
      return name;
    });

}  // namespace
}  // namespace whyformer
