#include "onnx/translations/windows.h"

#include <fmt/format.h>

#include <algorithm>

namespace whyformer::onnx {
namespace {

std::vector<int64_t> per_axis(NodeScope& scope, const char* attribute, size_t axes,
                              int64_t otherwise) {
  std::vector<int64_t> numbers = scope.integer_list(attribute);
  if (numbers.empty()) numbers.assign(axes, otherwise);
  if (numbers.size() != axes) {
    throw InvalidInput(
        fmt::format("{} numbers in '{}' for {} space axes", numbers.size(), attribute, axes));
  }
  for (const int64_t number : numbers) {
    check_length(number, attribute);
    if (number < 1) throw InvalidInput(fmt::format("{} in '{}'", number, attribute));
  }
  return numbers;
}

int64_t reach(const Window& window, size_t axis) {
  return (window.kernel[axis] - 1) * window.dilations[axis] + 1;
}

// As many outputs as input positions per stride; an odd pad goes to the end, or to the start.
void pad_to_same(const Shape& input, bool upper, Window& window) {
  for (size_t i = 0; i < window.kernel.size(); ++i) {
    const int64_t length = input[i + 2], stride = window.strides[i];
    const int64_t outputs = length / stride + (length % stride != 0);
    const int64_t total = std::max<int64_t>(0, (outputs - 1) * stride + reach(window, i) - length);
    window.pads_before[i] = upper ? total / 2 : total - total / 2;
    window.pads_after[i] = total - window.pads_before[i];
  }
}

}  // namespace

void check_length(int64_t number, const char* attribute) {
  constexpr int64_t kLongest = int64_t{1} << 31;
  if (number < -kLongest || number > kLongest) {
    throw InvalidInput(fmt::format("{} in '{}'", number, attribute));
  }
}

Window window_of(NodeScope& scope, const Shape& input, const std::vector<int64_t>& kernel) {
  const size_t axes = kernel.size();
  if (input.size() != axes + 2) {
    throw InvalidInput(
        fmt::format("a kernel {} does not fit an input {}", to_string(kernel), to_string(input)));
  }
  for (const int64_t length : kernel) {
    check_length(length, "kernel_shape");
    if (length < 1) throw InvalidInput(fmt::format("a kernel {}", to_string(kernel)));
  }
  Window window{.kernel = kernel,
                .strides = per_axis(scope, "strides", axes, 1),
                .dilations = per_axis(scope, "dilations", axes, 1),
                .pads_before = std::vector<int64_t>(axes, 0),
                .pads_after = std::vector<int64_t>(axes, 0),
                .groups = scope.integer("group", 1)};
  const std::string automatic = scope.text("auto_pad", "NOTSET");
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
    pad_to_same(input, automatic == "SAME_UPPER", window);
  } else if (automatic == "NOTSET" || automatic.empty()) {
    const std::vector<int64_t> pads = scope.integer_list("pads");
    if (!pads.empty() && pads.size() != 2 * axes) {
      throw InvalidInput(fmt::format("{} pads for {} space axes", pads.size(), axes));
    }
    for (const int64_t pad : pads) check_length(pad, "pads");
    for (size_t i = 0; i < axes && !pads.empty(); ++i) {
      window.pads_before[i] = pads[i];
      window.pads_after[i] = pads[i + axes];
    }
  } else if (automatic != "VALID") {
    throw InvalidInput(fmt::format("auto_pad is '{}'", automatic));
  }
  return window;
}

Window pooling_window(NodeScope& scope, const Shape& input) {
  Window window = window_of(scope, input, scope.integer_list("kernel_shape"));
  if (scope.integer("ceil_mode", 0) == 0) return window;
  for (size_t i = 0; i < window.kernel.size(); ++i) {
    const int64_t stride = window.strides[i];
    const int64_t length = input[i + 2] + window.pads_before[i] + window.pads_after[i];
    const int64_t rest = std::max<int64_t>(0, length - reach(window, i));
    int64_t outputs = rest / stride + (rest % stride != 0) + 1;
    // A window that would start past the input and its first pads is left out.
    if ((outputs - 1) * stride >= input[i + 2] + window.pads_before[i]) --outputs;
    window.overhang.push_back(
        std::max<int64_t>(0, (outputs - 1) * stride + reach(window, i) - length));
  }
  return window;
}

}  // namespace whyformer::onnx
