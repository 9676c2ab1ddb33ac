#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "graph/walk_back.h"
#include "methods/attention/rollout.h"
#include "studies/debate/debate_part.h"
#include "whyformer/agreement.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr double kSignificant = 0.05;

// Attention maps are constants: what they were made from gets no gradient through them.
class AttentionConstant final : public LocalRule {
 public:
  explicit AttentionConstant(const std::vector<AttentionSite>& sites) : sites_(sites) {}
  Tensors back(const Node& node, const Call& call, TensorSpan from_outputs,
               const Wanted& wanted) const override {
    for (const AttentionSite& site : sites_) {
      if (node.outputs[0] == site.attention) return Tensors(node.inputs.size());
    }
    return gradient_rule().back(node, call, from_outputs, wanted);
  }

 private:
  const std::vector<AttentionSite>& sites_;
};

// |Σ gradient ⊙ embedding| of the predicted class's probability, by unit, sum 1.
std::vector<double> gradient_importance(DebateRun& debate, const LocalRule& rule) {
  const Run& run = debate.run();
  const ModelGraph& model = run.graph();
  const std::vector<Value> entries = model.values_at(Depth::kInput);
  const std::vector<double>& p = debate.probabilities();
  const auto target = static_cast<size_t>(run.target());
  std::vector<double> seed(p.size(), 0.0);
  for (size_t i = 0; i < p.size(); ++i) {
    const double same = i == target ? 1 : 0;
    seed[i] = is_sigmoid(debate.problem()) ? same * p[i] * (1 - p[i]) : p[target] * (same - p[i]);
  }
  const Tensor from =
      Tensor::of<double>(model.graph.shape(model.output), std::span<const double>(seed))
          .cast(run.input().kind().dtype);
  const auto gradients = walk_back(model.graph, run.pass(), model.output, from, rule, entries);
  std::vector<Tensor> parts;
  for (const Value value : entries) parts.push_back(gradients.at(value).select(0, 0).contiguous());
  const Tensor rows = run.input().rows(Depth::kInput, parts),
               inputs = run.embeddings(Depth::kInput);
  const std::vector<double> slopes = rows.to_doubles(), numbers = inputs.to_doubles();
  std::vector<double> importance(rows.dim(0), 0.0);
  for (size_t i = 0; i < slopes.size(); ++i)
    importance[i / static_cast<size_t>(rows.dim(1))] += slopes[i] * numbers[i];
  for (double& one : importance) one = std::abs(one);
  return normalised(std::move(importance));
}

// Change of the answer when one token is taken out; not a number where it cannot be.
std::vector<double> leave_one_out(DebateRun& debate, DebateInput& result) {
  Run& run = debate.run();
  const std::string removal = run.input().parts()[0]->traits().removal;
  const std::string how = removal.empty() ? "auto" : removal;
  if (removal.empty())
    result.notes.push_back("Tokens cannot be taken out of this input: leave-one-out hides them.");
  const std::vector<bool> can = run.input().can_hide(how);
  std::vector<Variant> variants;
  std::vector<int64_t> left_out;
  for (int64_t unit = 0; unit < run.tokens(); ++unit) {
    if (!can[unit] || run.input().special()[unit]) continue;
    std::vector<bool> hidden(static_cast<size_t>(run.input().units()), false);
    hidden[unit] = true;
    variants.push_back(run.input().hiding(hidden, how));
    left_out.push_back(unit);
  }
  std::vector<double> importance(run.tokens(), std::numeric_limits<double>::quiet_NaN());
  const auto answers = run.answers(variants, Run::Report::kNo);
  for (size_t i = 0; i < answers.size(); ++i) importance[left_out[i]] = debate.change(answers[i]);
  return importance;
}

struct NamedScores {
  std::string name;
  std::vector<double> by_unit;
};

void correlate(DebateRun& debate, const NamedScores& attention, const NamedScores& importance,
               bool with_special, DebateInput& result) {
  std::vector<double> a, b;
  for (int64_t unit = 0; unit < debate.run().tokens(); ++unit) {
    if (std::isnan(importance.by_unit[unit]) ||
        (!with_special && debate.run().input().special()[unit]))
      continue;
    a.push_back(attention.by_unit[unit]);
    b.push_back(importance.by_unit[unit]);
  }
  DebateCorrelation found{attention.name, importance.name, with_special, {}, {}};
  if (const auto tau = kendall_tau_b(a, b)) {
    found.tau = tau->value;
    found.p_value = tau->p_value;
  }
  result.correlations.push_back(std::move(found));
}

