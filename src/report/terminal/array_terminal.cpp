// The highest scores of every stream, for models given arrays.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "report/views/text.h"
#include "whyformer/arrays.h"
#include "whyformer/report.h"

namespace whyformer {
namespace {

constexpr size_t kMostShown = 12;
constexpr int kWidth = 30;

// Strongest first; what speaks against the target has a lighter bar.
std::string stream_lines(const std::vector<double>& scores, const std::vector<Unit>& units,
                         int64_t first) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return std::abs(scores[a]) > std::abs(scores[b]); });
  const double most = order.empty() ? 0 : std::abs(scores[order[0]]);
  if (!(most > 0)) return "  no relevance\n";
  std::string text;
  for (size_t i = 0; i < std::min(order.size(), kMostShown); ++i) {
    const double score = scores[order[i]];
    std::string bar;
    const int length = static_cast<int>(kWidth * std::abs(score) / most + 0.5);
    for (int step = 0; step < length; ++step) bar += score > 0 ? "█" : "░";
    const std::string name = printable(units[first + static_cast<int64_t>(order[i])].text);
    text += fmt::format("  {}  {:>10.6f}  {}\n", report::left_aligned(name, 28), score, bar);
  }
  if (order.size() > kMostShown) {
    text += fmt::format("  … {} more; --json - has them all\n", order.size() - kMostShown);
  }
  return text;
}

}  // namespace

std::string to_terminal(const ArrayExplanation& explanation) {
  const Explanation& inner = explanation.explanation;
  std::string text =
      fmt::format("{} = {:.4f} of {}, read out: {}\n", printable(inner.target.label),
                  inner.target.value, printable(inner.model.name), explanation.info.read_out);
  for (const Attribution& attribution : inner.attributions) {
    for (const StreamScores& stream : explanation.by_stream(attribution)) {
      text += fmt::format("\n{}: stream {}, {}\n", attribution.method, stream.stream,
                          printable(stream.units));
      text += stream_lines(stream.scores, inner.units, explanation.streams[stream.stream].first);
    }
    for (const std::string& note : attribution.notes)
      text += fmt::format("  note: {}\n", printable(note));
  }
  return text;
}

}  // namespace whyformer
