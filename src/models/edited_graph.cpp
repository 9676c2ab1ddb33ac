#include "models/edited_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/random.h"
#include "ops/arithmetic.h"
#include "ops/gathering.h"
#include "ops/ops.h"
#include "whyformer/error.h"
#include "whyformer/printable.h"

namespace whyformer {
namespace {

bool is_token_axis(std::string_view axis) {
  return axis == "token" || axis == "query" || axis == "key" || axis == "window";
}

EditForm form_of(EditOp op) {
  switch (op) {
    case EditOp::kAdd:
    case EditOp::kNoise:
      return EditForm::kAdd;
    case EditOp::kScale:
      return EditForm::kScale;
    case EditOp::kMean:
      return EditForm::kMean;
    case EditOp::kPermute:
      return EditForm::kPick;
    default:
      return EditForm::kReplace;
  }
}

bool gives_a_number(const Edit& edit) {
  const bool may = edit.op == EditOp::kSet || edit.op == EditOp::kAdd;
  return edit.op == EditOp::kZero || edit.op == EditOp::kScale || (may && !edit.array.given());
}

int axis_named(const NamedValue& value, const std::string& axis) {
  const int place = value.axis(axis);
  if (place >= 0) return place;
  throw InvalidInput(fmt::format("'{}' has no axis '{}'; its axes are {}", printable(value.name),
                                 printable(axis), fmt::join(value.axes, ", ")));
}

// Nodes of one edit, in the order of memory that the graph has.
class EditNodes {
 public:
  EditNodes(GraphBuilder& graph, const NamedValue& value, const EditShape& edit, int number)
      : graph_(graph),
        value_(value),
        edit_(edit),
        name_("edit of " + value.name),
        input_name_(fmt::format("edits.{}", number)) {}

  // Behind `now`, which is the value after the edits before this one.
  std::pair<Value, EditInputs> behind(Value now) {
    const Shape& shape = graph_.shape(now);
    Shape places(shape.size(), 1);
    for (const std::string& axis : edit_.at) {
      const int held = held_axis(axis_named(value_, axis));
      places[held] = shape[held];
    }
    EditInputs inputs{
        .places = graph_.input(input_name_ + ".places", places, DType::kInt64, InputRole::kGiven),
        .given = {},
        .value = value_};
    const Value changed = changed_value(now, inputs);
    return {where(graph_, inputs.places, changed, now, name_), inputs};
  }

 private:
  int held_axis(int told) const { return value_.order.empty() ? told : value_.order[told]; }

  Value changed_value(Value now, EditInputs& inputs) {
    const Shape shape = graph_.shape(now);
    const DType dtype = graph_.type(now).dtype;
    if (dtype == DType::kInt64) {
      throw InvalidInput(fmt::format("'{}' holds whole numbers, which edits do not change",
                                     printable(value_.name)));
    }
    if (edit_.form == EditForm::kMean) {
      const int tokens = held_axis(axis_named(value_, "token"));
      const Value mean = reduce(graph_, now, Reduction::kMean, {tokens}, true, name_);
      return expand(graph_, mean, shape, name_);
    }
    const Shape given = edit_.is_number ? Shape(shape.size(), 1) : shape;
    const bool picks = edit_.form == EditForm::kPick;
    inputs.given = graph_.input(input_name_ + ".given", given, picks ? DType::kInt64 : dtype,
                                InputRole::kGiven);
    switch (edit_.form) {
      case EditForm::kAdd:
        return add(graph_, now, inputs.given, name_);
      case EditForm::kScale:
        return binary(graph_, now, inputs.given, BinaryFunction::kMultiply, name_);
      case EditForm::kPick:
        return gather_elements(graph_, now, inputs.given, held_axis(axis_named(value_, edit_.axis)),
                               name_);
      default:
        return inputs.given;
    }
  }

