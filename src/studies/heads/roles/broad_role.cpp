// The role of heads that attend to everything alike.
#include <cmath>

#include "studies/heads/roles/role.h"

namespace whyformer {
namespace {

constexpr double kBroadFrom = 0.9;  // share of the largest possible entropy
constexpr int64_t kFewestKeys = 4;  // with fewer, one weight decides

std::optional<bool> is_broad(std::span<const double> weights) {
  double entropy = 0;
  int64_t visible = 0;
  for (const double weight : weights) {
    if (!(weight > 0)) continue;
    entropy -= weight * std::log(weight);
    ++visible;
  }
  if (visible < kFewestKeys) return std::nullopt;
  return entropy >= kBroadFrom * std::log(static_cast<double>(visible));
}

}  // namespace

const RoleEntry kBroad{{"broad", "broad", "all tokens alike: at least 90 % of the maximum entropy",
                        "Clark et al., BlackboxNLP 2019"},
                       [](const UnitFacts&) { return true; },
                       nullptr,
                       &is_broad};

}  // namespace whyformer
