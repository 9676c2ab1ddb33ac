#include "ops/reduce_values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include "base/parallel.h"
#include "ops/broadcast_map.h"
#include "ops/helpers.h"

namespace whyformer {
namespace {

template <typename T>
using Accumulated = std::conditional_t<std::is_floating_point_v<T>, double, int64_t>;

// Integers wrap around.
double plus(double a, double b) { return a + b; }
int64_t plus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
double times(double a, double b) { return a * b; }
int64_t times(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

// Each reduction: where it starts, what an element adds, how two parts come together, and the end.
template <typename A>
struct SumReduction {
  static constexpr A start() { return 0; }
  static A term(A x) { return x; }
  static A merge(A a, A b) { return plus(a, b); }
  static A finish(A total, int64_t) { return total; }
};

template <typename A>
struct MeanReduction : SumReduction<A> {
  static A finish(A total, int64_t count) {
    if constexpr (std::is_same_v<A, double>)
      return total / static_cast<double>(count);
    else
      return count == 0 ? 0 : total / count;
  }
};

template <typename A>
struct L1Reduction : SumReduction<A> {
  static A term(A x) { return x < 0 ? times(x, A{-1}) : x; }
};

template <typename A>
struct SumOfSquaresReduction : SumReduction<A> {
  static A term(A x) { return times(x, x); }
};

template <typename A>
struct L2Reduction : SumOfSquaresReduction<A> {
  static A finish(A total, int64_t) {
    return static_cast<A>(std::sqrt(static_cast<double>(total)));
  }
};

template <typename A>
struct ProductReduction {
  static constexpr A start() { return 1; }
  static A term(A x) { return x; }
  static A merge(A a, A b) { return times(a, b); }
  static A finish(A total, int64_t) { return total; }
};

// What is not a number wins.
template <typename A, bool kLargest>
struct ExtremumReduction {
  using Limits = std::numeric_limits<A>;
  static constexpr A start() {
    if constexpr (Limits::has_infinity)
      return kLargest ? -Limits::infinity() : Limits::infinity();
    else
      return kLargest ? Limits::min() : Limits::max();
  }
  static A term(A x) { return x; }
  static A merge(A a, A b) { return (kLargest ? b > a : b < a) || b != b ? b : a; }
  static A finish(A best, int64_t) { return best; }
};
template <typename A>
using MaxReduction = ExtremumReduction<A, true>;
template <typename A>
using MinReduction = ExtremumReduction<A, false>;

// Rows next to each other in memory. Eight parts at once, so that no sum waits for the one before.
template <template <typename> typename F, typename T>
T reduce_row(const T* x, int64_t length) {
  using A = Accumulated<T>;
  using Function = F<A>;
  constexpr int64_t kParts = 8;
  std::array<A, kParts> parts;
  parts.fill(Function::start());
  int64_t i = 0;
  for (; i + kParts <= length; i += kParts) {
    for (int64_t part = 0; part < kParts; ++part) {
      parts[part] = Function::merge(parts[part], Function::term(static_cast<A>(x[i + part])));
    }
  }
  for (; i < length; ++i) {
    parts[0] = Function::merge(parts[0], Function::term(static_cast<A>(x[i])));
  }
  A total = parts[0];
  for (int64_t part = 1; part < kParts; ++part) total = Function::merge(total, parts[part]);
  return static_cast<T>(Function::finish(total, length));
}

constexpr int64_t kBlock = 64;

// Up to kBlock columns of rows that lie `inner` apart.
template <template <typename> typename F, typename T>
void reduce_columns(const T* x, T* out, int64_t columns, int64_t length, int64_t inner) {
  using A = Accumulated<T>;
  using Function = F<A>;
  std::array<A, kBlock> totals;
  totals.fill(Function::start());
  for (int64_t row = 0; row < length; ++row) {
    const T* from = x + row * inner;
    for (int64_t column = 0; column < columns; ++column) {
      totals[column] =
          Function::merge(totals[column], Function::term(static_cast<A>(from[column])));
    }
  }
  for (int64_t column = 0; column < columns; ++column) {
    out[column] = static_cast<T>(Function::finish(totals[column], length));
  }
}

template <template <typename> typename F, typename T>
void reduce_as(const Tensor& x, Tensor& y, const AroundAxes& around) {
  const auto [outer, length, inner] = around;
  const T* from = x.data<T>();
  T* out = y.mutable_data<T>();
  if (inner == 1) {
    parallel_for(outer, 16384 / (length + 1) + 1, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        out[row] = reduce_row<F>(from + row * length, length);
      }
    });
    return;
  }
  const int64_t blocks = (inner + kBlock - 1) / kBlock;
  parallel_for(outer * blocks, 16384 / kBlock / (length + 1) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const int64_t first = block % blocks * kBlock;
      const int64_t slab = block / blocks;
      reduce_columns<F>(from + slab * length * inner + first, out + slab * inner + first,
                        std::min(kBlock, inner - first), length, inner);
    }
  });
}

