// Metrics that judge explanations: by what the model answers when units are hidden (faithfulness),
// by what small changes of the input do (robustness), by the scores alone (complexity), and by a
// region that is known to hold the reason (localisation).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whyformer {

// What a metric has to be given beside the scores.
enum class MetricNeeds {
  kScores,       // nothing
  kAnswers,      // the model's answers with units hidden
  kNoisyInputs,  // the scores of noisy copies of the input
  kRegion        // the units that are known to hold the reason
};

// What a metric is about.
enum class MetricFamily { kFaithfulness, kRobustness, kComplexity, kLocalisation };

struct MetricInfo {
  std::string name;
  std::string summary;
  std::string paper = {};
  bool higher_is_better = true;
  MetricNeeds needs = MetricNeeds::kRegion;
  MetricFamily family = MetricFamily::kLocalisation;
  std::string misleads = {};  // when its number says something else than people think
};

// Every metric, in the order they are listed to people.
std::span<const MetricInfo> metrics();

// Throws InvalidInput that lists the known names.
const MetricInfo& metric_named(std::string_view name);

// How far a metric ranks methods as known reasons do: Spearman's correlation over methods, mean
// over inputs of a model whose reasons are known, with its 95 % interval.
struct TruthFollowed {
  std::string inputs;  // "sentences", "pictures", "table rows"
  double correlation = 0, low = 0, high = 0;
};

// One for each model that was tried; empty where the metric was not measured that way.
std::vector<TruthFollowed> truth_followed(std::string_view metric);
// Mean over those models.
std::optional<double> mean_truth_followed(std::string_view metric);
// All intervals lie above 0.1: a correlation near 0 orders methods hardly better than chance.
bool follows_truth(std::string_view metric);

struct Metric;

// Answers of any model, or of anything else, with some units hidden: for each question a number.
using AskHidden = std::function<std::vector<double>(const std::vector<std::vector<bool>>& hidden)>;

// What a metric says about scores that come from anywhere. All its questions are asked in one call.
// Nothing where it is not defined. Throws InvalidInput for metrics that need noisy inputs or a
// region, and for scores that are not finite.
std::optional<double> measure(std::string_view metric, std::span<const double> scores,
                              const AskHidden& ask, int64_t seed = 0);

// Scores of an input with noise on what enters the model.
struct NoisyScores {
  std::vector<double> scores;
  double distance = 0;  // Euclidean length of the noise
};
// The same for metrics that need noisy inputs. Throws InvalidInput for others, and where there are
// no noisy scores or they are not as many as `scores`.
std::optional<double> measure_under_noise(std::string_view metric, std::span<const double> scores,
                                          std::span<const NoisyScores> noisy);

// A ratio before the division, so that it can be summed over maps. 0 / 0 is not defined.
struct Ratio {
  double part = 0;
  double whole = 0;
};

// One localisation metric over any number of maps. A map is a score for each cell (pixels, patches,
// tokens); its region says which cells belong to the known reason.
class Localisation {
 public:
  // Throws InvalidInput for a metric of another family.
  explicit Localisation(std::string_view metric);

  // Throws InvalidInput where the sizes differ, nothing is scored, or a score is not finite.
  void add(std::span<const double> scores, const std::vector<bool>& region);

  // Over the maps added so far for which the metric is defined; nothing where there is none, as
  // with empty regions. Throws InvalidInput before the first map.
  std::optional<double> value() const;

 private:
  const Metric* metric_;
  std::vector<Ratio> totals_;  // as the metric pools them
  int64_t maps_ = 0;
};

// The metric of a single map; nothing where it is not defined.
std::optional<double> localisation(std::string_view metric, std::span<const double> scores,
                                   const std::vector<bool>& region);

struct MapSize {
  int64_t rows = 0;
  int64_t columns = 0;
};

// A map enlarged (or reduced) bilinearly, without corner alignment: pixel x reads
// (x + 0.5) · from / to - 0.5, clamped to the map. Row-major.
std::vector<double> bilinear(std::span<const double> map, MapSize from, MapSize to);

}  // namespace whyformer
