#include "readers/array_samples.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "discovery/axis_use.h"
#include "graph/walk_back.h"
#include "models/picked_rows.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// The output's axis of inputs: in front where nothing else is known.
int axis_of_samples(const OnnxProbe& probe, Value output) {
  for (const auto& [name, value] : probe.inputs) {
    const Shape& shape = probe.graph.shape(value);
    if (!probe.graph.varies(value) || shape.empty() || shape[0] != probe.batch) continue;
    if (const auto axis = AxisUse(probe.graph, value, 0).axis_in(output)) return *axis;
  }
  return 0;
}

// Values whose first axis counts the inputs: those themselves, or what their ids pick.
std::vector<Value> starts_of_samples(const OnnxProbe& probe) {
  std::vector<Value> starts;
  for (const auto& [name, value] : probe.inputs) {
    const bool ids = probe.graph.type(value).dtype == DType::kInt64;
    std::vector<Value> own{value};
    if (ids) own.clear();
    for (const PickedRows& one :
         ids ? rows_picked_by(probe.graph, value) : std::vector<PickedRows>())
      own.push_back(one.rows);
    for (const Value start : own) {
      const Shape& shape = probe.graph.shape(start);
      if (!shape.empty() && shape[0] == probe.batch) starts.push_back(start);
    }
  }
  return starts;
}

// What the element is; nothing where it does not belong to one input.
std::optional<double> value_of_one_sample(const Samples& samples, const OnnxProbe& probe,
                                          Value output, int axis) {
  const Shape& shape = probe.graph.shape(output);
  if (shape.empty() || shape[axis] != probe.batch) return std::nullopt;
  const Feeds feeds =
      OnnxArrays::feeds(probe, OnnxArrays::with_batch_in_front(probe, samples.arrays));
  const Pass pass = run(probe.graph, feeds, {Keep::kGradients, {output}});
  Tensor seed = Tensor::zeros(shape, probe.graph.type(output).dtype);
  Tensor element = seed, value = pass[output];
  for (const int64_t index : samples.indices) {
    element = element.select(0, index);
    value = value.select(0, index);
  }
  element.fill(1);
  for (const auto& [start, gradient] :
       walk_back(probe.graph, pass, output, seed, gradient_rule(), starts_of_samples(probe))) {
    for (int64_t sample = 0; sample < probe.batch; ++sample) {
      const std::vector<double> own = gradient.select(0, sample).contiguous().to_doubles();
      const bool alone = sample == samples.indices[axis] ||
                         std::all_of(own.begin(), own.end(), [](double g) { return g == 0; });
      if (!alone) return std::nullopt;
    }
  }
  return value.contiguous().to_doubles()[0];
}

// Of an array as the file takes it; -1 where it is the same for all inputs. What goes with the
// explained ones may have its batch where they have it, or in front as masks do.
int batch_axis_of(const std::string& name, const Tensor& array, const OnnxProbe& probe) {
  const auto counts = [&](int axis) {
    return array.rank() > axis && array.dim(axis) == probe.batch;
  };
  if (probe.batches.contains(name)) {
    const BatchAxis own = probe.batch_axis(name);
    const int axis = own == BatchAxis::kSecond ? 1 : 0;
    return own != BatchAxis::kNone && counts(axis) ? axis : -1;
  }
  if (counts(0)) return 0;
  const bool any = std::any_of(probe.batches.begin(), probe.batches.end(), [](const auto& one) {
    return one.second.axis == BatchAxis::kSecond;
  });
  return any && counts(1) ? 1 : -1;
}

}  // namespace

Samples with_sample_first(Samples samples, const OnnxProbe& probe, Value output) {
  if (probe.batch == 1) return samples;
  const int sample_axis = axis_of_samples(probe, output);
  samples.value = value_of_one_sample(samples, probe, output, sample_axis);
  if (!samples.value) {
    throw InvalidInput(
        fmt::format("element {} does not belong to one of the {} inputs that were given together: "
                    "give one of each",
                    fmt::join(samples.indices, ","), probe.batch));
  }
  const int64_t asked = std::exchange(samples.indices[sample_axis], 0);
  if (asked == 0) return samples;
  for (auto& [name, array] : samples.arrays) {
    const int axis = batch_axis_of(name, array, probe);
    if (axis < 0) continue;
    Tensor swapped = Tensor::empty(array.shape(), array.dtype());
    swapped.copy_from(array);
    swapped.select(axis, 0).copy_from(array.select(axis, asked));
    swapped.select(axis, asked).copy_from(array.select(axis, 0));
    array = swapped;
  }
  return samples;
}

}  // namespace whyformer
