#include "report/views/debate_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/views/model_title.h"
#include "report/views/text.h"
#include "whyformer/printable.h"

namespace whyformer::report {
namespace {

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::string percent(const std::optional<double>& share) {
  return share ? percent(*share) : std::string("–");
}

std::string layer_words(int64_t layer) { return layer < 0 ? "all" : fmt::format("{}", layer); }
std::string head_words(int64_t head) { return head < 0 ? "all" : fmt::format("{}", head); }

ReportTable correlation_table(const DebateReport& report) {
  ReportTable table{
      .title = "Kendall's tau of attention with importance",
      .head = {"attention", "importance", "tokens", "predicted", "tau", "p ≤ 0.05", "inputs"},
      .rows = {},
      .names = 4};
  for (const CorrelationSummary& one : report.correlations) {
    if (one.attention.starts_with("layer ")) continue;
    table.rows.push_back({one.attention, one.importance, one.with_special ? "all" : "ordinary",
                          one.predicted.empty() ? "any" : one.predicted, mean_words(one.tau),
                          one.tau.count > 0 ? percent(one.significant) : "–",
                          fmt::format("{}", one.tau.count)});
  }
  table.explained =
      "Mean ± standard deviation over inputs. gradient: attention held constant, as Jain & Wallace "
      "do; full-gradient: through attention, too. Inputs where one side is constant have no tau.";
  return table;
}

// The heads that rank words most like leaving them out.
ReportTable head_table(const DebateReport& report) {
  constexpr size_t kMost = 5;
  std::vector<const CorrelationSummary*> heads;
  for (const CorrelationSummary& one : report.correlations) {
    if (one.attention.starts_with("layer ") && one.importance == "leave-one-out" &&
        one.predicted.empty() && one.tau.count > 0)
      heads.push_back(&one);
  }
  std::ranges::stable_sort(heads,
                           [](const auto* a, const auto* b) { return a->tau.mean > b->tau.mean; });
  ReportTable table{.title = fmt::format("Heads most like leaving words out, of {}", heads.size()),
                    .head = {"head", "tau", "p ≤ 0.05"},
                    .rows = {}};
  for (size_t i = 0; i < std::min(kMost, heads.size()); ++i) {
    table.rows.push_back(
        {heads[i]->attention, mean_words(heads[i]->tau), percent(heads[i]->significant)});
  }
  table.explained = "The best of many heads is high by chance, too.";
  return table;
}

ReportTable permutation_table(const DebateReport& report) {
  ReportTable table{
      .title = "Change of the answer over permutations",
      .head = {"semantics", "layer", "head", "median", "max", "tau with max attention"},
      .rows = {},
      .names = 3};
  for (const PermutationSummary& one : report.permutations) {
    table.rows.push_back(
        {one.semantics, layer_words(one.layer), head_words(one.head), mean_words(one.median),
         mean_words(one.max),
         one.tau_with_max_attention ? fmt::format("{:.2f}", *one.tau_with_max_attention) : "–"});
  }
  table.explained =
      "Total variation distance; means over inputs of the median and the largest of all "
      "permutations. last-row: the read-out row of the last layer (last-CLS). frozen: all rows of "
      "one layer's map, what is above recomputed. live: all layers while they are computed; a "
      "stress test, not to be compared between models of other depth.";
  return table;
}

ReportTable adversary_table(const DebateReport& report) {
  ReportTable table{
      .title = "Furthest attention with nearly the same answer",
      .head = {"scope", "layer", "head", "epsilon", "iterates", "divergence", "above ½ ln 2"},
      .rows = {},
      .names = 5};
  for (const AdversarySummary& one : report.adversaries) {
    table.rows.push_back({one.scope, layer_words(one.layer), head_words(one.head),
                          fmt::format("{:g}", one.epsilon), one.last_iterate ? "last" : "all",
                          mean_words(one.jsd), percent(one.far)});
  }
  table.explained = fmt::format(
      "Jensen–Shannon divergence in nats, at most ln 2 = 0.69. The search allows a change of {:g}; "
      "epsilon is what the report allows. last: the authors' rule, which looks at the last "
      "iterates "
      "only.",
      report.request.adversary.search_epsilon);
  return table;
}

ReportTable uniform_table(const DebateReport& report) {
  ReportTable table{.title = "Uniform attention",
                    .head = {"layers", "change", "same answer", "accuracy before", "after"},
                    .rows = {}};
  for (const UniformSummary& one : report.uniform) {
    table.rows.push_back({one.layers, mean_words(one.tvd), percent(one.same_answer),
                          percent(one.accuracy_before), percent(one.accuracy_after)});
  }
  return table;
}

ReportTable model_table(const DebateReport& report) {
  ReportTable table{
      .title = "Other models", .head = {"model", "divergence", "change of the answer"}, .rows = {}};
  for (const ModelSummary& one : report.models)
    table.rows.push_back({one.model, mean_words(one.jsd), mean_words(one.tvd)});
  return table;
}

ReportTable guide_table(const DiagnosticSummary& found) {
  ReportTable table{
      .title = "Single words with guides", .head = {"guide", "accuracy", "F1"}, .rows = {}};
  for (const GuideSummary& one : found.guides) {
    table.rows.push_back({one.guide, mean_words(one.accuracy), mean_words(one.f1)});
  }
  table.rows.push_back({"(commonest class)", fmt::format("{:.3f}", found.majority), "–"});
  table.explained = fmt::format(
      "Mean ± standard deviation over seeds, on {}; {} to train on and {} to choose the "
      "epoch "
      "by. F1 is the mean over classes. Trained on {}.",
      quantity(found.test, "input"), found.train, found.dev,
      found.of_labels ? "the given labels" : "the model's own answers, for labels are missing");
  return table;
}

ReportTable consistent_table(const ConsistentSummary& found) {
  ReportTable table{.title = "Trained to attend elsewhere",
                    .head = {"lambda", "change", "divergence", "same answer"},
                    .rows = {}};
  for (const ConsistentPoint& one : found.points) {
    table.rows.push_back({fmt::format("{:g}", one.lambda), mean_words(one.tvd), mean_words(one.jsd),
                          percent(one.same_answer)});
  }
  table.explained =
      fmt::format("On {} held-out inputs; trained on {}.", found.held_out, found.train);
  return table;
}

std::vector<ReportTable> tables_of(const DebateReport& report, const std::string& part) {
  std::vector<ReportTable> tables;
  if (part == "correlation") tables = {correlation_table(report), head_table(report)};
  if (part == "permutation") tables = {permutation_table(report)};
  if (part == "adversary") tables = {adversary_table(report)};
  if (part == "uniform") tables = {uniform_table(report)};
  if (part == "seeds") tables = {model_table(report)};
  if (part == "diagnostic" && report.diagnostic) tables = {guide_table(*report.diagnostic)};
  if (part == "consistent" && report.consistent) tables = {consistent_table(*report.consistent)};
  std::erase_if(tables, [](const ReportTable& table) { return table.rows.empty(); });
  return tables;
}

// The joint search at the largest epsilon.
const DebateAdversary* joint_of(const DebateInput& input) {
  for (const DebateAdversary& one : input.adversaries) {
    if (one.scope == "joint" && !one.jsd.empty()) return &one;
  }
  return nullptr;
}

size_t widest_epsilon(const DebateReport& report) {
  const std::vector<double>& epsilons = report.request.adversary.epsilons;
  return static_cast<size_t>(std::ranges::max_element(epsilons) - epsilons.begin());
}

DebateExampleView example_view(const DebateReport& report, const DebateInput& input) {
  const DebateAdversary& found = *joint_of(input);
  const size_t epsilon = widest_epsilon(report);
  DebateExampleView view{
      .title = fmt::format("{}: {} · divergence {:.2f} · change {:.3f}", input.name,
                           report.labels[input.predicted], found.jsd[epsilon], found.tvd[epsilon]),
      .words = {}};
  for (size_t unit = 0; unit < input.units.size(); ++unit) {
    if (!input.special[unit])
      view.words.push_back({input.units[unit], input.attention[unit], found.weights[unit]});
  }
  return view;
}

}  // namespace

std::string mean_words(const DebateMean& mean) {
  if (mean.count == 0) return "–";
  const auto words = [](double number) {
    return number == 0 || std::abs(number) >= 0.001 ? fmt::format("{:.3f}", number)
                                                    : fmt::format("{:.1g}", number);
  };
  return mean.deviation ? words(mean.mean) + " ± " + words(*mean.deviation) : words(mean.mean);
}

std::string debate_title(const DebateReport& report) {
  return "Is attention explanation? " + model_title(report.model);
}

std::string debate_facts(const DebateReport& report) {
  const auto measured = std::ranges::count_if(
      report.inputs, [](const DebateInput& one) { return one.problem.empty(); });
  return fmt::format("{} · {}, {} in the last · seed {} · {:.1f} s", quantity(measured, "input"),
                     quantity(report.layers, "layer"), quantity(report.heads, "head"),
                     report.request.seed, report.seconds);
}

std::vector<DebateSection> debate_sections(const DebateReport& report) {
  std::vector<DebateSection> sections;
  const std::vector<std::string>& asked = report.request.parts;
  for (const DebatePartInfo& part : debate_parts()) {
    if (!asked.empty() && std::ranges::find(asked, part.name) == asked.end()) continue;
    DebateSection section{.part = part, .refusals = {}, .tables = tables_of(report, part.name)};
    for (const DebateVerdict& verdict : report.verdicts) {
      if (verdict.part == part.name) section.verdict = &verdict;
    }
    for (const Refusal& refusal : report.refused) {
      if (refusal.method == part.name) section.refusals.push_back(refusal.reason);
    }
    sections.push_back(std::move(section));
  }
  return sections;
}

std::vector<DebatePoint> adversary_points(const DebateReport& report) {
  std::vector<DebatePoint> points;
  for (const DebateInput& input : report.inputs) {
    const DebateAdversary* found = joint_of(input);
    if (found != nullptr)
      points.push_back({input.max_attention, found->jsd[widest_epsilon(report)], input.predicted});
  }
  return points;
}

std::vector<DebatePoint> permutation_points(const DebateReport& report) {
  std::vector<DebatePoint> points;
  for (const DebateInput& input : report.inputs) {
    for (const DebatePermutation& one : input.permutations) {
      if (one.semantics == "last-row" && one.head < 0)
        points.push_back({one.max_attention, one.median, input.predicted});
    }
  }
  return points;
}

std::vector<DebateExampleView> debate_examples(const DebateReport& report, size_t most) {
  std::vector<const DebateInput*> inputs;
  for (const DebateInput& input : report.inputs) {
    const DebateAdversary* found = joint_of(input);
    if (found != nullptr && found->weights.size() == input.units.size()) inputs.push_back(&input);
  }
  const size_t epsilon = widest_epsilon(report);
  std::ranges::stable_sort(inputs, [&](const DebateInput* a, const DebateInput* b) {
    return joint_of(*a)->jsd[epsilon] > joint_of(*b)->jsd[epsilon];
  });
  std::vector<DebateExampleView> views;
  const size_t count = std::min(most, inputs.size());
  for (size_t i = 0; i < count; ++i) {
    const size_t place = count == 1 ? 0 : i * (inputs.size() - 1) / (count - 1);
    views.push_back(example_view(report, *inputs[place]));
  }
  return views;
}

}  // namespace whyformer::report
