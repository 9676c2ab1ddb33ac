#include <fmt/format.h>

#include "methods/attention/stream_methods.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

struct RawAttentionOptions {
  int64_t layer = -1;  // from the input; negative counts from the output
  int64_t head = -1;   // -1: mean over heads
  std::string read = "row";
  OwnEntry own = OwnEntry::kKeep;
};

std::vector<double> read_map(const Matrix& map, const std::string& read,
                             const std::vector<double>& read_out) {
  if (read == "row") return times(read_out, map);
  std::vector<double> scores(map.columns, 0.0);
  for (int64_t i = 0; i < map.rows; ++i) {
    for (int64_t j = 0; j < map.columns; ++j) {
      if (read == "diagonal")
        scores[j] += i == j ? map.at(i, j) : 0;
      else if (read == "column-max")
        scores[j] = std::max(scores[j], map.at(i, j));
      else
        scores[j] += map.at(i, j);
    }
  }
  return scores;
}

// r_j = mean over heads of A[c][j] in one layer; or what every token receives (column), or gives
// itself (diagonal).
Scores raw_attention(Run& run, const RawAttentionOptions& options) {
  Scores scores =
      read_rows(run, read_maps(run, options.layer, "raw-attention.layer"), [&](const ReadMap& map) {
        Tensor maps = run.attention(map.layer);
        if (options.head >= maps.dim(0)) {
          throw InvalidInput(fmt::format("raw-attention.head={}: the layer has heads 0 to {}",
                                         options.head, maps.dim(0) - 1));
        }
        if (options.head >= 0) maps = maps.slice(0, options.head, 1);
        return read_map(fuse_heads(maps, HeadFusion::kMean), options.read, map.read);
      });
  treat_own_entry(scores.values, run.read_out_row(), options.own);
  return scores;
}

}  // namespace

const Method kRawAttention{
    {.name = "raw-attention",
     .summary = "attention weights of the read-out token in one layer",
     .paper = "Bahdanau et al., ICLR 2015; its limits: Jain & Wallace, NAACL 2019",
     .cost = "1 forward",
     .class_specific = false,
     .is_signed = false,
     .options =
         {{"layer", "layer index from the input; -1: the last", int64_t{-1}},
          {"head", "head index; -1: mean over heads", int64_t{-1}, {}, -1},
          {"read",
           "the read-out token's row, each token's column (attention received), or the diagonal",
           std::string("row"),
           {"row", "column-sum", "column-max", "diagonal"}},
          own_entry_option("keep")},
     .presets = {{"chefer-bert",
                  "the baseline of Chefer et al. for BERT: own score set to 0",
                  {{"own", std::string("zero")}}},
                 {"abnar-received",
                  "attention received, as in Abnar & Zuidema's SST-2 script",
                  {{"read", std::string("column-max")}}}}},
    {.attention = true},
    [](Run& run, const OptionReader& options) {
      return raw_attention(run, {.layer = options.whole("layer"),
                                 .head = options.whole("head"),
                                 .read = options.word("read"),
                                 .own = own_entry_named(options.word("own"))});
    }};

}  // namespace whyformer
