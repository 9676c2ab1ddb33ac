// What attention methods that read single maps share, for one stream of tokens and for several.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "methods/method.h"
#include "run/attention_math.h"

namespace whyformer {

// One map that the read-out's row is taken from.
struct ReadMap {
  int layer = 0;
  UnitRange keys;
  std::vector<double> read;    // share of each query
  std::optional<int64_t> own;  // the key that is the one token that is read
};

// The layer that an option names, negative from the output, or -1 in a model of several streams:
// for each stream the last map through which the stream that is read attends to it, as the
// baselines of Chefer et al., ICCV 2021, do. Throws InvalidInput where there is no such layer, or
// it belongs to a stream that is not read.
std::vector<ReadMap> read_maps(const Run& run, int64_t layer, const std::string& option);

// Scores of all units from those maps; a stream that the read one attends to nowhere gets 0, and a
// note says so.
Scores read_rows(const Run& run, const std::vector<ReadMap>& maps,
                 const std::function<std::vector<double>(const ReadMap&)>& scores_of);

// Scores from relevance of every stream [tokens of the read one, tokens of the other], read by the
// shares of its rows.
Scores read_relevance(const Run& run, const std::vector<Matrix>& relevance);

}  // namespace whyformer
