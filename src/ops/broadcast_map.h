// Element-wise loops over operands that are broadcast to one shape, in parallel. Operands may have
// any strides and each its own element type.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "graph/op.h"
#include "tensor/tensor.h"

namespace whyformer {

// The rows of a broadcast: axes are merged where every operand's strides allow, so rows are long.
class BroadcastRows {
 public:
  // `strides`: of each operand, expanded to the shape.
  BroadcastRows(const Shape& shape, const std::vector<Shape>& strides);

  // How far an operand moves from one element of a row to the next.
  int64_t step(size_t operand) const { return steps_[operand][0]; }

  // Calls body(first, count, offsets) for pieces of rows: `count` output elements from `first`,
  // whose operands start at the offsets.
  using Body = std::function<void(int64_t first, int64_t count, std::span<const int64_t> offsets)>;
  void for_each(const Body& body) const;

 private:
  bool merges(const std::vector<Shape>& strides, size_t axis) const;

  int64_t size_;
  Shape lengths_;             // innermost first
  std::vector<Shape> steps_;  // by operand
};

// A tensor read as elements of type T. One that is hardly ever repeated along a row says so: fewer
// loops are compiled, and where it is repeated all the same, the stepping loop reads it.
template <typename T, bool kMayRepeat = true>
struct Operand {
  const Tensor& tensor;
};
template <typename T>
Operand<T> as(const Tensor& tensor) {
  return {tensor};
}
template <typename T>
Operand<T, false> as_whole(const Tensor& tensor) {
  return {tensor};
}

// How an operand is read along a row.
template <typename T>
struct Repeated {
  T value;
  explicit Repeated(const T* at, int64_t) : value(*at) {}
  T operator[](int64_t) const { return value; }
};
template <typename T>
struct Neighbouring {
  const T* at;
  explicit Neighbouring(const T* from, int64_t) : at(from) {}
  T operator[](int64_t i) const { return at[i]; }
};
template <typename T>
struct Stepping {
  const T* at;
  int64_t step;
  explicit Stepping(const T* from, int64_t by) : at(from), step(by) {}
  T operator[](int64_t i) const { return at[i * step]; }
};

template <typename Out, typename F, typename... Operands>
class BroadcastMap;

// Chooses a loop by how the operands are read: repeated or neighbouring elements each have their
// own, everything else steps.
template <typename Out, typename F, typename... Ts, bool... kMayRepeat>
class BroadcastMap<Out, F, Operand<Ts, kMayRepeat>...> {
 public:
  BroadcastMap(Tensor& out, const F& f, const Operand<Ts, kMayRepeat>&... operands)
      : out_(out.mutable_data<Out>()),
        f_(f),
        rows_(out.shape(), {operands.tensor.expand(out.shape()).strides()...}),
        data_{operands.tensor.template data<Ts>()...} {}

  void run() const {
    for (size_t operand = 0; operand < sizeof...(Ts); ++operand) {
      const int64_t step = rows_.step(operand);
      if (step != 1 && !(step == 0 && kRepeats[operand])) return fill<Stepping<Ts>...>();
    }
    choose<std::tuple<>, Ts...>();
  }

 private:
  static constexpr bool kRepeats[] = {kMayRepeat...};

  template <typename Chosen, typename T, typename... Rest>
  void choose() const {
    constexpr size_t kOperand = std::tuple_size_v<Chosen>;
    if constexpr (kRepeats[kOperand]) {
      if (rows_.step(kOperand) == 0) return go_on<Chosen, Repeated<T>, Rest...>();
    }
    go_on<Chosen, Neighbouring<T>, Rest...>();
  }

  template <typename Chosen, typename Reader, typename... Rest>
  void go_on() const {
    using More =
        decltype(std::tuple_cat(std::declval<Chosen>(), std::declval<std::tuple<Reader>>()));
    if constexpr (sizeof...(Rest) > 0)
      choose<More, Rest...>();
    else
      fill_as(static_cast<More*>(nullptr));
  }

  template <typename... Readers>
  void fill_as(std::tuple<Readers...>*) const {
    fill<Readers...>();
  }

  template <typename... Readers>
  void fill() const {
    rows_.for_each([this](int64_t first, int64_t count, std::span<const int64_t> offsets) {
      fill_row<Readers...>(out_ + first, count, offsets, std::index_sequence_for<Ts...>());
    });
  }

  template <typename... Readers, size_t... I>
  void fill_row(Out* out, int64_t count, std::span<const int64_t> offsets,
                std::index_sequence<I...>) const {
    const auto loop = [&](const auto... readers) {
      for (int64_t i = 0; i < count; ++i) out[i] = static_cast<Out>(f_(readers[i]...));
    };
    loop(Readers(std::get<I>(data_) + offsets[I], rows_.step(I))...);
  }

  Out* out_;
  const F& f_;
  BroadcastRows rows_;
  std::tuple<const Ts*...> data_;
};

// out = f(operands…); `out` is contiguous and may be the memory of an operand of its shape and
// type.
template <typename Out, typename F, typename... Operands>
void broadcast_into(Tensor& out, const F& f, const Operands&... operands) {
  if (out.size() > 0) BroadcastMap<Out, F, Operands...>(out, f, operands...).run();
}

template <typename Out, typename F, typename... Operands>
Tensor broadcast_map(const F& f, const Shape& shape, const Operands&... operands) {
  Tensor out = Tensor::empty(shape, dtype_of<Out>());
  broadcast_into<Out>(out, f, operands...);
  return out;
}

// The memory of the first input that nobody else needs and that fits, which is then undefined; else
// fresh memory.
Tensor reuse_any_or_allocate(std::span<Tensor> inputs, const ValueType& output);

// A slope may be infinite where nothing arrives, as that of √x at 0, and the other way round.
template <typename T>
T passed_back(T incoming, T slope) {
  return incoming == 0 || slope == 0 ? T{0} : incoming * slope;
}

}  // namespace whyformer
