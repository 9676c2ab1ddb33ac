#include "readers/array_units.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "discovery/axis_use.h"
#include "models/picked_rows.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using Kind = StreamSegment::Kind;

constexpr int64_t kMostCells = 14;  // along each side of a picture whose patches are not known

// Which positions of the input a part's units are, as far as that is known.
void find_positions(const OnnxProbe& probe, const std::vector<ArraySegment>& before,
                    ArraySegment& part) {
  const StreamSegment& segment = part.segment;
  const auto input = probe.inputs.find(segment.input);
  if (input == probe.inputs.end()) return;
  const Shape& shape = probe.graph.shape(input->second);
  const std::vector<int64_t> cells =
      segment.kind == Kind::kPatches ? segment.grid : std::vector{segment.length};
  if (segment.axes.size() != cells.size() || shape.empty() || shape[0] != probe.batch) return;
  const bool one_each = segment.kind == Kind::kTokens || segment.kind == Kind::kFeatures;
  for (size_t i = 0; i < cells.size(); ++i) {
    const int axis = segment.axes[i];
    const bool fits = axis >= 1 && axis < static_cast<int>(shape.size());
    if (!fits || (one_each ? shape[axis] != cells[i] : shape[axis] < cells[i])) return;
  }
  // An input that two streams read counts for the first.
  for (const ArraySegment& other : before) {
    if (!other.cuts.empty() && other.segment.input == segment.input) return;
  }
  for (size_t i = 0; i < cells.size(); ++i) part.cuts.push_back({segment.axes[i] - 1, cells[i]});
  part.are_ids = probe.graph.type(input->second).dtype == DType::kInt64;
}

// Those units of the part, whose cuts are known, that pick the rows; nothing where the rows' axes
// are not theirs.
std::optional<ArraySegment> picked_part(const OnnxProbe& probe, const ArraySegment& part,
                                        const PickedRows& picked) {
  ArraySegment place = part;
  place.value = picked.rows;
  Shape rows = probe.graph.shape(picked.rows);
  rows.pop_back();
  Shape expected = probe.graph.shape(probe.inputs.at(part.segment.input));
  if (picked.positions) {
    if (part.cuts.size() != 1 || picked.positions->axis != part.cuts[0].axis + 1)
      return std::nullopt;
    place.units = {part.units.first + picked.positions->start, picked.positions->length};
    place.cuts[0].cells = picked.positions->length;
    expected[picked.positions->axis] = picked.positions->length;
    // The one position of a column may have lost its axis.
    if (picked.positions->length == 1 && rows.size() + 1 == expected.size()) {
      place.cuts.clear();
      expected.erase(expected.begin() + picked.positions->axis);
    }
  }
  return rows == expected ? std::optional(place) : std::nullopt;
}

// Where the numbers of a part enter, as far as that is known.
void find_places(const OnnxProbe& probe, const ArraySegment& part,
                 std::vector<ArraySegment>& places) {
  if (part.cuts.empty()) return;
  const Value input = probe.inputs.at(part.segment.input);
  if (!part.are_ids) {
    places.push_back(part);
    places.back().value = input;
    return;
  }
  for (const PickedRows& picked : rows_picked_by(probe.graph, input)) {
    if (auto place = picked_part(probe, part, picked)) places.push_back(std::move(*place));
  }
}

void add_stream(const OnnxProbe& probe, const std::vector<StreamSegment>& segments, int64_t tokens,
                ArrayUnits& units) {
  const int64_t first = units.count();
  int64_t at = first;
  for (const StreamSegment& segment : segments) {
    ArraySegment part{.segment = segment,
                      .stream = static_cast<int>(units.streams.size()),
                      .units = {at, segment.length}};
    find_positions(probe, units.segments, part);
    find_places(probe, part, units.entries);
    units.segments.push_back(std::move(part));
    at += segment.length;
  }
  if (at != first + tokens) {
    throw UnsupportedModel(fmt::format(
        "a stream of {} tokens comes from {} positions of the inputs: what they are was not "
        "recognised",
        tokens, at - first));
  }
  units.streams.push_back({first, tokens});
}

// Positions of an input as they lie in it.
StreamSegment plain_segment(const OnnxProbe& probe, const std::string& name, const Shape& shape) {
  const auto rank = static_cast<int>(shape.size());
  if (probe.graph.type(probe.inputs.at(name)).dtype == DType::kInt64)
    return {Kind::kTokens, name, shape[1], {}, {1}};
  if (rank != 4) return {Kind::kFeatures, name, shape[1], {}, {1}};
  // Channels stand in front of rows and columns, or behind them where a Linear takes them.
  const bool behind =
      shape[3] > 1 && AxisUse(probe.graph, probe.inputs.at(name), 3).is_of_features();
  const int first = behind ? 1 : 2;
  const int64_t rows = std::min(kMostCells, shape[first]),
                columns = std::min(kMostCells, shape[first + 1]);
  return {Kind::kPatches, name, rows * columns, {rows, columns}, {first, first + 1}};
}

