// A small FT-Transformer as an ONNX file, made as tests want it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "whyformer/tables.h"

namespace whyformer {

// Columns a, b, c, … of numbers and a class token, width 4, two heads, no norms and no positions.
// The outputs are z and -z.
struct SmallTable {
  enum class ReadBy { kClassToken, kAllTokens };  // all: flattened, and there is no class token

  std::vector<int64_t> columns = {0, 1, 2};  // which of the four columns there are, in this order
  int64_t layers = 2;
  bool class_is_last = false;
  bool uniform = false;  // queries of zeros: every token attends to all alike
  double head = 1;       // factor of the last product
  ReadBy read = ReadBy::kClassToken;

  // The columns' numbers, in their order.
  RowInput row() const;
  // Loads the file, which is gone afterwards.
  Model load() const;

 private:
  std::string onnx() const;
};

// Every token of the column with this number lies where the values' matrices are 0.
inline constexpr int64_t kColumnWithoutValues = 3;

}  // namespace whyformer
