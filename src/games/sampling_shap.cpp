#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/numpy_random.h"
#include "games/asker.h"
#include "games/contexts.h"
#include "games/player_samples.h"
#include "whyformer/error.h"
#include "whyformer/games.h"

namespace whyformer {
namespace {

constexpr int64_t kFirstRoundEach = 100;
constexpr int64_t kMostSamples = int64_t{1} << 50;

class Sampler {
 public:
  Sampler(Game& game, Asker& asker, std::vector<int64_t> varying, const SamplingOptions& options)
      : asker_(asker),
        varying_(std::move(varying)),
        backgrounds_(game.backgrounds()),
        target_error_(options.target_error),
        random_(options.seed),
        ends_(asker.ask_ends()),
        samples_(varying_.size(), PlayerSamples(asker.outputs())),
        varies_(game.varying()),
        contexts_(asker.players()) {}

  // As shap: evenly at first, then by how much the worth of each player varies.
  void sample(int64_t all) {
    const int64_t first = std::min(all, kFirstRoundEach * players()), later = all - first;
    draw(even_shares(first));
    scale_spreads();
    target_error_ > 0 ? sample_to_target(later) : draw(shares_by_spread(later));
  }

  GameValues result() const;

 private:
  int64_t players() const { return static_cast<int64_t>(varying_.size()); }
  std::vector<int64_t> even_shares(int64_t samples) const;
  std::vector<int64_t> shares_by_spread(int64_t samples) const;
  std::vector<int64_t> shares_by_target(int64_t samples) const;
  void sample_to_target(int64_t left);
  void draw(const std::vector<int64_t>& shares);
  std::vector<double> differences(int64_t player, int64_t samples);
  void scale_spreads();
  void note_context(int64_t player, Coalition before, int64_t background);
  double error(int64_t at, int64_t output) const;
  double largest_error() const;
  void close_gap(GameValues& result) const;
  void share_rest(GameValues& result, const std::vector<int64_t>& unknown) const;

