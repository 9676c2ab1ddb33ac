// What a method finds important over many explained inputs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "whyformer/explanation.h"

namespace whyformer {

// One score of a feature.
struct SummaryPoint {
  double score = 0;
  int64_t instance = 0;              // index of the explanation
  std::optional<double> value = {};  // of the table's column; none for tokens
  std::optional<double> level =
      {};  // the same between the column's least (0) and largest (1) value; none for categories
  // Of a table's column: the cell as it was written.
  std::string cell = {};
  bool category = false;
  bool missing = false;  // the cell has no value
};

struct SummaryRow {
  std::string name;
  double mean =
      0;  // of |score| over the points; of the last row that sums others: the sum of their means
  double total = 0;  // of |score|
  std::vector<SummaryPoint> points =
      {};  // of the row that sums others: the sum of their scores, one per instance
  // Of a table's column: the other column that its scores seem to depend on most; empty for none.
  std::string interacts_with = {};
};

enum class SummaryOrder {
  kMean,   // of |score| over the places where a feature stands
  kTotal,  // sum of |score|: rare features count for little
};

struct SummaryOptions {
  SummaryOrder order = SummaryOrder::kMean;
  int64_t rows = 10;  // the last one sums all others where there are more
};

struct Summary {
  static constexpr const char* kSchema = "whyformer.summary/1";

  ModelName model;
  std::string method;
  std::string target;  // label that all explanations are about; empty where they differ
  std::string space;   // of the scores, where the method says
  bool is_signed = false;
  int64_t instances = 0;
  SummaryOrder order = SummaryOrder::kMean;
  std::vector<SummaryRow> rows;  // strongest first
  int64_t others = 0;            // features that the last row sums; 0: every row is one feature
  std::vector<SummaryRow> summed = {};  // these features one by one
  int64_t left_out = 0;                 // scores that are not a number
  // What the explanations' own notes say (texts that were cut off, say), each once, with how many
  // inputs it is about.
  std::vector<std::string> notes = {};
};

// Features are the columns of a table's rows, or pieces of text as they stand there without outer
// blanks (case counts); special tokens are one feature together. The method may be left out where
// the explanations have one only. Throws InvalidInput where it is missing, and for pictures, whose
// patches mean something else in each.
Summary summarise(std::span<const Explanation> explanations, const std::string& method = "",
                  const SummaryOptions& options = {});

}  // namespace whyformer
