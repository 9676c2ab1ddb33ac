#include "report/terminal/stream_terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "report/views/text.h"

namespace whyformer::report {
namespace {

constexpr size_t kMostShown = 12;
constexpr int kWidth = 30;

// Strongest first; what speaks against the target has a lighter bar.
std::string stream_lines(const Explanation& explanation, const Attribution& attribution,
                         const UnitStream& stream) {
  const std::span<const double> scores(attribution.scores.data() + stream.first,
                                       static_cast<size_t>(stream.count));
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  const auto weight = [&](size_t i) { return std::isnan(scores[i]) ? -1 : std::abs(scores[i]); };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return weight(a) > weight(b); });
  const double most = order.empty() ? 0 : weight(order[0]);
  if (!(most > 0)) return "  no relevance\n";
  std::string text;
  for (size_t i = 0; i < std::min(order.size(), kMostShown); ++i) {
    const double score = scores[order[i]];
    std::string bar;
    const int length = static_cast<int>(kWidth * std::abs(score) / most + 0.5);
    for (int step = 0; step < length; ++step) bar += score > 0 ? "█" : "░";
    const Unit& unit = explanation.units[static_cast<size_t>(stream.first) + order[i]];
    text +=
        fmt::format("  {}  {:>10.6f}  {}\n", left_aligned(printable(unit.text), 28), score, bar);
  }
  if (order.size() > kMostShown) {
    text += fmt::format("  … {} more\n", order.size() - kMostShown);
  }
  return text;
}

}  // namespace

std::string stream_terminal(const Explanation& explanation) {
  const Target& target = explanation.target;
  std::string text = fmt::format("{} = {:.4f} of {}", printable(target.label), target.value,
                                 printable(explanation.model.name));
  if (!explanation.read_out.empty()) text += ", read out: " + printable(explanation.read_out);
  text += "\n";
  for (const Attribution& attribution : explanation.attributions) {
    for (size_t i = 0; i < explanation.streams.size(); ++i) {
      const UnitStream& stream = explanation.streams[i];
      text += fmt::format("\n{}: stream {}, {}\n", attribution.method, i, printable(stream.units));
      text += stream_lines(explanation, attribution, stream);
    }
    for (const std::string& note : attribution.notes) {
      text += fmt::format("  note: {}\n", printable(note));
    }
  }
  return text;
}

}  // namespace whyformer::report
