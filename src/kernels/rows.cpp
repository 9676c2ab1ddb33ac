#include "kernels/rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace whyformer {
namespace HWY_NAMESPACE {
namespace {

using namespace vector_math;

constexpr int64_t kLanes = HWY_LANES(float);

// Adds lanes up in double: cheap once per row, and it leaves no rounding of its own.
HWY_INLINE double sum_of_lanes(V value) {
  constexpr int64_t kSums = std::min<int64_t>(4, kLanes);  // one would wait for each addition
  HWY_ALIGN float lanes[kLanes];
  hn::Store(value, D(), lanes);
  double sums[4] = {0, 0, 0, 0};
  for (int64_t i = 0; i < kLanes; i += kSums) {
    for (int64_t s = 0; s < kSums; ++s) sums[s] += lanes[i + s];
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

HWY_INLINE float largest_lane(V value) { return hn::GetLane(hn::MaxOfLanes(D(), value)); }

// Calls f(offset, lanes) for every vector of a row; only the last may have fewer than kLanes lanes.
// f loads and stores with load() and store() below.
template <class F>
HWY_INLINE void for_each_vector(int64_t columns, const F& f) {
  int64_t i = 0;
  for (; i + kLanes <= columns; i += kLanes) f(i, kLanes);
  if (i < columns) f(i, columns - i);
}

HWY_INLINE V load(const float* from, int64_t lanes, float fill = 0.0f) {
  return HWY_LIKELY(lanes == kLanes) ? hn::LoadU(D(), from) : load_first(from, lanes, fill);
}

HWY_INLINE void store(V value, float* to, int64_t lanes) {
  if (HWY_LIKELY(lanes == kLanes)) {
    hn::StoreU(value, D(), to);
  } else {
    store_first(value, to, lanes);
  }
}

// Writes scale · scores + mask and returns the largest of them.
HWY_INLINE float scale_and_mask(const float* scores, float* out, int64_t columns, float scale,
                                const float* mask) {
  V largest = constant(-std::numeric_limits<float>::infinity());
  const V factor = constant(scale);
  for_each_vector(columns, [&](int64_t i, int64_t lanes) HWY_ATTR {
    V value = hn::Mul(load(scores + i, lanes), factor);
    if (mask != nullptr) value = hn::Add(value, load(mask + i, lanes));
    store(value, out + i, lanes);
    if (lanes < kLanes) value = load(out + i, lanes, -std::numeric_limits<float>::infinity());
    largest = hn::Max(largest, value);
  });
  return largest_lane(largest);
}

// Replaces a row by e^(row - largest) and returns their sum.
HWY_INLINE double exponentials(float* row, int64_t columns, float largest) {
  V sum = hn::Zero(D());
  const V shift = constant(largest);
  for_each_vector(columns, [&](int64_t i, int64_t lanes) HWY_ATTR {
    const V value =
        exp(hn::Sub(load(row + i, lanes, -std::numeric_limits<float>::infinity()), shift));
    store(value, row + i, lanes);
    sum = hn::Add(sum, value);
  });
  return sum_of_lanes(sum);
}

// Sums of a lowest finite mask and any sensible score stay below this.
constexpr float kMaskedScore = std::numeric_limits<float>::lowest() / 2;

// The softmax of a row that fits in so many vectors, which never leaves the registers; the bits of
// the steps above. False for a row that may be masked everywhere.
template <int kVectors>
HWY_INLINE bool softmax_of_short_row(const float* scores, float* out, int64_t columns, float scale,
                                     const float* mask) {
  const V lowest = constant(-std::numeric_limits<float>::infinity());
  const V factor = constant(scale);
  V row[kVectors];
  V most = lowest;
  for (int v = 0; v < kVectors; ++v) {
    const int64_t first = v * kLanes, lanes = std::min(kLanes, columns - first);
    row[v] = hn::Mul(load(scores + first, lanes), factor);
    if (mask != nullptr) row[v] = hn::Add(row[v], load(mask + first, lanes));
    row[v] = hn::IfThenElse(hn::FirstN(D(), static_cast<size_t>(lanes)), row[v], lowest);
    most = hn::Max(most, row[v]);
  }
  const float largest = largest_lane(most);
  if (largest <= kMaskedScore) return false;
  V sum = hn::Zero(D());
  for (int v = 0; v < kVectors; ++v) {
    row[v] = exp(hn::Sub(row[v], constant(largest)));
    sum = hn::Add(sum, row[v]);
  }
  const V share = constant(static_cast<float>(1 / sum_of_lanes(sum)));
  for (int v = 0; v < kVectors; ++v) {
    const int64_t first = v * kLanes;
    store(hn::Mul(row[v], share), out + first, std::min(kLanes, columns - first));
  }
  return true;
}

HWY_INLINE bool softmax_if_short(const float* scores, float* out, int64_t columns, float scale,
                                 const float* mask) {
  if (columns <= kLanes) return softmax_of_short_row<1>(scores, out, columns, scale, mask);
  if (columns <= 2 * kLanes) return softmax_of_short_row<2>(scores, out, columns, scale, mask);
  return false;
}

// Four sums, for one alone would wait for each addition to end.
HWY_INLINE double dot_product(const float* a, const float* b, int64_t columns) {
  V sums[4] = {hn::Zero(D()), hn::Zero(D()), hn::Zero(D()), hn::Zero(D())};
  int64_t i = 0;
  for (; i + 4 * kLanes <= columns; i += 4 * kLanes) {
    HWY_UNROLL(4)
    for (int s = 0; s < 4; ++s) {
      const int64_t at = i + s * kLanes;
      sums[s] = hn::MulAdd(hn::LoadU(D(), a + at), hn::LoadU(D(), b + at), sums[s]);
    }
  }
  for_each_vector(columns - i, [&](int64_t rest, int64_t lanes) HWY_ATTR {
    sums[0] = hn::MulAdd(load(a + i + rest, lanes), load(b + i + rest, lanes), sums[0]);
  });
  return sum_of_lanes(hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3])));
}

// The mean of a row is center + rest: two floats, for a large mean rounded to one float would shift
// the whole row.
struct Moments {
  float center;
  float rest;
  float inverse_deviation;
};
HWY_INLINE Moments moments(const float* x, int64_t columns, double epsilon) {
  V sum = hn::Zero(D());
  for_each_vector(
      columns, [&](int64_t i, int64_t lanes) HWY_ATTR { sum = hn::Add(sum, load(x + i, lanes)); });
  const auto count = static_cast<double>(columns);
  const auto center = static_cast<float>(sum_of_lanes(sum) / count);
  const V middle = constant(center);
  V differences = hn::Zero(D());
  V squares = hn::Zero(D());
  for_each_vector(columns, [&](int64_t i, int64_t lanes) HWY_ATTR {
    const V difference = hn::Sub(load(x + i, lanes, center), middle);
    differences = hn::Add(differences, difference);
    squares = hn::MulAdd(difference, difference, squares);
  });
  const double rest = sum_of_lanes(differences) / count;
  const double variance = std::max(0.0, sum_of_lanes(squares) / count - rest * rest);
  return {center, static_cast<float>(rest), static_cast<float>(1 / std::sqrt(variance + epsilon))};
}

}  // namespace