ArrayUnits units_of_inputs(const OnnxProbe& probe, std::string why_no_maps) {
  ArrayUnits units;
  units.why_no_maps = std::move(why_no_maps);
  for (const auto& [name, value] : probe.inputs) {
    const Shape& shape = probe.graph.shape(value);
    if (!probe.graph.varies(value) || shape.size() < 2) continue;
    const StreamSegment segment = plain_segment(probe, name, shape);
    add_stream(probe, {segment}, segment.length, units);
  }
  if (units.streams.empty())
    throw UnsupportedModel("no input of the model has positions that could get scores");
  return units;
}

std::string maps_problem(const OnnxProbe& probe) {
  for (const AttentionSite& site : probe.found.sites) {
    if (site.windows > 1) {
      return fmt::format(
          "attention '{}' works on {} windows, each by itself: its maps do not go over the whole "
          "input",
          site.name, site.windows);
    }
    if (!probe.found.covers_tokens(site)) {
      return fmt::format("the map of attention '{}' does not go over whole streams of tokens",
                         site.name);
    }
  }
  return probe.found.sites.empty() ? kNoAttention : "";
}

// Whether something reaches the output from the values without passing `cut`.
bool reaches_around(const Graph& graph, const std::vector<Value>& from, Value cut, Value output) {
  std::vector<bool> reached(graph.value_count(), false);
  for (const Value value : from) reached[value.id] = value != cut;
  for (const Node& node : graph.nodes()) {
    const bool any = std::any_of(node.inputs.begin(), node.inputs.end(),
                                 [&](Value input) { return reached[input.id]; });
    for (const Value value : node.outputs)
      reached[value.id] = (reached[value.id] || any) && value != cut;
  }
  return reached[output.id];
}

std::vector<bool> behind(const Graph& graph, Value value) {
  std::vector<bool> found(graph.value_count(), false);
  found[value.id] = true;
  for (size_t index = graph.nodes().size(); index-- > 0;) {
    const Node& node = graph.nodes()[index];
    const bool any = std::any_of(node.outputs.begin(), node.outputs.end(),
                                 [&](Value one) { return found[one.id]; });
    for (const Value input : node.inputs) found[input.id] = found[input.id] || any;
  }
  return found;
}

Value first_layer_of(const OnnxProbe& probe, const Stream& stream, const std::vector<Value>& from,
                     Value output) {
  const Graph& graph = probe.graph;
  if (stream.sites.empty()) return {};
  const std::vector<bool> before = behind(graph, probe.found.sites[stream.sites[0]].attention);
  for (size_t index = graph.nodes().size(); index-- > 0;) {
    const Value value = graph.nodes()[index].outputs[0];
    const Shape& shape = graph.shape(value);
    const bool tokens = before[value.id] && shape.size() == 3 && shape[0] == probe.batch &&
                        shape[1] == stream.tokens && graph.type(value).dtype != DType::kInt64;
    if (tokens && !reaches_around(graph, from, value, output)) return value;
  }
  return {};
}

}  // namespace

std::vector<ArraySegment> first_layer_segments(const OnnxProbe& probe, const ArrayUnits& units,
                                               Value output) {
  std::vector<ArraySegment> parts;
  if (!units.why_no_maps.empty()) return parts;
  for (size_t stream = 0; stream < units.streams.size(); ++stream) {
    std::vector<Value> from;
    for (const ArraySegment& part : units.entries) {
      if (part.stream == static_cast<int>(stream)) from.push_back(part.value);
    }
    if (from.empty()) continue;
    ArraySegment whole{
        .segment = {}, .stream = static_cast<int>(stream), .units = units.streams[stream]};
    whole.cuts = {{0, units.streams[stream].count}};
    whole.value = first_layer_of(probe, probe.found.streams[stream], from, output);
    if (!whole.value.valid()) return {};
    parts.push_back(std::move(whole));
  }
  return parts;
}

ArrayUnits array_units(const OnnxProbe& probe) {
  const std::string problem = maps_problem(probe);
  if (!problem.empty()) return units_of_inputs(probe, problem);
  ArrayUnits units;
  for (const Stream& stream : probe.found.streams)
    add_stream(probe, stream.segments, stream.tokens, units);
  return units;
}

std::vector<int64_t> unit_of_each(const ArraySegment& part, const Shape& shape) {
  int64_t size = 1;
  for (const int64_t length : shape) size *= length;
  std::vector<int64_t> units(size, 0);
  for (const ArraySegment::Cut& cut : part.cuts) {
    int64_t inner = 1;
    for (size_t axis = cut.axis + 1; axis < shape.size(); ++axis) inner *= shape[axis];
    const int64_t length = shape[cut.axis];
    for (int64_t i = 0; i < size; ++i) {
      const int64_t position = i / inner % length;
      units[i] = units[i] * cut.cells + position * cut.cells / length;
    }
  }
  return units;
}

std::string name_of_unit(const ArraySegment& part, int64_t index) {
  const StreamSegment& segment = part.segment;
  if (segment.kind == Kind::kPatches && segment.grid.size() == 2) {
    return fmt::format("{} row {}, column {}", segment.input, index / segment.grid[1],
                       index % segment.grid[1]);
  }
  if (segment.kind == Kind::kLearned) return fmt::format("learned {}", index);
  return fmt::format("{} {}", segment.input.empty() ? "token" : segment.input, index);
}

}  // namespace whyformer
