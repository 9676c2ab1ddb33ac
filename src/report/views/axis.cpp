#include "report/views/axis.h"

#include <fmt/format.h>

#include <cmath>

namespace whyformer::report {

std::vector<double> ticks_of(const AxisRange& range) {
  const double rough = (range.high - range.low) / 6;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double share = rough / power;
  const double step = power * (share <= 1.5 ? 1 : share <= 3.5 ? 2 : share <= 7.5 ? 5 : 10);
  std::vector<double> ticks;
  if (!std::isfinite(step) || !(step > 0)) return ticks;
  // Beside a huge number small steps are lost; there are never more than fit.
  constexpr size_t kMost = 20;
  for (double i = std::ceil(range.low / step); i * step <= range.high && ticks.size() < kMost; ++i)
    ticks.push_back(i * step);
  return ticks;
}

std::string format_tick(double tick) {
  return fmt::format("{:.4g}", std::abs(tick) < 1e-12 ? 0 : tick);
}

}  // namespace whyformer::report