void softmax_floats(const float* scores, float* out, int64_t rows, int64_t columns, float scale,
                    const float* mask, int64_t mask_stride) {
  if (columns == 0) return;
  for (int64_t r = 0; r < rows; ++r, scores += columns, out += columns) {
    const float* own_mask = mask == nullptr ? nullptr : mask + r * mask_stride;
    if (softmax_if_short(scores, out, columns, scale, own_mask)) continue;
    const float largest = scale_and_mask(scores, out, columns, scale, own_mask);
    const bool all_masked = largest <= kMaskedScore;
    if (all_masked && std::none_of(out, out + columns, [](float x) { return std::isnan(x); })) {
      std::fill_n(out, columns, 0.0f);
      continue;
    }
    const double sum = exponentials(out, columns, largest);
    const V factor = constant(static_cast<float>(1 / sum));
    for_each_vector(columns, [&](int64_t i, int64_t lanes) HWY_ATTR {
      store(hn::Mul(load(out + i, lanes), factor), out + i, lanes);
    });
  }
}

void softmax_gradient_floats(const float* p, const float* dp, float* dx, int64_t rows,
                             int64_t columns, float scale) {
  const V factor = constant(scale);
  for (int64_t r = 0; r < rows; ++r, p += columns, dp += columns, dx += columns) {
    const V mean = constant(static_cast<float>(dot_product(p, dp, columns)));
    for_each_vector(columns, [&](int64_t i, int64_t lanes) HWY_ATTR {
      const V difference = hn::Sub(load(dp + i, lanes), mean);
      store(hn::Mul(hn::Mul(load(p + i, lanes), factor), difference), dx + i, lanes);
    });
  }
}

