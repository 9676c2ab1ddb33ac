#include "discovery/blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ops/ops.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

const std::vector<int> kSwapTokensAndHeads{0, 2, 1, 3};
constexpr size_t kMostNodesOfPart = 200;

// Whether a transposition gives what another order would: it does where they differ in axes of
// length 1 only.
bool moves_like(const std::vector<int>& order, const std::vector<int>& wanted, const Shape& shape) {
  if (order.size() != wanted.size()) return false;
  std::vector<int> moved, expected;
  for (size_t i = 0; i < order.size(); ++i) {
    if (shape[order[i]] != shape[wanted[i]]) return false;
    if (shape[order[i]] > 1) moved.push_back(order[i]);
    if (shape[wanted[i]] > 1) expected.push_back(wanted[i]);
  }
  return moved == expected;
}

// Finds the parts of one block, from the attention map onwards.
class BlockFinder {
 public:
  BlockFinder(const Graph& graph, const AttentionSite& site) : graph_(graph) {
    block_.name = site.name;
    block_.attention = site.attention;
    block_.rows = site.queries;
    block_.first_row = site.first_query.value_or(0);
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

  EncoderBlock find_residual_parts() {
    takes_any_norm_ = true;
    find_addition_behind_map();
    for (const int index : graph_.users(block_.input)) {
      const Node& reader = graph_.nodes()[index];
      if (is_norm(reader)) block_.attended.norm_before = &reader;
    }
    find_norm_after(block_.attended);
    find_feed_forward();
    return std::move(block_);
  }

 private:
  // The first sum of what comes from the map with a value that the map comes from.
  void find_addition_behind_map() {
    const std::set<Value> in_front = values_in_front_of(block_.attention);
    Value value = block_.attention;
    for (size_t steps = 0; steps < kMostNodesOfPart; ++steps) {
      const Node& reader = next_reader(value);
      require(reader.outputs.size() == 1, reader, "what adds the attention to the stream");
      value = reader.outputs[0];
      if (!is_a<ops::Add>(*reader.op) || !graph_.varies(reader.inputs[0]) ||
          !graph_.varies(reader.inputs[1]))
        continue;
      ResidualPart& part = block_.attended;
      part.add = &reader;
      part.skip = in_front.contains(unsliced(reader.inputs[0])) ? 0 : 1;
      block_.input = unsliced(reader.inputs[part.skip]);
      require(in_front.contains(block_.input) && graph_.shape(block_.input).size() == 3, reader,
              "a residual addition");
      return;
    }
    fail("a residual addition", "nothing of that kind is behind", block_.name);
  }

  // A stream that is rolled is taken apart and put together again.
  const Node& next_reader(Value value) const {
    constexpr std::string_view kExpected = "what adds the attention to the stream";
    const std::vector<int>& readers = graph_.users(value);
    if (readers.size() < 2) return only_reader(value, kExpected);
    const Node* joined = nullptr;
    for (const int index : readers) {
      const Node& part = graph_.nodes()[index];
      require(part.outputs.size() == 1, part, kExpected);
      const Node& next = only_reader(part.outputs[0], kExpected);
      require(joined == nullptr || joined == &next, next, kExpected);
      joined = &next;
    }
    require(is_a<ops::Concat>(*joined->op), *joined, kExpected);
    return *joined;
  }

  std::set<Value> values_in_front_of(Value value) const {
    std::set<Value> found{value};
    for (size_t index = graph_.nodes().size(); index-- > 0;) {
      const Node& node = graph_.nodes()[index];
      const bool leads =
          std::ranges::any_of(node.outputs, [&](Value output) { return found.contains(output); });
      if (leads) found.insert(node.inputs.begin(), node.inputs.end());
    }
    return found;
  }

  // The stream, of which only some rows are added.
  Value unsliced(Value value) const {
    const Node* node = maker_or_null(value);
    const auto rows = node == nullptr ? std::nullopt : sliced_rows(*node->op);
    return rows && rows->axis == 1 ? node->inputs[0] : value;
  }

  // attention · values, perhaps on some rows of the map.
  const Node& find_context() {
    const Node* reader = &only_reader(block_.attention, "a product with the values");
    if (const auto rows = sliced_rows(*reader->op)) {
      require(rows->axis == 2, *reader, "a product with the values");
      block_.first_map_row = rows->start;
      block_.first_row += rows->start;
      block_.rows = rows->length;
      reader = &only_reader(reader->outputs[0], "a product with the values");
    }
    require(is_a<ops::MatMul>(*reader->op), *reader, "a product with the values");
    return *reader;
  }

  // Linear → heads split → transposed; of a single head there is nothing to transpose.
  const Node& find_value_projection() const {
    const Shape& heads = graph_.shape(block_.values);
    const Node* split = &maker(block_.values, "value heads");
    require(heads.size() == 4, *split, "value heads");
    if (heads[1] != 1 || !is_a<ops::Reshape>(*split->op)) {
      require(swaps_tokens_and_heads(*split), *split, "value heads");
      split = &maker(split->inputs[0], "value heads");
    }
    require(is_a<ops::Reshape>(*split->op), *split, "value heads");
    const Node& projection = maker(split->inputs[0], "the Linear of the values");
    require(is_a<ops::Linear>(*projection.op), projection, "the Linear of the values");
    const Shape merged{heads[0], heads[2], heads[1] * heads[3]};
    require(graph_.shape(projection.outputs[0]) == merged, projection, "the Linear of the values");
    return projection;
  }

  // Transposed → heads merged → Linear; of a single row there is nothing to transpose.
  const Node& find_output_projection(const Node& context) const {
    const Node* merge = &only_reader(context.outputs[0], "merged heads");
    if (swaps_tokens_and_heads(*merge)) {
      merge = &only_reader(merge->outputs[0], "merged heads");
    } else {
      require(block_.rows == 1, *merge, "merged heads");
    }
    const Shape& heads = graph_.shape(context.outputs[0]);
    const Shape merged{heads[0], heads[2], heads[1] * heads[3]};
    require(is_a<ops::Reshape>(*merge->op) && graph_.shape(merge->outputs[0]) == merged, *merge,
            "merged heads");
    const Node& projection = only_reader(merge->outputs[0], "the output projection");
    require(is_a<ops::Linear>(*projection.op), projection, "the output projection");
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
    ResidualPart& part = block_.fed_forward;
    part.add = &addition_to(stream);
    part.skip = part.add->inputs[0] == stream ? 0 : 1;
    for (const Node* entry : entries_) {
      if (is_norm(*entry)) part.norm_before = entry;
    }
    if (!block_.norms_before()) find_norm_after(part);
    find_feed_forward_layers(part.add->inputs[1 - part.skip],
                             part.norm_before == nullptr ? stream : part.norm_before->outputs[0]);
  }

  // Linear → activation → Linear, if it is that.
  void find_feed_forward_layers(Value branch, Value read) {
    const Node* outer = maker_or_null(branch);
    if (outer == nullptr || !is_a<ops::Linear>(*outer->op)) return;
    const Node* activation = maker_or_null(outer->inputs[0]);
    if (activation == nullptr || !is_a<ops::Activation>(*activation->op)) return;
    const Node* inner = maker_or_null(activation->inputs[0]);
    if (inner == nullptr || !is_a<ops::Linear>(*inner->op) || inner->inputs[0] != read) return;
    block_.inner = inner;
    block_.activation = activation;
    block_.outer = outer;
  }

  // The addition that takes up the branch again.
  ResidualPart residual_behind(const Node& branch) const {
    const Value value = branch.outputs[0];
    const Node& add = only_reader(value, "a residual addition");
    require(is_a<ops::Add>(*add.op) && graph_.shape(add.inputs[0]) == graph_.shape(add.inputs[1]),
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

  // The addition by which a branch comes back to the stream; `entries_` are then the nodes by which
  // it left.
  const Node& addition_to(Value stream) {
    const Node* mixing = nullptr;
    for (const int index : graph_.users(stream)) {
      const Node& reader = graph_.nodes()[index];
      if (!is_a<ops::Add>(*reader.op) ||
          graph_.shape(reader.inputs[0]) != graph_.shape(reader.inputs[1]))
        continue;
      const Value branch = reader.inputs[reader.inputs[0] == stream ? 1 : 0];
      seen_.clear();
      entries_.clear();
      if (!graph_.varies(branch)) continue;
      if (keeps_rows(branch, 1, stream)) return reader;
      mixing = &reader;
    }
    if (mixing != nullptr)
      require(false, *mixing,
              "the sum of the stream and a feed-forward part of each token by itself");
    fail("the addition of a feed-forward part", "nothing of that kind reads", graph_.name(stream));
  }

  // Whether positions of an axis depend on those positions of the stream's tokens and on nothing
  // else that varies.
  bool keeps_rows(Value value, int axis, Value stream) {
    if (value == stream) return axis == 1;
    if (!graph_.varies(value) || !seen_.emplace(value, axis).second) return true;
    const Node* node = maker_or_null(value);
    if (node == nullptr || value != node->outputs[0] || seen_.size() > kMostNodesOfPart)
      return false;
    std::vector<ValueType> types;
    for (const Value input : node->inputs) types.push_back(graph_.type(input));
    const auto flow = node->op->follow(axis, types);
    // Rows of a Linear may be rounded together, which mixes nothing else.
    if (!flow || !(flow->independent || is_a<ops::Linear>(*node->op))) return false;
    for (size_t i = 0; i < node->inputs.size(); ++i) {
      if (node->inputs[i] == stream) entries_.insert(node);
      if (graph_.varies(node->inputs[i]) &&
          (flow->sources[i] < 0 || !keeps_rows(node->inputs[i], flow->sources[i], stream))) {
        return false;
      }
    }
    return true;
  }

  // The value whose rows are added to the branch.
  Value whole_stream(Value added) const {
    const Node* node = maker_or_null(added);
    const auto rows = node == nullptr ? std::nullopt : sliced_rows(*node->op);
    if (!rows) return added;
    require(rows->axis == 1 && rows->start == block_.first_row && rows->length == block_.rows,
            *node, "the rows of the attention map");
    return node->inputs[0];
  }

  const Node& only_reader(Value value, std::string_view expected) const {
    const std::vector<int>& readers = graph_.users(value);
    if (readers.empty()) fail(expected, "nothing reads", graph_.name(value));
    const Node& reader = graph_.nodes()[readers.back()];
    require(readers.size() == 1, reader, std::string(expected) + " alone");
    return reader;
  }

  const Node* maker_or_null(Value value) const {
    return graph_.producer(value) < 0 ? nullptr : &graph_.nodes()[graph_.producer(value)];
  }

  const Node& maker(Value value, std::string_view expected) const {
    const Node* node = maker_or_null(value);
    if (node == nullptr) fail(expected, "the graph has the input", graph_.name(value));
    return *node;
  }

  bool swaps_tokens_and_heads(const Node& node) const {
    // Values that are weights have no maker's input.
    return !node.inputs.empty() &&
           moves_like(axis_order(*node.op), kSwapTokensAndHeads, graph_.shape(node.inputs[0]));
  }

  bool is_norm(const Node& node) const {
    return is_a<ops::LayerNorm>(*node.op) || (takes_any_norm_ && is_a<ops::RmsNorm>(*node.op));
  }

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
  bool takes_any_norm_ = false;
  std::set<std::pair<Value, int>> seen_;  // axes of values in the feed-forward part
  std::set<const Node*> entries_;         // what reads the stream there
};

}  // namespace

std::vector<EncoderBlock> find_blocks(const Graph& graph, const std::vector<AttentionSite>& sites) {
  if (sites.empty()) throw UnsupportedModel("the model has no attention, so no encoder blocks");
  std::vector<EncoderBlock> blocks;
  for (const AttentionSite& site : sites) {
    if (site.first_key) {
      throw UnsupportedModel(
          fmt::format("attention '{}' goes to {} keys that are not all tokens, so its block does "
                      "not take all tokens to all tokens",
                      site.name, site.keys));
    }
    blocks.push_back(BlockFinder(graph, site).find());
    if (blocks.size() == 1) continue;
    const EncoderBlock& before = blocks[blocks.size() - 2];
    if (blocks.back().input != before.output()) {
      throw UnsupportedModel(fmt::format(
          "the blocks of attention '{}' and '{}' do not follow each other: the second reads '{}' "
          "but the first gives '{}'",
          before.name, site.name, graph.name(blocks.back().input), graph.name(before.output())));
    }
    if (before.rows != graph.shape(before.input)[1]) {
      throw UnsupportedModel(fmt::format(
          "the block of attention '{}' goes on with {} of its {} tokens, and it is not the last",
          before.name, before.rows, graph.shape(before.input)[1]));
    }
  }
  return blocks;
}

EncoderBlock find_residual_block(const Graph& graph, const AttentionSite& site) {
  return BlockFinder(graph, site).find_residual_parts();
}

std::vector<const Node*> find_head(const Graph& graph, const EncoderBlock& last, Value output) {
  std::vector<bool> needed(graph.nodes().size(), false);
  const auto need = [&](Value value) {
    if (graph.producer(value) >= 0) needed[graph.producer(value)] = true;
  };
  need(output);
  for (size_t i = graph.nodes().size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (const Value input : graph.nodes()[i].inputs) need(input);
  }
  std::set<Value> derived{last.output()};
  std::vector<const Node*> head;
  for (size_t i = 0; i < needed.size(); ++i) {
    const Node& node = graph.nodes()[i];
    const auto comes_from_block = [&](Value input) { return derived.contains(input); };
    if (!needed[i] || std::none_of(node.inputs.begin(), node.inputs.end(), comes_from_block))
      continue;
    derived.insert(node.outputs.begin(), node.outputs.end());
    head.push_back(&node);
  }
  return head;
}

}  // namespace whyformer
