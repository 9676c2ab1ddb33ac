// pytorch-widedeep's TabTransformer, SAINT and FTTransformer inside a WideDeep. Categories come
// first, those of all columns numbered through from 1 (0: not seen while training), perhaps with a
// class token that is a category as well; numbers are tokens behind them, or stay beside.
#include <fmt/format.h>

#include <algorithm>

#include "models/architectures/tables/table_family.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

const std::string kTab = "deeptabular.0.encoder.transformer_block";
const std::string kSaintBlock = "deeptabular.0.encoder.saint_block";
const std::string kFt = "deeptabular.0.encoder.fttransformer_block";
const std::string kWidedeepTable = "deeptabular.0.cat_embed.embed.weight";
const std::string kNumberWeight = "deeptabular.0.cont_embed.weight";
const std::string kMlp = "deeptabular.0.mlp.mlp.dense_layer_";

bool recognises_tab(const Checkpoint& tensors) {
  return tensors.has(kTab + "0.attn.q_proj.weight");
}
bool recognises_saint(const Checkpoint& tensors) {
  return tensors.has(kSaintBlock + "0.col_attn.q_proj.weight");
}
bool recognises_ft(const Checkpoint& tensors) { return tensors.has(kFt + "0.attn.E"); }

// What was chosen when the model was made, as far as the shapes tell.
struct WidedeepLayout {
  bool has_class_token = false;
  bool embeds_numbers = true;
  int64_t columns = 0;  // of categories, without the class token
};

int64_t columns_told(const TableSpec& spec) {
  int64_t columns = 0;
  for (const ColumnSpec& column : spec.columns) {
    if (column.input == "x_cat") columns += static_cast<int64_t>(column.at.size());
  }
  return columns;
}

// What the layers behind the blocks read.
int64_t width_read(const Checkpoint& tensors) {
  for (int64_t module = 0; module < 4; ++module) {
    const auto first = tensors.shape_of(fmt::format("{}0.{}.weight", kMlp, module));
    if (first && first->size() == 2) return (*first)[1];
  }
  return shape_of(tensors, "deeptabular.1.weight", 2)[1];
}

// Ids count through all columns, from 1; that of a class token in front is no column's.
bool is_told(const TableSpec& spec, int64_t id) {
  return std::ranges::any_of(spec.columns, [&](const ColumnSpec& column) {
    return column.input == "x_cat" && std::ranges::find(column.ids, id) != column.ids.end();
  });
}

int64_t class_id(const TableSpec& spec) {
  return static_cast<int64_t>(option(spec, "class_id", 1));
}

WidedeepLayout layout_of(const TableWeights& weights, int64_t numbers, int64_t width) {
  const int64_t columns = columns_told(weights.spec), read = width_read(weights.tensors);
  for (const bool embeds : {true, false}) {
    const int64_t beside = embeds ? 0 : numbers, tokens = columns + (embeds ? numbers : 0);
    const bool all_tokens = read == tokens * width + beside, one_token = read == width + beside;
    // A single token has the width of a class token.
    if (all_tokens && one_token)
      return {!is_told(weights.spec, class_id(weights.spec)), embeds, columns};
    if (all_tokens || one_token) return {one_token, embeds, columns};
  }
  throw UnsupportedModel(fmt::format(
      "the layers behind the blocks read {} numbers, which are neither a class token of {} nor the "
      "tokens of {} columns of categories, as table.json has, and {} numbers",
      read, width, columns, numbers));
}

TableFacts facts_of(const TableWeights& weights, const std::string& blocks,
                    const std::string& query) {
  const Checkpoint& tensors = weights.tensors;
  if (tensors.has_prefix("deeptabular.0.cat_embed.embed.emb_layer_")) {
    throw UnsupportedModel(
        "the categories of this pytorch-widedeep model share embeddings (shared_embed), whose "
        "order is not in the file: export the model to ONNX and give that file");
  }
  TableFacts facts;
  facts.width = shape_of(tensors, blocks + "0." + query, 2)[1];
  if (tensors.has(kNumberWeight)) facts.numbers = shape_of(tensors, kNumberWeight, 2)[0];
  while (tensors.has_prefix(fmt::format("{}{}.", blocks, facts.blocks))) ++facts.blocks;
  if (tensors.has(kWidedeepTable)) {
    const WidedeepLayout layout = layout_of(weights, facts.numbers, facts.width);
    // Ids count through all columns.
    facts.category_counts.assign(layout.columns, shape_of(tensors, kWidedeepTable, 2)[0]);
  }
  return facts;
}