  GraphBuilder& graph_;
  const NamedValue& value_;
  const EditShape& edit_;
  std::string name_, input_name_;
};

// Calls take(place along each axis, number) for every element, row by row.
template <class Take>
void for_each_element(const Shape& shape, const Take& take) {
  std::vector<int64_t> place(shape.size(), 0);
  for (int64_t number = 0, count = element_count(shape); number < count; ++number) {
    take(place, number);
    for (size_t axis = shape.size(); axis-- > 0 && ++place[axis] == shape[axis];) place[axis] = 0;
  }
}

Tensor places_tensor(const EditInputs& inputs, const Shape& told_shape,
                     const std::vector<std::vector<int64_t>>& places, const Edit& edit) {
  Shape shape(told_shape.size(), 1);
  std::vector<bool> told(shape.size(), false);
  for (const auto& [axis, indices] : edit.at) told[inputs.value.axis(axis)] = true;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (told[axis]) shape[axis] = told_shape[axis];
  }
  Tensor tensor = Tensor::zeros(shape, DType::kInt64);
  auto* numbers = tensor.mutable_data<int64_t>();
  for_each_element(shape, [&](const std::vector<int64_t>& place, int64_t number) {
    bool changed = true;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      changed = changed && (!told[axis] || std::ranges::binary_search(places[axis], place[axis]));
    }
    numbers[number] = changed ? 1 : 0;
  });
  return tensor;
}

[[noreturn]] void fail_array(const Edit& edit, const Shape& wanted) {
  throw InvalidInput(
      fmt::format("'{}': the array has the shape {} but the places that the edit "
                  "changes have {}",
                  printable(to_text(edit)), to_string(edit.array.shape), to_string(wanted)));
}

// The numbers of an array at the places that are changed; others stay 0.
Tensor spread_numbers(const Edit& edit, const Shape& told_shape,
                      const std::vector<std::vector<int64_t>>& places) {
  Shape region;
  for (const auto& along : places) region.push_back(static_cast<int64_t>(along.size()));
  const Shape& own = edit.array.shape;
  if (own.size() > region.size()) fail_array(edit, region);
  const size_t missing = region.size() - own.size();
  const auto repeats_to = [&](const Shape& shape) {
    for (size_t axis = 0; axis < own.size(); ++axis) {
      if (own[axis] != 1 && own[axis] != shape[missing + axis]) return false;
    }
    return true;
  };
  const bool of_region = repeats_to(region);
  if (!of_region && !repeats_to(told_shape)) fail_array(edit, region);
  Tensor tensor = Tensor::zeros(told_shape, DType::kFloat64);
  auto* numbers = tensor.mutable_data<double>();
  std::vector<int64_t> steps(told_shape.size(), 1);
  for (size_t axis = steps.size(); axis-- > 1;) steps[axis - 1] = steps[axis] * told_shape[axis];
  for_each_element(region, [&](const std::vector<int64_t>& place, int64_t) {
    int64_t from = 0, to = 0;
    for (size_t axis = 0; axis < region.size(); ++axis) {
      to += places[axis][place[axis]] * steps[axis];
      if (axis < missing) continue;
      const int64_t length = own[axis - missing];
      from = from * length + (length == 1 ? 0
                              : of_region ? place[axis]
                                          : places[axis][place[axis]]);
    }
    numbers[to] = (*edit.array.values)[from];
  });
  return tensor;
}

// The same for each input of a batch.
Tensor noise(const Edit& edit, const NamedValue& value, const Shape& shape) {
  Tensor tensor = Tensor::empty(shape, DType::kFloat64);
  auto* numbers = tensor.mutable_data<double>();
  const CounterRandom random(edit.seed, "noise " + value.name, 0);
  const int64_t of_one = value.axes[0] == "batch" ? tensor.size() / shape[0] : tensor.size();
  for (int64_t i = 0; i < tensor.size(); ++i) numbers[i] = edit.number * random.normal(i % of_one);
  return tensor;
}

