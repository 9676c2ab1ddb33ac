#include "models/one_query.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "ops/ops.h"
#include "tests/support/golden_table.h"

namespace whyformer {
namespace {

FedGraph fed_with(const GoldenTable& golden, DType type, bool answer_only) {
  const auto source = golden.source();
  return source->fed(golden.samples(type),
                     {.head = source->own_head(), .dtype = type, .answer_only = answer_only});
}

std::vector<double> answers_of_run(const FedGraph& fed) {
  const Value output = fed.graph->output;
  return run(fed.graph->graph, fed.feeds, {.outputs = {output}})[output].to_doubles();
}

// Linears that run for all tokens.
int64_t linears_of_tokens(const ModelGraph& built) {
  const Graph& graph = built.graph;
  const int64_t tokens = graph.shape(built.embeddings)[1];
  return std::ranges::count_if(graph.nodes(), [&](const Node& node) {
    const Shape& shape = graph.shape(node.outputs[0]);
    return is_a<ops::Linear>(*node.op) && shape.size() == 3 && shape[1] == tokens;
  });
}

double worst_gap(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = 0, largest = 1;
  for (size_t i = 0; i < a.size(); ++i) {
    worst = std::max(worst, std::abs(a[i] - b[i]));
    largest = std::max(largest, std::abs(a[i]));
  }
  return worst / largest;
}

TEST(SingleQueries, FoldedGiveTheAnswersOfTheWholeGraphForEveryFamily) {
  for (const std::string& name : golden_tables()) {
    const GoldenTable golden(name);
    for (const DType type : {DType::kFloat32, DType::kFloat64}) {
      const double tolerance = type == DType::kFloat64 ? 1e-13 : 2e-6;
      EXPECT_LE(worst_gap(answers_of_run(fed_with(golden, type, false)),
                          answers_of_run(fed_with(golden, type, true))),
                tolerance)
          << name;
    }
  }
}

// Queries, keys and values of the last block.
TEST(SingleQueries, TakeThreeLinearsFromTheTokensOfTheLastBlock) {
  for (const std::string name :
       {"rtdl-revisiting.mixed", "rtdl-old.mixed", "pt-ft.mixed", "ag-ft.mixed"}) {
    const GoldenTable golden(name);
    const FedGraph whole = fed_with(golden, DType::kFloat32, false),
                   only = fed_with(golden, DType::kFloat32, true);
    EXPECT_EQ(linears_of_tokens(*whole.graph) - linears_of_tokens(*only.graph), 3) << name;
  }
}

TEST(SingleQueries, GiveTheSameBitsForRowsAloneAndTogether) {
  for (const std::string& name : golden_tables()) {
    const GoldenTable golden(name);
    const auto source = golden.source();
    const RunKind kind{.head = source->own_head(), .answer_only = true};
    std::vector<Sample> samples = golden.samples(DType::kFloat32);
    while (samples.size() < 70) samples.push_back(samples[samples.size() % 3]);
    const std::vector<double> together = answers_of_run(source->fed(samples, kind));
    const size_t width = together.size() / samples.size();
    for (const size_t row : {size_t{0}, size_t{1}, size_t{41}, samples.size() - 1}) {
      const std::vector<double> own(together.begin() + row * width,
                                    together.begin() + (row + 1) * width);
      EXPECT_EQ(answers_of_run(source->fed({&samples[row], 1}, kind)), own) << name;
    }
  }
}

}  // namespace
}  // namespace whyformer