// A single head has no output projection.
void read_heads(const Checkpoint& tensors, const std::string& out, TableFacts& facts) {
  facts.possible_heads =
      tensors.has(out + ".weight") ? divisors(facts.width, 2) : std::vector<int64_t>{1};
}

TableFacts tab_facts(const TableWeights& weights) {
  TableFacts facts = facts_of(weights, kTab, "attn.q_proj.weight");
  read_heads(weights.tensors, kTab + "0.attn.out_proj", facts);
  return facts;
}

TableFacts saint_facts(const TableWeights& weights) {
  TableFacts facts = facts_of(weights, kSaintBlock, "col_attn.q_proj.weight");
  read_heads(weights.tensors, kSaintBlock + "0.col_attn.out_proj", facts);
  facts.rows_attend = true;
  return facts;
}

TableFacts ft_facts(const TableWeights& weights) {
  TableFacts facts = facts_of(weights, kFt, "attn.qkv_proj.weight");
  read_heads(weights.tensors, kFt + "0.attn.out_proj", facts);
  facts.mixes_keys = true;
  return facts;
}

Value normed_numbers(TableEncoder& build, Value numbers) {
  const Checkpoint& tensors = build.weights().tensors;
  const std::string norm = "deeptabular.0.cont_norm";
  if (!numbers.valid() || !tensors.has(norm + ".weight")) return numbers;
  return tensors.has(norm + ".running_mean") ? build.batch_norm(numbers, norm)
                                             : build.norm(numbers, norm);
}

Value category_tokens(TableEncoder& build, Value ids) {
  if (!ids.valid()) return {};
  const Checkpoint& tensors = build.weights().tensors;
  const int64_t columns = build.facts().categories(), width = build.facts().width;
  const Value tokens =
      build.picked_vectors(ids, {kWidedeepTable}, std::vector<int64_t>(columns, 0));
  const std::string bias = "deeptabular.0.cat_embed.bias";
  return tensors.has(bias) ? build.plus(tokens, build.parameter(bias, {columns, width}), bias)
                           : tokens;
}

// The class token is the category of a column in front, and so the first that was numbered.
Value class_token(TableEncoder& build) {
  const Tensor table = build.parameter(kWidedeepTable, {-1, build.facts().width});
  const int64_t id = class_id(build.weights().spec);
  if (id < 0 || id >= table.dim(0)) {
    throw UnsupportedModel(fmt::format(
        "table.json gives the class token's id {}, but the table has {} rows", id, table.dim(0)));
  }
  return build.learned_token(table.slice(0, id, 1).contiguous(), "cls_token");
}

LinearRows linear_in(const Checkpoint& tensors, const std::string& name) {
  return tensors.has(name + ".bias") ? linear_named(name) : linear_without_bias(name);
}

AttentionParts attention_parts(TableEncoder& build, const std::string& site) {
  const Checkpoint& tensors = build.weights().tensors;
  const LinearRows query = linear_in(tensors, site + ".q_proj");
  const LinearRows both = linear_in(tensors, site + ".kv_proj");
  const int64_t width = shape_of(tensors, query.weight, 2)[0];
  AttentionParts parts{.site = site,
                       .query = query,
                       .key = part_of(both, width, 0),
                       .value = part_of(both, width, 1),
                       .heads = build.heads()};
  if (build.heads() > 1) parts.out = linear_in(tensors, site + ".out_proj");
  return parts;
}

// Its "reglu" multiplies by gelu as well.
FeedForwardParts forward_parts(TableEncoder& build, const std::string& name) {
  FeedForwardFunction function = function_of(build.weights().spec, ActivationFunction::kGelu);
  if (function.told == "reglu") function.function = ActivationFunction::kGelu;
  return {.first = linear_named(name + ".w_1"),
          .second = linear_named(name + ".w_2"),
          .function = function};
}

Value attention_and_forward(TableEncoder& build, Value x, const std::string& attention,
                            const std::string& forward, bool between_rows) {
  const AttentionParts parts = attention_parts(build, attention);
  x = build.step(x, NormPlace::kAfter, attention + "_addnorm.ln", [&](Value y) {
    return between_rows ? build.row_attention(y, parts) : build.attention(y, parts);
  });
  return build.step(x, NormPlace::kAfter, forward + "_addnorm.ln",
                    [&](Value y) { return build.feed_forward(y, forward_parts(build, forward)); });
}

Value tab_block(TableEncoder& build, Value x, int64_t i) {
  const std::string block = fmt::format("{}{}.", kTab, i);
  return attention_and_forward(build, x, block + "attn", block + "ff", false);
}

