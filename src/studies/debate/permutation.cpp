#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "studies/debate/debate_part.h"
#include "whyformer/agreement.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr std::array<std::string_view, 4> kSemantics{"last-row", "frozen", "frozen-heads", "live"};
constexpr int64_t kNumbersAtOnce = int64_t{8} << 20;  // of maps that wait together

// The permutations of one input: the same for all heads, so that heads differ by what they are and
// not by luck.
class Permutations {
 public:
  Permutations(const DebateRun& debate, std::string_view semantics, int64_t layer)
      : debate_(debate), random_(debate.random(fmt::format("permutation/{}", semantics), layer)) {}

  // Weights of the row's free keys put elsewhere among them.
  void permute(int64_t draw, int64_t row_number, std::span<double> row) const {
    const std::vector<int64_t> keys = free_keys(debate_, row);
    std::vector<double> weights;
    for (const int64_t key : keys) weights.push_back(row[key]);
    const auto width = static_cast<int64_t>(row.size());
    const int64_t first = (draw * width + row_number) * width;
    for (auto i = static_cast<int64_t>(weights.size()) - 1; i > 0; --i) {
      const auto j = static_cast<int64_t>(random_.uniform(first + i) * static_cast<double>(i + 1));
      std::swap(weights[i], weights[std::min(j, i)]);
    }
    for (size_t i = 0; i < keys.size(); ++i) row[keys[i]] = weights[i];
  }

 private:
  const DebateRun& debate_;
  CounterRandom random_;
};

DebatePermutation summary_of(std::string semantics, int64_t layer, int64_t head,
                             const std::vector<double>& changes,
                             const std::vector<double>& permuted) {
  return {.semantics = std::move(semantics),
          .layer = layer,
          .head = head,
          .median = median_of(changes),
          .max = *std::ranges::max_element(changes),
          .max_attention = *std::ranges::max_element(permuted),
          .entropy = entropy_of(permuted)};
}

// Everything below the last layer's read-out row stays: one row goes through what is behind it.
void permute_last_row(DebateRun& debate, DebateInput& result) {
  const int layer = debate.last_layer();
  const AttentionTail tail(debate.run(), layer);
  const int64_t row = debate.read_out_row() - tail.first_row();
  const int64_t count = debate.request().permutations;
  const Permutations permutations(debate, "last-row", layer);
  const int64_t heads_at_once =
      std::max<int64_t>(1, kNumbersAtOnce / std::max<int64_t>(1, count * tail.map_size()));
  std::vector<int64_t> heads;
  for (int64_t head = -1; head < tail.heads(); ++head) heads.push_back(head);
  for (size_t first = 0; first < heads.size(); first += heads_at_once) {
    const size_t last = std::min(heads.size(), first + static_cast<size_t>(heads_at_once));
    std::vector<double> maps;
    for (size_t i = first; i < last; ++i) {
      for (int64_t draw = 0; draw < count; ++draw) {
        maps.insert(maps.end(), tail.observed().begin(), tail.observed().end());
        const std::span<double> own(maps.data() + maps.size() - tail.map_size(), tail.map_size());
        for (int64_t head = 0; head < tail.heads(); ++head) {
          if (heads[i] >= 0 && head != heads[i]) continue;
          permutations.permute(draw, row,
                               own.subspan((head * tail.rows() + row) * tail.keys(), tail.keys()));
        }
      }
    }
    const AttentionTail::Outputs outputs = tail.outputs(maps);
    for (size_t i = first; i < last; ++i) {
      std::vector<double> changes;
      for (int64_t draw = 0; draw < count; ++draw)
        changes.push_back(debate.change(outputs[(i - first) * count + draw]));
      result.permutations.push_back(
          summary_of("last-row", layer, heads[i], changes,
                     debate.compared_share(debate.attention_row(layer, heads[i]))));
    }
  }
}

void permute_all_rows(const Permutations& permutations, int64_t draw, int64_t heads, int64_t rows,
                      int64_t keys, std::span<double> map) {
  for (int64_t head = 0; head < heads; ++head) {
    for (int64_t row = 0; row < rows; ++row)
      permutations.permute(draw, row, map.subspan((head * rows + row) * keys, keys));
  }
}

// Every row of one layer's observed map, of all heads (-1) or of one; what is above is computed
// anew.
DebatePermutation permuted_layer(DebateRun& debate, const AttentionTail& tail, int layer,
                                 int64_t head) {
  const int64_t count = debate.request().layer_permutations;
  const Permutations permutations(debate, "frozen", layer);
  const int64_t of_head = tail.rows() * tail.keys();
  std::vector<double> changes;
  for (int64_t draw = 0; draw < count; ++draw) {
    std::vector<double> map = tail.observed();
    const std::span<double> whole(map);
    if (head < 0)
      permute_all_rows(permutations, draw, tail.heads(), tail.rows(), tail.keys(), whole);
    else
      permute_all_rows(permutations, draw, 1, tail.rows(), tail.keys(),
                       whole.subspan(head * of_head, of_head));
    changes.push_back(debate.change(tail.outputs(map)[0]));
  }
  return summary_of("frozen", layer, head, changes,
                    debate.compared_share(debate.attention_row(layer, head)));
}

void permute_frozen(DebateRun& debate, bool all_heads, bool each_head, DebateInput& result) {
  for (int layer = 0; layer < debate.run().layers(); ++layer) {
    const AttentionTail tail(debate.run(), layer);
    const int64_t heads = each_head ? tail.heads() : 0;
    for (int64_t head = all_heads ? -1 : 0; head < heads; ++head)
      result.permutations.push_back(permuted_layer(debate, tail, layer, head));
  }
}

