#include "report/views/beeswarm.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace whyformer::report {
namespace {

struct Placed {
  double x = 0;
  double offset = 0;
};

}  // namespace

Swarm swarm_of(const std::vector<double>& places, double radius, double room) {
  std::vector<size_t> order(places.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return places[a] < places[b]; });

  Swarm swarm{.offsets =
                  std::vector<double>(places.size(), std::numeric_limits<double>::quiet_NaN())};
  std::vector<Placed> placed;
  const double diameter = 2 * radius;
  const int most_steps = static_cast<int>(room / radius);
  size_t reach = 0;  // the first placed point that can still touch
  for (const size_t point : order) {
    const double x = places[point];
    while (reach < placed.size() && x - placed[reach].x >= diameter) ++reach;
    const auto is_free = [&](double offset) {
      return std::all_of(placed.begin() + static_cast<ptrdiff_t>(reach), placed.end(),
                         [&](const Placed& other) {
                           return std::hypot(x - other.x, offset - other.offset) >= diameter - 1e-9;
                         });
    };
    // 0, 1, -1, 2, -2, … half diameters.
    for (int step = 0; step <= 2 * most_steps; ++step) {
      const double offset = radius * ((step + 1) / 2) * (step % 2 == 1 ? 1 : -1);
      if (!is_free(offset)) continue;
      placed.push_back({x, offset});
      swarm.offsets[point] = offset;
      swarm.half_height = std::max(swarm.half_height, std::abs(offset));
      break;
    }
    if (std::isnan(swarm.offsets[point])) ++swarm.left_out;
  }
  return swarm;
}

}  // namespace whyformer::report
