#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "studies/debate/adversarial_search.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr std::array<std::string_view, 6> kScopes{"joint", "heads",  "on-uniform",
                                                  "rows",  "layers", "all"};
constexpr int kAllLayers = -1;

void check_adversary(const DebateRequest& request) {
  const AdversarySettings& settings = request.adversary;
  for (const std::string& scope : settings.scopes) {
    if (std::ranges::find(kScopes, scope) == kScopes.end()) {
      throw InvalidInput(fmt::format("there is no adversarial search '{}': choose from {}", scope,
                                     fmt::join(kScopes, ", ")));
    }
  }
  if (settings.scopes.empty() || settings.epsilons.empty() || settings.steps < 0 ||
      settings.candidates < 1 || settings.restarts < 1)
    throw InvalidInput(
        "the adversarial search needs a scope, an epsilon, a candidate and a restart");
}

// The row with its free weights all equal.
void make_uniform(const DebateRun& debate, std::span<double> row) {
  const std::vector<int64_t> keys = free_keys(debate, row);
  double sum = 0;
  for (const int64_t key : keys) sum += row[key];
  for (const int64_t key : keys) row[key] = sum / static_cast<double>(keys.size());
}

struct Asked {
  std::string scope;
  int64_t head = -1;

  bool moves_all_rows() const { return scope == "rows" || scope == "layers" || scope == "all"; }
};

// Searches that leave the same layers' maps: they run together.
class SearchOfLayers {
 public:
  SearchOfLayers(DebateRun& debate, const std::vector<int>& layers)
      : debate_(debate), tail_(debate.run(), layers) {}

  void add(const Asked& asked, int layer) {
    SearchProblem problem{.tail = &tail_,
                          .base = tail_.observed(),
                          .answer = debate_.probabilities(),
                          .rows = {},
                          .distance = debate_.distance()};
    if (asked.scope == "on-uniform") {
      for (int64_t head = 0; head < tail_.heads(); ++head)
        make_uniform(debate_, row_in(problem.base, tail_.layers()[0], head, read_row()));
      problem.answer = debate_.probabilities_of(tail_.outputs(problem.base)[0]);
    }
    for (const TailLayer& one : tail_.layers()) {
      for (int64_t head = 0; head < one.heads; ++head) {
        if (asked.head >= 0 && head != asked.head) continue;
        for (int64_t row = 0; row < one.rows; ++row) {
          if (asked.moves_all_rows() || row == read_row()) add_row(one, head, row, problem);
        }
      }
    }
    if (problem.rows.empty())
      throw InvalidInput("no head attends to two tokens: there is no other distribution");
    problems_.push_back(std::move(problem));
    asked_.push_back(asked);
    layer_ = layer;
    random_.push_back(debate_.random("adversary/" + asked.scope, layer, asked.head));
  }

  std::vector<DebateAdversary> find() const {
    const std::vector<SearchResult> found = search(problems_, random_, debate_.request().adversary);
    std::vector<DebateAdversary> results;
    for (size_t i = 0; i < found.size(); ++i) results.push_back(result_of(i, found[i]));
    return results;
  }

 private:
  int64_t read_row() const { return debate_.read_out_row() - tail_.first_row(); }

  static std::span<double> row_in(std::vector<double>& maps, const TailLayer& layer, int64_t head,
                                  int64_t row) {
    return std::span<double>(maps).subspan(layer.first + (head * layer.rows + row) * layer.keys,
                                           layer.keys);
  }

  void add_row(const TailLayer& layer, int64_t head, int64_t row, SearchProblem& problem) const {
    const std::span<const double> own = row_in(problem.base, layer, head, row);
    FreeRow free{.first = layer.first + (head * layer.rows + row) * layer.keys,
                 .keys = free_keys(debate_, own),
                 .observed = {}};
    if (free.keys.size() < 2) return;
    for (const int64_t key : free.keys) {
      free.observed.push_back(own[key]);
      free.sum += own[key];
    }
    for (double& weight : free.observed) weight /= free.sum;
    problem.rows.push_back(std::move(free));
  }

  DebateAdversary result_of(size_t i, const SearchResult& found) const {
    DebateAdversary result{.scope = asked_[i].scope,
                           .layer = layer_,
                           .head = asked_[i].head,
                           .last_jsd = found.last_jsd};
    for (const FurthestAttention& best : found.best) {
      result.jsd.push_back(best.jsd);
      result.tvd.push_back(best.tvd);
    }
    if (asked_[i].scope == "joint") result.weights = mean_row(problems_[i], found);
    return result;
  }

  // Of the read-out row of the furthest map, mean over heads.
  std::vector<double> mean_row(const SearchProblem& problem, const SearchResult& found) const {
    const std::vector<double>& epsilons = debate_.request().adversary.epsilons;
    const FurthestAttention& best =
        found.best[std::ranges::max_element(epsilons) - epsilons.begin()];
    std::vector<double> map = problem.base;
    for (size_t r = 0; r < best.weights.size(); ++r) {
      const FreeRow& row = problem.rows[r];
      for (size_t k = 0; k < row.keys.size(); ++k)
        map[row.first + row.keys[k]] = row.sum * best.weights[r][k];
    }
    std::vector<double> mean(tail_.keys(), 0.0);
    for (int64_t head = 0; head < tail_.heads(); ++head) {
      const std::span<const double> row = row_in(map, tail_.layers()[0], head, read_row());
      for (size_t key = 0; key < mean.size(); ++key)
        mean[key] += row[key] / static_cast<double>(tail_.heads());
    }
    return mean;
  }

