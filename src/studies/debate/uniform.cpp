#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "studies/debate/debate_part.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// All free weights of every row equal.
Tensor uniform_map(const DebateRun& debate, const Tensor& map) {
  std::vector<double> weights = map.to_doubles();
  const int64_t keys = map.dim(-1);
  for (size_t first = 0; first < weights.size(); first += keys) {
    const std::span<double> row(weights.data() + first, keys);
    const std::vector<int64_t> free = free_keys(debate, row);
    double sum = 0;
    for (const int64_t key : free) sum += row[key];
    for (const int64_t key : free) row[key] = sum / static_cast<double>(free.size());
  }
  return Tensor::of<double>(map.shape(), std::span<const double>(weights)).cast(map.dtype());
}

// Above the first changed layer nothing else is as it was; maps themselves are set, not computed.
DebateUniform with_uniform(DebateRun& debate, const std::string& layers, int first) {
  const FedGraph own = debate.run().input().copies(1);
  const Graph& graph = own.graph->graph;
  Feeds feeds = own.feeds;
  for (int layer = first; layer < debate.run().layers(); ++layer) {
    const Value map = own.graph->found.sites[layer].attention;
    feeds[map] =
        uniform_map(debate, debate.run().pass()[debate.run().found().sites[layer].attention]);
  }
  const std::vector<double> outputs =
      run(graph, feeds, {Keep::kOutputs, {own.graph->output}})[own.graph->output].to_doubles();
  return {layers, debate.change(outputs), std::ranges::max_element(outputs) - outputs.begin()};
}

void measure_uniform(DebateRun& debate, DebateInput& result) {
  if (debate.run().layers() == 0) throw InvalidInput(kNoAttention);
  result.uniform.push_back(with_uniform(debate, "last", debate.last_layer()));
  result.uniform.push_back(with_uniform(debate, "all", 0));
}

UniformSummary summary_of(const std::string& layers, const std::vector<DebateInput>& inputs) {
  UniformSummary summary{.layers = layers};
  std::vector<double> tvd;
  double before = 0, after = 0, labelled = 0;
  for (const DebateInput& input : inputs) {
    for (const DebateUniform& one : input.uniform) {
      if (one.layers != layers) continue;
      tvd.push_back(one.tvd);
      summary.same_answer += one.predicted == input.predicted;
      if (input.label < 0) continue;
      ++labelled;
      before += input.predicted == input.label;
      after += one.predicted == input.label;
    }
  }
  summary.tvd = debate_mean(tvd);
  if (!tvd.empty()) summary.same_answer /= static_cast<double>(tvd.size());
  if (labelled > 0) {
    summary.accuracy_before = before / labelled;
    summary.accuracy_after = after / labelled;
  }
  return summary;
}

void conclude_uniform(const DebateCorpus&, DebateReport& report) {
  for (const char* layers : {"last", "all"}) {
    UniformSummary summary = summary_of(layers, report.inputs);
    if (summary.tvd.count > 0) report.uniform.push_back(std::move(summary));
  }
  if (report.uniform.empty()) throw InvalidInput("attention was made uniform on no input");
  const UniformSummary& last = report.uniform[0];
  const UniformSummary& all = report.uniform.back();
  report.verdicts.push_back(
      {"uniform",
       fmt::format(
           "With uniform attention in the last layer {:.0f} % of the answers stay, with "
           "uniform attention everywhere {:.0f} %.{}",
           100 * last.same_answer, 100 * all.same_answer,
           all.same_answer > 0.95
               ? " This task hardly needs attention, so attention cannot explain much of it."
               : ""),
       "The weights were not trained for uniform attention: Wiegreffe & Pinter retrain before they "
       "judge. A model that fails here might have done without attention if trained so."});
}

}  // namespace

const DebatePart kUniformPart{{.name = "uniform",
                               .question = "Does the model need its attention?",
                               .paper = "Wiegreffe & Pinter, EMNLP 2019, 3.2, without retraining"},
                              nullptr,
                              measure_uniform,
                              conclude_uniform};

}  // namespace whyformer
