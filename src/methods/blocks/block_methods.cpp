#include "methods/blocks/block_methods.h"

#include <fmt/format.h>

#include "whyformer/error.h"

namespace whyformer {

std::vector<EncoderBlock> blocks_of(const Run& run) {
  run.require_maps();
  run.require_one_stream(
      "what follows vectors from block to block",
      "their blocks are no chain; gae, rollout and transformer-attribution know several streams");
  return find_blocks(run.graph().graph, run.found().sites);
}

std::vector<double> read_out_rows(const Run& run, const EncoderBlock& block) {
  const std::vector<double> shares = run.read_out();
  const auto first = shares.begin() + block.first_row;
  return {first, first + block.rows};
}

std::vector<OptionInfo> layer_options() {
  return {
      {"layer", "layer index from the input at which the read-out token is read; -1: the last",
       int64_t{-1}},
      {"alone", "contributions of this layer's input states instead of the model's input tokens",
       false}};
}

LayerChoice layer_choice(const OptionReader& options) {
  return {.layer = options.whole("layer"), .alone = options.flag("alone")};
}

std::vector<double> read_out_of_product(const Run& run, const std::string& method,
                                        const LayerChoice& choice, const MapOfBlock& map_of) {
  const std::vector<EncoderBlock> blocks = blocks_of(run);
  const auto count = static_cast<int64_t>(blocks.size());
  const int64_t last = choice.layer < 0 ? choice.layer + count : choice.layer;
  if (last < 0 || last >= count) {
    throw InvalidInput(
        fmt::format("{}.layer={}: the model has layers 0 to {}", method, choice.layer, count - 1));
  }
  const int64_t first = choice.alone ? last : 0;
  std::vector<double> row = read_out_rows(run, blocks[last]);
  for (int64_t layer = last; layer >= first; --layer) {
    row = times(row, map_of(blocks[layer]));
    run.report_progress(last - layer + 1, last - first + 1);
  }
  return row;
}

}  // namespace whyformer
