#include <fmt/format.h>

#include <cmath>

#include "run/attention_math.h"
#include "studies/concepts/statistics.h"
#include "studies/debate/debate_part.h"
#include "whyformer/error.h"

namespace whyformer {

DebateRun::DebateRun(Run& run, const InputValue& value, const DebateModels& models,
                     const DebateRequest& request, Problem problem, int64_t number)
    : run_(run),
      value_(value),
      models_(models),
      request_(request),
      distance_{problem},
      number_(number),
      probabilities_(whyformer::probabilities_of(run.outputs(), problem)) {
  const bool all = request.special == SpecialAttention::kTakesPart;
  const std::vector<bool>& special = run.input().special();
  for (int64_t unit = 0; unit < run.tokens(); ++unit) {
    is_compared_.push_back(all || !special[unit]);
    if (is_compared_.back()) compared_.push_back(unit);
    if (!special[unit]) ordinary_.push_back(unit);
  }
}

std::vector<double> DebateRun::probabilities_of(const std::vector<double>& outputs) const {
  return whyformer::probabilities_of(outputs, problem());
}

double DebateRun::change(const std::vector<double>& outputs) const {
  return distance_(probabilities_of(outputs), probabilities_);
}

std::vector<double> DebateRun::compared_share(std::span<const double> by_unit) const {
  std::vector<double> shares;
  for (const int64_t unit : compared_) shares.push_back(by_unit[unit]);
  return normalised(std::move(shares));
}

int64_t DebateRun::read_out_row() const {
  const std::optional<int64_t> row = run_.read_out_row();
  if (row) return *row;
  throw InvalidInput(
      "the output reads several tokens, not one: there is no one row of attention that could be "
      "its explanation");
}

std::vector<double> DebateRun::attention_row(int layer, int64_t head) const {
  const Tensor maps = run_.attention(layer);
  const Matrix map =
      fuse_heads(head < 0 ? maps : maps.slice(0, head, 1).contiguous(), HeadFusion::kMean);
  std::vector<double> row;
  for (int64_t key = 0; key < map.columns; ++key) row.push_back(map.at(read_out_row(), key));
  return row;
}

CounterRandom DebateRun::random(std::string_view part, int64_t layer, int64_t head) const {
  return CounterRandom(request_.seed, fmt::format("debate/{}/{}/{}", part, layer, head), number_);
}

std::vector<int64_t> free_keys(const DebateRun& run, std::span<const double> row) {
  std::vector<int64_t> keys;
  for (size_t key = 0; key < row.size(); ++key) {
    if (row[key] > 0 && run.is_compared(static_cast<int64_t>(key)))
      keys.push_back(static_cast<int64_t>(key));
  }
  return keys;
}

DebateMean debate_mean(std::span<const double> values) {
  std::vector<double> numbers;
  for (const double value : values) {
    if (std::isfinite(value)) numbers.push_back(value);
  }
  DebateMean mean{.count = static_cast<int64_t>(numbers.size())};
  if (numbers.empty()) return mean;
  mean.mean = mean_of(numbers);
  if (numbers.size() > 1) mean.deviation = deviation_of(numbers);
  return mean;
}

}  // namespace whyformer
