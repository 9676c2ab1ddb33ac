#include "discovery/block_outputs.h"

#include <gtest/gtest.h>

#include "discovery/blocks.h"
#include "tests/support/golden_model.h"

namespace whyformer {
namespace {

// Two ways to the same values, in models whose blocks have the usual form; batches change nothing.
TEST(BlockOutputs, AreTheBottlenecksBetweenAttentions) {
  for (const std::string& name : golden_models()) {
    const GoldenModel golden(name);
    for (const int64_t batch : {1, 3}) {
      const auto text = golden.model->graph(
          {.batch = batch, .tokens = 6, .head = golden.head(), .all_rows = true});
      const std::vector<Value> cuts = bottlenecks(text->graph, text->found, text->output);
      const std::vector<EncoderBlock> blocks = find_blocks(text->graph, text->found.sites);
      ASSERT_EQ(cuts.size(), blocks.size()) << name;
      for (size_t i = 0; i + 1 < blocks.size(); ++i)
        EXPECT_EQ(cuts[i], blocks[i].output()) << name << ' ' << i;
      EXPECT_EQ(cuts.back(), blocks.back().fed_forward.add->outputs[0]) << name;
      EXPECT_EQ(text->graph.shape(cuts[0])[0], batch) << name;
      EXPECT_EQ(text->graph.shape(cuts.back())[1], 6) << "all rows of the last block";
    }
  }
}

}  // namespace
}  // namespace whyformer
