#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/numpy_random.h"
#include "games/table_columns.h"
#include "whyformer/error.h"
#include "whyformer/games.h"

namespace whyformer {
namespace {

constexpr int kStarts = 10, kMostRounds = 300;
constexpr double kTolerance = 1e-4;

struct Clustering {
  std::vector<double> centres;  // [clusters × columns]
  std::vector<int64_t> labels;
  double inertia = 0;
};

// Equal up to the numbers of the clusters.
bool same_clusters(const std::vector<int64_t>& a, const std::vector<int64_t>& b, int64_t clusters) {
  std::vector<int64_t> renamed(clusters, -1);
  for (size_t i = 0; i < a.size(); ++i) {
    if (renamed[a[i]] == -1) renamed[a[i]] = b[i];
    if (renamed[a[i]] != b[i]) return false;
  }
  return true;
}

// scikit-learn's KMeans(clusters, n_init=10, random_state=0) over rows whose means are taken off.
class KMeans {
 public:
  KMeans(const std::vector<double>& rows, int64_t columns, int64_t clusters)
      : rows_(rows),
        columns_(columns),
        count_(static_cast<int64_t>(rows.size()) / columns),
        clusters_(clusters) {
    for (int64_t row = 0; row < count_; ++row) squares_.push_back(dot(at(row), at(row)));
    double variance = 0;
    for (const double value : rows) variance += value * value;
    tolerance_ = kTolerance * variance / static_cast<double>(rows.size());
  }

  Clustering run() {
    Clustering best;
    for (int start = 0; start < kStarts; ++start) {
      Clustering found = lloyd(seeds());
      const bool better =
          best.labels.empty() ||
          (found.inertia < best.inertia && !same_clusters(found.labels, best.labels, clusters_));
      if (better) best = std::move(found);
    }
    return best;
  }

 private:
  const double* at(int64_t row) const { return rows_.data() + row * columns_; }

  double dot(const double* a, const double* b) const {
    return std::inner_product(a, a + columns_, b, 0.0);
  }

  double distance(const double* a, const double* b) const {
    double sum = 0;
    for (int64_t j = 0; j < columns_; ++j) sum += (a[j] - b[j]) * (a[j] - b[j]);
    return sum;
  }

  // Squared distances of all rows to one of them, but not more than `so_far`.
  std::vector<double> nearer(int64_t row, const std::vector<double>& so_far) const {
    std::vector<double> distances(count_);
    for (int64_t i = 0; i < count_; ++i) {
      const double square =
          i == row ? 0 : std::max(0.0, squares_[row] - 2 * dot(at(row), at(i)) + squares_[i]);
      distances[i] = std::min(square, so_far[i]);
    }
    return distances;
  }

  // k-means++: the next centre is the best of a few drawn by their squared distance to the centres
  // so far.
  std::vector<double> seeds() {
    std::vector<double> cumulative(count_);
    double sum = 0;
    for (double& entry : cumulative) entry = sum += 1 / static_cast<double>(count_);
    const int64_t first = random_.choose(cumulative);
    std::vector<double> centres(at(first), at(first) + columns_);
    std::vector<double> closest =
        nearer(first, std::vector<double>(count_, std::numeric_limits<double>::infinity()));
    const int trials = 2 + static_cast<int>(std::log(static_cast<double>(clusters_)));
    while (static_cast<int64_t>(centres.size()) < clusters_ * columns_) {
      const int64_t next = best_candidate(closest, trials);
      closest = nearer(next, closest);
      centres.insert(centres.end(), at(next), at(next) + columns_);
    }
    return centres;
  }

  int64_t best_candidate(const std::vector<double>& closest, int trials) {
    std::vector<double> cumulative(count_);
    std::partial_sum(closest.begin(), closest.end(), cumulative.begin());
    std::vector<int64_t> candidates;
    for (int trial = 0; trial < trials; ++trial) {
      const double drawn = random_.uniform() * cumulative.back();
      const int64_t place =
          std::lower_bound(cumulative.begin(), cumulative.end(), drawn) - cumulative.begin();
      candidates.push_back(std::min(place, count_ - 1));
    }
    int64_t best = candidates.front();
    double least = std::numeric_limits<double>::infinity();
    for (const int64_t candidate : candidates) {
      const std::vector<double> distances = nearer(candidate, closest);
      const double left = std::accumulate(distances.begin(), distances.end(), 0.0);
      if (left < least) least = left, best = candidate;
    }
    return best;
  }

  Clustering lloyd(std::vector<double> centres) const {
    std::vector<int64_t> labels, before(count_, -1);
    bool settled = false;
    for (int round = 0; round < kMostRounds; ++round) {
      labels = assign(centres);
      std::vector<double> next = means(labels, centres);
      const double shift =
          std::inner_product(centres.begin(), centres.end(), next.begin(), 0.0, std::plus<>(),
                             [](double a, double b) { return (a - b) * (a - b); });
      centres = std::move(next);
      settled = labels == before;
      if (settled || shift <= tolerance_) break;
      before = labels;
    }
    if (!settled) labels = assign(centres);
    Clustering result{.centres = std::move(centres), .labels = std::move(labels)};
    for (int64_t row = 0; row < count_; ++row) {
      result.inertia += distance(at(row), result.centres.data() + result.labels[row] * columns_);
    }
    return result;
  }

