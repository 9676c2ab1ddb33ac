#include "games/least_angle.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "games/growing_cholesky.h"

namespace whyformer {
namespace {

// scikit-learn's constants: where a correlation counts as 0, and what keeps denominators off 0.
constexpr double kNoCorrelation = std::numeric_limits<float>::epsilon();
constexpr double kTiny = std::numeric_limits<float>::min();

double smallest_positive(double a, double b) { return b > 0 && b < a ? b : a; }

class LeastAngleWalk {
 public:
  LeastAngleWalk(const GramSystem& system, PathKind kind, int64_t most_passes)
      : system_(system),
        kind_(kind),
        most_passes_(most_passes),
        correlation_(system.right),
        inactive_(system.columns),
        factor_(system.columns) {
    std::iota(inactive_.begin(), inactive_.end(), 0);
    path_.knots.emplace_back(system.columns, 0.0);
  }

  LeastAnglePath run() {
    double last_strength = std::numeric_limits<double>::infinity();
    bool skip_entry = false;
    for (int64_t pass = 0; pass < most_passes_;) {
      const size_t place = strongest();
      const double strength = inactive_.empty() ? 0 : std::abs(correlation_[inactive_[place]]);
      if (!(strength / static_cast<double>(system_.rows) > kNoCorrelation)) break;
      if (!skip_entry && !enter(place)) continue;
      // Residues so small that their correlations are noise.
      if (kind_ == PathKind::kLasso && strength > last_strength) break;
      skip_entry = step(strength);
      last_strength = strength;
      ++pass;
    }
    return std::move(path_);
  }

 private:
  double gram(int64_t a, int64_t b) const { return system_.gram[a * system_.columns + b]; }

  // Place in the inactive list; the first of equals.
  size_t strongest() const {
    size_t best = 0;
    for (size_t i = 1; i < inactive_.size(); ++i) {
      if (std::abs(correlation_[inactive_[i]]) > std::abs(correlation_[inactive_[best]])) best = i;
    }
    return best;
  }

  // The head of the list takes the place of the one that enters, which decides later ties.
  bool enter(size_t place) {
    const int64_t column = inactive_[place];
    inactive_[place] = inactive_.front();
    inactive_.erase(inactive_.begin());
    if (!append(column)) return false;
    path_.active.push_back(column);
    signs_.push_back(correlation_[column] > 0 ? 1 : -1);
    return true;
  }

  bool append(int64_t column) {
    std::vector<double> products;
    for (const int64_t other : path_.active) products.push_back(gram(column, other));
    return factor_.append(products, gram(column, column));
  }

  // Moves along the direction of equal angles; true where a coefficient changed its sign or left.
  bool step(double strength) {
    std::vector<double> direction = factor_.solve(signs_);
    double along = 0;
    for (size_t i = 0; i < signs_.size(); ++i) along += direction[i] * signs_[i];
    const double speed = 1 / std::sqrt(along);
    for (double& entry : direction) entry *= speed;

    const std::vector<double> changes = correlation_changes(direction);
    double length = strength / speed;
    for (size_t k = 0; k < inactive_.size(); ++k) {
      const double correlation = correlation_[inactive_[k]];
      length = smallest_positive(length, (strength - correlation) / (speed - changes[k] + kTiny));
      length = smallest_positive(length, (strength + correlation) / (speed + changes[k] + kTiny));
    }
    const std::vector<size_t> crossing = first_to_cross(direction, length);
    for (const size_t i : crossing) signs_[i] = -signs_[i];
    move(direction, changes, length);
    if (kind_ == PathKind::kLasso) {
      for (const size_t i : crossing) leave(i);
    }
    return !crossing.empty();
  }

  // Of the inactive, per unit of length; rounded as scikit-learn does to keep equal columns equal.
  std::vector<double> correlation_changes(const std::vector<double>& direction) const {
    std::vector<double> changes;
    for (const int64_t column : inactive_) {
      double change = 0;
      for (size_t i = 0; i < direction.size(); ++i)
        change += gram(column, path_.active[i]) * direction[i];
      changes.push_back(std::nearbyint(change * 1e15) / 1e15);
    }
    return changes;
  }

  // Places of the active coefficients that reach 0 within `length`, last first. The lasso shortens
  // the step to that point; least angles go on, as scikit-learn has it.
  std::vector<size_t> first_to_cross(const std::vector<double>& direction, double& length) const {
    const std::vector<double>& coefficients = path_.knots.back();
    std::vector<double> reach(direction.size());
    double first = std::numeric_limits<double>::max();
    for (size_t i = 0; i < direction.size(); ++i) {
      reach[i] = -coefficients[path_.active[i]] / (direction[i] + kTiny);
      first = smallest_positive(first, reach[i]);
    }
    std::vector<size_t> crossing;
    if (first >= length) return crossing;
    for (size_t i = direction.size(); i-- > 0;) {
      if (reach[i] == first) crossing.push_back(i);
    }
    if (kind_ == PathKind::kLasso) length = first;
    return crossing;
  }

  void move(const std::vector<double>& direction, const std::vector<double>& changes,
            double length) {
    // One that has left is exactly 0 from the next knot on, whatever rounding left of it.
    std::vector<double> coefficients(system_.columns);
    for (size_t i = 0; i < direction.size(); ++i) {
      const int64_t column = path_.active[i];
      coefficients[column] = path_.knots.back()[column] + length * direction[i];
    }
    for (size_t k = 0; k < inactive_.size(); ++k) correlation_[inactive_[k]] -= length * changes[k];
    path_.knots.push_back(std::move(coefficients));
  }

  void leave(size_t place) {
    const int64_t column = path_.active[place];
    path_.active.erase(path_.active.begin() + place);
    signs_.erase(signs_.begin() + place);
    inactive_.insert(inactive_.begin(), column);
    correlation_[column] = system_.right[column];
    for (int64_t other = 0; other < system_.columns; ++other) {
      correlation_[column] -= gram(column, other) * path_.knots.back()[other];
    }
    std::vector<int64_t> again;
    std::swap(again, path_.active);
    factor_.clear();
    for (const int64_t kept : again) {
      append(kept);
      path_.active.push_back(kept);
    }
  }

  const GramSystem& system_;
  PathKind kind_;
  int64_t most_passes_;
  LeastAnglePath path_;
  std::vector<double> correlation_;  // with what is left of the target; of the inactive only
  std::vector<int64_t> inactive_;
  std::vector<double> signs_;  // of the active ones
  GrowingCholesky factor_;
};

}  // namespace

LeastAnglePath least_angle_path(const GramSystem& system, PathKind kind, int64_t most_passes) {
  return LeastAngleWalk(system, kind, most_passes).run();
}

}  // namespace whyformer
