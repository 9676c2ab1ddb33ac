#include "run/reduced.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "whyformer/error.h"
#include "whyformer/printable.h"

namespace whyformer {
namespace {

// Rows of what disappears, [kept, reduced], and the names of the axes that stay.
struct Grouped {
  std::vector<std::string> axes;
  Shape shape;
  Tensor rows;
};

std::vector<int> axes_over(const NamedValue& value, const Read& read) {
  if (read.over.empty()) return {static_cast<int>(value.axes.size()) - 1};
  std::vector<int> over;
  for (const std::string& name : read.over) {
    const int axis = value.axis(name);
    if (axis < 0) {
      throw InvalidInput(fmt::format("'{}' has no axis '{}'; its axes are {}",
                                     printable(value.name), printable(name),
                                     fmt::join(value.axes, ", ")));
    }
    over.push_back(axis);
  }
  return over;
}

Grouped grouped(const Tensor& told, const NamedValue& value, const std::vector<int>& over) {
  Grouped result;
  std::vector<int> order, last;
  int64_t kept = 1;
  for (int axis = 0; axis < told.rank(); ++axis) {
    const bool goes = std::ranges::find(over, axis) != over.end();
    (goes ? last : order).push_back(axis);
    if (goes) continue;
    result.axes.push_back(value.axes[axis]);
    result.shape.push_back(told.dim(axis));
    kept *= told.dim(axis);
  }
  order.insert(order.end(), last.begin(), last.end());
  result.rows =
      told.permute(order).contiguous().reshape({kept, told.size() / std::max<int64_t>(1, kept)});
  return result;
}

double reduced_row(std::span<const double> row, Reducer reduce) {
  if (reduce == Reducer::kMax) return *std::ranges::max_element(row);
  double sum = 0;
  for (const double x : row) sum += reduce == Reducer::kNorm ? x * x : x;
  if (reduce == Reducer::kNorm) return std::sqrt(sum);
  return reduce == Reducer::kMean ? sum / static_cast<double>(row.size()) : sum;
}

ReadArray one_number_each(const Grouped& group, const Read& read, DType dtype) {
  const std::vector<double> numbers = group.rows.to_doubles();
  const auto width = static_cast<size_t>(group.rows.dim(1));
  std::vector<double> with;
  if (read.reduce == Reducer::kDot) {
    if (!read.with.given() || read.with.values->size() != width) {
      throw InvalidInput(fmt::format("'{}' is multiplied with {} numbers but {} were given",
                                     printable(read.value), width,
                                     read.with.given() ? read.with.values->size() : 0));
    }
    with = *read.with.values;
  }
  Tensor result = Tensor::empty(group.shape, DType::kFloat64);
  for (int64_t i = 0; i < result.size(); ++i) {
    const std::span<const double> row(numbers.data() + static_cast<size_t>(i) * width, width);
    result.mutable_data<double>()[i] =
        with.empty() ? reduced_row(row, read.reduce)
                     : std::inner_product(row.begin(), row.end(), with.begin(), 0.0);
  }
  return {fmt::format(".{}", kReducerNames[static_cast<size_t>(read.reduce)]), group.axes,
          result.cast(dtype)};
}

std::vector<ReadArray> largest_numbers(const Grouped& group, int64_t asked, DType dtype) {
  const std::vector<double> numbers = group.rows.to_doubles();
  const int64_t width = group.rows.dim(1), count = std::min(asked, width);
  Shape shape = group.shape;
  shape.push_back(count);
  Tensor values = Tensor::empty(shape, DType::kFloat64),
         places = Tensor::empty(shape, DType::kFloat64);
  std::vector<int64_t> order(static_cast<size_t>(width));
  for (int64_t row = 0; row < group.rows.dim(0); ++row) {
    const double* own = numbers.data() + row * width;
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::greater(), [&](int64_t i) { return own[i]; });
    for (int64_t k = 0; k < count; ++k) {
      values.mutable_data<double>()[row * count + k] = own[order[static_cast<size_t>(k)]];
      places.mutable_data<double>()[row * count + k] =
          static_cast<double>(order[static_cast<size_t>(k)]);
    }
  }
  std::vector<std::string> axes = group.axes;
  axes.push_back("rank");
  return {{".topk", axes, values.cast(dtype)}, {".topk.indices", axes, places.cast(dtype), true}};
}

ReadArray gram(const Tensor& told, DType dtype) {
  const int64_t width = told.dim(-1), rows = told.size() / std::max<int64_t>(1, width);
  const std::vector<double> x = told.contiguous().to_doubles();
  Tensor result = Tensor::zeros({width, width}, DType::kFloat64);
  auto* sums = result.mutable_data<double>();
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < width; ++i) {
      for (int64_t j = 0; j < width; ++j)
        sums[i * width + j] += x[row * width + i] * x[row * width + j];
    }
  }
  return {".gram", {"feature", "other feature"}, result.cast(dtype)};
}

