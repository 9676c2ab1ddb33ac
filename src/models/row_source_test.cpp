#include "models/row_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "models/onnx_source.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_model.h"
#include "whyformer/error.h"

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

// As in SAINT: copies of a row with columns hidden would attend to each other.
TEST(RowsOfATable, ThatAttendToEachOtherAreRefused) {
  TinyModel tiny = model_of_rows();
  add_node(tiny.graph(), "Transpose", {"x"}, {"turned"});
  add_node(tiny.graph(), "MatMul", {"x", "turned"}, {"scores"});
  add_node(tiny.graph(), "Softmax", {"scores"}, {"map"});
  add_node(tiny.graph(), "MatMul", {"map", "x"}, {"mixed"});
  add_node(tiny.graph(), "MatMul", {"mixed", "w"}, {"logits"});
  const auto model = loaded_table(tiny);
  for (const int64_t rows : {1, 2}) {
    const std::string why = refusal<UnsupportedModel>(
        [&] { model->graph(model->key_for(kTableColumns, {.batch = rows})); });
    EXPECT_THAT(why, testing::HasSubstr("attend to each other"));
  }
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

}  // namespace
}  // namespace whyformer