// The map of each layer is computed from what the permuted ones below give, and permuted in turn.
std::vector<double> answer_of_live(DebateRun& debate, int64_t draw) {
  const FedGraph own = debate.run().input().copies(1);
  const Graph& graph = own.graph->graph;
  Feeds feeds = own.feeds;
  for (int layer = 0; layer < debate.run().layers(); ++layer) {
    const Value value = own.graph->found.sites[layer].attention;
    const Pass pass = run(graph, feeds, {Keep::kEverything, {value}});
    for (int id = 0; id < graph.value_count(); ++id) {
      if (pass.values[id].defined()) feeds[Value{id}] = pass.values[id];
    }
    const Tensor& map = pass[value];
    std::vector<double> weights = map.to_doubles();
    permute_all_rows(Permutations(debate, "live", layer), draw, map.dim(1), map.dim(2), map.dim(3),
                     weights);
    feeds[value] =
        Tensor::of<double>(map.shape(), std::span<const double>(weights)).cast(map.dtype());
  }
  return run(graph, feeds, {Keep::kOutputs, {own.graph->output}})[own.graph->output].to_doubles();
}

void permute_live(DebateRun& debate, DebateInput& result) {
  std::vector<double> changes;
  for (int64_t draw = 0; draw < debate.request().layer_permutations; ++draw)
    changes.push_back(debate.change(answer_of_live(debate, draw)));
  result.permutations.push_back(summary_of(
      "live", -1, -1, changes, debate.compared_share(debate.attention_row(debate.last_layer()))));
}

void check_permutations(const DebateRequest& request) {
  if (request.permutations < 1 || request.layer_permutations < 0)
    throw InvalidInput("permutations: give 1 or more of the read-out row, 0 or more of layers");
  if (request.semantics.empty()) throw InvalidInput("permutations need one of their semantics");
  for (const std::string& one : request.semantics) {
    if (std::ranges::find(kSemantics, one) != kSemantics.end()) continue;
    throw InvalidInput(fmt::format("there is no permutation '{}': choose from {}", one,
                                   fmt::join(kSemantics, ", ")));
  }
}

void measure_permutation(DebateRun& debate, DebateInput& result) {
  if (debate.compared().size() < 2) throw InvalidInput("one token alone cannot be permuted");
  const auto asks = [&](std::string_view semantics) {
    return std::ranges::find(debate.request().semantics, semantics) !=
           debate.request().semantics.end();
  };
  if (asks("last-row")) permute_last_row(debate, result);
  if (debate.request().layer_permutations == 0) return;
  permute_frozen(debate, asks("frozen"), asks("frozen-heads"), result);
  if (asks("live")) permute_live(debate, result);
}

PermutationSummary summary_over_inputs(const std::vector<const DebatePermutation*>& all) {
  PermutationSummary summary{all[0]->semantics, all[0]->layer, all[0]->head, {}, {}, {}};
  std::vector<double> medians, largest, attention;
  for (const DebatePermutation* one : all) {
    medians.push_back(one->median);
    largest.push_back(one->max);
    attention.push_back(one->max_attention);
  }
  summary.median = debate_mean(medians);
  summary.max = debate_mean(largest);
  if (const auto tau = kendall_tau_b(attention, medians))
    summary.tau_with_max_attention = tau->value;
  return summary;
}

void judge_permutation(DebateReport& report) {
  const auto found = std::ranges::find_if(report.permutations, [](const PermutationSummary& one) {
    return one.semantics == "last-row" && one.head < 0;
  });
  if (report.permutations.empty()) throw InvalidInput("nothing was permuted on any input");
  if (found == report.permutations.end()) return;  // it was not asked for: the numbers alone
  report.verdicts.push_back(
      {"permutation",
       fmt::format(
           "Shuffling the weights of the last layer's read-out row moves the answer by {:.3f} "
           "(median, mean over inputs; {:.3f} at most): {}.",
           found->median.mean, found->max.mean,
           found->median.mean < 0.05  ? "where that row looks matters little to the answer"
           : found->median.mean < 0.2 ? "where that row looks matters somewhat"
                                      : "where that row looks matters"),
       "A small change says that the values in the last layer are alike, for lower layers have "
       "mixed "
       "the words by then. It does not show that attention below is of no use: see the frozen and "
       "live rows."});
}

void conclude_permutation(const DebateCorpus&, DebateReport& report) {
  using Key = std::tuple<std::string, int64_t, int64_t>;
  std::map<Key, std::vector<const DebatePermutation*>> groups;
  std::vector<Key> order;
  for (const DebateInput& input : report.inputs) {
    for (const DebatePermutation& one : input.permutations) {
      const Key key{one.semantics, one.layer, one.head};
      if (!groups.contains(key)) order.push_back(key);
      groups[key].push_back(&one);
    }
  }
  for (const Key& key : order) report.permutations.push_back(summary_over_inputs(groups[key]));
  judge_permutation(report);
}

}  // namespace

const DebatePart kPermutationPart{
    {.name = "permutation",
     .question = "Does the answer change when attention weights are shuffled?",
     .paper = "Jain & Wallace, NAACL 2019, 4.2.1"},
    check_permutations,
    measure_permutation,
    conclude_permutation};

}  // namespace whyformer