  std::vector<int64_t> assign(const std::vector<double>& centres) const {
    std::vector<double> squares;
    for (int64_t k = 0; k < clusters_; ++k) {
      squares.push_back(dot(centres.data() + k * columns_, centres.data() + k * columns_));
    }
    std::vector<int64_t> labels(count_);
    for (int64_t row = 0; row < count_; ++row) {
      double least = std::numeric_limits<double>::infinity();
      for (int64_t k = 0; k < clusters_; ++k) {
        const double apart = squares[k] - 2 * dot(at(row), centres.data() + k * columns_);
        if (apart < least) least = apart, labels[row] = k;
      }
    }
    return labels;
  }

  std::vector<double> means(const std::vector<int64_t>& labels,
                            const std::vector<double>& centres) const {
    std::vector<double> sums(clusters_ * columns_), sizes(clusters_);
    for (int64_t row = 0; row < count_; ++row) {
      sizes[labels[row]] += 1;
      for (int64_t j = 0; j < columns_; ++j) sums[labels[row] * columns_ + j] += at(row)[j];
    }
    refill(labels, centres, sums, sizes);
    const int64_t largest = std::max_element(sizes.begin(), sizes.end()) - sizes.begin();
    for (int64_t k = 0; k < clusters_; ++k) {
      for (int64_t j = 0; j < columns_ && sizes[k] > 0; ++j) sums[k * columns_ + j] *= 1 / sizes[k];
    }
    for (int64_t k = 0; k < clusters_; ++k) {
      if (sizes[k] == 0)
        std::copy_n(sums.begin() + largest * columns_, columns_, sums.begin() + k * columns_);
    }
    return sums;
  }

  // Clusters without rows get those that are farthest from their centres.
  void refill(const std::vector<int64_t>& labels, const std::vector<double>& centres,
              std::vector<double>& sums, std::vector<double>& sizes) const {
    if (std::find(sizes.begin(), sizes.end(), 0.0) == sizes.end()) return;
    std::vector<double> apart(count_);
    for (int64_t row = 0; row < count_; ++row)
      apart[row] = distance(at(row), centres.data() + labels[row] * columns_);
    if (*std::max_element(apart.begin(), apart.end()) == 0) return;
    std::vector<int64_t> farthest(count_);
    std::iota(farthest.begin(), farthest.end(), 0);
    std::stable_sort(farthest.begin(), farthest.end(),
                     [&](int64_t a, int64_t b) { return apart[a] > apart[b]; });
    auto next = farthest.begin();
    for (int64_t k = 0; k < clusters_; ++k) {
      if (sizes[k] > 0) continue;
      const int64_t row = *next++;
      for (int64_t j = 0; j < columns_; ++j) {
        sums[labels[row] * columns_ + j] -= at(row)[j];
        sums[k * columns_ + j] = at(row)[j];
      }
      sizes[k] = 1;
      sizes[labels[row]] -= 1;
    }
  }

  const std::vector<double>& rows_;
  int64_t columns_, count_, clusters_;
  std::vector<double> squares_;
  double tolerance_ = 0;
  NumpyRandom random_{0};
};

// NaN becomes the mean of the column's other values.
std::vector<double> without_gaps(const Table& table) {
  std::vector<double> values = table.values;
  for (int64_t column = 0; column < table.columns; ++column) {
    double sum = 0, known = 0;
    for (size_t i = column; i < values.size(); i += table.columns) {
      if (std::isinf(values[i]))
        throw InvalidInput(fmt::format("k-means: column {} holds infinity", column));
      if (!std::isnan(values[i])) sum += values[i], known += 1;
    }
    if (known == 0)
      throw InvalidInput(fmt::format("k-means: column {} has no values; leave it out", column));
    for (size_t i = column; i < values.size(); i += table.columns) {
      if (std::isnan(values[i])) values[i] = sum / known;
    }
  }
  return values;
}

// The first of the nearest values that occur in the column.
double nearest_in_column(const std::vector<double>& values, int64_t columns, int64_t column,
                         double wanted) {
  double nearest = values[column];
  for (size_t i = column; i < values.size(); i += columns) {
    if (std::abs(values[i] - wanted) < std::abs(nearest - wanted)) nearest = values[i];
  }
  return nearest;
}

}  // namespace

Background kmeans_background(const Table& table, int64_t clusters) {
  check_table(table, "k-means");
  if (clusters < 1 || clusters > table.rows) {
    throw InvalidInput(fmt::format("k-means: {} clusters of {} rows; ask for 1 to {}", clusters,
                                   table.rows, table.rows));
  }
  const std::vector<double> values = without_gaps(table);
  std::vector<double> means(table.columns);
  for (size_t i = 0; i < values.size(); ++i) means[i % table.columns] += values[i];
  for (double& mean : means) mean /= static_cast<double>(table.rows);
  std::vector<double> off_mean = values;
  for (size_t i = 0; i < values.size(); ++i) off_mean[i] -= means[i % table.columns];

  const Clustering found = KMeans(off_mean, table.columns, clusters).run();
  Background background{
      .rows = {.rows = clusters, .columns = table.columns, .values = found.centres}};
  for (size_t i = 0; i < found.centres.size(); ++i) {
    const int64_t column = static_cast<int64_t>(i) % table.columns;
    background.rows.values[i] =
        nearest_in_column(values, table.columns, column, found.centres[i] + means[column]);
  }
  background.weights.resize(clusters);
  for (const int64_t label : found.labels)
    background.weights[label] += 1 / static_cast<double>(table.rows);
  return background;
}

}  // namespace whyformer
