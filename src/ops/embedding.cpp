#include <fmt/format.h>

#include <cstring>

#include "graph/held_weights.h"
#include "ops/helpers.h"
#include "ops/layers.h"
#include "ops/whole_numbers.h"

namespace whyformer {
namespace {

// y[..., :] = table[ids[...], :]. Integers have no gradient.
class EmbeddingOp final : public ops::Embedding, public HoldsWeights {
 public:
  explicit EmbeddingOp(Tensor table) : table_(table.contiguous()) {
    if (table_.rank() != 2) return;
    rows_ = table_.dim(0);
    width_ = table_.dim(1);
  }
  explicit EmbeddingOp(std::shared_ptr<const WholeNumbers> numbers)
      : numbers_(std::move(numbers)), rows_(numbers_->rows()), width_(numbers_->columns()) {}

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    if (inputs[0].dtype != DType::kInt64) throw InvalidInput("ids must be integers");
    if (numbers_ == nullptr && (table_.rank() != 2 || table_.dtype() == DType::kInt64)) {
      throw InvalidInput("the table must be a matrix of floats but has the shape " +
                         to_string(table_.shape()));
    }
    return {{output_shape(inputs[0].shape), dtype()}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    const Tensor ids = inputs[0].contiguous();
    Tensor rows = Tensor::empty(output_shape(ids.shape()), dtype());
    for (int64_t i = 0; i < ids.size(); ++i) {
      const int64_t id = ids.data<int64_t>()[i];
      if (id < 0 || id >= rows_) {
        throw InvalidInput(fmt::format(
            "id {} is outside the embedding table of {} rows: do tokenizer and model belong "
            "together?",
            id, rows_));
      }
      if (numbers_ != nullptr)
        numbers_->read(id, 1, rows.mutable_data<float>() + i * width_);
      else
        copy_row(id, i, rows);
    }
    return {{rows}, {}};
  }

  Tensors gradient(const Call&, TensorSpan, const Wanted&) const override {
    throw Error("Embedding: ids have no gradient; ask for the gradient of its output");
  }

  DependsOn depends_on() const override { return DependsOn::kNumbersAndIntegers; }

  std::optional<AxisFlow> follow(int axis, ValueTypes inputs) const override {
    if (axis == static_cast<int>(inputs[0].shape.size())) return std::nullopt;
    return same_axis(axis);
  }

  std::vector<HeldWeight> held_weights() const override {
    return {{WeightKind::kMatrix, {rows_, width_}, dtype()}};
  }

  std::shared_ptr<const Op> with_weights(const Tensors& weights) const override {
    return std::make_shared<EmbeddingOp>(weights[0]);
  }

 private:
  DType dtype() const { return numbers_ != nullptr ? DType::kFloat32 : table_.dtype(); }

  Shape output_shape(Shape ids) const {
    ids.push_back(width_);
    return ids;
  }

  void copy_row(int64_t id, int64_t to, Tensor& rows) const {
    with_float_type(table_.dtype(), [&](auto zero) {
      using T = decltype(zero);
      std::memcpy(rows.mutable_data<T>() + to * width_, table_.data<T>() + id * width_,
                  width_ * sizeof(T));
    });
  }

  Tensor table_;
  std::shared_ptr<const WholeNumbers> numbers_;  // instead of the table
  int64_t rows_ = 0, width_ = 0;
};

}  // namespace

Value embedding(GraphBuilder& graph, Value ids, Tensor table, std::string name) {
  return graph.add(std::make_shared<EmbeddingOp>(std::move(table)), {ids}, std::move(name));
}

Value embedding(GraphBuilder& graph, Value ids, std::shared_ptr<const WholeNumbers> table,
                std::string name) {
  return graph.add(std::make_shared<EmbeddingOp>(std::move(table)), {ids}, std::move(name));
}

}  // namespace whyformer