  Asker& asker_;
  std::vector<int64_t> varying_;
  int64_t backgrounds_;
  double target_error_;
  NumpyRandom random_;
  std::vector<double> ends_;
  std::vector<PlayerSamples> samples_;  // by varying player
  std::vector<bool> varies_;
  Contexts contexts_;
  bool complete_ = true;
};

std::vector<int64_t> Sampler::even_shares(int64_t samples) const {
  std::vector<int64_t> shares(players(), samples / (2 * players()) * 2);
  for (int64_t i = 0; i < samples % (2 * players()) / 2; ++i) shares[i] += 2;
  return shares;
}

// One walk over the players mends what rounding did to the total; it may leave a negative share.
std::vector<int64_t> Sampler::shares_by_spread(int64_t samples) const {
  std::vector<int64_t> shares;
  for (const PlayerSamples& player : samples_) {
    double mean = 0;
    for (int64_t output = 0; output < asker_.outputs(); ++output) mean += player.spread(output);
    mean /= static_cast<double>(asker_.outputs());
    const auto share = static_cast<int64_t>(mean * static_cast<double>(samples));
    shares.push_back(share + share % 2);
  }
  int64_t total = std::accumulate(shares.begin(), shares.end(), int64_t{0});
  for (size_t i = 0; i < shares.size() && total != samples; ++i) {
    const int64_t step = total > samples ? -2 : 2;
    shares[i] += step;
    total += step;
  }
  return shares;
}

std::vector<int64_t> Sampler::shares_by_target(int64_t samples) const {
  std::vector<int64_t> shares;
  for (int64_t at = 0; at < players(); ++at) {
    const bool known = contexts_.several(varying_[at]);
    shares.push_back(known ? samples_[at].missing_for(target_error_) : 2);
  }
  const double wanted = std::accumulate(shares.begin(), shares.end(), 0.0);
  if (wanted > static_cast<double>(samples)) {
    for (int64_t& share : shares) {
      share =
          static_cast<int64_t>(static_cast<double>(share) / wanted * static_cast<double>(samples));
    }
  }
  return shares;
}

void Sampler::sample_to_target(int64_t left) {
  while (!asker_.stopped() && largest_error() > target_error_) {
    const std::vector<int64_t> shares = shares_by_target(left);
    const int64_t total = std::accumulate(shares.begin(), shares.end(), int64_t{0});
    if (total == 0) break;
    draw(shares);
    left -= total;
  }
  complete_ = largest_error() <= target_error_;
}

void Sampler::draw(const std::vector<int64_t>& shares) {
  for (int64_t i = 0; i < players(); ++i) {
    const int64_t share = std::max<int64_t>(0, shares[i]);
    const std::vector<double> drawn = differences(varying_[i], share);
    complete_ &= static_cast<int64_t>(drawn.size()) == share * asker_.outputs();
    samples_[i].add(drawn);
    samples_[i].owe(share - shares[i]);
  }
}

// What the player changes where those before it in a random order are visible. Its own order is
// shuffled on and on.
std::vector<double> Sampler::differences(int64_t player, int64_t samples) {
  std::vector<int64_t> order(asker_.players());
  std::iota(order.begin(), order.end(), 0);
  std::vector<double> result;
  const int64_t pairs_at_once = std::max<int64_t>(1, asker_.at_once() / 2),
                outputs = asker_.outputs();
  for (int64_t first = 0; first < samples && !asker_.stopped(); first += pairs_at_once) {
    std::vector<Coalition> coalitions;
    std::vector<int64_t> background;
    for (int64_t sample = first; sample < std::min(samples, first + pairs_at_once); ++sample) {
      random_.shuffle(order);
      Coalition before(asker_.players(), false);
      for (const int64_t other : order) {
        if (other == player) break;
        before[other] = true;
      }
      coalitions.push_back(before);
      coalitions.back()[player] = true;
      coalitions.push_back(std::move(before));
      background.insert(background.end(), 2, random_.up_to(backgrounds_ - 1));
    }
    const std::vector<double> answers = asker_.ask(coalitions, background);
    for (size_t at = 0; at + 2 * outputs <= answers.size(); at += 2 * outputs) {
      note_context(player, coalitions[at / outputs + 1], background[at / outputs]);
      for (int64_t output = 0; output < outputs; ++output) {
        result.push_back(answers[at + output] - answers[at + outputs + output]);
      }
    }
  }
  return result;
}

// To sum 1 over the players. Where no player varies for an output, they share it evenly; shap
// divides by zero there.
void Sampler::scale_spreads() {
  for (int64_t output = 0; output < asker_.outputs(); ++output) {
    double sum = 0;
    for (const PlayerSamples& player : samples_) sum += player.spread(output);
    for (PlayerSamples& player : samples_) {
      player.spread(output) =
          sum == 0 ? 1 / static_cast<double>(players()) : player.spread(output) / sum;
    }
  }
}

// Players that do not vary make no other context.
void Sampler::note_context(int64_t player, Coalition before, int64_t background) {
  if (contexts_.several(player)) return;
  for (size_t other = 0; other < varies_.size(); ++other)
    before[other] = before[other] && varies_[other];
  contexts_.add(player, std::move(before), background);
}

// Of the varying player number `at`.
double Sampler::error(int64_t at, int64_t output) const {
  if (!contexts_.several(varying_[at])) return std::numeric_limits<double>::infinity();
  return samples_[at].difference(output).standard_error();
}

double Sampler::largest_error() const {
  double largest = 0;
  for (int64_t at = 0; at < players(); ++at) {
    for (int64_t output = 0; output < asker_.outputs(); ++output)
      largest = std::max(largest, error(at, output));
  }
  return largest;
}

GameValues Sampler::result() const {
  const int64_t outputs = asker_.outputs();
  GameValues result{.base = {ends_.begin(), ends_.begin() + outputs},
                    .full = {ends_.begin() + outputs, ends_.end()},
                    .values = std::vector<double>(asker_.players() * outputs),
                    .errors = std::vector<double>(asker_.players() * outputs),
                    .evaluations = asker_.asked(),
                    .finished = complete_};
  std::vector<int64_t> unknown;
  for (int64_t i = 0; i < players(); ++i) {
    if (samples_[i].count() < 2) {
      unknown.push_back(varying_[i]);
      continue;
    }
    for (int64_t output = 0; output < outputs; ++output) {
      result.values[varying_[i] * outputs + output] = samples_[i].difference(output).mean();
      result.errors[varying_[i] * outputs + output] = error(i, output);
    }
  }
  if (!unknown.empty()) {
    share_rest(result, unknown);
    return result;
  }
  // shap closes the gap once, up to a millionth of it. Where that is too much for the additivity
  // check, once more.
  close_gap(result);
  const std::vector<double> gaps = additivity_gaps(result);
  if (std::any_of(gaps.begin(), gaps.end(), [](double gap) { return std::abs(gap) > 1e-6; }))
    close_gap(result);
  return result;
}

// Stopped before these players were sampled: what the others leave over is theirs, nobody knows
// how.
void Sampler::share_rest(GameValues& result, const std::vector<int64_t>& unknown) const {
  if (static_cast<int64_t>(unknown.size()) == players()) throw Interrupted();
  const std::vector<double> gaps = additivity_gaps(result);
  for (const int64_t player : unknown) {
    for (int64_t output = 0; output < asker_.outputs(); ++output) {
      const int64_t at = player * asker_.outputs() + output;
      result.values[at] = -gaps[output] / static_cast<double>(unknown.size());
      result.errors[at] = std::numeric_limits<double>::infinity();
    }
  }
}

// Spreads what is missing over the players by ridge regression on one row of ones.
void Sampler::close_gap(GameValues& result) const {
  const std::vector<double> gaps = additivity_gaps(result);
  for (int64_t output = 0; output < asker_.outputs(); ++output) {
    std::vector<double> parts;
    for (const PlayerSamples& player : samples_) {
      parts.push_back(player.spread(output) / std::sqrt(static_cast<double>(player.reckoned())));
    }
    const double largest = *std::max_element(parts.begin(), parts.end());
    for (double& part : parts) part *= 1e6 / largest;
    const double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
    for (int64_t i = 0; i < players(); ++i) {
      result.values[varying_[i] * asker_.outputs() + output] -= gaps[output] * parts[i] / (1 + sum);
    }
  }
}

int64_t samples_of(const SamplingOptions& options, int64_t varying) {
  const int64_t samples = options.samples == 0 ? 1000 * varying : options.samples;
  if (samples < 2 * varying || samples > kMostSamples) {
    throw InvalidInput(
        fmt::format("sampling-shap of {} players that vary takes from {} to {} samples but {} are "
                    "asked for",
                    varying, 2 * varying, kMostSamples, samples));
  }
  return samples;
}

}  // namespace

GameValues sampling_shap(Game& game, const SamplingOptions& options, const Watch& watch) {
  check_target_error(options.target_error);
  const std::vector<int64_t> varying = varying_players(game);
  if (varying.size() < 2) {
    Asker asker(game, watch, 2);
    return from_ends(asker, varying);
  }
  const int64_t samples = samples_of(options, static_cast<int64_t>(varying.size()));
  Asker asker(game, watch, 2 + 2 * samples);
  Sampler sampler(game, asker, varying, options);
  sampler.sample(samples);
  GameValues result = sampler.result();
  check_additivity(result);
  return result;
}

}  // namespace whyformer
