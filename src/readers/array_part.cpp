#include "readers/array_part.h"

#include <fmt/format.h>

#include <algorithm>

#include "run/missing.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// Bits of a variant's numbers that say which units are hidden.
constexpr int64_t kBits = 62;

// How many numbers the largest unit of a part has.
int64_t width_of(const std::vector<int64_t>& units, int64_t count) {
  std::vector<int64_t> sizes(count, 0);
  for (const int64_t unit : units) ++sizes[unit];
  return *std::max_element(sizes.begin(), sizes.end());
}

// The mean over the positions that the cuts run along, for each number.
std::vector<double> means_along(const ArraySegment& part, const Shape& shape,
                                const std::vector<double>& numbers) {
  std::vector<int64_t> group(numbers.size(), 0);
  int64_t inner = static_cast<int64_t>(numbers.size()), groups = 1;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    inner /= shape[axis];
    const bool cut = std::any_of(
        part.cuts.begin(), part.cuts.end(),
        [&](const ArraySegment::Cut& one) { return one.axis == static_cast<int>(axis); });
    if (cut) continue;
    for (size_t i = 0; i < numbers.size(); ++i) {
      group[i] = group[i] * shape[axis] + static_cast<int64_t>(i) / inner % shape[axis];
    }
    groups *= shape[axis];
  }
  std::vector<double> means(groups, 0.0), result;
  const double each = static_cast<double>(numbers.size()) / static_cast<double>(groups);
  for (size_t i = 0; i < numbers.size(); ++i) means[group[i]] += numbers[i] / each;
  for (const int64_t one : group) result.push_back(means[one]);
  return result;
}

}  // namespace

ArraysPart::ArraysPart(std::shared_ptr<const ElementGraph> element, NamedArrays arrays,
                       std::optional<int64_t> hiding_id)
    : arrays_(std::move(arrays)),
      hiding_id_(hiding_id),
      array_units_(whyformer::array_units(*element->probe)),
      first_layers_(first_layer_segments(*element->probe, array_units_,
                                         element->probe->outputs.begin()->second)) {
  auto graph = std::make_shared<ElementGraph>(*element);
  for (const ArraySegment& segment : array_units_.entries) {
    graph->entries.push_back({segment.value, segment.segment.input});
  }
  graph->stream_inputs.emplace();
  for (const ArraySegment& segment : first_layers_) graph->stream_inputs->push_back(segment.value);
  element_ = std::move(graph);
  for (const ArraySegment& segment : array_units_.segments) {
    if (!segment.cuts.empty()) hideable_.push_back(segment);
  }
  name_units();
  const bool any_tokens = std::any_of(array_units_.entries.begin(), array_units_.entries.end(),
                                      [](const ArraySegment& segment) { return segment.are_ids; });
  traits_ = {.name = "model given arrays",
             .side = "Arrays",
             .input_name = "",
             .hiding = any_tokens && hiding_id_ ? "mask" : "zero",
             .baseline = any_tokens && hiding_id_ ? "mask" : "zero"};
}

void ArraysPart::name_units() {
  int64_t length = 0;
  for (const ArraySegment& segment : array_units_.segments) {
    const bool ids = segment.segment.kind == StreamSegment::Kind::kTokens &&
                     arrays_.contains(segment.segment.input);
    const Tensor given =
        ids ? arrays_.at(segment.segment.input).select(0, 0).contiguous() : Tensor();
    const std::vector<double> numbers = ids ? given.to_doubles() : std::vector<double>();
    for (int64_t i = 0; i < segment.units.count; ++i) {
      std::string text = name_of_unit(segment, i);
      if (ids && i < given.size()) text += fmt::format(" = {}", numbers[i]);
      if (length > 0) shown_text_ += ", ";
      length += length > 0 ? 2 : 0;
      const int64_t size =
          std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
      const bool special = segment.cuts.empty();
      units_.push_back({.text = text,
                        .start = length,
                        .end = length + size,
                        .special = special,
                        .word = special ? -1 : static_cast<int64_t>(units_.size())});
      shown_text_ += text;
      length += size;
    }
  }
}

Shape ArraysPart::shape_of(const ArraySegment& part) const {
  const Shape& shape = element_->graph.shape(part.value);
  return {shape.begin() + 1, shape.end()};
}

FedGraph ArraysPart::run_arrays(const NamedArrays& arrays) const {
  return {element_, OnnxArrays::feeds(*element_, arrays)};
}

