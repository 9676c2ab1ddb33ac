#include "api/context_notes.h"

#include <fmt/format.h>

#include <cmath>

namespace whyformer {
namespace {

// Of one row's attention, as the mean over heads has it.
struct AttentionSharing {
  double own = 0;      // what the row gives itself
  double entropy = 0;  // of its weights, in nats
};

AttentionSharing sharing_of(const AttentionMap& map, int64_t row) {
  AttentionSharing sharing;
  for (int64_t key = 0; key < map.keys; ++key) {
    double weight = 0;
    for (int64_t head = 0; head < map.heads; ++head)
      weight += map.head(head)[static_cast<size_t>(row * map.keys + key)];
    weight /= static_cast<double>(map.heads);
    if (key == row) sharing.own = weight;
    if (weight > 0) sharing.entropy -= weight * std::log(weight);
  }
  return sharing;
}

std::string note_of(const AttentionMap& map, size_t layer) {
  const AttentionSharing own = sharing_of(map, 0);
  AttentionSharing mean;
  for (int64_t row = 0; row < map.queries; ++row) {
    const AttentionSharing one = sharing_of(map, row);
    mean.own += one.own / static_cast<double>(map.queries);
    mean.entropy += one.entropy / static_cast<double>(map.queries);
  }
  return fmt::format(
      "Attention between rows, layer {}, mean over heads: the row gives itself {:.1f} % (mean over "
      "all rows {:.1f} %); its entropy is {:.2f} (mean {:.2f}) of at most {:.2f} nats.",
      layer, 100 * own.own, 100 * mean.own, own.entropy, mean.entropy,
      std::log(static_cast<double>(map.keys)));
}

}  // namespace

void add_notes_on_rows(const ContextPart& rows, Explanation& explanation) {
  for (Attribution& one : explanation.attributions) {
    std::string note = rows.by_answer(one.scores);
    if (!note.empty()) one.notes.push_back(std::move(note));
  }
  for (size_t layer = 0; layer < explanation.attention.size(); ++layer)
    explanation.notes.push_back(note_of(explanation.attention[layer], layer));
}

}  // namespace whyformer
