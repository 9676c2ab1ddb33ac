#include "studies/debate/adversarial_search.h"

#include <algorithm>
#include <cmath>

#include "base/pulse.h"

namespace whyformer {
namespace {

constexpr double kPenalty = 500;
constexpr double kStartSpread = 3;   // of the logits around log(1/n)
constexpr double kNearSpread = 0.1;  // of the candidate that starts at the observed weights

using SearchWeights = std::vector<std::vector<double>>;  // [row][free key]

std::vector<double> softmax_of(const std::vector<double>& logits) {
  const double most = *std::ranges::max_element(logits);
  std::vector<double> weights;
  double sum = 0;
  for (const double logit : logits) {
    weights.push_back(std::exp(logit - most));
    sum += weights.back();
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

SearchWeights weights_of(const SearchCandidate& candidate) {
  SearchWeights weights;
  for (const std::vector<double>& logits : candidate.logits) weights.push_back(softmax_of(logits));
  return weights;
}

void add_map(const SearchProblem& problem, const SearchWeights& weights,
             std::vector<double>& maps) {
  const size_t begin = maps.size();
  maps.insert(maps.end(), problem.base.begin(), problem.base.end());
  for (size_t r = 0; r < problem.rows.size(); ++r) {
    const FreeRow& row = problem.rows[r];
    for (size_t k = 0; k < row.keys.size(); ++k)
      maps[begin + row.first + row.keys[k]] = row.sum * weights[r][k];
  }
}

double mean_jsd(const SearchProblem& problem, const SearchWeights& weights) {
  double sum = 0;
  for (size_t r = 0; r < problem.rows.size(); ++r)
    sum += js_divergence(weights[r], problem.rows[r].observed);
  return sum / static_cast<double>(problem.rows.size());
}

double mean_jsd(const SearchWeights& a, const SearchWeights& b) {
  double sum = 0;
  for (size_t r = 0; r < a.size(); ++r) sum += js_divergence(a[r], b[r]);
  return sum / static_cast<double>(a.size());
}

// Everything that one step of one problem knows.
struct Iterate {
  std::vector<SearchWeights> weights;  // by candidate
  std::vector<double> jsd, tvd;
};

// One pass through the tail for all candidates of all problems.
struct Evaluated {
  std::vector<Iterate> iterates;
  std::vector<SearchLoss> losses;
};

class SearchStep {
 public:
  SearchStep(const std::vector<SearchProblem>& problems,
             const std::vector<std::vector<SearchCandidate>>& candidates, double epsilon)
      : problems_(problems), epsilon_(epsilon) {
    for (size_t p = 0; p < problems.size(); ++p) {
      Iterate iterate;
      for (const SearchCandidate& candidate : candidates[p]) {
        iterate.weights.push_back(weights_of(candidate));
        iterate.jsd.push_back(mean_jsd(problems[p], iterate.weights.back()));
        iterate.tvd.push_back(0);
        add_map(problems[p], iterate.weights.back(), maps_);
        places_.push_back({p, iterate.tvd.size() - 1});
      }
      found_.iterates.push_back(std::move(iterate));
    }
  }

  // Answers alone.
  Evaluated answers() {
    const AttentionTail::Outputs outputs = problems_[0].tail->outputs(maps_);
    for (size_t i = 0; i < outputs.size(); ++i) take_answer(i, outputs[i]);
    return std::move(found_);
  }

  Evaluated losses() {
    const AttentionTail::Slopes slopes =
        problems_[0].tail->slopes(maps_, [&](int64_t i, const std::vector<double>& outputs) {
          return slopes_of_answer(static_cast<size_t>(i), outputs);
        });
    size_t map = 0;
    for (size_t p = 0; p < problems_.size(); ++p) found_.losses.push_back(loss_of(p, slopes, map));
    return std::move(found_);
  }

 private:
  struct Place {
    size_t problem, candidate;
  };

  std::vector<double> take_answer(size_t i, const std::vector<double>& outputs) {
    const SearchProblem& problem = problems_[places_[i].problem];
    const std::vector<double> p = probabilities_of(outputs, problem.distance.problem);
    found_.iterates[places_[i].problem].tvd[places_[i].candidate] =
        problem.distance(p, problem.answer);
    return p;
  }

  std::vector<double> slopes_of_answer(size_t i, const std::vector<double>& outputs) {
    const std::vector<double> p = take_answer(i, outputs);
    const SearchProblem& problem = problems_[places_[i].problem];
    if (found_.iterates[places_[i].problem].tvd[places_[i].candidate] <= epsilon_)
      return std::vector<double>(p.size(), 0.0);
    std::vector<double> slopes = problem.distance.gradient(p, problem.answer);
    for (double& slope : slopes) slope *= kPenalty;
    return slopes;
  }

  SearchLoss loss_of(size_t p, const AttentionTail::Slopes& slopes, size_t& map) const {
    const SearchProblem& problem = problems_[p];
    const Iterate& at = found_.iterates[p];
    const auto count = static_cast<double>(at.weights.size());
    const auto rows = static_cast<double>(problem.rows.size());
    SearchLoss loss;
    for (size_t k = 0; k < at.weights.size(); ++k, ++map) {
      loss.value += -at.jsd[k] + kPenalty * std::max(0.0, at.tvd[k] - epsilon_);
      for (size_t other = 0; other < at.weights.size(); ++other)
        loss.value -= mean_jsd(at.weights[k], at.weights[other]) / (count * count);
      SearchWeights gradient;
      for (size_t r = 0; r < problem.rows.size(); ++r) {
        const FreeRow& row = problem.rows[r];
        const std::vector<double>& weights = at.weights[k][r];
        std::vector<double> g(weights.size());
        const size_t first = map * static_cast<size_t>(problem.tail->map_size()) + row.first;
        for (size_t i = 0; i < g.size(); ++i)
          g[i] = row.sum * slopes.gradients[first + row.keys[i]];
        add_js_gradient(weights, row.observed, -1 / rows, g);
        // Each pair stands twice in the mean.
        for (size_t other = 0; other < at.weights.size(); ++other)
          add_js_gradient(weights, at.weights[other][r], -2 / (rows * count * count), g);
        double inner = 0;
        for (size_t i = 0; i < g.size(); ++i) inner += g[i] * weights[i];
        for (size_t i = 0; i < g.size(); ++i) g[i] = weights[i] * (g[i] - inner);
        gradient.push_back(std::move(g));
      }
      loss.gradient.push_back(std::move(gradient));
    }
    return loss;
  }

  const std::vector<SearchProblem>& problems_;
  double epsilon_;
  std::vector<double> maps_;
  std::vector<Place> places_;
  Evaluated found_;
};

void keep_furthest(const Iterate& at, const std::vector<double>& epsilons, SearchResult& result) {
  for (size_t k = 0; k < at.weights.size(); ++k) {
    for (size_t e = 0; e < epsilons.size(); ++e) {
      FurthestAttention& best = result.best[e];
      if (at.tvd[k] <= epsilons[e] && at.jsd[k] > best.jsd)
        best = {at.jsd[k], at.tvd[k], at.weights[k]};
    }
  }
}

std::vector<SearchCandidate> starts_of(const SearchProblem& problem, const CounterRandom& random,
                                       int64_t restart, int64_t count) {
  std::vector<SearchCandidate> candidates(count);
  int64_t draw = restart << 32;
  for (int64_t k = 0; k < count; ++k) {
    for (const FreeRow& row : problem.rows) {
      std::vector<double> logits;
      for (const double weight : row.observed) {
        const double noise = random.normal(draw++);
        logits.push_back(k == 0 ? std::log(weight) + kNearSpread * noise
                                : -std::log(static_cast<double>(row.keys.size())) +
                                      kStartSpread * noise);
      }
      candidates[k].logits.push_back(std::move(logits));
    }
  }
  return candidates;
}

std::vector<double> flat(const SearchWeights& rows) {
  std::vector<double> all;
  for (const std::vector<double>& row : rows) all.insert(all.end(), row.begin(), row.end());
  return all;
}

void unflatten(const std::vector<double>& all, SearchWeights& rows) {
  auto next = all.begin();
  for (std::vector<double>& row : rows) {
    std::copy_n(next, row.size(), row.begin());
    next += static_cast<int64_t>(row.size());
  }
}

}  // namespace

void AmsGrad::step(std::span<double> numbers, std::span<const double> gradient) {
  constexpr double kFirst = 0.9, kSecond = 0.999, kTiny = 1e-8;
  ++steps_;
  const double first = 1 - std::pow(kFirst, static_cast<double>(steps_));
  const double second = std::sqrt(1 - std::pow(kSecond, static_cast<double>(steps_)));
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double slope = gradient[i] + weight_decay_ * numbers[i];
    mean_[i] = kFirst * mean_[i] + (1 - kFirst) * slope;
    square_[i] = kSecond * square_[i] + (1 - kSecond) * slope * slope;
    largest_[i] = std::max(largest_[i], square_[i]);
    numbers[i] -= learning_rate_ / first * mean_[i] / (std::sqrt(largest_[i]) / second + kTiny);
  }
}

SearchLoss search_loss(const SearchProblem& problem, const std::vector<SearchCandidate>& candidates,
                       double epsilon) {
  const std::vector<SearchProblem> problems{problem};
  return SearchStep(problems, {candidates}, epsilon).losses().losses[0];
}

void search_from(const std::vector<SearchProblem>& problems,
                 std::vector<std::vector<SearchCandidate>> candidates,
                 const AdversarySettings& settings, std::vector<SearchResult>& results) {
  const auto widest =
      static_cast<size_t>(std::ranges::max_element(settings.epsilons) - settings.epsilons.begin());
  std::vector<std::vector<AmsGrad>> optimisers(problems.size());
  for (size_t p = 0; p < problems.size(); ++p) {
    for (const SearchCandidate& one : candidates[p])
      optimisers[p].emplace_back(flat(one.logits).size(), settings.learning_rate);
  }
  for (int64_t step = 0; step < settings.steps; ++step) {
    pulse();
    const Evaluated found = SearchStep(problems, candidates, settings.search_epsilon).losses();
    for (size_t p = 0; p < problems.size(); ++p) {
      keep_furthest(found.iterates[p], settings.epsilons, results[p]);
      for (size_t k = 0; k < candidates[p].size(); ++k) {
        std::vector<double> logits = flat(candidates[p][k].logits);
        optimisers[p][k].step(logits, flat(found.losses[p].gradient[k]));
        unflatten(logits, candidates[p][k].logits);
      }
    }
  }
  const Evaluated last = SearchStep(problems, candidates, settings.search_epsilon).answers();
  for (size_t p = 0; p < problems.size(); ++p) {
    keep_furthest(last.iterates[p], settings.epsilons, results[p]);
    for (size_t k = 0; k < candidates[p].size(); ++k) {
      if (last.iterates[p].tvd[k] <= settings.epsilons[widest])
        results[p].last_jsd = std::max(results[p].last_jsd, last.iterates[p].jsd[k]);
    }
  }
}

std::vector<SearchResult> search(const std::vector<SearchProblem>& problems,
                                 const std::vector<CounterRandom>& random,
                                 const AdversarySettings& settings) {
  std::vector<SearchResult> results(problems.size());
  for (SearchResult& result : results) result.best.resize(settings.epsilons.size());
  for (int64_t restart = 0; restart < settings.restarts; ++restart) {
    std::vector<std::vector<SearchCandidate>> starts;
    for (size_t p = 0; p < problems.size(); ++p)
      starts.push_back(starts_of(problems[p], random[p], restart, settings.candidates));
    search_from(problems, std::move(starts), settings, results);
  }
  return results;
}

}  // namespace whyformer