Variant ArraysPart::hiding(const std::vector<bool>& hidden, const std::string& how,
                           std::optional<int64_t>) const {
  if (how != "auto" && how != "mask" && how != "zero" && how != "mean") {
    throw InvalidInput(fmt::format(
        "tokens of arrays are hidden by mask, numbers by zero or mean, not by '{}'", how));
  }
  Variant variant{how == "mean" ? 1 : 0};
  for (size_t unit = 0; unit < hidden.size(); ++unit) {
    if (unit % kBits == 0) variant.push_back(0);
    if (hidden[unit]) variant.back() |= int64_t{1} << (unit % kBits);
  }
  return variant;
}

FedGraph ArraysPart::run_of(std::span<const Variant> inputs) const {
  std::vector<bool> hidden;
  for (int64_t unit = 0; unit < unit_count(); ++unit)
    hidden.push_back((inputs[0][1 + unit / kBits] >> (unit % kBits) & 1) != 0);
  return run_arrays(hidden_arrays(hidden, inputs[0][0] == 1 ? "mean" : "zero"));
}

NamedArrays ArraysPart::hidden_arrays(const std::vector<bool>& hidden,
                                      const std::string& how) const {
  NamedArrays arrays = arrays_;
  for (const ArraySegment& part : hideable_) {
    const auto first = hidden.begin() + part.units.first;
    if (std::none_of(first, first + part.units.count, [](bool is) { return is; })) continue;
    // Only the first of several inputs that go together is explained.
    Tensor& array = arrays.at(part.segment.input);
    Tensor changed = Tensor::empty(array.shape(), array.dtype());
    changed.copy_from(array);
    const Tensor own = array.select(0, 0).contiguous();
    const std::vector<int64_t> units = unit_of_each(part, own.shape());
    std::vector<double> numbers = own.to_doubles();
    const std::vector<double> mean = how == "mean" && !part.are_ids
                                         ? means_along(part, own.shape(), numbers)
                                         : std::vector<double>(numbers.size(), 0.0);
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (first[units[i]]) numbers[i] = part.are_ids ? static_cast<double>(*hiding_id_) : mean[i];
    }
    changed.select(0, 0).copy_from(
        Tensor::of<double>(own.shape(), std::span<const double>(numbers)).cast(array.dtype()));
    array = changed;
  }
  return arrays;
}

std::vector<int64_t> ArraysPart::players() const {
  std::vector<int64_t> units;
  for (int64_t unit = 0; unit < unit_count(); ++unit) {
    if (!units_[unit].special) units.push_back(unit);
  }
  if (units.empty()) {
    throw MissingForMethod(Missing::kHidden,
                           "no token was followed back to an input, so there is nothing to hide");
  }
  return units;
}

std::vector<bool> ArraysPart::can_hide(const std::string& how) const {
  hiding(std::vector<bool>(unit_count(), false), how, {});  // knows which ways there are
  std::vector<bool> can(unit_count(), false);
  for (const ArraySegment& part : hideable_) {
    if (part.are_ids && !hiding_id_) {
      throw InvalidInput(fmt::format("no mask or padding id is known for '{}'; set the hiding id",
                                     part.segment.input),
                         Remedy::kHidingId);
    }
    const std::vector<double> own =
        arrays_.at(part.segment.input).select(0, 0).contiguous().to_doubles();
    for (int64_t i = 0; i < part.units.count; ++i) {
      can[part.units.first + i] = !part.are_ids || own[i] != static_cast<double>(*hiding_id_);
    }
  }
  return can;
}

// Neighbours of one part first, then its halves; parts last.
PlayerTree ArraysPart::player_tree() const {
  PlayerTree tree;
  const auto count = static_cast<int64_t>(players().size());
  const auto merged = [&](std::vector<int64_t> nodes) {
    while (nodes.size() > 1) {
      std::vector<int64_t> next;
      for (size_t i = 0; i + 1 < nodes.size(); i += 2) {
        tree.merges.push_back({nodes[i], nodes[i + 1]});
        next.push_back(count + static_cast<int64_t>(tree.merges.size()) - 1);
      }
      if (nodes.size() % 2 == 1) next.push_back(nodes.back());
      nodes = std::move(next);
    }
    return nodes[0];
  };
  std::vector<int64_t> roots;
  int64_t player = 0;
  for (const ArraySegment& part : hideable_) {
    std::vector<int64_t> own;
    for (int64_t i = 0; i < part.units.count; ++i) own.push_back(player++);
    roots.push_back(merged(own));
  }
  if (!roots.empty()) merged(roots);
  return tree;
}

