#include "evaluate/ordered_path.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.h"

namespace whyformer {
namespace {

HiddenAnswers::Hidden marked(const Ranking& ranking, int64_t count, bool first_hidden) {
  HiddenAnswers::Hidden hidden(ranking.size(), !first_hidden);
  for (int64_t i = 0; i < count; ++i) hidden[ranking[i]] = first_hidden;
  return hidden;
}

}  // namespace

HiddenAnswers::Hidden hide_first(const Ranking& ranking, int64_t count) {
  return marked(ranking, count, true);
}

HiddenAnswers::Hidden hide_rest(const Ranking& ranking, int64_t count) {
  return marked(ranking, count, false);
}

std::vector<int64_t> eraser_sizes(int64_t players) {
  std::vector<int64_t> sizes;
  for (const double share : {0.01, 0.05, 0.1, 0.2, 0.5}) {
    const double exact = share * static_cast<double>(players);
    sizes.push_back(std::max<int64_t>(1, static_cast<int64_t>(std::nearbyint(exact))));
  }
  return sizes;
}

double mean_drop_without(const Ranking& ranking, std::span<const int64_t> sizes,
                         HiddenAnswers& answers) {
  double sum = 0;
  for (const int64_t size : sizes) {
    sum += answers.whole().value - answers(hide_first(ranking, size)).value;
  }
  return sum / static_cast<double>(sizes.size());
}

double mean_drop_with_only(const Ranking& ranking, std::span<const int64_t> sizes,
                           HiddenAnswers& answers) {
  double sum = 0;
  for (const int64_t size : sizes) {
    sum += answers.whole().value - answers(hide_rest(ranking, size)).value;
  }
  return sum / static_cast<double>(sizes.size());
}

std::vector<int64_t> path_sizes(int64_t players) {
  constexpr int64_t kMostSteps = 256;
  const int64_t step = (players + kMostSteps - 1) / kMostSteps;
  std::vector<int64_t> sizes;
  for (int64_t size = 0; size < players; size += step) sizes.push_back(size);
  sizes.push_back(players);
  return sizes;
}

double path_area(const Ranking& ranking, HiddenAnswers& answers, Hide hide) {
  std::vector<double> shares, values;
  for (const int64_t size : path_sizes(answers.players())) {
    shares.push_back(static_cast<double>(size) / static_cast<double>(ranking.size()));
    values.push_back(answers(hide(ranking, size)).value);
  }
  return area_under(shares, values);
}

std::optional<double> kept_label_area(const Ranking& ranking, HiddenAnswers& answers) {
  std::vector<double> shares, kept;
  bool has_labels = true;
  for (int64_t tenth = 0; tenth < 10; ++tenth) {
    const int64_t size = tenth * static_cast<int64_t>(ranking.size()) / 10;
    shares.push_back(static_cast<double>(tenth) / 10);
    const std::optional<bool> keeps = answers(hide_first(ranking, size)).keeps_label;
    has_labels = has_labels && keeps;
    kept.push_back(keeps.value_or(false) ? 1 : 0);
  }
  if (!has_labels) return std::nullopt;
  return area_under(shares, kept);
}

std::optional<double> kept_label_share(const Ranking& ranking, HiddenAnswers& answers) {
  double kept = 0, shares = 0;
  bool has_labels = true;
  for (int64_t percent = 1; percent < 100; percent += 2) {
    const int64_t size = percent * static_cast<int64_t>(ranking.size()) / 100;
    const std::optional<bool> keeps = answers(hide_first(ranking, size)).keeps_label;
    has_labels = has_labels && keeps;
    kept += keeps.value_or(false) ? 1 : 0;
    ++shares;
  }
  if (!has_labels) return std::nullopt;
  return kept / shares;
}

HiddenAnswers::Hidden only_hidden(int64_t players, int64_t player) {
  HiddenAnswers::Hidden hidden(players, false);
  hidden[player] = true;
  return hidden;
}

double area_under(std::span<const double> x, std::span<const double> values) {
  double area = 0;
  for (size_t i = 1; i < x.size(); ++i) {
    area += (x[i] - x[i - 1]) * (values[i] + values[i - 1]) / 2;
  }
  return area;
}

Ranking random_ranking(int64_t players, int64_t seed, int64_t number) {
  const CounterRandom random(seed, "random-ranking", number);
  Ranking ranking(players);
  std::iota(ranking.begin(), ranking.end(), 0);
  for (int64_t i = players - 1; i > 0; --i) {
    const auto other = static_cast<int64_t>(random.uniform(i) * static_cast<double>(i + 1));
    std::swap(ranking[i], ranking[std::min(other, i)]);
  }
  return ranking;
}

HiddenAnswers::Hidden random_subset(int64_t players, int64_t size, int64_t seed, int64_t number) {
  return hide_first(random_ranking(players, seed, number), size);
}

}  // namespace whyformer