std::vector<ReadArray> histogram(const Tensor& told, const Read& read, DType dtype) {
  const int64_t bins = read.count;
  const std::vector<double> numbers = told.contiguous().to_doubles();
  if (!std::ranges::all_of(numbers, [](double number) { return std::isfinite(number); })) {
    throw InvalidInput(
        fmt::format("'{}' holds numbers that are NaN or infinite, which are in no bin of a "
                    "histogram: read it without a reducer",
                    printable(read.value)));
  }
  const auto [least, most] = std::ranges::minmax_element(numbers);
  const double width = (*most - *least) / static_cast<double>(bins);
  if (!std::isfinite(width)) {
    throw InvalidInput(
        fmt::format("the numbers of '{}' are too far apart for a histogram: from {} to {}",
                    printable(read.value), *least, *most));
  }
  Tensor counts = Tensor::zeros({bins}, DType::kFloat64);
  Tensor edges = Tensor::empty({bins + 1}, DType::kFloat64);
  for (const double number : numbers) {
    const double place = width > 0 ? (number - *least) / width : 0;
    const auto bin = std::clamp<int64_t>(static_cast<int64_t>(place), 0, bins - 1);
    counts.mutable_data<double>()[bin] += 1;
  }
  for (int64_t i = 0; i <= bins; ++i)
    edges.mutable_data<double>()[i] = *least + width * static_cast<double>(i);
  return {{".histogram", {"bin"}, counts.cast(dtype), true},
          {".histogram.edges", {"edge"}, edges.cast(dtype)}};
}

void check_count(const Read& read, const char* what) {
  constexpr int64_t kMost = 1 << 20;
  if (read.count >= 1 && read.count <= kMost) return;
  throw InvalidInput(fmt::format("'{}' is reduced to {} {}: give from 1 to {}",
                                 printable(read.value), read.count, what, kMost));
}

// What no run is needed for to see.
void check_reducer(const Read& read) {
  if (read.reduce == Reducer::kTopK) check_count(read, "numbers");
  if (read.reduce == Reducer::kHistogram) check_count(read, "bins");
  const bool of_everything = read.reduce == Reducer::kGram || read.reduce == Reducer::kHistogram;
  if (!of_everything || read.over.empty()) return;
  throw InvalidInput(
      fmt::format("'{}': {} takes in all axes, so it is not over some of them: name no axes ({})",
                  printable(read.value), kReducerNames[static_cast<size_t>(read.reduce)],
                  printable(fmt::format("{}", fmt::join(read.over, ", ")))));
}

}  // namespace

Tensor at_places(const Tensor& told, const std::vector<std::vector<int64_t>>& places) {
  Tensor now = told;
  for (int axis = 0; axis < told.rank(); ++axis) {
    const std::vector<int64_t>& own = places[axis];
    const auto count = static_cast<int64_t>(own.size());
    if (count == now.dim(axis)) continue;
    if (own.back() - own.front() + 1 == count) {
      now = now.slice(axis, own.front(), count);
      continue;
    }
    Shape shape = now.shape();
    shape[axis] = count;
    Tensor picked = Tensor::empty(shape, now.dtype());
    for (int64_t i = 0; i < count; ++i)
      picked.slice(axis, i, 1).copy_from(now.slice(axis, own[i], 1));
    now = picked;
  }
  return now;
}

std::vector<ReadArray> read_of(const Tensor& told, const NamedValue& value, const Read& read) {
  check_reducer(read);
  const Tensor own = at_places(told, places_along(value, told.shape(), read.at));
  const DType dtype = own.dtype() == DType::kInt64 ? DType::kFloat64 : own.dtype();
  switch (read.reduce) {
    case Reducer::kNone:
      return {{"", value.axes, own.cast(dtype).contiguous(), own.dtype() == DType::kInt64}};
    case Reducer::kTopK:
      return largest_numbers(grouped(own, value, axes_over(value, read)), read.count, dtype);
    case Reducer::kGram:
      return {gram(own, dtype)};
    case Reducer::kHistogram:
      return histogram(own, read, dtype);
    default:
      return {one_number_each(grouped(own, value, axes_over(value, read)), read, dtype)};
  }
}

int64_t bytes_of_read(const Graph& graph, const NamedValue& value, const Read& read) {
  check_reducer(read);
  const Shape shape = value.shape(graph);
  const auto places = places_along(value, shape, read.at);
  int64_t count = 1, gone = 1;
  std::vector<int> over;
  if (read.reduce != Reducer::kNone) over = axes_over(value, read);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const bool stays = std::ranges::find(over, static_cast<int>(axis)) == over.end();
    (stays ? count : gone) *= static_cast<int64_t>(places[axis].size());
  }
  if (read.reduce == Reducer::kTopK) count *= 2 * std::min(read.count, gone);
  if (read.reduce == Reducer::kGram) count = shape.back() * shape.back();
  if (read.reduce == Reducer::kHistogram) count = 2 * read.count;
  return count * element_size(graph.type(value.value).dtype);
}

}  // namespace whyformer
