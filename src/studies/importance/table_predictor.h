// Predictions for rows whose cells are mixed: shuffled, or taken from others.
#pragma once

#include <memory>
#include <vector>

#include "run/column_source.h"

namespace whyformer {

class TablePredictor {
 public:
  explicit TablePredictor(std::unique_ptr<const ColumnSource> source)
      : source_(std::move(source)) {}

  const ColumnFacts& facts() const { return source_->facts(); }
  int64_t predicted() const { return predicted_; }

  // Of rows like those of the table: probabilities of the classes, or numbers.
  std::vector<double> operator()(const std::vector<double>& values, int64_t count);

 private:
  std::unique_ptr<const ColumnSource> source_;
  int64_t predicted_ = 0;
};

}  // namespace whyformer
