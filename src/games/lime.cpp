#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "games/asker.h"
#include "games/coalition_moments.h"
#include "games/jackknife.h"
#include "games/lime_neighbours.h"
#include "games/ridge.h"
#include "whyformer/error.h"
#include "whyformer/games.h"
#include "whyformer/interrupted.h"

namespace whyformer {
namespace {

constexpr int64_t kMostPlayers = 2048;
// Rows drawn between two looks at the game, so that a long drawing can be ended with an estimate.
constexpr int64_t kPortion = 8192;

const LimeOptions& checked(const LimeOptions& options, int64_t players) {
  if (players < 1) throw InvalidInput("LIME: the input has nothing to hide");
  if (players > kMostPlayers) {
    throw InvalidInput(
        fmt::format("LIME over {} players: at most {} fit; group them", players, kMostPlayers));
  }
  if (options.samples < 0 || options.samples == 1 || options.samples > kMaxFitSamples) {
    throw InvalidInput(
        fmt::format("LIME: samples is {}, expected 0 or 2 to {}", options.samples, kMaxFitSamples));
  }
  if (!(options.kernel_width >= 0) || !(options.ridge >= 0)) {
    throw InvalidInput(fmt::format("LIME: kernel width {} and ridge {} must not be negative",
                                   options.kernel_width, options.ridge));
  }
  if (options.players < 1)
    throw InvalidInput(fmt::format("LIME: it cannot select {} players", options.players));
  return options;
}

// Greedily the player that explains most next to those chosen; the first of equals.
std::vector<int64_t> forward(const CoalitionMoments& moments, int64_t output, int64_t count) {
  std::vector<int64_t> chosen;
  while (static_cast<int64_t>(chosen.size()) < std::min(count, moments.players)) {
    int64_t best = -1;
    double best_explained = 0;
    for (int64_t player = 0; player < moments.players; ++player) {
      if (std::find(chosen.begin(), chosen.end(), player) != chosen.end()) continue;
      std::vector<int64_t> tried = chosen;
      tried.push_back(player);
      const double explained =
          explained_square(moments, tried, output, ridge(moments, tried, output, 0));
      if (best < 0 || explained > best_explained) best = player, best_explained = explained;
    }
    chosen.push_back(best);
  }
  return chosen;
}

// `order` by coefficients, the largest first; equals keep their order.
void sort_by_size(std::vector<int64_t>& order, const std::vector<double>& coefficients) {
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return std::abs(coefficients[a]) > std::abs(coefficients[b]);
  });
}

