#include "graph/blocks.h"

#include <fmt/format.h>

#include "whyformer/error.h"

namespace whyformer {
namespace {

const std::vector<int> kSwapTokensAndHeads{0, 2, 1, 3};

// Finds the parts of one block, from the attention map onwards.
class BlockFinder {
 public:
  BlockFinder(const Graph& graph, const AttentionSite& site) : graph_(graph) {
    block_.name = site.name;
    block_.attention = site.attention;
    block_.rows = site.queries;
  }

  EncoderBlock find() {
    const Node& context = find_context();
    block_.values = context.inputs[1];
    block_.value_projection = &find_value_projection();
    block_.output_projection = &find_output_projection(context);
    find_attention_residual();
    find_feed_forward();
    return std::move(block_);
  }

 private:
  // attention · values, perhaps on some rows of the map.
  const Node& find_context() {
    const Node* reader = &only_reader(block_.attention, "a product with the values");
    if (const auto rows = reader->op->sliced_rows()) {
      require(rows->axis == 2, *reader, "a product with the values");
      block_.first_row = rows->start;
      block_.rows = rows->length;
      reader = &only_reader(reader->outputs[0], "a product with the values");
    }
    require(reader->op->kind() == "MatMul", *reader, "a product with the values");
    return *reader;
  }

  // Linear → heads split → transposed.
  const Node& find_value_projection() const {
    const Node& transposed = maker(block_.values, "value heads");
    require(transposed.op->axis_order() == kSwapTokensAndHeads, transposed, "value heads");
    const Node& split = maker(transposed.inputs[0], "value heads");
    require(split.op->kind() == "Reshape", split, "value heads");
    const Node& projection = maker(split.inputs[0], "the Linear of the values");
    require(projection.op->linear_weights() != nullptr, projection, "the Linear of the values");
    const Shape& heads = graph_.shape(block_.values);
    const Shape merged{heads[0], heads[2], heads[1] * heads[3]};
    require(graph_.shape(projection.outputs[0]) == merged, projection, "the Linear of the values");
    return projection;
  }

  // Transposed → heads merged → Linear.
  const Node& find_output_projection(const Node& context) const {
    const Node& transposed = only_reader(context.outputs[0], "merged heads");
    require(transposed.op->axis_order() == kSwapTokensAndHeads, transposed, "merged heads");
    const Node& merge = only_reader(transposed.outputs[0], "merged heads");
    const Shape& heads = graph_.shape(transposed.outputs[0]);
    const Shape merged{heads[0], heads[1], heads[2] * heads[3]};
    require(graph_.shape(merge.outputs[0]) == merged, merge, "merged heads");
    const Node& projection = only_reader(merge.outputs[0], "the output projection");
    require(projection.op->linear_weights() != nullptr, projection, "the output projection");
    return projection;
  }

  void find_attention_residual() {
    block_.attended = residual_behind(*block_.output_projection);
    const ResidualPart& part = block_.attended;
    block_.input = whole_stream(part.add->inputs[part.skip]);
    const Value read = block_.value_projection->inputs[0];
    if (read != block_.input) {
      const Node& norm = maker(read, "a LayerNorm of the stream");
      require(is_norm(norm) && norm.inputs[0] == block_.input, norm, "a LayerNorm of the stream");
      block_.attended.norm_before = &norm;
    }
    find_norm_after(block_.attended);
  }

  void find_feed_forward() {
    const Value stream = block_.attended.output();
    const Node* entry = &branch_of(stream);
    const Node* norm = is_norm(*entry) ? entry : nullptr;
    if (norm != nullptr) entry = &only_reader(norm->outputs[0], "the first feed-forward Linear");
    require(entry->op->linear_weights() != nullptr, *entry, "the first feed-forward Linear");
    block_.inner = entry;
    block_.activation = &only_reader(entry->outputs[0], "an activation");
    require(block_.activation->op->activation_function().has_value(), *block_.activation,
            "an activation");
    block_.outer = &only_reader(block_.activation->outputs[0], "the second feed-forward Linear");
    require(block_.outer->op->linear_weights() != nullptr, *block_.outer,
            "the second feed-forward Linear");
    block_.fed_forward = residual_behind(*block_.outer);
    ResidualPart& part = block_.fed_forward;
    require(part.add->inputs[part.skip] == stream, *part.add,
            "the sum of the feed-forward part and its input");
    part.norm_before = norm;
    find_norm_after(part);
  }

