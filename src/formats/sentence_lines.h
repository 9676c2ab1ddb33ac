// Files of sentences: lines of words, and a blank line behind each sentence.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "whyformer/error.h"

namespace whyformer {

// Calls line(text, number) for each line that is not blank, and close(number) at each blank one and
// at the end. Stops where close returns true.
template <class Line, class Close>
void for_each_sentence_line(std::string_view text, Line line, Close close) {
  int64_t number = 0;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    std::string_view one = text.substr(start, end - start);
    start = end + 1;
    ++number;
    if (one.ends_with('\r')) one.remove_suffix(1);
    if (one.find_first_not_of(" \t") != std::string_view::npos) {
      line(one, number);
    } else if (close(number)) {
      return;
    }
  }
  close(number);
}

// What `parse` finds in a file. Throws FileError, and InvalidInput that names the file, also where
// nothing is found.
template <class Parse>
auto sentences_of_file(const std::filesystem::path& path, Parse parse) {
  const Bytes file = map_file(path);
  try {
    auto sentences = parse(file.text());
    if (!sentences.empty()) return sentences;
  } catch (const InvalidInput& error) {
    throw InvalidInput(fmt::format("'{}', {}", path.string(), error.what()));
  }
  throw InvalidInput(fmt::format("there is no sentence in '{}'", path.string()));
}

}  // namespace whyformer