// Where each element comes from along the axis: the places that are changed change theirs.
Tensor picks(const Edit& edit, const NamedValue& value, const Shape& shape,
             const std::vector<std::vector<int64_t>>& places) {
  const int axis = axis_named(value, edit.axis);
  std::vector<int64_t> from(shape[axis]);
  std::iota(from.begin(), from.end(), 0);
  const CounterRandom random(edit.seed, "permute " + value.name, 0);
  std::vector<int64_t> drawn = places[axis];
  for (size_t i = drawn.size(); i-- > 1;) {
    const auto other =
        static_cast<size_t>(random.uniform(static_cast<int64_t>(i)) * static_cast<double>(i + 1));
    std::swap(drawn[i], drawn[std::min(other, i)]);
  }
  for (size_t i = 0; i < drawn.size(); ++i) from[places[axis][i]] = drawn[i];
  Tensor tensor = Tensor::empty(shape, DType::kInt64);
  auto* numbers = tensor.mutable_data<int64_t>();
  for_each_element(shape, [&](const std::vector<int64_t>& place, int64_t number) {
    numbers[number] = from[place[axis]];
  });
  return tensor;
}

// Windows of all inputs stand in one axis, those of an input together: what one input is fed with,
// for each of them. `moves_windows`: the numbers are places along that axis.
Tensor for_each_input(const Tensor& one, int64_t inputs, bool moves_windows) {
  if (inputs == 1) return one;
  Shape shape = one.shape();
  shape[0] *= inputs;
  Tensor all = Tensor::empty(shape, one.dtype());
  for (int64_t i = 0; i < inputs; ++i) {
    Tensor own = one;
    if (moves_windows) {
      own = one.copy();
      for (int64_t k = 0; k < own.size(); ++k) own.mutable_data<int64_t>()[k] += i * one.dim(0);
    }
    all.slice(0, i * one.dim(0), one.dim(0)).copy_from(own);
  }
  return all;
}

Tensor one_number(double value, size_t rank) {
  Tensor tensor = Tensor::empty(Shape(rank, 1), DType::kFloat64);
  tensor.fill(value);
  return tensor;
}

Tensor given_tensor(const Edit& edit, const NamedValue& value, const Shape& shape,
                    const std::vector<std::vector<int64_t>>& places) {
  if (gives_a_number(edit))
    return one_number(edit.op == EditOp::kZero ? 0 : edit.number, shape.size());
  if (edit.op == EditOp::kNoise) return noise(edit, value, shape);
  if (edit.op == EditOp::kPermute) return picks(edit, value, shape, places);
  if (!edit.array.given()) {
    throw InvalidInput(fmt::format("'{}': there is no run to copy from", printable(to_text(edit))));
  }
  return spread_numbers(edit, shape, places);
}

// Whether the edit is about certain tokens, which other inputs do not have.
bool speaks_of_tokens(const Edit& edit, const NamedValue& value) {
  for (const auto& [axis, indices] : edit.at) {
    if (is_token_axis(axis)) return true;
  }
  const size_t missing = value.axes.size() - std::min(value.axes.size(), edit.array.shape.size());
  for (size_t i = missing; edit.array.given() && i < value.axes.size(); ++i) {
    if (is_token_axis(value.axes[i]) && edit.array.shape[i - missing] > 1) return true;
  }
  return false;
}

void check_tokens(const AppliedEdits& edits, const Edit& edit, const NamedValue& value,
                  const SampleShapes& shapes) {
  if (edits.own.empty() || !speaks_of_tokens(edit, value)) return;
  for (const auto& [name, shape] : edits.own) {
    const auto other = shapes.find(name);
    if (other == shapes.end() || other->second == shape) continue;
    throw InvalidInput(fmt::format(
        "'{}' is about tokens of the input, and this asks the model about inputs of another "
        "length ({} instead of {}), whose tokens are others: hide tokens in place, by mask or drop",
        printable(to_text(edit)), to_string(other->second), to_string(shape)));
  }
}

// The places of an edit among as many copies of the input as run; nothing where it is about others.
std::optional<EditPlaces> places_among(const Edit& edit, int64_t running, int64_t copies) {
  EditPlaces at = edit.at;
  const auto batch = at.find("batch");
  if (batch == at.end()) return at;
  for (int64_t& index : batch->second) {
    if (index >= copies || index < -copies) {
      throw InvalidInput(fmt::format("'{}' has no batch {}: there are {} copies of the input",
                                     printable(edit.value), index, copies));
    }
    if (index < 0) index += copies;
  }
  std::erase_if(batch->second, [&](int64_t index) { return index >= running; });
  if (batch->second.empty()) return std::nullopt;
  return at;
}

}  // namespace

