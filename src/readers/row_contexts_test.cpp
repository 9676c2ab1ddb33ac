// Explanations of rows in a context, by columns and by rows: SAINT from a folder, as people have
// it.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <numeric>

#include "graph/pass.h"
#include "tests/support/golden_table.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_model.h"
#include "whyformer/answers.h"
#include "whyformer/edits.h"
#include "whyformer/error.h"
#include "whyformer/tables.h"

namespace whyformer {
namespace {

using onnx::refusal;
using testing::DoubleNear;
using testing::HasSubstr;
using testing::Pointwise;

// A golden model as a folder; row 0 is explained, and the others are its context.
struct SaintFolder {
  GoldenTable golden;
  TemporaryFolder folder;
  NamedTable rows;

  explicit SaintFolder(const std::string& name) : golden(name) { write(); }
  void write() {
    golden.save(folder.path());
    std::ofstream(folder.path() / "rows.csv") << golden.csv();
    rows = read_cells(folder.path() / "rows.csv");
    std::string others = golden.csv();
    const size_t first = others.find('\n') + 1;
    others.erase(first, others.find('\n', first) + 1 - first);
    std::ofstream(folder.path() / "context.csv") << others;
  }
  Model load(const std::string& mode = "") const {
    return Model::load(folder.path(),
                       {.context = folder.path() / "context.csv", .context_mode = mode});
  }
  // Of this row in `samples`.
  std::vector<double> answers_among(const std::vector<int64_t>& others, ContextMode mode) const {
    const std::vector<Sample> samples = golden.samples(DType::kFloat64);
    std::vector<Sample> context;
    for (const int64_t other : others) context.push_back(samples[other]);
    const auto source = golden.source()->in_context(context, mode);
    const FedGraph fed = source->fed(std::span(samples).first(1), {.dtype = DType::kFloat64});
    return run(fed.graph->graph, fed.feeds, {.outputs = {fed.graph->output}})[fed.graph->output]
        .to_doubles();
  }
};

Explanation explained_row(const Model& model, const RowInput& row, const std::string& method,
                          bool by_rows = true) {
  return explain(model, row,
                 {.methods = {{method, {}}},
                  .target = int64_t{0},
                  .precision = Precision::kDouble,
                  .by_rows = by_rows})[0];
}

std::vector<double> row_of_golden(const GoldenTable& golden, const std::string& name, int64_t row) {
  const std::vector<double> all = golden.values(name);
  const int64_t outputs = golden.shape(name)[1];
  return {all.begin() + row * outputs, all.begin() + (row + 1) * outputs};
}

TEST(RowContexts, AnExplanationTellsTheAnswerInItsContextAloneAndInOthers) {
  const SaintFolder saint("saint.deep");
  const Explanation found = explained_row(saint.load(), row_of(saint.rows, 0), "gae", false);
  ASSERT_TRUE(found.context.has_value());
  const ContextFacts& facts = *found.context;
  EXPECT_EQ(facts.rows, saint.golden.rows() - 1);
  EXPECT_EQ(facts.from, "context.csv");
  EXPECT_EQ(facts.mode, "frozen");
  EXPECT_EQ(facts.hash.size(), 64u);
  const auto expect = [&](const std::vector<double>& own, const std::string& name) {
    EXPECT_THAT(own, Pointwise(DoubleNear(1e-9), row_of_golden(saint.golden, name, 0))) << name;
  };
  expect(facts.live, "block");
  expect(facts.explained, "frozen");
  expect(facts.alone, "answers");
  expect(found.output.values, "block");  // answers are live
  EXPECT_EQ(facts.contexts, 5);
  EXPECT_LT(facts.lowest[0], facts.highest[0]);
  EXPECT_THAT(found.notes.back(), HasSubstr("|frozen − live| = "));
}

// rows.csv has the explained row, too.
TEST(RowContexts, AContextThatHasTheRowItselfSaysSoAndRandomOnesDoWithoutIt) {
  const SaintFolder saint("saint.deep");
  const Model model =
      Model::load(saint.folder.path(), {.context = saint.folder.path() / "rows.csv"});
  const Explanation found = explained_row(model, row_of(saint.rows, 0), "gae", false);
  EXPECT_EQ(found.context->rows, saint.golden.rows());
  EXPECT_EQ(found.context->equal_rows, 1);
  EXPECT_EQ(found.context->drawn_from, saint.golden.rows() - 1);
  EXPECT_THAT(found.notes.back(), HasSubstr("1 of the context's rows has this one's numbers"));
  const std::string all = saint.golden.csv();
  std::ofstream(saint.folder.path() / "same.csv")
      << all.substr(0, all.find('\n', all.find('\n') + 1) + 1);
  const Explanation alone =
      explained_row(Model::load(saint.folder.path(), {.context = saint.folder.path() / "same.csv"}),
                    row_of(saint.rows, 0), "gae", false);
  EXPECT_EQ(alone.context->contexts, 0);
  EXPECT_THAT(alone.notes.back(), HasSubstr("no other rows to draw contexts from"));
}

TEST(RowContexts, BlocksAreTheOtherRowsOfTheTable) {
  const SaintFolder saint("saint.deep");
  const Model model = Model::load(saint.folder.path());
  ASSERT_EQ(block_rows(model), 256);
  for (int64_t row = 0; row < saint.golden.rows(); ++row) {
    RowInput input = row_of(saint.rows, row);
    add_block(input, saint.rows, row, 256);
    const Explanation found = explained_row(model, input, "gae", false);
    EXPECT_EQ(found.context->from, "block");
    EXPECT_THAT(found.context->live,
                Pointwise(DoubleNear(1e-9), row_of_golden(saint.golden, "block", row)));
    EXPECT_THAT(found.context->explained,
                Pointwise(DoubleNear(1e-9), row_of_golden(saint.golden, "frozen", row)));
  }
}

TEST(RowContexts, AnswersAreThoseOfWholeBlocksOrAlone) {
  const SaintFolder saint("saint.deep");
  const auto all = [&](const Model& model) {
    std::vector<double> values;
    for (const Answer& one :
         answers(model, rows_of(saint.rows), {.precision = Precision::kDouble}).inputs)
      values.insert(values.end(), one.values.begin(), one.values.end());
    return values;
  };
  EXPECT_THAT(all(Model::load(saint.folder.path())),
              Pointwise(DoubleNear(1e-9), saint.golden.values("block")));
  EXPECT_THAT(all(Model::load(saint.folder.path(), {.context_rows = "alone"})),
              Pointwise(DoubleNear(1e-9), saint.golden.values("answers")));
}

// Blocks of two rows: those of PyTorch's batches of two are answers among one other row.
TEST(RowContexts, TheSizeOfABlockIsThatOfTableJson) {
  SaintFolder saint("saint.deep");
  saint.golden.spec.context = ContextSpec{.block = 2};
  saint.write();
  const Model model = Model::load(saint.folder.path());
  const auto found = answers(model, rows_of(saint.rows), {.precision = Precision::kDouble});
  EXPECT_THAT(found.inputs[0].values,
              Pointwise(DoubleNear(1e-9), saint.answers_among({1}, ContextMode::kLive)));
}

TEST(RowContexts, LeavingOutARowIsTheContextWithoutIt) {
  for (const auto& [name, mode] : {std::pair("saint.colrow", ContextMode::kFrozen),
                                   std::pair("saint.row", ContextMode::kFrozen),
                                   std::pair("saint.deep", ContextMode::kLive)}) {
    const SaintFolder saint(name);
    const Explanation found = explained_row(saint.load(std::string(word_of(mode))),
                                            row_of(saint.rows, 0), "leave-one-out");
    const auto rows = static_cast<size_t>(saint.golden.rows());
    ASSERT_EQ(found.units.size(), rows);
    const std::vector<double>& scores = found.attributions[0].scores;
    EXPECT_TRUE(std::isnan(scores[0])) << "the row itself cannot be left out";
    std::vector<int64_t> all(rows - 1);
    std::iota(all.begin(), all.end(), 1);
    for (size_t left_out = 1; left_out < rows; ++left_out) {
      std::vector<int64_t> others = all;
      std::erase(others, static_cast<int64_t>(left_out));
      const double expected =
          saint.answers_among(all, mode)[0] - saint.answers_among(others, mode)[0];
      EXPECT_NEAR(scores[left_out], expected, 1e-9) << name << " row " << left_out;
    }
  }
}

TEST(RowContexts, ShapleyValuesOfRowsAddUpFromTheAnswerAlone) {
  for (const std::string mode : {"frozen", "live"}) {
    const SaintFolder saint("saint.deep");
    const Explanation found = explained_row(saint.load(mode), row_of(saint.rows, 0), "shap");
    const Estimate& estimate = *found.attributions[0].estimate;
    EXPECT_NEAR(estimate.base, found.context->alone[0], 1e-9);
    EXPECT_NEAR(estimate.value, found.context->explained[0], 1e-9);
    double sum = 0;
    for (size_t row = 1; row < found.units.size(); ++row) sum += found.attributions[0].scores[row];
    EXPECT_NEAR(sum, estimate.value - estimate.base, 1e-9);
  }
}

// The map of the graph that explains columns, from the row to itself and to its context.
TEST(RowContexts, AttentionToRowsIsTheModelsOwn) {
  for (const ContextMode mode : {ContextMode::kFrozen, ContextMode::kLive}) {
    const SaintFolder saint("saint.deep");
    const std::vector<Sample> samples = saint.golden.samples(DType::kFloat64);
    const auto source =
        saint.golden.source()->in_context({samples.begin() + 1, samples.end()}, mode);
    const FedGraph fed = source->fed(std::span(samples).first(1), {.dtype = DType::kFloat64});
    const Value last = fed.graph->row_maps.back();
    const std::vector<double> own =
        run(fed.graph->graph, fed.feeds, {.outputs = {last}})[last].to_doubles();
    const Explanation found = explained_row(saint.load(std::string(word_of(mode))),
                                            row_of(saint.rows, 0), "raw-attention");
    const std::vector<double>& scores = found.attributions[0].scores;
    ASSERT_EQ(scores.size(), samples.size());
    EXPECT_NEAR(std::accumulate(scores.begin(), scores.end(), 0.0), 1, 1e-6);
    for (size_t row = 0; row < scores.size(); ++row) EXPECT_NEAR(scores[row], own[row], 1e-6);
    ASSERT_EQ(found.attention.size(), 2u);
    EXPECT_EQ(found.attention[0].queries, saint.golden.rows());
    // Frozen rows do not see the explained one.
    const auto map = found.attention[0].head(0);
    EXPECT_EQ(map[static_cast<size_t>(saint.golden.rows())] == 0, mode == ContextMode::kFrozen);
  }
}

// Scores of all rows but one are so small that they get no attention at all.
TEST(RowContexts, RowsWithoutAttentionCountNothing) {
  SaintFolder saint("saint.row");
  const auto stored = saint.golden.weights.find("transformer.layers.0.0.fn.fn.to_qkv.weight");
  ASSERT_NE(stored, saint.golden.weights.end());
  ASSERT_EQ(stored->second.type, WeightType::kF32);
  std::vector<float> sharp(static_cast<size_t>(stored->second.count()));
  std::memcpy(sharp.data(), stored->second.data.view.data(), stored->second.data.size());
  for (size_t i = 0; i < sharp.size() / 3; ++i) sharp[i] *= 1e5F;
  const std::string bytes(reinterpret_cast<const char*>(sharp.data()), 4 * sharp.size());
  stored->second.data = bytes_of(bytes);
  saint.write();
  const Model model = saint.load();
  const RowInput row = row_of(saint.rows, 0);
  const std::vector<double> attention =
      explained_row(model, row, "raw-attention").attributions[0].scores;
  const std::vector<double> falls =
      explained_row(model, row, "leave-one-out").attributions[0].scores;
  int without = 0;
  for (size_t other = 1; other < attention.size(); ++other) {
    if (attention[other] > 0) continue;
    EXPECT_EQ(falls[other], 0);
    ++without;
  }
  EXPECT_GE(without, 2);
}

TEST(RowContexts, TheOrderOfRowsPermutesTheirScoresAndEqualRowsScoreAlike) {
  SaintFolder saint("saint.deep");
  const auto scores = [&](const std::string& csv, const std::string& method) {
    std::ofstream(saint.folder.path() / "context.csv") << csv;
    return explained_row(saint.load(), row_of(saint.rows, 0), method).attributions[0].scores;
  };
  const std::string all = saint.golden.csv();
  const std::string head = all.substr(0, all.find('\n') + 1);
  std::vector<std::string> lines;
  for (size_t at = head.size(); at < all.size();) {
    const size_t end = all.find('\n', at) + 1;
    lines.push_back(all.substr(at, end - at));
    at = end;
  }
  for (const std::string method :
       {"leave-one-out", "raw-attention", "gae", "shap", "gradient-x-input", "rollout"}) {
    const auto one = scores(head + lines[1] + lines[2] + lines[3], method);
    const auto other = scores(head + lines[3] + lines[1] + lines[2], method);
    for (const auto& [a, b] : {std::pair(1, 2), std::pair(2, 3), std::pair(3, 1)})
      EXPECT_NEAR(one[a], other[b], 1e-9) << method;
    const auto copies = scores(head + lines[1] + lines[2] + lines[1], method);
    EXPECT_NEAR(copies[1], copies[3], 1e-9) << method;
  }
}

// The answers of rows stand in a column that the model does not read.
TEST(RowContexts, RowsAreCountedByTheirOwnAnswers) {
  SaintFolder saint("saint.deep");
  saint.golden.spec.task.name = "kind";
  saint.golden.spec.task.labels = {"no", "yes"};
  saint.write();
  const auto with_answers = [](const std::string& csv, const std::vector<std::string>& answers) {
    std::string all;
    size_t at = 0;
    for (size_t line = 0; at < csv.size(); ++line) {
      const size_t end = csv.find('\n', at);
      all += csv.substr(at, end - at) + "," + (line == 0 ? "kind" : answers[(line - 1) % 3]) + "\n";
      at = end + 1;
    }
    return all;
  };
  const std::string plain = saint.golden.csv();
  const size_t first = plain.find('\n') + 1;
  std::string others = plain;
  others.erase(first, plain.find('\n', first) + 1 - first);
  const auto found = [&](const std::string& csv) {
    std::ofstream(saint.folder.path() / "context.csv") << csv;
    return explained_row(saint.load(), row_of(saint.rows, 0), "shap");
  };
  const Explanation told = found(with_answers(others, {"yes", "no", "yes"}));
  const Explanation untold = found(others);
  double yes = 0, no = 0;
  int64_t rows_of_yes = 0;
  for (size_t unit = 1; unit < untold.units.size(); ++unit) {
    const bool is_yes = (unit - 1) % 3 != 1;
    (is_yes ? yes : no) += untold.attributions[0].scores[unit];
    rows_of_yes += is_yes;
  }
  const int64_t rows = static_cast<int64_t>(untold.units.size()) - 1;
  EXPECT_THAT(told.attributions[0].notes,
              testing::Contains(testing::AllOf(
                  HasSubstr(fmt::format("no {:.3g} ({} row", no, rows - rows_of_yes)),
                  HasSubstr(fmt::format("yes {:.3g} ({} rows)", yes, rows_of_yes)),
                  HasSubstr(fmt::format("{} no, {} yes", rows - rows_of_yes, rows_of_yes)))));
  for (const std::string& note : untold.attributions[0].notes)
    EXPECT_THAT(note, testing::Not(HasSubstr("own answers")));
  // Maps show groups: those of "no" stand first, and rows keep their numbers and scores.
  EXPECT_EQ(told.units[1].row, 1);
  EXPECT_THAT(told.units[1].cell, testing::EndsWith("→ no"));
  for (const Unit& unit : told.units) {
    if (*unit.row < 0) continue;
    const auto same = std::ranges::find(untold.units, unit.row, &Unit::row);
    EXPECT_NEAR(told.attributions[0].scores[&unit - told.units.data()],
                untold.attributions[0].scores[same - untold.units.begin()], 1e-9);
  }
}

// Entropy and the share of the row itself, from the map as reports have it.
TEST(RowContexts, TheRowsAttentionIsToldInNumbers) {
  const SaintFolder saint("saint.row");
  const Explanation found =
      explained_row(saint.load("live"), row_of(saint.rows, 0), "raw-attention");
  const std::vector<double>& weights = found.attributions[0].scores;  // one layer, mean over heads
  double entropy = 0;
  for (const double weight : weights) entropy -= weight * std::log(weight);
  EXPECT_THAT(found.notes,
              testing::Contains(testing::AllOf(
                  HasSubstr(fmt::format("gives itself {:.1f} %", 100 * weights[0])),
                  HasSubstr(fmt::format("its entropy is {:.2f} ", entropy)),
                  HasSubstr(fmt::format("at most {:.2f} nats",
                                        std::log(static_cast<double>(weights.size())))))));
}

TEST(RowContexts, MapsOfColumnsAreRefusedInALiveContextWithTheReason) {
  const SaintFolder saint("saint.colrow");
  const Explanation found =
      explain(saint.load("live"), row_of(saint.rows, 0),
              {.methods = {{"raw-attention", {}}, {"gradient-x-input", {}}}})[0];
  ASSERT_EQ(found.refused.size(), 1u);
  EXPECT_THAT(found.refused[0].reason, HasSubstr("live context"));
  const Explanation frozen =
      explain(saint.load("frozen"), row_of(saint.rows, 0), {.methods = {{"raw-attention", {}}}})[0];
  EXPECT_EQ(frozen.attributions.size(), 1u);
}

// Without other rows and a background, what Python explains of a single row of a frame.
TEST(RowContexts, DefaultMethodsOfARowAloneGiveScores) {
  for (const char* name : {"saint.col", "saint.colrow", "saint.row"}) {
    const SaintFolder saint(name);
    const Model model = Model::load(saint.folder.path());
    const RowInput row = row_of(saint.rows, 0);
    ExplainRequest request;
    for (const std::string& method : default_methods(model, row))
      request.methods.push_back({method});
    const Explanation found = explain(model, row, request)[0];
    EXPECT_THAT(found.refused, testing::IsEmpty()) << name;
    EXPECT_EQ(found.attributions.size(), request.methods.size());
  }
}

// Of the answer to each row's tokens, by finite differences of the graph that has them.
TEST(RowContexts, GradientsGoToTheTokensOfAllRows) {
  for (const ContextMode mode : {ContextMode::kFrozen, ContextMode::kLive}) {
    const GoldenTable golden("saint.deep");
    const std::vector<Sample> samples = golden.samples(DType::kFloat64);
    const auto in_context = golden.source()->in_context({samples.begin() + 1, samples.end()}, mode);
    Sample row = samples[0];
    Tensor seen = Tensor::zeros({golden.rows() - 1}, DType::kFloat64);
    seen.fill(1);
    row[kRowsSeen] = seen;
    const FedGraph fed =
        in_context->by_rows().attending->fed({&row, 1}, {.dtype = DType::kFloat64});
    const Value tokens = fed.graph->entries[0].value, output = fed.graph->output;
    const Pass own = run(fed.graph->graph, fed.feeds, {.outputs = {tokens, output}});
    const std::vector<double> numbers = own[tokens].to_doubles();
    const auto answer_with = [&](size_t at, double step) {
      std::vector<double> moved = numbers;
      moved[at] += step;
      Feeds feeds = fed.feeds;
      feeds[tokens] = Tensor::of<double>(own[tokens].shape(), std::span<const double>(moved));
      return run(fed.graph->graph, feeds, {.outputs = {output}})[output].to_doubles()[0];
    };
    const SaintFolder saint("saint.deep");
    const auto scores = explained_row(saint.load(std::string(word_of(mode))), row_of(saint.rows, 0),
                                      "gradient-x-input")
                            .attributions[0]
                            .scores;
    const size_t width = numbers.size() / samples.size();
    for (size_t unit = 0; unit < samples.size(); ++unit) {
      double expected = 0;
      for (size_t i = unit * width; i < (unit + 1) * width; ++i) {
        constexpr double kStep = 1e-5;
        const double slope = (answer_with(i, kStep) - answer_with(i, -kStep)) / (2 * kStep);
        expected += slope * numbers[i];
      }
      EXPECT_NEAR(scores[unit], expected, 1e-6 * std::max(1.0, std::abs(expected)));
    }
  }
}

TEST(RowContexts, EveryMethodScoresRowsOrSaysWhyNot) {
  const SaintFolder saint("saint.deep");
  const Model model = saint.load();
  ExplainRequest request{.by_rows = true};
  for (const MethodInfo& method : methods()) request.methods.push_back({method.name, {}});
  const Explanation found = explain(model, row_of(saint.rows, 0), request)[0];
  EXPECT_EQ(found.attributions.size() + found.refused.size(), request.methods.size());
  EXPECT_GE(found.attributions.size(), 12u);
  for (const Attribution& one : found.attributions)
    EXPECT_EQ(one.scores.size(), found.units.size()) << one.method;
}

TEST(RowContexts, AreRefusedWhereTheyMeanNothing) {
  const GoldenTable apart("rtdl-revisiting.mixed");
  const TemporaryFolder folder;
  apart.save(folder.path());
  EXPECT_THAT(refusal<InvalidInput>([&] { Model::load(folder.path(), {.context_rows = "alone"}); }),
              HasSubstr("only rows of a table attend to each other"));
  const SaintFolder saint("saint.colrow");
  const Model alone = Model::load(saint.folder.path(), {.context_rows = "alone"});
  EXPECT_THAT(
      refusal<InvalidInput>([&] { explained_row(alone, row_of(saint.rows, 0), "leave-one-out"); }),
      HasSubstr("explained alone"));
  EXPECT_THAT(refusal<InvalidInput>([&] {
                explain(saint.load(), row_of(saint.rows, 0),
                        {.methods = {{"leave-one-out", {}}},
                         .edits = {parse_edit("zero blocks.0.mlp.output")},
                         .by_rows = true});
              }),
              HasSubstr("by columns, not by the rows"));
  EXPECT_THAT(refusal<InvalidInput>([&] {
                explain(Model::built_in(), TextInput{"good"},
                        {.methods = {{"gae", {}}}, .by_rows = true});
              }),
              HasSubstr("which rows count"));
  EXPECT_THAT(
      refusal<InvalidInput>([&] { Model::load(saint.folder.path(), {.context_mode = "thawed"}); }),
      HasSubstr("frozen or live"));
}

}  // namespace
}  // namespace whyformer