Value saint_block(TableEncoder& build, Value x, int64_t i) {
  const std::string block = fmt::format("{}{}.", kSaintBlock, i);
  const int64_t tokens = build.graph().shape(x)[1];
  x = attention_and_forward(build, x, block + "col_attn", block + "col_attn_ff", false);
  x = attention_and_forward(build, build.rows_as_tokens(x), block + "row_attn",
                            block + "row_attn_ff", true);
  return build.tokens_of_rows(x, tokens);
}

// Linformer: E and F [tokens, mixtures] are no Linears but their transposes are.
Value ft_block(TableEncoder& build, Value x, int64_t i) {
  const Checkpoint& tensors = build.weights().tensors;
  const std::string block = fmt::format("{}{}.", kFt, i), site = block + "attn";
  const LinearRows all = linear_in(tensors, site + ".qkv_proj");
  AttentionParts parts{.site = site,
                       .query = third_of(tensors, all, 0),
                       .key = third_of(tensors, all, 1),
                       .value = third_of(tensors, all, 2),
                       .heads = build.heads()};
  parts.key_mixture = {.weight = site + ".E", .transposed = true};
  parts.value_mixture = {.weight = tensors.has(site + ".F") ? site + ".F" : site + ".E",
                         .transposed = true};
  if (build.heads() > 1) parts.out = linear_in(tensors, site + ".out_proj");
  // The first block's norm is stored, but not used.
  x = build.step(x, NormPlace::kBefore, i == 0 ? "" : block + "attn_normadd.ln",
                 [&](Value y) { return build.attention(y, parts); });
  return build.step(x, NormPlace::kBefore, block + "ff_normadd.ln", [&](Value y) {
    return build.feed_forward(y, forward_parts(build, block + "ff"));
  });
}

template <class Block>
Value answer_by(TableEncoder& build, const TableInputs& inputs, Block block) {
  const TableFacts& facts = build.facts();
  const Checkpoint& tensors = build.weights().tensors;
  const WidedeepLayout layout = layout_of(build.weights(), facts.numbers, facts.width);
  const Value numbers = normed_numbers(build, inputs.numbers);
  Value embedded;
  if (numbers.valid() && layout.embeds_numbers) {
    const std::string bias = "deeptabular.0.cont_embed.bias";
    embedded = build.plus(build.scaled_vectors(numbers, kNumberWeight),
                          build.parameter(bias, {facts.numbers, facts.width}), bias);
  }
  const Value cls = layout.has_class_token ? class_token(build) : Value{};
  Value x = build.with_context_rows(
      build.joined_tokens({cls, category_tokens(build, inputs.categories), embedded}));
  for (int64_t i = 0; i < facts.blocks; ++i) x = block(build, x, i);
  x = build.explained_rows(x);
  x = layout.has_class_token ? build.token(x, 0) : build.flat(x);
  if (!layout.embeds_numbers) x = build.beside(x, numbers);
  for (int64_t i = 0; tensors.has_prefix(fmt::format("{}{}.", kMlp, i)); ++i) {
    const std::string layer = fmt::format("{}{}.", kMlp, i);
    x = build.perceptron(x, layer, build.head_function(), AfterLast::kFunction);
  }
  return build.linear(x, linear_named("deeptabular.1"));
}

Value tab_answer(TableEncoder& build, const TableInputs& inputs) {
  return answer_by(build, inputs, tab_block);
}
Value saint_answer(TableEncoder& build, const TableInputs& inputs) {
  return answer_by(build, inputs, saint_block);
}
Value ft_answer(TableEncoder& build, const TableInputs& inputs) {
  return answer_by(build, inputs, ft_block);
}

constexpr std::string_view kFirstNorm[] = {
    "deeptabular.0.encoder.fttransformer_block0.attn_normadd.ln"};
// The numbers' vectors are there, also where they are not used.
constexpr std::string_view kNumberVectors[] = {"deeptabular.0.cont_embed."};

}  // namespace

const TableFamily kWidedeepTab{.name = "wd-tab",
                               .package = "pytorch_widedeep TabTransformer",
                               .recognises = recognises_tab,
                               .facts = tab_facts,
                               .answer = tab_answer,
                               .without_use = kNumberVectors};

const TableFamily kWidedeepSaint{.name = "wd-saint",
                                 .package = "pytorch_widedeep SAINT",
                                 .recognises = recognises_saint,
                                 .facts = saint_facts,
                                 .answer = saint_answer};

const TableFamily kWidedeepFt{.name = "wd-ft",
                              .package = "pytorch_widedeep FTTransformer",
                              .recognises = recognises_ft,
                              .facts = ft_facts,
                              .answer = ft_answer,
                              .without_use = kFirstNorm};

}  // namespace whyformer