const std::vector<ArraySegment>& ArraysPart::segments_at(Depth depth) const {
  if (depth == Depth::kInput) {
    if (!array_units_.entries.empty()) return array_units_.entries;
    throw MissingForMethod(Missing::kEntrance,
                           "where the tokens' numbers enter the model was not recognised");
  }
  if (depth == Depth::kFirstLayer && !first_layers_.empty()) return first_layers_;
  throw MissingForMethod(
      Missing::kDepth, depth == Depth::kFirstLayer
                           ? "what enters the first layer was not recognised in this model"
                           : "where positions are added is not looked for in models given arrays");
}

// Units have different numbers of numbers: the rest of a row is 0.
Tensor ArraysPart::rows(Depth depth, const std::vector<Tensor>& values) const {
  const std::vector<ArraySegment>& parts = segments_at(depth);
  int64_t width = 1;
  std::vector<std::vector<int64_t>> units;
  for (const ArraySegment& part : parts) {
    units.push_back(unit_of_each(part, shape_of(part)));
    width = std::max(width, width_of(units.back(), part.units.count));
  }
  Tensor rows = Tensor::zeros({unit_count(), width}, DType::kFloat64);
  double* out = rows.mutable_data<double>();
  for (size_t k = 0; k < parts.size(); ++k) {
    const std::vector<double> numbers = values[k].to_doubles();
    std::vector<int64_t> filled(parts[k].units.count, 0);
    for (size_t i = 0; i < numbers.size(); ++i) {
      const int64_t unit = units[k][i];
      out[(parts[k].units.first + unit) * width + filled[unit]++] = numbers[i];
    }
  }
  return rows.cast(values[0].dtype());
}

std::vector<Tensor> ArraysPart::from_rows(Depth depth, const Tensor& all) const {
  const int64_t width = all.dim(1);
  const std::vector<double> rows = all.to_doubles();
  std::vector<Tensor> values;
  for (const ArraySegment& part : segments_at(depth)) {
    const Shape shape = shape_of(part);
    std::vector<double> numbers;
    std::vector<int64_t> taken(part.units.count, 0);
    for (const int64_t unit : unit_of_each(part, shape)) {
      numbers.push_back(rows[(part.units.first + unit) * width + taken[unit]++]);
    }
    values.push_back(Tensor::of<double>(shape, std::span<const double>(numbers)).cast(all.dtype()));
  }
  return values;
}

std::vector<double> ArraysPart::ranges(Depth depth, const Tensor& all) const {
  std::vector<double> ranges(unit_count(), 0.0);
  const std::vector<Tensor> values = from_rows(depth, all);
  for (size_t k = 0; k < values.size(); ++k) {
    const std::vector<double> numbers = values[k].to_doubles();
    const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
    const UnitRange& own = segments_at(depth)[k].units;
    std::fill_n(ranges.begin() + own.first, own.count, *most - *least);
  }
  return ranges;
}

std::vector<int64_t> ArraysPart::out_of_reach() const {
  std::vector<bool> reached = special_units(units_);  // learned tokens are no input
  for (const ArraySegment& segment : array_units_.entries) {
    std::fill_n(reached.begin() + segment.units.first, segment.units.count, true);
  }
  std::vector<int64_t> out;
  for (int64_t unit = 0; unit < unit_count(); ++unit) {
    if (!reached[unit]) out.push_back(unit);
  }
  return out;
}

Tensor ArraysPart::baseline(Depth depth, const std::string& name) const {
  if (name != "zero" && name != "mask") {
    throw InvalidInput(fmt::format("the baseline of arrays is mask or zero, not '{}'", name));
  }
  segments_at(depth);  // says where there are none
  const std::vector<Value> values = element_->values_at(depth);
  const FedGraph other =
      run_arrays(name == "zero" ? arrays_ : hidden_arrays(can_hide("auto"), "zero"));
  const Pass pass = run(element_->graph, other.feeds, {.outputs = values});
  std::vector<Tensor> numbers;
  for (const Value value : values) numbers.push_back(pass[value].select(0, 0).contiguous());
  Tensor neutral = rows(depth, numbers);
  for (int64_t unit = 0; name == "zero" && unit < unit_count(); ++unit) {
    if (!units_[unit].special) neutral.select(0, unit).fill(0);  // learned tokens are no input
  }
  return neutral;
}

}  // namespace whyformer
