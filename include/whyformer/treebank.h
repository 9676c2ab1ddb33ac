// Sentences with their dependency trees, from files in CoNLL-U.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace whyformer {

// A word of a sentence: code points [start, end) of its text, and the arc to what it depends on.
struct DependencyWord {
  int64_t start = 0;
  int64_t end = 0;    // equal to start: the word does not stand in the text by itself
  int64_t head = -1;  // a word of the sentence; -1: the root, or no arc was given
  std::string relation = {};

  bool is_written() const { return end > start; }
};

using DependencyTree = std::vector<DependencyWord>;

struct ParsedSentence {
  std::string text;  // the forms, with blanks between them except where SpaceAfter=No
  DependencyTree words;
  int64_t line = 0;  // of the file, where the sentence begins
};

// universaldependencies.org/format.html. Empty nodes (8.1) are left out. A multiword token (1-2)
// stands for its words: they share its characters out where their forms spell it, and are not
// written in the text otherwise. At most `limit` sentences; 0: all. Throws FileError, or
// InvalidInput that names the line.
std::vector<ParsedSentence> read_treebank(const std::filesystem::path& path, int64_t limit = 0);

}  // namespace whyformer
