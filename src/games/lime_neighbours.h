// The coalitions around the whole input that LIME fits to, drawn as lime 0.2.0.1 draws them.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/numpy_random.h"
#include "whyformer/games.h"

namespace whyformer {

struct LimeRows {
  std::vector<Coalition> distinct;  // in order of their first draw; the first is the whole input
  std::vector<double> weights;      // of a distinct one, per draw
  std::vector<int64_t> draws;       // which of the distinct ones, for each row
};

// Draws row after row: the same ones, however many at a time.
class LimeDrawing {
 public:
  LimeDrawing(const LimeOptions& options, int64_t players);

  // So many more, fewer at the end. Where the user interrupts it, those drawn by then stay.
  void draw(int64_t rows);

  const LimeRows& rows() const { return rows_; }
  int64_t left() const { return samples_ - static_cast<int64_t>(rows_.draws.size()); }
  // Of all rows so far but the whole input, which is the first.
  double weight_of_others() const { return weight_of_others_; }

 private:
  Coalition next();
  Coalition with_words_hidden();
  Coalition with_tossed_coins();

  bool words_;
  double width_;
  int64_t samples_, players_;
  NumpyRandom random_;
  std::vector<int64_t> hidden_;  // words: how many of each row
  std::unordered_map<Coalition, int64_t> seen_;
  LimeRows rows_;
  double weight_of_others_ = 0;
};

}  // namespace whyformer
