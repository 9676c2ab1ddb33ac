#include "readers/array_subject.h"

#include <fmt/format.h>

#include <algorithm>

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
std::vector<double> means_along(const ArrayPart& part, const Shape& shape,
                                const std::vector<double>& numbers) {
  std::vector<int64_t> group(numbers.size(), 0);
  int64_t inner = static_cast<int64_t>(numbers.size()), groups = 1;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    inner /= shape[axis];
    const bool cut =
        std::any_of(part.cuts.begin(), part.cuts.end(),
                    [&](const ArrayPart::Cut& one) { return one.axis == static_cast<int>(axis); });
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

ArraySubject::ArraySubject(std::shared_ptr<const ElementGraph> element, NamedArrays arrays,
                           std::optional<int64_t> hiding_id)
    : element_(std::move(element)),
      arrays_(std::move(arrays)),
      hiding_id_(hiding_id),
      units_(whyformer::array_units(*element_->probe)),
      first_layers_(
          first_layer_parts(*element_->probe, units_, element_->probe->outputs.begin()->second)) {
  for (const ArrayPart& part : units_.parts) {
    special_.insert(special_.end(), part.units.count, part.cuts.empty());
    if (!part.cuts.empty()) hideable_.push_back(part);
  }
  inputs_ = units_.places;
}

std::vector<Subject::UnitRange> ArraySubject::streams() const {
  return units_.streams.size() > 1 ? units_.streams : std::vector<UnitRange>();
}

Shape ArraySubject::shape_of(const ArrayPart& part) const {
  const Shape& shape = element_->graph.shape(part.place);
  return {shape.begin() + 1, shape.end()};
}

Run ArraySubject::run_arrays(const NamedArrays& arrays) const {
  return {element_, OnnxArrayModel::feeds(*element_->probe, arrays)};
}

Run ArraySubject::copies(int64_t) const { return run_arrays(arrays_); }

Variant ArraySubject::hiding(const std::vector<bool>& hidden, const std::string& how) const {
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

Run ArraySubject::run_of(std::span<const Variant> inputs) const {
  std::vector<bool> hidden;
  for (int64_t unit = 0; unit < units(); ++unit)
    hidden.push_back((inputs[0][1 + unit / kBits] >> (unit % kBits) & 1) != 0);
  return run_arrays(hidden_arrays(hidden, inputs[0][0] == 1 ? "mean" : "zero"));
}

NamedArrays ArraySubject::hidden_arrays(const std::vector<bool>& hidden,
                                        const std::string& how) const {
  NamedArrays arrays = arrays_;
  for (const ArrayPart& part : hideable_) {
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

std::vector<int64_t> ArraySubject::players() const {
  std::vector<int64_t> units;
  for (int64_t unit = 0; unit < this->units(); ++unit) {
    if (!special_[unit]) units.push_back(unit);
  }
  if (units.empty()) {
    throw InvalidInput(
        "no token was followed back to an input, so there is nothing to hide: attention methods "
        "explain the model");
  }
  return units;
}

std::vector<bool> ArraySubject::can_hide(const std::string& how) const {
  hiding(std::vector<bool>(units(), false), how);  // knows which ways there are
  std::vector<bool> can(units(), false);
  for (const ArrayPart& part : hideable_) {
    if (part.are_ids && !hiding_id_) {
      throw InvalidInput(fmt::format(
          "nothing tells which id stands for a hidden token of '{}': give it with --hiding-id",
          part.segment.input));
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
PlayerTree ArraySubject::player_tree() const {
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
  for (const ArrayPart& part : hideable_) {
    std::vector<int64_t> own;
    for (int64_t i = 0; i < part.units.count; ++i) own.push_back(player++);
    roots.push_back(merged(own));
  }
  if (!roots.empty()) merged(roots);
  return tree;
}

Subject::Cells ArraySubject::cells() const {
  return {.width = static_cast<int64_t>(players().size())};
}

Variant ArraySubject::hiding_cells(const std::vector<bool>& hidden, const std::string& how) const {
  const std::vector<bool> can = can_hide(how);
  std::vector<bool> by_unit(units(), false);
  const std::vector<int64_t> players = this->players();
  for (size_t cell = 0; cell < players.size(); ++cell)
    by_unit[players[cell]] = hidden[cell] && can[players[cell]];
  return hiding(by_unit, how);
}

std::vector<double> ArraySubject::unit_means(const std::vector<double>& cells) const {
  std::vector<double> means(units(), 0.0);
  const std::vector<int64_t> players = this->players();
  for (size_t cell = 0; cell < players.size(); ++cell) means[players[cell]] = cells[cell];
  return means;
}

const std::vector<ArrayPart>& ArraySubject::parts_at(Place place) const {
  if (place == Place::kInput) {
    if (!inputs_.empty()) return inputs_;
    throw InvalidInput(
        "where the tokens' numbers enter the model was not recognised: methods by attention and by "
        "hiding tokens explain it");
  }
  if (place == Place::kFirstLayer && !first_layers_.empty()) return first_layers_;
  throw InvalidInput(
      place == Place::kFirstLayer
          ? "what enters the first layer was not recognised in this model; choose at=input"
          : "where positions are added is not looked for in models given arrays; choose at=input "
            "or "
            "at=first-layer");
}

std::vector<Value> ArraySubject::values_at(const ModelGraph&, Place place) const {
  std::vector<Value> values;
  const std::vector<ArrayPart> none;
  const std::vector<ArrayPart>& parts = place == Place::kInput        ? inputs_
                                        : place == Place::kFirstLayer ? first_layers_
                                                                      : none;
  for (const ArrayPart& part : parts) values.push_back(part.place);
  return values;
}

// Units have different numbers of numbers: the rest of a row is 0.
Tensor ArraySubject::rows(Place place, const std::vector<Tensor>& values) const {
  const std::vector<ArrayPart>& parts = parts_at(place);
  int64_t width = 1;
  std::vector<std::vector<int64_t>> units;
  for (const ArrayPart& part : parts) {
    units.push_back(unit_of_each(part, shape_of(part)));
    width = std::max(width, width_of(units.back(), part.units.count));
  }
  Tensor rows = Tensor::zeros({this->units(), width}, DType::kFloat64);
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

std::vector<Tensor> ArraySubject::from_rows(Place place, const Tensor& all) const {
  const int64_t width = all.dim(1);
  const std::vector<double> rows = all.to_doubles();
  std::vector<Tensor> values;
  for (const ArrayPart& part : parts_at(place)) {
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

std::vector<double> ArraySubject::ranges(Place place, const Tensor& all) const {
  std::vector<double> ranges(units(), 0.0);
  const std::vector<Tensor> values = from_rows(place, all);
  for (size_t k = 0; k < values.size(); ++k) {
    const std::vector<double> numbers = values[k].to_doubles();
    const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
    const UnitRange& own = parts_at(place)[k].units;
    std::fill_n(ranges.begin() + own.first, own.count, *most - *least);
  }
  return ranges;
}

std::vector<int64_t> ArraySubject::units_out_of_reach(Place place) const {
  std::vector<bool> reached = special_;  // learned tokens are no input
  for (const ArrayPart& part : place == Place::kInput ? inputs_ : units_.parts) {
    std::fill_n(reached.begin() + part.units.first, part.units.count, true);
  }
  std::vector<int64_t> out;
  for (int64_t unit = 0; unit < units(); ++unit) {
    if (!reached[unit]) out.push_back(unit);
  }
  return out;
}

std::string ArraySubject::usual_baseline() const {
  const bool any_tokens = std::any_of(inputs_.begin(), inputs_.end(),
                                      [](const ArrayPart& part) { return part.are_ids; });
  return any_tokens && hiding_id_ ? "mask" : "zero";
}

Tensor ArraySubject::baseline(Place place, const std::string& name) const {
  const std::string way = baseline_taken(name);
  if (way != "zero" && way != "mask") {
    throw InvalidInput(fmt::format("the baseline of arrays is mask or zero, not '{}'", name));
  }
  parts_at(place);  // says where there are none
  const std::vector<Value> values = values_at(*element_, place);
  const Run other = way == "zero" ? copies(1) : run_arrays(hidden_arrays(can_hide("auto"), "zero"));
  const Pass pass = run(element_->graph, other.feeds, {.outputs = values});
  std::vector<Tensor> numbers;
  for (const Value value : values) numbers.push_back(pass[value].select(0, 0).contiguous());
  Tensor neutral = rows(place, numbers);
  for (int64_t unit = 0; way == "zero" && unit < units(); ++unit) {
    if (!special_[unit])
      neutral.select(0, unit).fill(0);  // learned tokens are no part of the input
  }
  return neutral;
}

}  // namespace whyformer