std::vector<int64_t> every_player(const CoalitionMoments& moments) {
  std::vector<int64_t> all(moments.players);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<int64_t> highest_weights(const CoalitionMoments& moments, int64_t output,
                                     int64_t count) {
  constexpr double kPenalty = 0.01;
  std::vector<int64_t> order = every_player(moments);
  sort_by_size(order, ridge(moments, order, output, kPenalty).coefficients);
  order.resize(std::min<int64_t>(count, moments.players));
  return order;
}

std::vector<int64_t> select(const CoalitionMoments& moments, int64_t output,
                            const LimeOptions& options) {
  constexpr int64_t kMostForward = 6;
  switch (options.selection) {
    case LimeSelection::kAuto:
      return options.players <= kMostForward ? forward(moments, output, options.players)
                                             : highest_weights(moments, output, options.players);
    case LimeSelection::kForward:
      return forward(moments, output, options.players);
    case LimeSelection::kHighestWeights:
      return highest_weights(moments, output, options.players);
    case LimeSelection::kNone:
      break;
  }
  return every_player(moments);
}

class Neighbourhood {
 public:
  Neighbourhood(Game& game, const LimeOptions& options, const Watch& watch)
      : options_(options),
        all_(game.players()),
        outputs_(game.outputs()),
        players_(varying_players(game)),
        game_(game, watch, 0),
        drawing_(checked(options, static_cast<int64_t>(players_.size())),
                 static_cast<int64_t>(players_.size())) {}

  LimeFit run() {
    ask();
    gather();
    LimeFit fit;
    fit.coefficients.resize(all_ * outputs_);
    fit.errors.resize(all_ * outputs_);
    fit.full.assign(values_.begin(), values_.begin() + outputs_);
    fit.evaluations = game_.asked();
    fit.finished = is_complete();
    const CoalitionMoments moments = moments_without(-1);
    std::vector<CoalitionMoments> leaving_out;
    for (int64_t block = 0; block < kJackknifeBlocks; ++block) {
      if (blocks_[block].weight > 0) leaving_out.push_back(moments_without(block));
    }
    for (int64_t output = 0; output < outputs_; ++output)
      explain(fit, moments, leaving_out, output);
    return fit;
  }

 private:
  const LimeRows& rows() const { return drawing_.rows(); }
  bool is_complete() const {
    return drawing_.left() == 0 && answered_ == static_cast<int64_t>(rows().distinct.size());
  }

  // A fit to the whole input alone would say nothing, and its share of the variation is 0 / 0.
  bool others_have_a_say() const {
    constexpr double kNoSay = 1e-9;
    return drawing_.weight_of_others() > kNoSay;
  }

  void check_weights() const {
    if (others_have_a_say()) return;
    const auto& weights = rows().weights;
    throw InvalidInput(
        fmt::format("LIME with the kernel width {}: inputs with something hidden weigh {:.1g} at "
                    "most beside the whole input's 1, so there is nothing to fit; raise the kernel "
                    "width (0: 25 for words, 0.25 for parts of a picture)",
                    options_.kernel_width, *std::max_element(weights.begin() + 1, weights.end())));
  }

  void ask() {
    try {
      while (drawing_.left() > 0 && !game_.stopped()) {
        drawing_.draw(kPortion);
        if (others_have_a_say()) ask_about_new_rows();
      }
      check_weights();
    } catch (const Interrupted&) {
      // While drawing: what was answered before stays.
    }
    if (!is_complete() && answered_ < 2) throw Interrupted();
  }

  void ask_about_new_rows() {
    const int64_t distinct = static_cast<int64_t>(rows().distinct.size());
    game_.plan(distinct + drawing_.left());
    std::vector<Coalition> wanted;
    for (int64_t row = answered_; row < distinct; ++row)
      wanted.push_back(among_all(rows().distinct[row], players_, all_));
    game_.ask(wanted, values_);
    answered_ = static_cast<int64_t>(values_.size()) / outputs_;
  }

  // Draws after the first unanswered one do not count. The whole input belongs to no block.
  void gather() {
    std::vector<std::vector<double>> counts(kJackknifeBlocks, std::vector<double>(answered_));
    for (size_t row = 1; row < rows().draws.size() && rows().draws[row] < answered_; ++row) {
      counts[(row - 1) % kJackknifeBlocks][rows().draws[row]] += 1;
    }
    weights_.assign(answered_, 0);
    weights_[0] = rows().weights[0];
    blocks_.assign(kJackknifeBlocks,
                   CoalitionMoments(static_cast<int64_t>(players_.size()), outputs_));
    for (int64_t block = 0; block < kJackknifeBlocks; ++block) {
      for (int64_t row = 0; row < answered_; ++row) {
        if (counts[block][row] == 0) continue;
        const double weight = counts[block][row] * rows().weights[row];
        blocks_[block].add(rows().distinct[row], weight, values(row));
        weights_[row] += weight;
      }
    }
  }

  std::span<const double> values(int64_t row) const {
    return std::span(values_).subspan(row * outputs_, outputs_);
  }

  CoalitionMoments moments_without(int64_t block) const {
    CoalitionMoments moments(static_cast<int64_t>(players_.size()), outputs_);
    moments.add(rows().distinct[0], rows().weights[0], values(0));
    for (int64_t b = 0; b < kJackknifeBlocks; ++b) {
      if (b != block) moments.add(blocks_[b], 1);
    }
    return moments;
  }

  void explain(LimeFit& fit, const CoalitionMoments& moments,
               const std::vector<CoalitionMoments>& leaving_out, int64_t output) const {
    const std::vector<int64_t> chosen = select(moments, output, options_);
    const RidgeFit found = ridge(moments, chosen, output, options_.ridge);
    std::vector<std::vector<double>> estimates;
    for (const CoalitionMoments& fewer : leaving_out) {
      estimates.push_back(ridge(fewer, chosen, output, options_.ridge).coefficients);
    }
    const std::vector<double> errors = jackknife_errors(estimates, chosen.size());
    std::vector<int64_t> order(chosen.size());
    std::iota(order.begin(), order.end(), 0);
    sort_by_size(order, found.coefficients);
    fit.selected.emplace_back();
    for (const int64_t i : order) fit.selected.back().push_back(players_[chosen[i]]);
    for (size_t i = 0; i < chosen.size(); ++i) {
      fit.coefficients[players_[chosen[i]] * outputs_ + output] = found.coefficients[i];
      fit.errors[players_[chosen[i]] * outputs_ + output] =
          can_tell_error(chosen[i], chosen.size()) ? errors[i]
                                                   : std::numeric_limits<double>::infinity();
    }
    fit.intercepts.push_back(found.intercept);
    fit.local_predictions.push_back(
        std::accumulate(found.coefficients.begin(), found.coefficients.end(), found.intercept));
    fit.r_squared.push_back(r_squared(moments, chosen, found, output));
  }

  // A player that was never hidden has the coefficient 0 whatever it is worth; and with fewer
  // inputs than numbers to fit, or with one beside the whole input, the penalty decides.
  bool can_tell_error(int64_t player, size_t chosen) const {
    constexpr size_t kFewestInputs = 3;
    if (static_cast<size_t>(answered_) < std::max(kFewestInputs, chosen + 1)) return false;
    for (int64_t row = 0; row < answered_; ++row) {
      if (!rows().distinct[row][player] && weights_[row] > 0) return true;
    }
    return false;
  }

  // From the residuals themselves: they may be far smaller than the values.
  double r_squared(const CoalitionMoments& moments, const std::vector<int64_t>& chosen,
                   const RidgeFit& found, int64_t output) const {
    const double mean = moments.y[output] / moments.weight;
    double left = 0, whole = 0;
    bool constant = true;
    for (int64_t row = 0; row < answered_; ++row) {
      const double y = values(row)[output], weight = weights_[row];
      double fitted = found.intercept;
      for (size_t i = 0; i < chosen.size(); ++i) {
        if (rows().distinct[row][chosen[i]]) fitted += found.coefficients[i];
      }
      left += weight * (y - fitted) * (y - fitted);
      whole += weight * (y - mean) * (y - mean);
      constant = constant && y == values(0)[output];
    }
    return constant || whole == 0 ? 1 : 1 - left / whole;
  }

  LimeOptions options_;
  int64_t all_, outputs_;
  std::vector<int64_t> players_;
  Asker game_;
  LimeDrawing drawing_;
  std::vector<double> values_;
  int64_t answered_ = 0;
  std::vector<double> weights_;  // of the answered rows: kernel times draws
  std::vector<CoalitionMoments> blocks_;
};

}  // namespace

LimeFit lime(Game& game, const LimeOptions& options, const Watch& watch) {
  return Neighbourhood(game, options, watch).run();
}

}  // namespace whyformer
