#include "games/lime_neighbours.h"

#include <algorithm>
#include <cmath>

#include "base/pulse.h"

namespace whyformer {
namespace {

double kernel(const Coalition& coalition, double distance_scale, double width) {
  const double visible = static_cast<double>(std::count(coalition.begin(), coalition.end(), true));
  const double distance =
      distance_scale * (1 - std::sqrt(visible / static_cast<double>(coalition.size())));
  return std::sqrt(std::exp(-distance * distance / (width * width)));
}

}  // namespace

LimeDrawing::LimeDrawing(const LimeOptions& options, int64_t players)
    : words_(options.neighbours == LimeNeighbours::kWords),
      width_(options.kernel_width > 0 ? options.kernel_width
             : words_                 ? 25
                                      : 0.25),
      samples_(options.samples > 0 ? options.samples
               : words_            ? 5000
                                   : 1000),
      players_(players),
      random_(options.seed) {
  if (!words_) {
    random_.up_to(999);  // the seed of a segmentation
    return;
  }
  // First all sizes, then for each row whom to hide.
  hidden_.resize(samples_);
  for (int64_t row = 1; row < samples_; ++row) hidden_[row] = 1 + random_.up_to(players_ - 1);
}

void LimeDrawing::draw(int64_t rows) {
  for (const int64_t end = std::max<int64_t>(0, left() - rows); left() > end;) {
    pulse();
    Coalition row = next();
    const auto [known, is_new] = seen_.try_emplace(row, static_cast<int64_t>(seen_.size()));
    if (is_new) {
      rows_.weights.push_back(kernel(row, words_ ? 100 : 1, width_));
      rows_.distinct.push_back(std::move(row));
    }
    if (!rows_.draws.empty()) weight_of_others_ += rows_.weights[known->second];
    rows_.draws.push_back(known->second);
  }
}

Coalition LimeDrawing::next() {
  if (words_) return with_words_hidden();
  Coalition row = with_tossed_coins();
  // The first row is drawn before it becomes the whole picture.
  if (rows_.draws.empty()) row.assign(players_, true);
  return row;
}

Coalition LimeDrawing::with_words_hidden() {
  Coalition row(players_, true);
  if (rows_.draws.empty()) return row;
  const std::vector<int64_t> order = random_.permutation(players_);
  for (int64_t i = 0; i < hidden_[rows_.draws.size()]; ++i) row[order[i]] = false;
  return row;
}

Coalition LimeDrawing::with_tossed_coins() {
  Coalition row(players_);
  for (int64_t player = 0; player < players_; ++player) row[player] = random_.up_to(1) == 1;
  return row;
}

}  // namespace whyformer
