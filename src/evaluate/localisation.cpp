#include <fmt/format.h>

#include <cmath>

#include "evaluate/metric.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

void check_map(const Metric& metric, std::span<const double> scores,
               const std::vector<bool>& region) {
  if (scores.size() != region.size()) {
    throw InvalidInput(fmt::format("{}: {} scores but a region of {} cells", metric.info.name,
                                   scores.size(), region.size()));
  }
  if (scores.empty()) throw InvalidInput(metric.info.name + ": the map has no scores");
  for (size_t i = 0; i < scores.size(); ++i) {
    if (std::isfinite(scores[i])) continue;
    throw InvalidInput(
        fmt::format("{}: score {} is {}, not a finite number", metric.info.name, i, scores[i]));
  }
}

std::optional<double> divided(const Ratio& ratio) {
  if (ratio.whole == 0) return std::nullopt;
  return ratio.part / ratio.whole;
}

}  // namespace

Localisation::Localisation(std::string_view metric) : metric_(&find_metric(metric)) {
  if (metric_->in_region == nullptr) {
    throw InvalidInput(metric_->info.name + " does not compare scores with a region");
  }
}

void Localisation::add(std::span<const double> scores, const std::vector<bool>& region) {
  check_map(*metric_, scores, region);
  const std::vector<Ratio> measured = metric_->in_region(scores, region);
  totals_.resize(measured.size());
  for (size_t i = 0; i < measured.size(); ++i) {
    const std::optional<double> own = divided(measured[i]);
    if (!own) continue;
    const bool each_map_alike = metric_->over_maps == OverMaps::kMeanOfRatios;
    const Ratio added = each_map_alike ? Ratio{*own, 1} : measured[i];
    totals_[i].part += added.part;
    totals_[i].whole += added.whole;
  }
  ++maps_;
}

std::optional<double> Localisation::value() const {
  if (maps_ == 0) throw InvalidInput(metric_->info.name + ": no map was added");
  double sum = 0;
  for (const Ratio& total : totals_) {
    const std::optional<double> own = divided(total);
    if (!own) return std::nullopt;
    sum += *own;
  }
  return sum / static_cast<double>(totals_.size());
}

std::optional<double> localisation(std::string_view metric, std::span<const double> scores,
                                   const std::vector<bool>& region) {
  Localisation one(metric);
  one.add(scores, region);
  return one.value();
}

}  // namespace whyformer
