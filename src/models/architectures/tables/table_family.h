// Families of table models: what each must say so that a graph can be built from its weights.
#pragma once

#include <span>
#include <string_view>

#include "models/architectures/tables/table_encoder.h"

namespace whyformer {

struct TableFamily {
  std::string_view name;     // in table.json
  std::string_view package;  // as its users call it
  bool (*recognises)(const Checkpoint& tensors);
  TableFacts (*facts)(const TableWeights& weights);
  // The answer [rows, outputs]; the encoder notes tokens and vectors on the way.
  Value (*answer)(TableEncoder& build, const TableInputs& inputs);
  // What names of tensors begin with that the answer does not depend on; where it begins with a
  // dot, what they contain.
  std::span<const std::string_view> without_use = {};
};

// One line per family.
extern const TableFamily kAutoGluon;
extern const TableFamily kLitSaint;
extern const TableFamily kLucidFt;
extern const TableFamily kLucidHyperConnections;
extern const TableFamily kLucidTab;
extern const TableFamily kPytorchFrame;
extern const TableFamily kPytorchFrameTab;
extern const TableFamily kPytorchTabularFt;
extern const TableFamily kPytorchTabularTab;
extern const TableFamily kRtdlOld;
extern const TableFamily kRtdlPaper;
extern const TableFamily kRtdlRevisiting;
extern const TableFamily kSaint;
extern const TableFamily kWidedeepFt;
extern const TableFamily kWidedeepSaint;
extern const TableFamily kWidedeepTab;

std::span<const TableFamily* const> table_families();

// The first whose tensors these are; null where there is none.
const TableFamily* recognised_family(const Checkpoint& tensors);

// The family that table.json names, else the first whose tensors these are. Throws UnsupportedModel
// that lists what is supported.
const TableFamily& table_family_of(const TableWeights& weights);

// The tensors by the names that a family gives them: wrappers put "model.", "module.", "net." or
// "_orig_mod." in front.
StoredTensors without_wrapper(StoredTensors tensors);

// Throws FileError for sizes that no model has.
void check_sizes(const TableFamily& family, const TableFacts& facts);

// The number of heads: told, stored or the package's default. Throws UnsupportedModel where none of
// these is known.
int64_t heads_of(const TableFamily& family, const TableWeights& weights, const TableFacts& facts);

// Heads of lucidrains' attention, one matrix for queries, keys and values.
void read_lucid_heads(const TableWeights& weights, const std::string& to_qkv, int64_t head_width,
                      TableFacts& facts);

// Blocks of SAINT, which lit-saint has too, under other names and with heads of another width.
struct SaintBlocks {
  std::string first_forward, second_forward;  // Linears of the feed-forward part
  int64_t column_head_width = 0, row_head_width = 0;
};
// Whether the first step of a block is between rows.
bool starts_with_rows(const Checkpoint& tensors, int64_t width);
// Returns the width of all heads of the first step.
int64_t read_saint_blocks(const Checkpoint& tensors, TableFacts& facts);
Value saint_blocks(TableEncoder& build, Value x, const SaintBlocks& blocks);
// Each number through a perceptron of its own, "PREFIXj.layers.".
Value perceptron_tokens(TableEncoder& build, Value numbers, const std::string& prefix);

// Blocks and head of rtdl, which its successors and AutoGluon have too.
struct RtdlNames {
  std::string blocks, head;                 // "backbone.blocks.", "backbone.output."
  std::string first_linear, second_linear;  // of the feed-forward part
  std::string attention_norm = "attention_normalization";
  std::string feed_forward_norm = "ffn_normalization";
  std::string shared_mixture = {};  // Linformer's, of all blocks
  ActivationFunction gate = ActivationFunction::kRelu;
};
// Numbers and categories as tokens, of columns whose tensors are called like rtdl's.
struct RtdlTokens {
  std::string number_weight, number_bias;
  std::string table, category_bias;
};
void read_rtdl_tokens(const TableWeights& weights, const RtdlTokens& names, TableFacts& facts);
Value rtdl_numbers(TableEncoder& build, Value numbers, const RtdlTokens& names);
Value rtdl_categories(TableEncoder& build, Value ids, const RtdlTokens& names);

void read_rtdl_blocks(const Checkpoint& tensors, const RtdlNames& names, TableFacts& facts);
Value rtdl_blocks(TableEncoder& build, Value x, const RtdlNames& names);
Value rtdl_head(TableEncoder& build, Value token, const RtdlNames& names);

}  // namespace whyformer
