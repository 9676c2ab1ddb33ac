#include "models/row_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "models/onnx_source.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_model.h"
#include "whyformer/answers.h"
#include "whyformer/error.h"
#include "whyformer/model.h"

namespace whyformer {
namespace {

using onnx::add_floats;
using onnx::add_node;
using onnx::refusal;
using onnx::TinyModel;

constexpr int64_t kTableColumns = 3;

// Rows [rows, 3], and what is still to become the output "logits".
TinyModel model_of_rows() {
  TinyModel tiny;
  tiny.input("x", {-1, kTableColumns});
  tiny.output("logits");
  add_floats(tiny.graph(), "w", {kTableColumns, 2}, {1, 2, 3, 4, 5, 6});
  return tiny;
}

std::shared_ptr<const RowSource> loaded_table(const TinyModel& tiny) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "model.onnx";
  std::ofstream(file, std::ios::binary) << tiny.text();
  return onnx_row_source(open_onnx(file), "rows", "");
}

TEST(RowsOfATable, RunTogetherWhereTheyStayApart) {
  TinyModel tiny = model_of_rows();
  add_node(tiny.graph(), "MatMul", {"x", "w"}, {"logits"});
  EXPECT_GT(loaded_table(tiny)->max_rows_at_once(kTableColumns), 1000);
}

// softmax(x xᵀ) x w
TinyModel model_of_attending_rows() {
  TinyModel tiny = model_of_rows();
  add_node(tiny.graph(), "Transpose", {"x"}, {"turned"});
  add_node(tiny.graph(), "MatMul", {"x", "turned"}, {"scores"});
  add_node(tiny.graph(), "Softmax", {"scores"}, {"map"});
  add_node(tiny.graph(), "MatMul", {"map", "x"}, {"mixed"});
  add_node(tiny.graph(), "MatMul", {"mixed", "w"}, {"logits"});
  return tiny;
}

// As in SAINT: copies of a row with columns hidden would attend to each other.
TEST(RowsOfATable, ThatAttendToEachOtherAreRefused) {
  const auto model = loaded_table(model_of_attending_rows());
  for (const int64_t rows : {1, 2}) {
    const std::string why = refusal<UnsupportedModel>(
        [&] { model->graph(model->key_for(kTableColumns, {.batch = rows})); });
    EXPECT_THAT(why, testing::HasSubstr("attend to each other"));
  }
}

using Rows = std::vector<std::vector<double>>;

// The formula, for the first of these rows.
std::vector<double> attending_answer(const Rows& rows) {
  std::vector<double> weights, mixed(kTableColumns, 0.0);
  double sum = 0;
  for (const std::vector<double>& row : rows) {
    double score = 0;
    for (int64_t i = 0; i < kTableColumns; ++i) score += rows[0][i] * row[i];
    weights.push_back(std::exp(score));
    sum += weights.back();
  }
  for (size_t row = 0; row < rows.size(); ++row) {
    for (int64_t i = 0; i < kTableColumns; ++i) mixed[i] += weights[row] / sum * rows[row][i];
  }
  return {mixed[0] * 1 + mixed[1] * 3 + mixed[2] * 5, mixed[0] * 2 + mixed[1] * 4 + mixed[2] * 6};
}

std::vector<double> answer_of(const RowSource& source, const Rows& rows) {
  std::vector<Sample> samples;
  for (const std::vector<double>& row : rows) {
    samples.push_back(RowSource::sample_of(source.columns(kTableColumns), row, DType::kFloat64));
  }
  const FedGraph fed = source.fed(samples, {.dtype = DType::kFloat64});
  return run(fed.graph->graph, fed.feeds, {.outputs = {fed.graph->output}})[fed.graph->output]
      .to_doubles();
}

TEST(RowsOfATable, ThatAttendToEachOtherAnswerInAContext) {
  const Rows rows{{0.3, -0.2, 0.5}, {0.1, 0.9, -0.4}, {-0.6, 0.2, 0.7}};
  const auto model = loaded_table(model_of_attending_rows());
  EXPECT_TRUE(model->rows_attend());
  EXPECT_FALSE(model->can_freeze());
  const auto columns = model->columns(kTableColumns);
  const std::vector<Sample> context{RowSource::sample_of(columns, rows[1], DType::kFloat64),
                                    RowSource::sample_of(columns, rows[2], DType::kFloat64)};
  const auto in_context = model->in_context(context, ContextMode::kLive);
  EXPECT_EQ(in_context->max_rows_at_once(kTableColumns), 1);
  const auto near = [](const std::vector<double>& expected) {
    return testing::Pointwise(testing::DoubleNear(1e-6), expected);
  };
  EXPECT_THAT(answer_of(*in_context, {rows[0]}), near(attending_answer(rows)));
  EXPECT_THAT(answer_of(*model->in_context({}, ContextMode::kLive), {rows[0]}),
              near(attending_answer({rows[0]})));
  const std::vector<double> block = answer_of(*model->in_blocks(), rows);
  EXPECT_THAT(std::vector(block.begin(), block.begin() + 2), near(attending_answer(rows)));
}

TEST(RowsOfATable, ThatAttendToEachOtherAreExplainedInAContextAlone) {
  const Rows rows{{0.3, -0.2, 0.5}, {0.1, 0.9, -0.4}, {-0.6, 0.2, 0.7}};
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "model.onnx", csv = folder.path() / "c.csv";
  std::ofstream(file, std::ios::binary) << model_of_attending_rows().text();
  std::ofstream(csv) << "a,b,c\n0.1,0.9,-0.4\n-0.6,0.2,0.7\n";
  const RowInput row{{"a", "b", "c"}, rows[0]};
  const ExplainRequest request{
      .methods = {{"leave-one-out", {{"how", std::string("zero")}}}, {"saliency", {}}},
      .target = int64_t{0},
      .precision = Precision::kDouble};
  const Model model = Model::load(file, {.context = csv});
  const Explanation found = explain(model, row, request)[0];
  EXPECT_NEAR(found.output.values[0], attending_answer(rows)[0], 1e-6);
  for (int64_t column = 0; column < kTableColumns; ++column) {
    Rows hidden = rows;
    hidden[0][column] = 0;
    EXPECT_NEAR(found.attributions[0].scores[column],
                attending_answer(rows)[0] - attending_answer(hidden)[0], 1e-6);
    constexpr double kStep = 1e-6;
    Rows more = rows, less = rows;
    more[0][column] += kStep;
    less[0][column] -= kStep;
    const double slope = (attending_answer(more)[0] - attending_answer(less)[0]) / (2 * kStep);
    EXPECT_NEAR(found.attributions[1].scores[column], std::abs(slope), 1e-5);
  }
  EXPECT_EQ(found.context->mode, "live");
  // By columns only, and never frozen.
  EXPECT_THAT(refusal<UnsupportedModel>(
                  [&] { explain(model, row, {.methods = request.methods, .by_rows = true}); }),
              testing::HasSubstr("give the checkpoint"));
  EXPECT_THAT(
      refusal<InvalidInput>([&] { Model::load(file, {.context = csv, .context_mode = "frozen"}); }),
      testing::HasSubstr("live, not frozen"));
  EXPECT_THAT(refusal<UnsupportedModel>([&] { explain(Model::load(file), row, request); }),
              testing::HasSubstr("attend to each other"));
}

TEST(RowsOfATable, ThatMixInAnotherWayRunOneByOne) {
  TinyModel tiny = model_of_rows();
  onnx::set_integers(add_node(tiny.graph(), "ReduceMean", {"x"}, {"mean"}), "axes", {0});
  add_node(tiny.graph(), "Sub", {"x", "mean"}, {"centred"});
  add_node(tiny.graph(), "MatMul", {"centred", "w"}, {"logits"});
  EXPECT_EQ(loaded_table(tiny)->max_rows_at_once(kTableColumns), 1);
}

TEST(OutputOfATable, IsTheOneThatWasAskedFor) {
  TinyModel tiny = model_of_rows();
  add_node(tiny.graph(), "MatMul", {"x", "w"}, {"logits"});
  add_node(tiny.graph(), "Neg", {"logits"}, {"others"});
  tiny.output("others");
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "model.onnx";
  std::ofstream(file, std::ios::binary) << tiny.text();
  const auto answer = [&](const std::string& output) {
    const auto model = onnx_row_source(open_onnx(file), "rows", output);
    const std::vector<Sample> row{
        RowSource::sample_of(model->columns(kTableColumns), {1, 0, 0}, DType::kFloat32)};
    const FedGraph fed = model->fed(row, {.head = model->own_head()});
    const Value answers = fed.graph->output;
    return run(fed.graph->graph, fed.feeds, {.outputs = {answers}})[answers].to_doubles();
  };
  EXPECT_THAT(answer(""), testing::ElementsAre(1, 2));
  EXPECT_THAT(answer("others"), testing::ElementsAre(-1, -2));
  EXPECT_THAT(refusal<InvalidInput>([&] { answer("none"); }),
              testing::HasSubstr("its outputs are 'logits', 'others'"));
}

// Tokens x_j w_j + max(0, x_1 - 5) u_j, one layer of attention, and the mean of its rows.
TinyModel model_of_gated_columns() {
  TinyModel tiny;
  tiny.input("x", {-1, kTableColumns});
  tiny.output("logits");
  add_floats(tiny.graph(), "second", {kTableColumns, 1}, {0, 1, 0});
  add_floats(tiny.graph(), "five", {1}, {5});
  add_floats(tiny.graph(), "w", {1, kTableColumns, 2}, {0.5F, -0.2F, 0.3F, 0.7F, -0.4F, 0.6F});
  add_floats(tiny.graph(), "u", {1, kTableColumns, 2}, {0.2F, 0.4F, -0.3F, 0.1F, 0.5F, -0.6F});
  add_floats(tiny.graph(), "head", {2, 2}, {1, -1, 0.5F, 2});
  onnx::add_integers(tiny.graph(), "as_tokens", {3}, {-1, kTableColumns, 1});
  onnx::add_integers(tiny.graph(), "as_gates", {3}, {-1, 1, 1});
  add_node(tiny.graph(), "Reshape", {"x", "as_tokens"}, {"numbers"});
  add_node(tiny.graph(), "Mul", {"numbers", "w"}, {"own"});
  add_node(tiny.graph(), "MatMul", {"x", "second"}, {"column"});
  add_node(tiny.graph(), "Sub", {"column", "five"}, {"above"});
  add_node(tiny.graph(), "Relu", {"above"}, {"open"});
  add_node(tiny.graph(), "Reshape", {"open", "as_gates"}, {"gate"});
  add_node(tiny.graph(), "Mul", {"gate", "u"}, {"gated"});
  add_node(tiny.graph(), "Add", {"own", "gated"}, {"tokens"});
  add_floats(tiny.graph(), "by_query", {2, 2}, {0.9F, -0.3F, 0.2F, 0.8F});
  add_floats(tiny.graph(), "by_key", {2, 2}, {0.4F, 0.7F, -0.6F, 0.5F});
  add_floats(tiny.graph(), "by_value", {2, 2}, {1.1F, 0.3F, -0.2F, 0.6F});
  for (const std::string part : {"query", "key", "value"})
    add_node(tiny.graph(), "MatMul", {"tokens", "by_" + part}, {part});
  onnx::set_integers(add_node(tiny.graph(), "Transpose", {"key"}, {"turned"}), "perm", {0, 2, 1});
  add_node(tiny.graph(), "MatMul", {"query", "turned"}, {"scores"});
  add_node(tiny.graph(), "Softmax", {"scores"}, {"map"});
  add_node(tiny.graph(), "MatMul", {"map", "value"}, {"read"});
  add_node(tiny.graph(), "Add", {"tokens", "read"}, {"mixed"});
  auto& mean = add_node(tiny.graph(), "ReduceMean", {"mixed"}, {"pooled"});
  onnx::set_integers(mean, "axes", {1});
  onnx::set_integer(mean, "keepdims", 0);
  add_node(tiny.graph(), "MatMul", {"pooled", "head"}, {"logits"});
  return tiny;
}

// Where one column opens a gate to the others' tokens, no token is its column's alone.
TEST(RowsOfATable, HaveTheShapleyValuesOfTheirAnswersWhereColumnsMeetInFrontOfAttention) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "model.onnx";
  std::ofstream(file, std::ios::binary) << model_of_gated_columns().text();
  const Model model = Model::load(file);
  RowInput row{{"a", "b", "c"}, {0.4, 0, -1.1}};
  constexpr int64_t kOthers = 40;
  row.background = {.rows = kOthers, .columns = kTableColumns};
  for (int64_t other = 0; other < kOthers; ++other) {
    const double number = static_cast<double>(other) / kOthers;
    for (const double value : {number - 0.5, other % 2 == 0 ? 9.0 : 0.0, 1 - number})
      row.background.values.push_back(value);
  }
  const auto value_of = [&](unsigned coalition) {
    std::vector<InputValue> rows;
    for (int64_t other = 0; other < kOthers; ++other) {
      RowInput mixed{row.names, row.values};
      for (int64_t column = 0; column < kTableColumns; ++column) {
        if ((coalition >> column & 1U) == 0)
          mixed.values[column] = row.background.values[other * kTableColumns + column];
      }
      rows.emplace_back(mixed);
    }
    double sum = 0;
    for (const Answer& one : answers(model, rows, {.precision = Precision::kDouble}).inputs)
      sum += one.values[0];
    return sum / kOthers;
  };
  const Explanation found = explain(
      model, row,
      {.methods = {{"exact-shap", {}}}, .target = int64_t{0}, .precision = Precision::kDouble})[0];
  for (unsigned column = 0; column < kTableColumns; ++column) {
    const unsigned own = 1U << column, first = 1U << (column + 1) % 3, last = 7 ^ own ^ first;
    const double expected =
        (value_of(own) - value_of(0)) / 3 + (value_of(own | first) - value_of(first)) / 6 +
        (value_of(own | last) - value_of(last)) / 6 + (value_of(7) - value_of(7 ^ own)) / 3;
    EXPECT_NEAR(found.attributions[0].scores[column], expected, 1e-9) << column;
  }
}

}  // namespace
}  // namespace whyformer