void measure_correlation(DebateRun& debate, DebateInput& result) {
  Run& run = debate.run();
  debate.read_out_row();
  const NamedScores gradient{"gradient",
                             gradient_importance(debate, AttentionConstant(run.found().sites))};
  const NamedScores full{"full-gradient", gradient_importance(debate, gradient_rule())};
  const NamedScores removed{"leave-one-out", leave_one_out(debate, result)};
  const NamedScores last{"last-row", debate.attention_row(debate.last_layer())};
  const NamedScores rolled{"rollout", rollout(run).values};
  for (const NamedScores* attention : {&last, &rolled}) {
    for (const NamedScores* importance : {&gradient, &full}) {
      correlate(debate, *attention, *importance, false, result);
      correlate(debate, *attention, *importance, true, result);
    }
    correlate(debate, *attention, removed, false, result);
  }
  for (int layer = 0; layer < run.layers(); ++layer) {
    for (int64_t head = 0; head < run.found().sites[layer].heads; ++head) {
      const NamedScores row{fmt::format("layer {} head {}", layer, head),
                            debate.attention_row(layer, head)};
      correlate(debate, row, gradient, false, result);
      correlate(debate, row, removed, false, result);
    }
  }
  // How far importances agree with each other is the measure of what could be expected.
  correlate(debate, gradient, removed, false, result);
}

CorrelationSummary summary_of(const std::vector<const DebateCorrelation*>& all,
                              const std::string& predicted) {
  CorrelationSummary summary{
      all[0]->attention, all[0]->importance, all[0]->with_special, predicted, {}};
  std::vector<double> taus;
  double significant = 0;
  for (const DebateCorrelation* one : all) {
    if (!one->tau) {
      ++summary.undefined;
      continue;
    }
    taus.push_back(*one->tau);
    significant += one->p_value && *one->p_value <= kSignificant;
  }
  summary.tau = debate_mean(taus);
  if (!taus.empty()) summary.significant = significant / static_cast<double>(taus.size());
  return summary;
}

const CorrelationSummary* find_summary(const DebateReport& report, const std::string& attention,
                                       const std::string& importance) {
  for (const CorrelationSummary& one : report.correlations) {
    if (one.attention == attention && one.importance == importance && !one.with_special &&
        one.predicted.empty() && one.tau.count > 0)
      return &one;
  }
  return nullptr;
}

void judge_correlation(DebateReport& report) {
  const CorrelationSummary* gradient = find_summary(report, "last-row", "gradient");
  const CorrelationSummary* removed = find_summary(report, "last-row", "leave-one-out");
  const CorrelationSummary* between = find_summary(report, "gradient", "leave-one-out");
  if (gradient == nullptr || removed == nullptr)
    throw InvalidInput("no input has enough tokens for a rank correlation");
  std::string says = fmt::format(
      "The read-out row of the last layer ranks words {} like gradients (mean tau {:.2f}, "
      "significant for {:.0f} % of inputs) and {} like leaving words out (mean tau {:.2f}, {:.0f} "
      "%).",
      gradient->tau.mean > 0.5   ? "much"
      : gradient->tau.mean > 0.2 ? "somewhat"
                                 : "hardly",
      gradient->tau.mean, 100 * gradient->significant,
      removed->tau.mean > 0.5   ? "much"
      : removed->tau.mean > 0.2 ? "somewhat"
                                : "hardly",
      removed->tau.mean, 100 * removed->significant);
  if (between != nullptr) {
    says += fmt::format(" Gradients and leaving out agree with each other at {:.2f}.",
                        between->tau.mean);
  }
  report.verdicts.push_back(
      {"correlation", std::move(says),
       "A low correlation does not show that attention is wrong: the importances need not be right "
       "either. On few words tau takes few values, and no p-value can be small."});
}

void conclude_correlation(const DebateCorpus&, DebateReport& report) {
  using Key = std::tuple<std::string, std::string, bool>;
  std::map<Key, std::map<std::string, std::vector<const DebateCorrelation*>>> groups;
  std::vector<Key> order;
  for (const DebateInput& input : report.inputs) {
    for (const DebateCorrelation& one : input.correlations) {
      const Key key{one.attention, one.importance, one.with_special};
      if (!groups.contains(key)) order.push_back(key);
      groups[key][""].push_back(&one);
      groups[key][report.labels[input.predicted]].push_back(&one);
    }
  }
  if (order.empty()) throw InvalidInput("nothing was correlated on any input");
  for (const Key& key : order) {
    for (const auto& [predicted, all] : groups[key])
      report.correlations.push_back(summary_of(all, predicted));
  }
  judge_correlation(report);
}

}  // namespace

const DebatePart kCorrelationPart{
    {.name = "correlation",
     .question = "Does attention rank words as gradients and leaving words out do?",
     .paper = "Jain & Wallace, NAACL 2019, 4.1"},
    nullptr,
    measure_correlation,
    conclude_correlation};

}  // namespace whyformer
