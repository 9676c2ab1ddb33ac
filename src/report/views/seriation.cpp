#include "report/views/seriation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace whyformer::report {
namespace {

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  const auto finite = [](double number) { return std::isfinite(number) ? number : 0; };
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += std::pow(finite(a[i]) - finite(b[i]), 2);
  return sum;
}

// Clusters are joined along chains of nearest neighbours: the tree of complete linkage without
// looking for the nearest pair of all.
class Clusters {
 public:
  explicit Clusters(const std::vector<std::vector<double>>& rows)
      : count_(rows.size()), between_(count_ * count_), orders_(count_), alive_(count_, true) {
    for (size_t i = 0; i < count_; ++i) {
      orders_[i] = {i};
      for (size_t j = 0; j < count_; ++j)
        between_[i * count_ + j] = static_cast<float>(distance(rows[i], rows[j]));
    }
    of_rows_ = between_;
  }

  std::vector<size_t> join_all() {
    std::vector<size_t> chain;
    for (size_t left = count_; left > 1;) {
      if (chain.empty()) chain.push_back(first_alive());
      const size_t last = chain.back();
      const size_t before = chain.size() > 1 ? chain[chain.size() - 2] : count_;
      const size_t next = nearest(last, before);
      if (next != before) {
        chain.push_back(next);
        continue;
      }
      chain.resize(chain.size() - 2);
      join(std::min(last, next), std::max(last, next));
      --left;
    }
    return std::move(orders_[first_alive()]);
  }

 private:
  size_t first_alive() const {
    return static_cast<size_t>(std::find(alive_.begin(), alive_.end(), true) - alive_.begin());
  }

  // Of equally near ones the one that the chain came from, so that it ends.
  size_t nearest(size_t from, size_t before) const {
    size_t best = before;
    float least =
        before < count_ ? between_[from * count_ + before] : std::numeric_limits<float>::infinity();
    for (size_t other = 0; other < count_; ++other) {
      if (!alive_[other] || other == from) continue;
      const float there = between_[from * count_ + other];
      if (there < least || best == count_) {
        best = other;
        least = there;
      }
    }
    return best;
  }

  void join(size_t kept, size_t taken) {
    meet(orders_[kept], orders_[taken]);
    orders_[taken].clear();
    alive_[taken] = false;
    for (size_t other = 0; other < count_; ++other) {
      float& there = between_[kept * count_ + other];
      there = std::max(there, between_[taken * count_ + other]);
      between_[other * count_ + kept] = there;
    }
  }

  // Appends `other`, either of them turned round where that brings nearer ends together.
  void meet(std::vector<size_t>& own, std::vector<size_t>& other) const {
    const auto apart = [&](size_t a, size_t b) { return of_rows_[a * count_ + b]; };
    const std::array<float, 4> ends{
        apart(own.back(), other.front()), apart(own.back(), other.back()),
        apart(own.front(), other.front()), apart(own.front(), other.back())};
    const auto best = std::min_element(ends.begin(), ends.end()) - ends.begin();
    if (best >= 2) std::reverse(own.begin(), own.end());
    if (best % 2 == 1) std::reverse(other.begin(), other.end());
    own.insert(own.end(), other.begin(), other.end());
  }

  size_t count_;
  std::vector<float> between_, of_rows_;  // of clusters, and of single rows
  std::vector<std::vector<size_t>> orders_;
  std::vector<bool> alive_;
};

}  // namespace

std::vector<size_t> similarity_order(const std::vector<std::vector<double>>& rows) {
  if (rows.empty()) return {};
  return Clusters(rows).join_all();
}

}  // namespace whyformer::report
