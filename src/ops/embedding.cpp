#include <fmt/format.h>

#include <cstring>

#include "ops/helpers.h"
#include "ops/ops.h"

namespace whyformer {
namespace {

// y[..., :] = table[ids[...], :]. Integers have no gradient.
class Embedding final : public Op {
 public:
  explicit Embedding(Tensor table) : table_(table.contiguous()) {}

  std::string_view kind() const override { return "Embedding"; }

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    if (inputs[0].dtype != DType::kInt64) throw InvalidInput("ids must be integers");
    if (table_.rank() != 2 || table_.dtype() == DType::kInt64) {
      throw InvalidInput("the table must be a matrix of floats but has the shape " +
                         to_string(table_.shape()));
    }
    Shape shape = inputs[0].shape;
    shape.push_back(table_.dim(1));
    return {{shape, table_.dtype()}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    const Tensor ids = inputs[0].contiguous();
    Shape shape = ids.shape();
    shape.push_back(table_.dim(1));
    Tensor rows = Tensor::empty(shape, table_.dtype());
    return with_float_type(table_.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const int64_t width = table_.dim(1);
      for (int64_t i = 0; i < ids.size(); ++i) {
        const int64_t id = ids.data<int64_t>()[i];
        if (id < 0 || id >= table_.dim(0)) {
          throw InvalidInput(fmt::format(
              "id {} is outside the embedding table of {} rows: do tokenizer and model belong "
              "together?",
              id, table_.dim(0)));
        }
        std::memcpy(rows.mutable_data<T>() + i * width, table_.data<T>() + id * width,
                    width * sizeof(T));
      }
      return Forward{{rows}, {}};
    });
  }

  Tensors gradient(const Call&, TensorSpan, const Wanted&) const override {
    throw Error("Embedding: ids have no gradient; ask for the gradient of its output");
  }

  std::optional<AxisFlow> follow(int axis, ValueTypes inputs) const override {
    if (axis == static_cast<int>(inputs[0].shape.size())) return std::nullopt;
    return same_axis(axis);
  }

 private:
  Tensor table_;
};

}  // namespace

Value embedding(GraphBuilder& graph, Value ids, Tensor table, std::string name) {
  return graph.add(std::make_shared<Embedding>(std::move(table)), {ids}, std::move(name));
}

}  // namespace whyformer
