#include "explain/block_methods.h"

namespace whyformer {

std::vector<EncoderBlock> blocks_of(const Explained& explained) {
  explained.require_maps();
  explained.require_one_stream("what follows vectors from block to block",
                               "their blocks are no chain; gae, rollout and transformer-attribution know several streams");
  return find_blocks(explained.graph().graph, explained.found().sites);
}

std::vector<double> read_out_rows(const Explained& explained, const EncoderBlock& block) {
  const std::vector<double> shares = explained.read_out();
  const auto first = shares.begin() + block.first_row;
  return {first, first + block.rows};
}

std::vector<double> read_out_of_product(const Explained& explained, const MapOfBlock& map_of) {
  const std::vector<EncoderBlock> blocks = blocks_of(explained);
  std::vector<double> row = read_out_rows(explained, blocks.back());
  for (size_t layer = blocks.size(); layer-- > 0;) {
    row = times(row, map_of(blocks[layer]));
    explained.report_progress(static_cast<int64_t>(blocks.size() - layer),
                              static_cast<int64_t>(blocks.size()));
  }
  return row;
}

}  // namespace whyformer
