#include "studies/heads/pruning.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.h"
#include "whyformer/interrupted.h"

namespace whyformer {
namespace {

// Rows of a batch past which products gain nothing, and Ctrl-C should be heard.
constexpr int64_t kTokensAtOnce = 1024;

double score_of(const HeadGrid& scores, const HeadName& name) {
  const double score = scores[name.layer][name.head];
  return std::isnan(score) ? std::numeric_limits<double>::infinity() : score;
}

HeadGrid random_scores(const HeadGrid& like, int64_t seed) {
  const CounterRandom random(seed, "heads/random-order", 0);
  HeadGrid scores = like;
  int64_t draw = 0;
  for (std::vector<double>& layer : scores) {
    for (double& score : layer) score = random.uniform(draw++);
  }
  return scores;
}

// How many heads are gone at each step: nothing first, as many as may go last.
std::vector<size_t> counts_of(size_t all, size_t prunable, double step) {
  std::vector<size_t> counts;
  for (int index = 0; counts.empty() || counts.back() < prunable; ++index) {
    const auto count = static_cast<size_t>(std::lround(index * step * static_cast<double>(all)));
    // A step shorter than a head moves on by one.
    const size_t next = counts.empty() ? 0 : std::max(count, counts.back() + 1);
    counts.push_back(std::min(next, prunable));
  }
  return counts;
}

size_t head_count(const HeadGrid& grid) {
  size_t count = 0;
  for (const std::vector<double>& layer : grid) count += layer.size();
  return count;
}

// A set of heads that goes, and how many examples are still answered rightly.
struct Trial {
  std::vector<HeadName> pruned;
  int64_t right = 0;
};

// The map with the heads' weights at zero.
Tensor without_heads(const Tensor& map, const std::vector<HeadName>& pruned, int layer) {
  Tensor result = map.copy();
  for (const HeadName& name : pruned) {
    if (name.layer == layer) result.slice(1, name.head, 1).fill(0);
  }
  return result;
}

Feeds known_values(const Pass& pass) {
  Feeds feeds;
  for (size_t id = 0; id < pass.values.size(); ++id) {
    if (pass.values[id].defined()) feeds[Value{static_cast<int>(id)}] = pass.values[id];
  }
  return feeds;
}

// Trials of the measure's order first, then as many of the random one.
std::vector<Trial> trials_of(const HeadGrid& scores, const PruneRequest& request) {
  std::vector<Trial> trials;
  for (const HeadGrid& ranking : {scores, random_scores(scores, request.seed)}) {
    const std::vector<HeadName> order = pruning_order(ranking, request.keep_one);
    for (const size_t count : counts_of(head_count(scores), order.size(), request.step)) {
      trials.push_back({{order.begin(), order.begin() + static_cast<ptrdiff_t>(count)}});
    }
  }
  return trials;
}

// Examples that run together, and what is right about each.
struct Batch {
  const FedGraph& run;
  std::vector<const HeadLabel*> labels;
};

int64_t right_answers(Problem problem, const Batch& batch, const std::vector<HeadName>& pruned) {
  const Tensor outputs = outputs_without(*batch.run.graph, batch.run.feeds, pruned);
  int64_t right = 0;
  for (size_t i = 0; i < batch.labels.size(); ++i) {
    const std::vector<double> answer = outputs.select(0, static_cast<int64_t>(i)).to_doubles();
    right += is_right(problem, answer, *batch.labels[i]);
  }
  return right;
}

// All trials on one batch; false, and nothing counted, where the work ends early.
bool try_on(Problem problem, const Batch& batch, std::vector<Trial>& trials,
            const Advance& advance) {
  std::vector<Trial> after = trials;
  for (Trial& trial : after) {
    try {
      trial.right += right_answers(problem, batch, trial.pruned);
    } catch (const Interrupted&) {
      return false;
    }
    if (!advance(static_cast<int64_t>(batch.labels.size()))) return false;
  }
  trials = std::move(after);
  return true;
}

}  // namespace

std::vector<HeadName> pruning_order(const HeadGrid& scores, bool keep_one) {
  std::vector<HeadName> order;
  for (size_t layer = 0; layer < scores.size(); ++layer) {
    for (size_t head = 0; head < scores[layer].size(); ++head) {
      order.push_back({static_cast<int>(layer), static_cast<int>(head)});
    }
  }
  std::stable_sort(order.begin(), order.end(), [&](const HeadName& a, const HeadName& b) {
    return score_of(scores, a) < score_of(scores, b);
  });
  if (!keep_one) return order;
  std::vector<HeadName> prunable;
  for (size_t i = 0; i < order.size(); ++i) {
    const auto later =
        std::find_if(order.begin() + static_cast<ptrdiff_t>(i) + 1, order.end(),
                     [&](const HeadName& other) { return other.layer == order[i].layer; });
    if (later != order.end()) prunable.push_back(order[i]);
  }
  return prunable;
}

// Layer by layer: a run up to a map, the map changed, and on from there with all that is known.
Tensor outputs_without(const ModelGraph& graph, const Feeds& inputs,
                       const std::vector<HeadName>& pruned) {
  Feeds feeds = inputs;
  for (size_t layer = 0; layer < graph.found.sites.size(); ++layer) {
    const Value map = graph.found.sites[layer].attention;
    const int number = static_cast<int>(layer);
    const bool changes = std::any_of(pruned.begin(), pruned.end(),
                                     [&](const HeadName& name) { return name.layer == number; });
    if (!changes) continue;
    const Pass pass = run(graph.graph, feeds, {.keep = Keep::kEverything, .outputs = {map}});
    feeds = known_values(pass);
    feeds[map] = without_heads(pass[map], pruned, number);
  }
  return run(graph.graph, feeds, {.outputs = {graph.output}})[graph.output];
}

int64_t pruning_runs(const HeadGrid& scores, const PruneRequest& request, int64_t examples) {
  return examples * static_cast<int64_t>(trials_of(scores, request).size());
}

std::optional<PruningCurve> pruning_curve(const HeadExamples& examples,
                                          const std::vector<std::optional<HeadLabel>>& labels,
                                          const HeadScores& scores, const PruneRequest& request,
                                          DType dtype, const Advance& advance) {
  std::vector<Trial> trials = trials_of(scores.values, request);
  PruningCurve curve{.measure = scores.measure,
                     .keep_one = request.keep_one,
                     .seed = request.seed,
                     .order = pruning_order(scores.values, request.keep_one)};
  const auto try_all = [&](const FedGraph& together, std::span<const size_t> members) {
    Batch batch{together, {}};
    for (const size_t example : members) batch.labels.push_back(&*labels[example]);
    if (!try_on(*examples.problem(), batch, trials, advance)) throw Interrupted();
    curve.examples += static_cast<int64_t>(members.size());
  };
  try {
    examples.in_batches(kTokensAtOnce, dtype, try_all);
  } catch (const Interrupted&) {
    // What was measured before it stays.
  }
  if (curve.examples == 0) return std::nullopt;
  const size_t steps = trials.size() / 2;
  const auto share = [&](const Trial& trial) {
    return static_cast<double>(trial.right) / static_cast<double>(curve.examples);
  };
  for (size_t i = 0; i < steps; ++i) {
    curve.steps.push_back({static_cast<int64_t>(trials[i].pruned.size()), share(trials[i]),
                           share(trials[steps + i])});
  }
  return curve;
}

}  // namespace whyformer
