#include "report/terminal/stream_terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "report/terminal/terminal_text.h"
#include "report/views/text.h"
#include "report/views/trust_view.h"

namespace whyformer::report {
namespace {

constexpr size_t kMostShown = 12;
constexpr int kNarrowestTerminal = 44;
constexpr int kWidestName = 28, kScore = 10;       // columns
constexpr int kNarrowestBar = 8, kWidestBar = 30;  // columns
constexpr int kBlanks = 6;                         // between the three, and in front
constexpr double kLongestScore = 1000;             // that fits with six decimals

std::string score_text(double score) {
  return std::abs(score) < kLongestScore ? fmt::format("{:>{}.6f}", score, kScore)
                                         : fmt::format("{:>{}.2e}", score, kScore);
}

// Strongest first; what is not a number comes last.
std::vector<size_t> by_strength(std::span<const double> scores) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto weight = [&](size_t i) { return std::isnan(scores[i]) ? -1 : std::abs(scores[i]); };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return weight(a) > weight(b); });
  return order;
}

class StreamReport {
 public:
  StreamReport(const Explanation& explanation, int width)
      : explanation_(explanation), width_(std::max(width, kNarrowestTerminal)) {}

  std::string write() {
    target();
    for (const Attribution& attribution : explanation_.attributions) {
      for (size_t i = 0; i < explanation_.streams.size(); ++i) {
        const std::string heading = fmt::format("{}: stream {}, {}", printable(attribution.method),
                                                i, printable(explanation_.streams[i].units));
        out_ += "\n" + shortened(heading, width_) + "\n";
        scores(attribution, explanation_.streams[i]);
      }
      for (const std::string& line : trust_lines(attribution)) sentence(line);
      for (const std::string& note : attribution.notes) sentence("note: " + printable(note));
    }
    for (const std::string& line : trust_setting_lines(explanation_)) sentence(line);
    return std::move(out_);
  }

 private:
  void sentence(const std::string& text) {
    for (const std::string& line : wrapped_sentence(text, width_)) out_ += line + "\n";
  }

  void target() {
    const Target& target = explanation_.target;
    std::string said =
        fmt::format("{} = {} of {}", printable(target.label),
                    std::abs(target.value) < kLongestScore ? fmt::format("{:.4f}", target.value)
                                                           : fmt::format("{:.4e}", target.value),
                    printable(explanation_.model.name));
    if (!explanation_.read_out.empty()) said += ", read out: " + printable(explanation_.read_out);
    const size_t start = out_.size();
    sentence(said);
    out_.erase(start, 2);  // only lines that go on are indented
  }

  // Evidence against the target has a lighter bar.
  void scores(const Attribution& attribution, const UnitStream& stream) {
    const std::span<const double> own(attribution.scores.data() + stream.first,
                                      static_cast<size_t>(stream.count));
    const std::vector<size_t> order = by_strength(own);
    const double most = order.empty() ? 0 : std::abs(own[order.front()]);
    if (!(most > 0)) {
      out_ += "  no relevance\n";
      return;
    }
    const int room = width_ - kScore - kBlanks;
    const int bar_width = std::clamp(room - kWidestName, kNarrowestBar, kWidestBar);
    for (size_t i = 0; i < std::min(order.size(), kMostShown); ++i) {
      const double score = own[order[i]];
      const Unit& unit = explanation_.units[static_cast<size_t>(stream.first) + order[i]];
      const std::string name = shortened(printable(unit.text), room - bar_width);
      out_ += fmt::format("  {}  {}  ", left_aligned(name, std::min(kWidestName, room - bar_width)),
                          score_text(score));
      // An infinite score has no length beside others.
      const double share = std::isfinite(score) ? std::abs(score) / most : 1;
      const int length = std::isnan(score) ? 0 : static_cast<int>(bar_width * share + 0.5);
      for (int step = 0; step < length; ++step) out_ += score > 0 ? "█" : "░";
      out_ += "\n";
    }
    if (order.size() > kMostShown) out_ += fmt::format("  … {} more\n", order.size() - kMostShown);
  }

  const Explanation& explanation_;
  int width_;
  std::string out_;
};

}  // namespace

std::string stream_terminal(const Explanation& explanation, const TerminalOptions& options) {
  return StreamReport(explanation, options.width).write();
}

}  // namespace whyformer::report
