#include "tests/support/small_table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_model.h"

namespace whyformer {
namespace {

using onnx::add_floats;
using onnx::add_integers;
using onnx::add_node;
using onnx::set_integer;
using onnx::set_integers;

constexpr int64_t kWidth = 4;

// Numbers without a pattern, by place.
float number_at(int64_t place) {
  return static_cast<float>(0.6 *
                            std::sin(1.7 * static_cast<double>(place * place + 3 * place) + 0.4));
}

std::vector<float> numbers_at(int64_t first, int64_t count) {
  std::vector<float> numbers;
  for (int64_t i = 0; i < count; ++i) numbers.push_back(number_at(first + i));
  return numbers;
}

// A column's vectors; the last coordinate is the one that no value reads.
std::vector<float> column_vectors(const std::vector<int64_t>& columns, int64_t first) {
  std::vector<float> vectors;
  for (const int64_t column : columns) {
    for (int64_t k = 0; k < kWidth; ++k) {
      const bool here = (column == kColumnWithoutValues) == (k == kWidth - 1);
      vectors.push_back(here ? number_at(first + column * kWidth + k) : 0);
    }
  }
  return vectors;
}

// The layer's part of the graph, from tokens to tokens.
std::string add_layer(onnx::TinyModel& model, const std::string& tokens, int64_t layer,
                      bool uniform) {
  const auto name = [&](const char* what) { return fmt::format("{}.{}", what, layer); };
  const auto heads_of = [&](const char* what, std::vector<float> weights, bool keys) {
    add_floats(model.graph(), name(what) + ".weight", {kWidth, kWidth}, weights);
    add_node(model.graph(), "MatMul", {tokens, name(what) + ".weight"}, {name(what) + ".flat"});
    add_node(model.graph(), "Reshape", {name(what) + ".flat", "split"}, {name(what) + ".split"});
    const std::vector<int64_t> order =
        keys ? std::vector<int64_t>{0, 2, 3, 1} : std::vector<int64_t>{0, 2, 1, 3};
    set_integers(add_node(model.graph(), "Transpose", {name(what) + ".split"}, {name(what)}),
                 "perm", order);
  };
  std::vector<float> values = numbers_at(500 + 100 * layer, kWidth * kWidth);
  for (int64_t k = 0; k < kWidth; ++k) values[(kWidth - 1) * kWidth + k] = 0;
  heads_of("q",
           uniform ? std::vector<float>(kWidth * kWidth, 0.0f)
                   : numbers_at(300 + 100 * layer, kWidth * kWidth),
           false);
  heads_of("k", numbers_at(400 + 100 * layer, kWidth * kWidth), true);
  heads_of("v", values, false);
  add_node(model.graph(), "MatMul", {name("q"), name("k")}, {name("products")});
  set_integer(add_node(model.graph(), "Softmax", {name("products")}, {name("map")}), "axis", -1);
  add_node(model.graph(), "MatMul", {name("map"), name("v")}, {name("mixed")});
  set_integers(add_node(model.graph(), "Transpose", {name("mixed")}, {name("back")}), "perm",
               {0, 2, 1, 3});
  add_node(model.graph(), "Reshape", {name("back"), "join"}, {name("joined")});
  add_node(model.graph(), "Add", {tokens, name("joined")}, {name("tokens")});
  return name("tokens");
}

// A class token in front of the columns' vectors or behind them.
std::string add_class_token(onnx::TinyModel& model, bool last) {
  add_integers(model.graph(), "zero", {1}, {0});
  add_integers(model.graph(), "one", {1}, {1});
  add_integers(model.graph(), "rest", {2}, {1, kWidth});
  add_floats(model.graph(), "class", {1, 1, kWidth}, numbers_at(200, kWidth));
  add_node(model.graph(), "Shape", {"x"}, {"shape"});
  add_node(model.graph(), "Slice", {"shape", "zero", "one"}, {"batch"});
  set_integer(add_node(model.graph(), "Concat", {"batch", "rest"}, {"whole"}), "axis", 0);
  add_node(model.graph(), "Expand", {"class", "whole"}, {"classes"});
  const std::vector<std::string> order = last ? std::vector<std::string>{"vectors", "classes"}
                                              : std::vector<std::string>{"classes", "vectors"};
  set_integer(add_node(model.graph(), "Concat", order, {"tokens"}), "axis", 1);
  return "tokens";
}

// z and -z from [batch, width].
void add_head(onnx::TinyModel& model, const std::string& read, int64_t width, double factor) {
  std::vector<float> weights;
  for (int64_t k = 0; k < width; ++k) {
    weights.push_back(static_cast<float>(factor) * number_at(900 + k));
    weights.push_back(-weights.back());
  }
  add_floats(model.graph(), "head", {width, 2}, weights);
  add_node(model.graph(), "MatMul", {read, "head"}, {"y"});
  model.output("y");
}

}  // namespace

RowInput SmallTable::row() const {
  const double numbers[] = {0.8, -1.3, 0.5, 1.7}, other[] = {-0.2, 0.4, 1.1, -0.9};
  RowInput row;
  for (const int64_t column : columns) {
    row.names.emplace_back(1, static_cast<char>('a' + column));
    row.values.push_back(numbers[column]);
    row.background.values.push_back(other[column]);
  }
  row.background.rows = 1;
  row.background.columns = static_cast<int64_t>(columns.size());
  return row;
}

std::string SmallTable::onnx() const {
  const auto count = static_cast<int64_t>(columns.size());
  const bool has_class = read == ReadBy::kClassToken;
  const int64_t tokens = count + (has_class ? 1 : 0);
  onnx::TinyModel model;
  model.input("x", {-1, count});
  add_integers(model.graph(), "behind", {1}, {2});
  add_integers(model.graph(), "split", {4}, {0, tokens, 2, kWidth / 2});
  add_integers(model.graph(), "join", {3}, {0, tokens, kWidth});
  add_node(model.graph(), "Unsqueeze", {"x", "behind"}, {"numbers"});
  add_floats(model.graph(), "scales", {count, kWidth}, column_vectors(columns, 10));
  add_floats(model.graph(), "biases", {count, kWidth}, column_vectors(columns, 50));
  add_node(model.graph(), "Mul", {"numbers", "scales"}, {"scaled"});
  add_node(model.graph(), "Add", {"scaled", "biases"}, {"vectors"});
  std::string last = has_class ? add_class_token(model, class_is_last) : "vectors";
  for (int64_t layer = 0; layer < layers; ++layer) last = add_layer(model, last, layer, uniform);
  if (has_class) {
    add_integers(model.graph(), "read", {}, {class_is_last ? count : 0});
    set_integer(add_node(model.graph(), "Gather", {last, "read"}, {"row"}), "axis", 1);
  } else {
    add_node(model.graph(), "Flatten", {last}, {"row"});
  }
  add_head(model, "row", has_class ? kWidth : kWidth * tokens, head);
  return model.text();
}

Model SmallTable::load() const {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "model.onnx";
  save(path, onnx());
  return Model::load(path);
}

}  // namespace whyformer
