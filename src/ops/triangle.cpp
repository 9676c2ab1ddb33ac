#include <fmt/format.h>

#include <algorithm>

#include "base/parallel.h"
#include "ops/element_moves.h"
#include "ops/gathering.h"
#include "ops/helpers.h"

namespace whyformer {
namespace {

// y[…, i, j] = x[…, i, j] where j - i ≥ offset (upper) or ≤ offset (lower), 0 elsewhere.
class TriangleOp final : public ops::Trilu {
 public:
  TriangleOp(bool upper, int64_t offset) : upper_(upper), offset_(offset) {}

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    if (inputs[0].shape.size() < 2) {
      throw InvalidInput(
          fmt::format("a triangle needs two axes but the shape is {}", to_string(inputs[0].shape)));
    }
    return {inputs[0]};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    return {{cut(inputs[0])}, {}};
  }

  Tensors gradient(const Call&, TensorSpan dy, const Wanted&) const override {
    return {cut(dy[0])};
  }

  bool moves_data() const override { return true; }

  // What is kept of a row or column depends on its place, so one alone is another triangle.
  std::optional<AxisFlow> follow(int axis, ValueTypes inputs) const override {
    return AxisFlow{{axis}, axis < static_cast<int>(inputs[0].shape.size()) - 2};
  }

 private:
  Tensor cut(const Tensor& x) const {
    const Tensor source = x.contiguous();
    const int64_t rows = x.dim(-2), columns = x.dim(-1);
    Tensor result = Tensor::zeros(x.shape(), x.dtype());
    if (result.size() == 0) return result;
    // Beyond these every triangle is whole or empty.
    const int64_t offset = std::clamp(offset_, -rows - 1, columns + 1);
    with_element_type(x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      T* out = result.mutable_data<T>();
      const int64_t grain = std::max<int64_t>(1, 16384 / columns);
      parallel_for(result.size() / columns, grain, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          const int64_t diagonal = row % rows + offset;
          const int64_t first = upper_ ? std::clamp<int64_t>(diagonal, 0, columns) : 0;
          const int64_t last = upper_ ? columns : std::clamp<int64_t>(diagonal + 1, 0, columns);
          const int64_t at = row * columns + first;
          std::copy_n(source.data<T>() + at, std::max<int64_t>(0, last - first), out + at);
        }
      });
    });
    return result;
  }

  bool upper_;
  int64_t offset_;
};

}  // namespace

Value triangle(GraphBuilder& graph, Value x, bool upper, int64_t offset, std::string name) {
  return graph.add(std::make_shared<TriangleOp>(upper, offset), {x}, std::move(name));
}

}  // namespace whyformer
