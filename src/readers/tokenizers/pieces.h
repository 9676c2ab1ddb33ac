// A text on its way to becoming tokens: pieces that are words, or added tokens found in it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "readers/tokenizers/aligned_text.h"

namespace whyformer::tokenization {

struct Piece {
  AlignedText text;
  std::optional<int64_t> added_token;  // this piece *is* that token and is not split further
};

// What becomes of the delimiters when "the-final--countdown" is split at '-':
enum class SplitBehavior {
  kRemoved,             // the final countdown
  kIsolated,            // the - final - - countdown
  kMergedWithPrevious,  // the- final- - countdown
  kMergedWithNext,      // the -final - -countdown
  kContiguous,          // the - final -- countdown
};

// Appends the non-empty parts of `text` to `pieces`.
void split(const AlignedText& text, std::vector<Match> matches, SplitBehavior behavior,
           std::vector<Piece>& pieces);

// Replaces every piece that is not an added token by the non-empty pieces `function(text, output)`
// makes of it.
template <typename Function>
void split_each(std::vector<Piece>& pieces, Function function) {
  std::vector<Piece> parts;
  parts.reserve(pieces.size());
  for (Piece& piece : pieces) {
    if (piece.added_token) {
      parts.push_back(std::move(piece));
    } else {
      function(piece.text, parts);
    }
  }
  pieces = std::move(parts);
}

}  // namespace whyformer::tokenization