std::vector<EditShape> AppliedEdits::shapes() const {
  std::vector<EditShape> shapes;
  for (const Edit& edit : edits) {
    EditShape shape{.value = edit.value,
                    .form = form_of(edit.op),
                    .is_number = gives_a_number(edit),
                    .axis = edit.axis};
    for (const auto& [axis, indices] : edit.at) shape.at.push_back(axis);
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

ModelGraph with_edits(const ModelGraph& model, const std::vector<EditShape>& edits,
                      NamedValues names) {
  ModelGraph edited = model;
  edited.names = std::make_shared<const NamedValues>(std::move(names));
  GraphBuilder builder(model.graph, Folding::kNo);
  for (const EditShape& edit : edits) {
    const NamedValue& value = edited.names->at(edit.value);
    const auto number = static_cast<int>(edited.edit_inputs.size());
    const Value now = edited.edited_value(value.value);
    auto [changed, inputs] = EditNodes(builder, value, edit, number).behind(now);
    builder.read_instead(now, changed);
    edited.edited[value.value] = changed;
    edited.edit_inputs.push_back(std::move(inputs));
  }
  edited.graph = builder.finish();
  std::vector<Value*> read{&edited.output, &edited.read, &edited.found.read_out.read,
                           &edited.found.read_out.weights};
  for (Value& value : edited.row_maps) read.push_back(&value);
  for (AttentionSite& site : edited.found.sites) read.push_back(&site.attention);
  for (Value* value : read) *value = edited.edited_value(*value);
  return edited;
}

void feed_edits(const ModelGraph& graph, const AppliedEdits& edits, const SampleShapes& shapes,
                Feeds& feeds) {
  for (size_t i = 0; i < edits.edits.size(); ++i) {
    const Edit& edit = edits.edits[i];
    const EditInputs& inputs = graph.edit_inputs[i];
    check_tokens(edits, edit, inputs.value, shapes);
    Shape shape = inputs.value.shape(graph.graph);
    const bool windows = inputs.value.axes[0] == "window";
    if (windows) shape[0] /= graph.key.batch;
    const auto feed = [&](Value input, const Tensor& told, bool moves_windows) {
      const ValueType& type = graph.graph.type(input);
      const int64_t times = type.shape[0] / told.dim(0);
      feeds[input] = inputs.value.held(for_each_input(told, windows ? times : 1, moves_windows))
                         .contiguous()
                         .cast(type.dtype);
    };
    const auto at = places_among(edit, graph.key.batch, edits.copies);
    if (!at) {
      for (const Value input : {inputs.places, inputs.given}) {
        if (!input.valid()) continue;
        const ValueType& type = graph.graph.type(input);
        feeds[input] = Tensor::zeros(type.shape, type.dtype);
      }
      continue;
    }
    const auto places = places_along(inputs.value, shape, *at);
    feed(inputs.places, places_tensor(inputs, shape, places, edit), false);
    if (!inputs.given.valid()) continue;
    feed(inputs.given, given_tensor(edit, inputs.value, shape, places), edit.axis == "window");
  }
}

std::vector<std::vector<int64_t>> places_along(const NamedValue& value, const Shape& shape,
                                               const EditPlaces& at) {
  std::vector<std::vector<int64_t>> places(shape.size());
  for (const auto& [name, indices] : at) {
    const int axis = axis_named(value, name);
    const int64_t length = shape[axis];
    for (const int64_t index : indices) {
      if (index >= length || index < -length) {
        throw InvalidInput(fmt::format("'{}' has no {} {}: there are {}, from 0 to {}",
                                       printable(value.name), name, index, length, length - 1));
      }
      places[axis].push_back(index < 0 ? index + length : index);
    }
    std::ranges::sort(places[axis]);
    const auto [first, last] = std::ranges::unique(places[axis]);
    places[axis].erase(first, last);
  }
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (!places[axis].empty()) continue;
    places[axis].resize(shape[axis]);
    std::iota(places[axis].begin(), places[axis].end(), 0);
  }
  return places;
}

}  // namespace whyformer
