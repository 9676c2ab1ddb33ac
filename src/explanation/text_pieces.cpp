#include "explanation/text_pieces.h"

#include <algorithm>
#include <array>

#include "base/code_points.h"
#include "explanation/panels.h"

namespace whyformer {
namespace {

constexpr const char* kNoText = "·";  // a token whose text an earlier token already showed
constexpr int64_t kLongestRest = 40;  // code points of uncovered text at the end

bool is_blank_character(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// Blanks at the start of a token belong to the gap, so that the colour starts with the word.
void move_leading_blanks(TextPiece& piece) {
  const auto first = std::find_if_not(piece.text.begin(), piece.text.end(), is_blank_character);
  if (first == piece.text.end()) {
    piece.gap += piece.text;
    piece.text = piece.text.find('\n') != std::string::npos ? "↵" : "␣";
    return;
  }
  piece.gap.append(piece.text.begin(), first);
  piece.text.erase(piece.text.begin(), first);
}

std::string uncovered_rest(const CodePointText& text, int64_t from) {
  std::string rest = text.slice(from, text.size());
  if (std::all_of(rest.begin(), rest.end(), is_blank_character)) return "";
  return text.size() - from <= kLongestRest ? rest : text.slice(from, from + kLongestRest) + " …";
}

struct SegmentCursor {
  CodePointText text;
  int64_t position = 0;
  TextPiece* last = nullptr;
};

TextPiece text_piece(const Unit& unit, SegmentCursor& cursor) {
  TextPiece piece{.special = unit.special, .segment = unit.segment};
  if (unit.end <= std::max(unit.start, cursor.position)) {
    piece.text = kNoText;
    return piece;
  }
  const int64_t start = std::max(unit.start, cursor.position);
  piece.gap = cursor.text.slice(cursor.position, start);
  piece.text = cursor.text.slice(start, unit.end);
  cursor.position = unit.end;
  if (piece.text.empty()) {
    piece.text = kNoText;
  } else {
    move_leading_blanks(piece);
  }
  return piece;
}

std::vector<TextPiece> unit_names(const Explanation& explanation) {
  std::vector<TextPiece> pieces;
  for (const Unit& unit : explanation.units) {
    pieces.push_back({.text = valid_utf8(unit.text), .special = unit.special});
  }
  return pieces;
}

}  // namespace

std::vector<TextPiece> pieces_of(const Explanation& explanation) {
  if (has_grid(explanation)) return unit_names(explanation);
  std::vector<std::string> texts = input_texts(explanation);
  texts.resize(2);
  std::array<SegmentCursor, 2> cursors{{{CodePointText(texts[0])}, {CodePointText(texts[1])}}};
  std::vector<TextPiece> pieces;
  pieces.reserve(explanation.units.size());  // `last` points into it
  for (const Unit& unit : explanation.units) {
    SegmentCursor& cursor = cursors[unit.segment == 1 ? 1 : 0];
    if (unit.special) {
      pieces.push_back({.text = valid_utf8(unit.text), .special = true, .segment = unit.segment});
    } else {
      cursor.last = &pieces.emplace_back(text_piece(unit, cursor));
    }
  }
  for (const SegmentCursor& cursor : cursors) {
    if (cursor.last != nullptr) cursor.last->after = uncovered_rest(cursor.text, cursor.position);
  }
  return pieces;
}

}  // namespace whyformer
