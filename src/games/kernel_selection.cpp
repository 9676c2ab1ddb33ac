#include "games/kernel_selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "games/lasso.h"
#include "games/least_angle.h"
#include "games/symmetric_system.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using Kind = KernelSelection::Kind;

// Columns over their population deviation, then without means: StandardScaler and an intercept.
GramSystem standardised(GramSystem system) {
  system = centred(std::move(system));
  std::vector<double> scale(system.columns, 1.0);
  for (int64_t j = 0; j < system.columns; ++j) {
    const double variance = system.gram[j * system.columns + j] / static_cast<double>(system.rows);
    if (variance > 0) scale[j] = 1 / std::sqrt(variance);
  }
  for (int64_t a = 0; a < system.columns; ++a) {
    for (int64_t b = 0; b < system.columns; ++b)
      system.gram[a * system.columns + b] *= scale[a] * scale[b];
    system.right[a] *= scale[a];
  }
  return system;
}

double residual_square(const GramSystem& system, const std::vector<double>& coefficients) {
  double rest = system.target_square;
  for (int64_t a = 0; a < system.columns; ++a) {
    double fitted = 0;
    for (int64_t b = 0; b < system.columns; ++b)
      fitted += system.gram[a * system.columns + b] * coefficients[b];
    rest += coefficients[a] * (fitted - 2 * system.right[a]);
  }
  return rest;
}

std::vector<int64_t> non_zeros(const std::vector<double>& coefficients) {
  std::vector<int64_t> places;
  for (size_t i = 0; i < coefficients.size(); ++i) {
    if (coefficients[i] != 0) places.push_back(static_cast<int64_t>(i));
  }
  return places;
}

int64_t degrees_of_freedom(const std::vector<double>& coefficients) {
  int64_t count = 0;
  for (const double c : coefficients) count += std::abs(c) > std::numeric_limits<double>::epsilon();
  return count;
}

// n log(2πσ²) + RSS/σ² + factor · non-zeros over the knots of the lasso path, σ² from ordinary
// least squares.
std::vector<int64_t> by_information(const GramSystem& augmented, bool bayesian) {
  const int64_t freedom = augmented.rows - augmented.columns - 1;
  if (freedom <= 0) {
    throw InvalidInput(
        fmt::format("selecting among {} players by an information criterion takes more than {} "
                    "samples: raise samples or select otherwise",
                    augmented.columns, augmented.rows / 2));
  }
  const GramSystem system = standardised(augmented);
  const std::vector<double> least =
      SymmetricSystem(system.gram, system.columns).solve(system.right, 1);
  // A game without interactions leaves only rounding; scikit-learn then chooses by it.
  const double noise = std::max(residual_square(system, least) / static_cast<double>(freedom),
                                std::numeric_limits<double>::epsilon() * system.target_square);
  const double rows = static_cast<double>(system.rows);
  const double factor = bayesian ? std::log(rows) : 2;
  constexpr int64_t kMostPasses = 500;
  const LeastAnglePath path = least_angle_path(system, PathKind::kLasso, kMostPasses);
  double best = std::numeric_limits<double>::infinity();
  size_t best_knot = 0;
  for (size_t knot = 0; knot < path.knots.size(); ++knot) {
    const double criterion = rows * std::log(2 * std::numbers::pi * noise) +
                             residual_square(system, path.knots[knot]) / noise +
                             factor * static_cast<double>(degrees_of_freedom(path.knots[knot]));
    if (criterion < best) best = criterion, best_knot = knot;
  }
  return non_zeros(path.knots[best_knot]);
}

template <class Number>
bool parse(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::vector<int64_t> select_players(const KernelSelection& selection, const GramSystem& system) {
  switch (selection.kind) {
    case Kind::kNumber:
      return least_angle_path(system, PathKind::kLeastAngle, selection.players).active;
    case Kind::kAic:
      return by_information(system, false);
    case Kind::kBic:
      return by_information(system, true);
    case Kind::kLasso:
      return non_zeros(lasso(centred(system), selection.alpha));
    case Kind::kNone:
    case Kind::kAuto:
      break;
  }
  std::vector<int64_t> all(system.columns);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

KernelSelection settled(KernelSelection selection, double share_seen) {
  if (selection.kind == Kind::kAuto) selection.kind = share_seen < 0.2 ? Kind::kAic : Kind::kNone;
  if (selection.kind == Kind::kLasso && selection.alpha == 0) selection.kind = Kind::kNone;
  return selection;
}

KernelSelection kernel_selection(std::string_view name) {
  if (name == "none") return {};
  if (name == "aic") return {.kind = Kind::kAic};
  if (name == "bic") return {.kind = Kind::kBic};
  if (name == "auto") return {.kind = Kind::kAuto};
  constexpr std::string_view kNumberOf = "num_features(";
  KernelSelection selection;
  if (name.starts_with(kNumberOf) && name.ends_with(")")) {
    selection.kind = Kind::kNumber;
    name.remove_prefix(kNumberOf.size());
    name.remove_suffix(1);
    if (parse(name, selection.players) && selection.players > 0) return selection;
  } else {
    selection.kind = Kind::kLasso;
    if (parse(name, selection.alpha) && selection.alpha >= 0 && std::isfinite(selection.alpha))
      return selection;
  }
  throw InvalidInput(
      fmt::format("selection of players '{}' is not known: give none, num_features(10), aic, bic, "
                  "auto or a number from 0 on for the penalty of a lasso",
                  name));
}

}  // namespace whyformer