void layer_norm_floats(const float* x, const float* weight, const float* bias, float* out,
                       float* normalised, float* inverse_deviation, int64_t rows, int64_t columns,
                       double epsilon) {
  for (int64_t r = 0; r < rows; ++r, x += columns, out += columns) {
    const Moments row = moments(x, columns, epsilon);
    if (inverse_deviation != nullptr) inverse_deviation[r] = row.inverse_deviation;
    float* kept = normalised == nullptr ? nullptr : normalised + r * columns;
    const V center = constant(row.center);
    const V rest = constant(row.rest);
    const V factor = constant(row.inverse_deviation);
    for_each_vector(columns, [&](int64_t i, int64_t lanes) HWY_ATTR {
      const V value = hn::Mul(hn::Sub(hn::Sub(load(x + i, lanes), center), rest), factor);
      if (kept != nullptr) store(value, kept + i, lanes);
      store(hn::MulAdd(value, load(weight + i, lanes), load(bias + i, lanes)), out + i, lanes);
    });
  }
}

void layer_norm_gradient_floats(const float* dy, const float* weight, const float* normalised,
                                const float* inverse_deviation, float* dx, int64_t rows,
                                int64_t columns) {
  for (int64_t r = 0; r < rows; ++r, dy += columns, normalised += columns, dx += columns) {
    V sum = hn::Zero(D());
    V product_sum = hn::Zero(D());
    for_each_vector(columns, [&](int64_t i, int64_t lanes) HWY_ATTR {
      const V g = hn::Mul(load(dy + i, lanes), load(weight + i, lanes));
      sum = hn::Add(sum, g);
      product_sum = hn::MulAdd(g, load(normalised + i, lanes), product_sum);
    });
    const V mean = constant(static_cast<float>(sum_of_lanes(sum) / columns));
    const V product_mean = constant(static_cast<float>(sum_of_lanes(product_sum) / columns));
    const V factor = constant(inverse_deviation[r]);
    for_each_vector(columns, [&](int64_t i, int64_t lanes) HWY_ATTR {
      const V g = hn::Mul(load(dy + i, lanes), load(weight + i, lanes));
      const V rest = hn::NegMulAdd(load(normalised + i, lanes), product_mean, hn::Sub(g, mean));
      store(hn::Mul(factor, rest), dx + i, lanes);
    });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace whyformer
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace whyformer {
namespace {

HWY_EXPORT(softmax_floats);
HWY_EXPORT(softmax_gradient_floats);
HWY_EXPORT(layer_norm_floats);
HWY_EXPORT(layer_norm_gradient_floats);

}  // namespace

RowRange rows_with_content(const float* rows, int64_t count, int64_t columns) {
  const auto is_zero = [&](int64_t row) {
    const float* begin = rows + row * columns;
    return std::all_of(begin, begin + columns, [](float x) { return x == 0; });
  };
  RowRange range{0, count};
  while (range.begin < range.end && is_zero(range.begin)) ++range.begin;
  while (range.begin < range.end && is_zero(range.end - 1)) --range.end;
  return range;
}

void softmax_rows(const float* scores, float* out, int64_t rows, int64_t columns, float scale,
                  const float* mask, int64_t mask_stride) {
  HWY_DYNAMIC_DISPATCH(softmax_floats)(scores, out, rows, columns, scale, mask, mask_stride);
}

void softmax_rows(const double* scores, double* out, int64_t rows, int64_t columns, double scale,
                  const double* mask, int64_t mask_stride) {
  // A mask may hold the lowest float as well as the lowest double.
  constexpr double kMasked = std::numeric_limits<float>::lowest() / 2.0;
  for (int64_t r = 0; r < rows; ++r, scores += columns, out += columns) {
    double largest = -std::numeric_limits<double>::infinity();
    for (int64_t i = 0; i < columns; ++i) {
      out[i] = scale * scores[i] + (mask == nullptr ? 0 : mask[r * mask_stride + i]);
      if (!(out[i] <= largest)) largest = out[i];
    }
    double sum = 0;
    for (int64_t i = 0; i < columns; ++i) {
      out[i] = largest <= kMasked ? 0 : std::exp(out[i] - largest);
      sum += out[i];
    }
    for (int64_t i = 0; i < columns && sum != 0; ++i) out[i] /= sum;
  }
}

void softmax_rows_gradient(const float* probabilities, const float* d_probabilities,
                           float* d_scores, int64_t rows, int64_t columns, float scale) {
  HWY_DYNAMIC_DISPATCH(softmax_gradient_floats)
  (probabilities, d_probabilities, d_scores, rows, columns, scale);
}

void softmax_rows_gradient(const double* p, const double* dp, double* dx, int64_t rows,
                           int64_t columns, double scale) {
  for (int64_t r = 0; r < rows; ++r, p += columns, dp += columns, dx += columns) {
    double mean = 0;
    for (int64_t i = 0; i < columns; ++i) mean += p[i] * dp[i];
    for (int64_t i = 0; i < columns; ++i) dx[i] = scale * p[i] * (dp[i] - mean);
  }
}

void layer_norm_rows(const float* x, const float* weight, const float* bias, float* out,
                     float* normalised, float* inverse_deviation, int64_t rows, int64_t columns,
                     double epsilon) {
  HWY_DYNAMIC_DISPATCH(layer_norm_floats)
  (x, weight, bias, out, normalised, inverse_deviation, rows, columns, epsilon);
}

void layer_norm_rows(const double* x, const double* weight, const double* bias, double* out,
                     double* normalised, double* inverse_deviation, int64_t rows, int64_t columns,
                     double epsilon) {
  for (int64_t r = 0; r < rows; ++r, x += columns, out += columns) {
    double mean = 0;
    for (int64_t i = 0; i < columns; ++i) mean += x[i] / columns;
    double variance = 0;
    for (int64_t i = 0; i < columns; ++i) variance += (x[i] - mean) * (x[i] - mean) / columns;
    const double factor = 1 / std::sqrt(variance + epsilon);
    if (inverse_deviation != nullptr) inverse_deviation[r] = factor;
    for (int64_t i = 0; i < columns; ++i) {
      const double value = (x[i] - mean) * factor;
      if (normalised != nullptr) normalised[r * columns + i] = value;
      out[i] = value * weight[i] + bias[i];
    }
  }
}

void layer_norm_rows_gradient(const float* dy, const float* weight, const float* normalised,
                              const float* inverse_deviation, float* dx, int64_t rows,
                              int64_t columns) {
  HWY_DYNAMIC_DISPATCH(layer_norm_gradient_floats)
  (dy, weight, normalised, inverse_deviation, dx, rows, columns);
}

void layer_norm_rows_gradient(const double* dy, const double* weight, const double* normalised,
                              const double* inverse_deviation, double* dx, int64_t rows,
                              int64_t columns) {
  for (int64_t r = 0; r < rows; ++r, dy += columns, normalised += columns, dx += columns) {
    double mean = 0;
    double product_mean = 0;
    for (int64_t i = 0; i < columns; ++i) {
      mean += dy[i] * weight[i] / columns;
      product_mean += dy[i] * weight[i] * normalised[i] / columns;
    }
    for (int64_t i = 0; i < columns; ++i) {
      dx[i] = inverse_deviation[r] * (dy[i] * weight[i] - mean - normalised[i] * product_mean);
    }
  }
}

}  // namespace whyformer
#endif  // HWY_ONCE