  DebateRun& debate_;
  AttentionTail tail_;
  int layer_ = kAllLayers;
  std::vector<SearchProblem> problems_;
  std::vector<Asked> asked_;
  std::vector<CounterRandom> random_;
};

void measure_adversary(DebateRun& debate, DebateInput& result) {
  const std::vector<std::string>& scopes = debate.request().adversary.scopes;
  const auto asks = [&](std::string_view scope) {
    return std::ranges::find(scopes, scope) != scopes.end();
  };
  const auto take = [&](const SearchOfLayers& search) {
    for (DebateAdversary& one : search.find()) result.adversaries.push_back(std::move(one));
  };
  std::vector<int> layers(static_cast<size_t>(debate.run().layers()));
  std::iota(layers.begin(), layers.end(), 0);
  const int last = debate.last_layer();
  SearchOfLayers of_last(debate, {last});
  const int64_t heads = AttentionTail(debate.run(), last).heads();
  bool any = false;
  for (const std::string& scope : scopes) {
    if (scope == "layers" || scope == "all") continue;
    any = true;
    if (scope != "heads") of_last.add({scope, -1}, last);
    for (int64_t head = 0; scope == "heads" && head < heads; ++head)
      of_last.add({scope, head}, last);
  }
  if (any) take(of_last);
  for (const int layer : layers) {
    if (!asks("layers")) break;
    SearchOfLayers search(debate, {layer});
    search.add({"layers", -1}, layer);
    take(search);
  }
  if (!asks("all")) return;
  SearchOfLayers search(debate, layers);
  search.add({"all", -1}, kAllLayers);
  take(search);
}

AdversarySummary summary_of(const std::vector<const DebateAdversary*>& all, size_t epsilon,
                            bool last_iterate, const std::vector<double>& epsilons) {
  AdversarySummary summary{.scope = all[0]->scope,
                           .layer = all[0]->layer,
                           .head = all[0]->head,
                           .epsilon = epsilons[epsilon],
                           .last_iterate = last_iterate};
  std::vector<double> jsd;
  for (const DebateAdversary* one : all) {
    jsd.push_back(last_iterate ? one->last_jsd : one->jsd[epsilon]);
    summary.far += jsd.back() > std::log(2.0) / 2;
  }
  summary.jsd = debate_mean(jsd);
  summary.far /= static_cast<double>(all.size());
  return summary;
}

void judge_adversary(DebateReport& report) {
  const auto find = [&](std::string_view scope) {
    return std::ranges::find_if(report.adversaries, [&](const AdversarySummary& one) {
      return one.scope == scope && !one.last_iterate &&
             one.epsilon == std::ranges::max(report.request.adversary.epsilons);
    });
  };
  const auto joint = find("joint");
  if (joint == report.adversaries.end()) return;
  std::string says = fmt::format(
      "Other weights of the last layer's read-out row give the same answer within {:g} at a "
      "Jensen–Shannon divergence of {:.2f} (mean; at most ln 2 = 0.69): {}.",
      joint->epsilon, joint->jsd.mean,
      joint->jsd.mean > 0.4   ? "nearly any other distribution would have served"
      : joint->jsd.mean > 0.1 ? "quite other distributions would have served"
                              : "the answer holds the weights in place");
  const auto uniform = find("on-uniform");
  if (uniform != report.adversaries.end()) {
    says += fmt::format(" The same search from a uniform last layer reaches {:.2f}.",
                        uniform->jsd.mean);
  }
  if (const auto all = find("all"); all != report.adversaries.end())
    says += fmt::format(" With all rows of all layers free it reaches {:.2f}.", all->jsd.mean);
  report.verdicts.push_back(
      {"adversary", std::move(says),
       "The other weights are set by hand for each input: that a trained model would come to them "
       "is not shown (Wiegreffe & Pinter). With several heads, one makes up for another. Compare "
       "with the spread over seeds."});
}

void conclude_adversary(const DebateCorpus&, DebateReport& report) {
  using Key = std::tuple<std::string, int64_t, int64_t>;
  std::map<Key, std::vector<const DebateAdversary*>> groups;
  std::vector<Key> order;
  for (const DebateInput& input : report.inputs) {
    for (const DebateAdversary& one : input.adversaries) {
      const Key key{one.scope, one.layer, one.head};
      if (!groups.contains(key)) order.push_back(key);
      groups[key].push_back(&one);
    }
  }
  if (order.empty()) throw InvalidInput("no adversarial attention was searched on any input");
  const std::vector<double>& epsilons = report.request.adversary.epsilons;
  const auto widest = static_cast<size_t>(std::ranges::max_element(epsilons) - epsilons.begin());
  for (const Key& key : order) {
    for (size_t e = 0; e < epsilons.size(); ++e)
      report.adversaries.push_back(summary_of(groups[key], e, false, epsilons));
    report.adversaries.push_back(summary_of(groups[key], widest, true, epsilons));
  }
  judge_adversary(report);
}

}  // namespace

const DebatePart kAdversaryPart{
    {.name = "adversary",
     .question = "How different could attention be without changing the answer?",
     .paper = "Jain & Wallace, NAACL 2019, 4.2.2"},
    check_adversary,
    measure_adversary,
    conclude_adversary};

}  // namespace whyformer