template <typename T>
void reduce_with(Reduction f, const Tensor& x, Tensor& y, const AroundAxes& around) {
  switch (f) {
    case Reduction::kSum:
      return reduce_as<SumReduction, T>(x, y, around);
    case Reduction::kMean:
      return reduce_as<MeanReduction, T>(x, y, around);
    case Reduction::kMax:
      return reduce_as<MaxReduction, T>(x, y, around);
    case Reduction::kMin:
      return reduce_as<MinReduction, T>(x, y, around);
    case Reduction::kL1:
      return reduce_as<L1Reduction, T>(x, y, around);
    case Reduction::kL2:
      return reduce_as<L2Reduction, T>(x, y, around);
    case Reduction::kProduct:
      return reduce_as<ProductReduction, T>(x, y, around);
    case Reduction::kSumOfSquares:
      return reduce_as<SumOfSquaresReduction, T>(x, y, around);
    case Reduction::kLogSumExp:
      break;  // made of two others
  }
}

// log Σ e^(x - m) + m, m the largest element unless that is infinite.
Tensor log_sum_exp(const Tensor& x, const std::vector<int>& axes) {
  return with_float_type(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    Tensor largest = reduce_values(x, Reduction::kMax, axes);
    broadcast_into<T>(largest, [](T m) { return std::isfinite(m) ? m : T{0}; }, as<T>(largest));
    const Tensor terms = broadcast_map<T>([](T v, T m) { return std::exp(v - m); }, x.shape(),
                                          as<T>(x), as<T>(largest));
    Tensor sum = reduce_values(terms, Reduction::kSum, axes);
    broadcast_into<T>(sum, [](T s, T m) { return std::log(s) + m; }, as<T>(sum), as<T>(largest));
    return sum;
  });
}

}  // namespace

AroundAxes around_axes(const Shape& shape, int first, int count) {
  AroundAxes result;
  for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) {
    int64_t& part = axis < first           ? result.outer
                    : axis < first + count ? result.length
                                           : result.inner;
    part *= shape[axis];
  }
  return result;
}

Shape with_axes_of_one(Shape shape, const std::vector<int>& axes) {
  for (const int axis : axes) shape[axis] = 1;
  return shape;
}

Tensor reduce_values(const Tensor& x, Reduction f, const std::vector<int>& axes) {
  if (f == Reduction::kLogSumExp) return log_sum_exp(x, axes);
  Tensor y = Tensor::empty(with_axes_of_one(x.shape(), axes), x.dtype());
  const int rank = x.rank();
  const int count = static_cast<int>(axes.size());
  int first = axes.empty() ? rank : axes[0];
  Tensor source = x;
  if (count > 0 && axes.back() - axes.front() + 1 != count) {
    std::vector<int> order;
    for (int axis = 0; axis < rank; ++axis) {
      if (std::find(axes.begin(), axes.end(), axis) == axes.end()) order.push_back(axis);
    }
    order.insert(order.end(), axes.begin(), axes.end());
    source = x.permute(order);
    first = rank - count;
  }
  source = source.contiguous();
  with_number_type(x.dtype(), [&](auto zero) {
    reduce_with<decltype(zero)>(f, source, y, around_axes(source.shape(), first, count));
  });
  return y;
}

}  // namespace whyformer
