#include "report/terminal/terminal_text.h"

#include <algorithm>

#include "report/views/text.h"

namespace whyformer::report {
namespace {

struct TextCell {
  std::string text;
  double strength = 0;
  int width = 0;
};
using TextRun = std::vector<TextCell>;  // cells without a blank between them

constexpr int kLongestUnbrokenRun = 24;  // columns; longer runs (Chinese text) may break inside

bool has_blank(std::string_view text) {
  return text.find_first_of(" \n\t\r") != std::string_view::npos;
}

std::string without_outer_blanks(const std::string& text) {
  const size_t first = text.find_first_not_of(" \n\t\r");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \n\t\r") - first + 1);
}

int width_of(const TextRun& run) {
  int total = 0;
  for (const TextCell& cell : run) total += cell.width;
  return total;
}

// Collects runs, then lays them out in lines; a new text starts a new line.
class Paragraph {
 public:
  explicit Paragraph(int width) : width_(std::max(8, width)) {}

  void add(const std::string& text, double strength) {
    const std::string shown = printable(text);
    if (!shown.empty()) run_.push_back({shown, strength, columns(shown)});
  }

  void blank() {
    if (run_.empty()) return;
    place(run_);
    run_.clear();
  }

  void new_line() {
    blank();
    if (!lines_.back().empty()) lines_.emplace_back();
    used_ = 0;
  }

  std::vector<TextRun> finish() {
    blank();
    if (lines_.back().empty()) lines_.pop_back();
    return std::move(lines_);
  }

 private:
  void place(const TextRun& run) {
    const int width = width_of(run);
    const int blank = used_ > 0 ? 1 : 0;
    if (used_ + blank + width <= width_) {
      if (blank > 0) append({" ", 0, 1});
      for (const TextCell& cell : run) append(cell);
    } else if (width <= std::min(width_, kLongestUnbrokenRun)) {
      new_row();
      for (const TextCell& cell : run) append(cell);
    } else {
      if (blank > 0 && used_ + 1 < width_) append({" ", 0, 1});
      for (const TextCell& cell : run) append_breaking(cell);
    }
  }

  void append_breaking(const TextCell& cell) {
    if (cell.width > width_) {
      for (const std::string& grapheme : graphemes(cell.text)) {
        append_breaking({grapheme, cell.strength, columns(grapheme)});
      }
      return;
    }
    if (used_ + cell.width > width_) new_row();
    append(cell);
  }

  void append(const TextCell& cell) {
    lines_.back().push_back(cell);
    used_ += cell.width;
  }

  void new_row() {
    lines_.emplace_back();
    used_ = 0;
  }

  int width_;
  int used_ = 0;
  TextRun run_;
  std::vector<TextRun> lines_{1};
};

void add_gap(Paragraph& paragraph, const std::string& gap) {
  if (has_blank(gap)) paragraph.blank();
  const std::string uncovered = without_outer_blanks(gap);
  paragraph.add(uncovered, 0);
  if (!uncovered.empty() && has_blank(gap.substr(gap.size() - 1))) paragraph.blank();
}

// `strengths` may be empty: then nothing is coloured.
std::vector<TextRun> layout(const Explanation& explanation, const std::vector<double>& strengths,
                            const TerminalOptions& options) {
  const std::vector<TextPiece> pieces = pieces_of(explanation);
  Paragraph paragraph(options.width);
  int segment = pieces.empty() ? 0 : pieces.front().segment;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const TextPiece& piece = pieces[i];
    if (!is_shown(explanation.units[i], options.special)) {
      paragraph.blank();
      continue;
    }
    if (piece.segment != segment) paragraph.new_line();
    segment = piece.segment;
    if (piece.special) paragraph.blank();
    add_gap(paragraph, piece.gap);
    paragraph.add(piece.text, strengths.empty() ? 0 : strengths[i]);
    if (piece.special) paragraph.blank();
    add_gap(paragraph, piece.after);
  }
  return paragraph.finish();
}

std::string repeated(const std::string& part, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += part;
  return out;
}

std::string marks_below(const TextRun& line) {
  std::string marks;
  for (const TextCell& cell : line) marks += repeated(heat_mark(cell.strength), cell.width);
  marks.erase(marks.find_last_not_of(' ') + 1);
  return marks;
}

}  // namespace

std::vector<std::string> heat_lines(const Explanation& explanation, const Attribution& attribution,
                                    const TerminalOptions& options) {
  const Scale scale = scale_of(explanation, attribution, options.special);
  std::vector<double> strengths;
  for (const double score : attribution.scores) strengths.push_back(strength(score, scale.pieces));
  const TerminalStyle style{options.colour};
  std::vector<std::string> lines;
  for (const TextRun& run : layout(explanation, strengths, options)) {
    std::string& line = lines.emplace_back();
    for (const TextCell& cell : run)
      line += style.heat(cell.text, cell.strength, kind_of(attribution));
    if (!options.colour) lines.push_back(marks_below(run));
  }
  return lines;
}

std::vector<std::string> plain_lines(const Explanation& explanation,
                                     const TerminalOptions& options) {
  std::vector<std::string> lines;
  for (const TextRun& run : layout(explanation, {}, options)) {
    std::string& line = lines.emplace_back();
    for (const TextCell& cell : run) line += cell.text;
  }
  return lines;
}

std::vector<std::string> wrapped_sentence(std::string_view sentence, int width) {
  Paragraph paragraph(width - 2);
  size_t start = 0;
  while (start < sentence.size()) {
    const size_t end = std::min(sentence.find(' ', start), sentence.size());
    paragraph.add(std::string(sentence.substr(start, end - start)), 0);
    paragraph.blank();
    start = end + 1;
  }
  std::vector<std::string> lines;
  for (const TextRun& run : paragraph.finish()) {
    std::string& line = lines.emplace_back("  ");
    for (const TextCell& cell : run) line += cell.text;
  }
  return lines;
}

}  // namespace whyformer::report
