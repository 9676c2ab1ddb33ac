#include <fmt/format.h>

#include <algorithm>

#include "ops/element_moves.h"
#include "ops/gathering.h"
#include "ops/helpers.h"

namespace whyformer {
namespace {

constexpr int64_t kLargestPad = int64_t{1} << 33;

int64_t wrapped(int64_t position, int64_t length) {
  return ((position % length) + length) % length;
}

// Axes made longer (or shorter) at both ends, one after the other.
class PadOp final : public ops::Pad {
 public:
  PadOp(std::vector<int64_t> before, std::vector<int64_t> after, PadMode mode, double value)
      : before_(std::move(before)), after_(std::move(after)), mode_(mode), value_(value) {}

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    Shape shape = inputs[0].shape;
    if (before_.size() != shape.size() || after_.size() != shape.size()) {
      throw InvalidInput(fmt::format("{} and {} pads do not fit the shape {}", before_.size(),
                                     after_.size(), to_string(shape)));
    }
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      for (const int64_t pad : {before_[axis], after_[axis]}) {
        if (pad < -kLargestPad || pad > kLargestPad) {
          throw InvalidInput(fmt::format("a pad of {} is too large", pad));
        }
      }
      shape[axis] += before_[axis] + after_[axis];
      if (shape[axis] < 0 ||
          (mode_ != PadMode::kConstant && shape[axis] > 0 && inputs[0].shape[axis] == 0)) {
        throw InvalidInput(fmt::format("pads {} and {} do not fit axis {} of {}", before_[axis],
                                       after_[axis], axis, to_string(inputs[0].shape)));
      }
    }
    check_size(shape);
    return {{shape, inputs[0].dtype}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    Tensor y = inputs[0];
    for (size_t axis = before_.size(); axis-- > 0;) {
      if (stays(axis)) continue;
      y = pick(y, static_cast<int>(axis), positions(axis, inputs[0].shape()[axis]), value_);
    }
    return {{y}, {}};
  }

  Tensors gradient(const Call& call, TensorSpan dy, const Wanted&) const override {
    Tensor dx = dy[0];
    for (size_t axis = 0; axis < before_.size(); ++axis) {
      if (stays(axis)) continue;
      const int64_t length = call.input_types[0].shape[axis];
      dx = sum_back(dx, static_cast<int>(axis), positions(axis, length), length);
    }
    return {dx};
  }

  bool moves_data() const override { return true; }

  std::optional<AxisFlow> follow(int axis, ValueTypes) const override {
    if (!stays(axis)) return std::nullopt;
    return same_axis(axis);
  }

 private:
  bool stays(size_t axis) const { return before_[axis] == 0 && after_[axis] == 0; }

  // Where each position of a padded axis comes from, -1 for the constant.
  std::vector<int64_t> positions(size_t axis, int64_t length) const {
    std::vector<int64_t> result(length + before_[axis] + after_[axis]);
    for (size_t i = 0; i < result.size(); ++i) {
      result[i] = source(static_cast<int64_t>(i) - before_[axis], length);
    }
    return result;
  }

  int64_t source(int64_t position, int64_t length) const {
    switch (mode_) {
      case PadMode::kConstant:
        return position >= 0 && position < length ? position : -1;
      case PadMode::kEdge:
        return std::clamp<int64_t>(position, 0, length - 1);
      case PadMode::kWrap:
        return wrapped(position, length);
      case PadMode::kReflect:
        break;
    }
    if (length == 1) return 0;
    const int64_t there_and_back = wrapped(position, 2 * (length - 1));
    return there_and_back < length ? there_and_back : 2 * (length - 1) - there_and_back;
  }

  std::vector<int64_t> before_;
  std::vector<int64_t> after_;
  PadMode mode_;
  double value_;
};

}  // namespace

Value pad(GraphBuilder& graph, Value x, std::vector<int64_t> before, std::vector<int64_t> after,
          PadMode mode, double value, std::string name) {
  return graph.add(std::make_shared<PadOp>(std::move(before), std::move(after), mode, value), {x},
                   std::move(name));
}

}  // namespace whyformer
