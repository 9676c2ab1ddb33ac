#include "methods/attention/stream_methods.h"

#include <fmt/format.h>

#include <algorithm>

#include "whyformer/error.h"

namespace whyformer {
namespace {

ReadMap read_map(const Run& run, int layer) {
  const std::vector<double> shares = run.read_out();
  const std::optional<int64_t> row = run.read_out_row();
  if (!run.several_streams()) return {layer, {0, run.tokens()}, shares, row};
  const std::vector<UnitRange> streams = run.input().streams();
  const AttentionSite& site = run.found().sites[layer];
  const UnitRange& queries = streams[site.query_stream];
  ReadMap map{layer, streams[site.key_stream], {}, {}};
  map.read.assign(shares.begin() + queries.first, shares.begin() + queries.first + queries.count);
  if (site.is_self_attention() && row) map.own = *row - queries.first;
  return map;
}

int read_stream(const Run& run) { return run.found().read_out.stream; }

// Which streams attention leads to from the one that is read: at once, or in any number of steps.
enum class Steps { kOne, kAny };
std::vector<bool> reached_streams(const Run& run, Steps steps) {
  const Discovery& found = run.found();
  std::vector<bool> reached(found.streams.size(), false);
  reached[found.read_out.stream] = true;
  for (size_t round = 0; round < (steps == Steps::kOne ? 1 : found.streams.size()); ++round) {
    const std::vector<bool> before = reached;
    for (const AttentionSite& site : found.sites) {
      if (before[site.query_stream]) reached[site.key_stream] = true;
    }
  }
  return reached;
}

// A stream that gets nothing must not look like one that does not matter.
void note_missing_streams(const Run& run, Steps steps, Scores& scores) {
  if (!run.several_streams()) return;
  const std::vector<bool> reached = reached_streams(run, steps);
  for (size_t stream = 0; stream < reached.size(); ++stream) {
    if (reached[stream]) continue;
    scores.notes.push_back(
        fmt::format("No attention that this method reads leads from stream {}, which the output "
                    "reads, to stream {}: its scores are missing (0).",
                    read_stream(run), stream));
  }
}

}  // namespace

std::vector<ReadMap> read_maps(const Run& run, int64_t layer, const std::string& option) {
  run.require_maps();
  const int64_t layers = run.layers();
  const int64_t chosen = layer < 0 ? layer + layers : layer;
  if (chosen < 0 || chosen >= layers) {
    throw InvalidInput(
        fmt::format("{}={}: the model has layers 0 to {}", option, layer, layers - 1));
  }
  if (!run.several_streams()) return {read_map(run, static_cast<int>(chosen))};
  run.read_out();  // says so where it was not recognised
  const std::vector<AttentionSite>& sites = run.found().sites;
  if (layer != -1) {
    if (sites[chosen].query_stream != read_stream(run)) {
      throw InvalidInput(
          fmt::format("{}={}: that attention belongs to stream {}, but the output reads stream {}",
                      option, layer, sites[chosen].query_stream, read_stream(run)));
    }
    return {read_map(run, static_cast<int>(chosen))};
  }
  std::vector<int> last(run.found().streams.size(), -1);
  for (size_t i = 0; i < sites.size(); ++i) {
    if (sites[i].query_stream == read_stream(run)) last[sites[i].key_stream] = static_cast<int>(i);
  }
  std::vector<ReadMap> maps;
  for (const int one : last) {
    if (one >= 0) maps.push_back(read_map(run, one));
  }
  return maps;
}

Scores read_rows(const Run& run, const std::vector<ReadMap>& maps,
                 const std::function<std::vector<double>(const ReadMap&)>& scores_of) {
  Scores scores{std::vector<double>(run.tokens(), 0.0)};
  for (const ReadMap& map : maps) {
    const std::vector<double> own = scores_of(map);
    std::copy(own.begin(), own.end(), scores.values.begin() + map.keys.first);
  }
  note_missing_streams(run, Steps::kOne, scores);
  return scores;
}

Scores read_relevance(const Run& run, const std::vector<Matrix>& relevance) {
  const std::vector<UnitRange> streams = run.input().streams();
  const std::vector<double> shares = run.read_out();
  const UnitRange& queries = streams[read_stream(run)];
  const std::vector<double> read(shares.begin() + queries.first,
                                 shares.begin() + queries.first + queries.count);
  Scores scores;
  for (const Matrix& matrix : relevance) {
    const std::vector<double> own = times(read, matrix);
    scores.values.insert(scores.values.end(), own.begin(), own.end());
  }
  note_missing_streams(run, Steps::kAny, scores);
  return scores;
}

}  // namespace whyformer