  // The addition that takes up the branch again.
  ResidualPart residual_behind(const Node& branch) const {
    const Value value = branch.outputs[0];
    const Node& add = only_reader(value, "a residual addition");
    require(add.op->kind() == "Add" && graph_.shape(add.inputs[0]) == graph_.shape(add.inputs[1]),
            add, "a residual addition");
    ResidualPart part;
    part.add = &add;
    part.skip = add.inputs[0] == value ? 1 : 0;
    return part;
  }

  // A norm that alone reads the sum belongs to the part; behind a part that has its norm before, it
  // is the final norm of the network.
  void find_norm_after(ResidualPart& part) const {
    const std::vector<int>& readers = graph_.users(part.add->outputs[0]);
    if (part.norm_before != nullptr || readers.size() != 1) return;
    const Node& reader = graph_.nodes()[readers[0]];
    if (is_norm(reader)) part.norm_after = &reader;
  }

  // What reads the stream besides the addition.
  const Node& branch_of(Value stream) const {
    const Node* branch = nullptr;
    for (const int index : graph_.users(stream)) {
      const Node& reader = graph_.nodes()[index];
      if (reader.op->kind() == "Add") continue;
      require(branch == nullptr, reader, "one feed-forward part");
      branch = &reader;
    }
    if (branch == nullptr) fail("a feed-forward part", "nothing reads", graph_.name(stream));
    return *branch;
  }

  // The value whose rows are added to the branch.
  Value whole_stream(Value added) const {
    if (graph_.producer(added) < 0) return added;
    const Node& node = graph_.nodes()[graph_.producer(added)];
    const auto rows = node.op->sliced_rows();
    if (!rows) return added;
    require(rows->axis == 1 && rows->start == block_.first_row && rows->length == block_.rows, node,
            "the rows of the attention map");
    return node.inputs[0];
  }

  const Node& only_reader(Value value, std::string_view expected) const {
    const std::vector<int>& readers = graph_.users(value);
    if (readers.empty()) fail(expected, "nothing reads", graph_.name(value));
    const Node& reader = graph_.nodes()[readers.back()];
    require(readers.size() == 1, reader, std::string(expected) + " alone");
    return reader;
  }

  const Node& maker(Value value, std::string_view expected) const {
    if (graph_.producer(value) < 0) fail(expected, "the graph has the input", graph_.name(value));
    return graph_.nodes()[graph_.producer(value)];
  }

  static bool is_norm(const Node& node) { return node.op->layer_norm_weights() != nullptr; }

  void require(bool holds, const Node& node, std::string_view expected) const {
    if (!holds) fail(expected, fmt::format("there is {}", node.op->kind()), node.name);
  }

  [[noreturn]] void fail(std::string_view expected, std::string_view found,
                         std::string_view name) const {
    throw UnsupportedModel(fmt::format(
        "attention '{}' is not in an encoder block of known form: where {} is expected, {} '{}'",
        block_.name, expected, found, name));
  }

  const Graph& graph_;
  EncoderBlock block_;
};

}  // namespace

std::vector<EncoderBlock> find_blocks(const Graph& graph, const std::vector<AttentionSite>& sites) {
  if (sites.empty()) throw UnsupportedModel("the model has no attention, so no encoder blocks");
  std::vector<EncoderBlock> blocks;
  for (const AttentionSite& site : sites) {
    if (site.first_query || site.first_key) {
      throw UnsupportedModel(fmt::format("attention '{}' goes from {} queries to {} keys, so its block does not take all tokens to all tokens",
                                         site.name, site.queries, site.keys));
    }
    blocks.push_back(BlockFinder(graph, site).find());
    if (blocks.size() == 1) continue;
    const EncoderBlock& before = blocks[blocks.size() - 2];
    if (blocks.back().input != before.output()) {
      throw UnsupportedModel(fmt::format(
          "the blocks of attention '{}' and '{}' do not follow each other: the second reads '{}' "
          "but "
          "the first gives '{}'",
          before.name, site.name, graph.name(blocks.back().input), graph.name(before.output())));
    }
  }
  return blocks;
}

std::vector<const Node*> find_head(const Graph& graph, const EncoderBlock& last, Value output) {
  std::vector<const Node*> head;
  for (Value value = last.output(); value != output; value = head.back()->outputs[0]) {
    const std::vector<int>& readers = graph.users(value);
    if (readers.size() != 1) {
      throw UnsupportedModel(fmt::format(
          "the head is not a chain of operators: '{}' behind the last block is read by {} of them",
          graph.name(value), readers.size()));
    }
    head.push_back(&graph.nodes()[readers[0]]);
  }
  return head;
}

}  // namespace whyformer
