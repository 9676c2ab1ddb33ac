#include "readers/tokenizers/pieces.h"

#include <algorithm>

namespace whyformer::tokenization {
namespace {

// Joins a match to the stretch before it in the list, unless that is a match too.
std::vector<Match> joined_to_previous(const std::vector<Match>& matches) {
  std::vector<Match> joined;
  bool previous_matched = false;
  for (const Match& match : matches) {
    if (match.matched && !previous_matched && !joined.empty()) {
      joined.back().begin = std::min(joined.back().begin, match.begin);
      joined.back().end = std::max(joined.back().end, match.end);
    } else {
      joined.push_back(match);
    }
    previous_matched = match.matched;
  }
  return joined;
}

std::vector<Match> joined_when_alike(const std::vector<Match>& matches) {
  std::vector<Match> joined;
  bool previous_matched = false;
  for (const Match& match : matches) {
    if (match.matched == previous_matched && !joined.empty()) {
      joined.back().end = match.end;
    } else {
      joined.push_back(match);
    }
    previous_matched = match.matched;
  }
  return joined;
}

}  // namespace

void split(const AlignedText& text, std::vector<Match> matches, SplitBehavior behavior,
           std::vector<Piece>& pieces) {
  switch (behavior) {
    case SplitBehavior::kRemoved:
      std::erase_if(matches, [](const Match& match) { return match.matched; });
      break;
    case SplitBehavior::kIsolated:
      break;
    case SplitBehavior::kContiguous:
      matches = joined_when_alike(matches);
      break;
    case SplitBehavior::kMergedWithPrevious:
      matches = joined_to_previous(matches);
      break;
    case SplitBehavior::kMergedWithNext:
      std::reverse(matches.begin(), matches.end());
      matches = joined_to_previous(matches);
      std::reverse(matches.begin(), matches.end());
      break;
  }
  for (const Match& match : matches) {
    if (match.begin < match.end)
      pieces.push_back({text.slice(match.begin, match.end), std::nullopt});
  }
}

}  // namespace whyformer::tokenization
