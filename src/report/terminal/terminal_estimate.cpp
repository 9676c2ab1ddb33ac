#include "report/terminal/terminal_estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/views/text.h"

namespace whyformer::report {
namespace {

constexpr int kIndent = 2;
constexpr int kShortestCut = 4;  // columns; a word cut to fewer says nothing
constexpr size_t kMostPairs = 8;
constexpr int kPairBar = 16;
constexpr int kWidestName = 14;

std::string repeated(std::string_view part, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += part;
  return out;
}

// The word in the middle of a segment of this many columns, with an arrow at the end that is nearer
// to the value.
std::string labelled(const ForceSegment& segment, int width, std::string_view filler) {
  const std::string text = printable(segment.text);
  const int room = width - 1;
  std::string label = columns(text) <= room  ? text
                      : room >= kShortestCut ? shortened(text, room)
                                             : "";
  const int free = room - columns(label);
  label = repeated(filler, free / 2) + label + repeated(filler, free - free / 2);
  return segment.score > 0 ? label + "▶" : "◀" + label;
}

// Neighbours of one sign that are each narrower than two columns become one segment, "5 more".
std::vector<ForceSegment> with_small_ones_joined(const ForceBar& bar, int width) {
  const double small = 2 * (bar.last - bar.first) / width;
  std::vector<ForceSegment> joined;
  int count = 0;  // of segments in the last one; 0 where that one is not small
  for (const ForceSegment& segment : bar.segments) {
    const bool is_small = segment.to - segment.from < small;
    if (is_small && count > 0 && joined.back().score * segment.score > 0) {
      joined.back().to = segment.to;
      joined.back().score += segment.score;
      joined.back().text = fmt::format("{} more", ++count);
    } else {
      joined.push_back(segment);
      count = is_small ? 1 : 0;
    }
  }
  return joined;
}

// A line of columns on which labels take their places as long as nothing else stands there.
class MarkLine {
 public:
  explicit MarkLine(int width) : cells_(static_cast<size_t>(width), " ") {}

  void mark(int column) { cells_[static_cast<size_t>(column)] = "▲"; }

  // Beside the mark: to its right, else to its left, else nowhere.
  void label(int column, const std::string& text) {
    const auto length = static_cast<int>(text.size());
    for (const int start : {column + 2, column - 1 - length}) {
      if (!is_free(start - 1, start + length + 1, column)) continue;
      for (int i = 0; i < length; ++i)
        cells_[static_cast<size_t>(start + i)] = text[static_cast<size_t>(i)];
      return;
    }
  }

  std::string finish() const {
    std::string line;
    for (const std::string& cell : cells_) line += cell;
    return line.erase(line.find_last_not_of(' ') + 1);
  }

 private:
  bool is_free(int from, int to, int own_mark) const {
    if (from + 1 < 0 || to - 1 > static_cast<int>(cells_.size())) return false;
    for (int i = std::max(0, from); i < std::min(to, static_cast<int>(cells_.size())); ++i) {
      if (i != own_mark && cells_[static_cast<size_t>(i)] != " ") return false;
    }
    return true;
  }

  std::vector<std::string> cells_;
};

}  // namespace

std::vector<std::string> force_lines(const ForceBar& bar, const TerminalOptions& options) {
  const TerminalStyle style{options.colour};
  const int width = options.width - 2 * kIndent;
  const double range = bar.last - bar.first;
  if (bar.segments.empty() || !(range > 0)) return {};
  const auto column_of = [&](double place) {
    return std::clamp(static_cast<int>(std::lround((place - bar.first) / range * width)), 0, width);
  };
  std::string drawn(kIndent, ' ');
  bool even = false;  // neighbours differ in shade
  for (const ForceSegment& segment : with_small_ones_joined(bar, width)) {
    const int columns = column_of(segment.to) - column_of(segment.from);
    if (columns == 0) continue;
    even = !even;
    drawn += style.heat(labelled(segment, columns, options.colour ? " " : "─"),
                        std::copysign(even ? 1 : 0.6, segment.score), ScoreKind::kSigned);
  }
  MarkLine marks(width);
  const auto mark_of = [&](double place) { return std::min(column_of(place), width - 1); };
  marks.mark(mark_of(bar.base));
  marks.mark(mark_of(bar.value));
  marks.label(mark_of(bar.value), "f(x) " + format_place(bar.value, bar));
  marks.label(mark_of(bar.base), "base " + format_place(bar.base, bar));
  return {drawn, std::string(kIndent, ' ') + marks.finish()};
}

std::vector<std::string> pair_lines(const Interactions& interactions,
                                    const TerminalOptions& options) {
  const TerminalStyle style{options.colour};
  std::vector<std::string> names, lines;
  int width = 0;
  const std::vector<Interactions::Pair> pairs = strongest_pairs(interactions, kMostPairs);
  for (const Interactions::Pair& pair : pairs) {
    const auto name = [&](size_t i) {
      return shortened(printable(interactions.names[i]), kWidestName);
    };
    names.push_back(name(pair.second) + " × " + name(pair.first));
    width = std::max(width, columns(names.back()));
  }
  const int bar_width = std::min(kPairBar, options.width - width - 2 * kIndent - 12);
  for (size_t i = 0; i < pairs.size(); ++i) {
    lines.push_back(fmt::format(
        "  {}  {} {}", right_aligned(names[i], width),
        style.bar(strength(pairs[i].value, interactions.scale), std::max(0, bar_width),
                  ScoreKind::kSigned),
        right_aligned(format_score(pairs[i].value, interactions.scale, ScoreKind::kSigned), 9)));
  }
  const size_t count = interactions.names.size();
  const size_t all = count * (count - std::min<size_t>(1, count)) / 2;
  if (all > pairs.size())
    lines.push_back(style.faint(fmt::format("  and {} more pairs", all - pairs.size())));
  return lines;
}

}  // namespace whyformer::report
