#include "formats/labelled_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/code_points.h"
#include "whyformer/error.h"

namespace whyformer {

std::vector<LearnedExample> parse_labelled_words(std::string_view bytes, int64_t limit) {
  const std::string text = valid_utf8(bytes);
  std::vector<LearnedExample> sentences;
  LearnedExample sentence;
  std::string written;
  int64_t length = 0, number = 0;
  const auto close = [&] {
    if (sentence.words.empty()) return;
    sentence.input = TextInput{std::move(written), {}};
    sentences.push_back(std::move(sentence));
    sentence = {};
    written.clear();
    length = 0;
  };
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    std::string_view line = std::string_view(text).substr(start, end - start);
    start = end + 1;
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos) {
      close();
      if (limit > 0 && static_cast<int64_t>(sentences.size()) == limit) return sentences;
      continue;
    }
    const size_t tab = line.find('\t');
    if (tab == 0 || tab == std::string_view::npos || tab + 1 == line.size() ||
        line.find('\t', tab + 1) != std::string_view::npos) {
      throw InvalidInput(
          fmt::format("line {}: expected a word and its label with a tab between them", number));
    }
    if (sentence.words.empty()) sentence.place = fmt::format("line {}", number);
    if (!written.empty()) {
      written += ' ';
      ++length;
    }
    const int64_t letters = CodePointText(line.substr(0, tab)).size();
    written += line.substr(0, tab);
    sentence.words.push_back({length, length + letters, std::string(line.substr(tab + 1))});
    length += letters;
  }
  close();
  return sentences;
}

std::vector<LearnedExample> read_labelled_words(const std::filesystem::path& path, int64_t limit) {
  const Bytes file = map_file(path);
  try {
    std::vector<LearnedExample> sentences = parse_labelled_words(file.text(), limit);
    if (!sentences.empty()) return sentences;
  } catch (const InvalidInput& error) {
    throw InvalidInput(fmt::format("'{}', {}", path.string(), error.what()));
  }
  throw InvalidInput(fmt::format("there is no sentence in '{}'", path.string()));
}

}  // namespace whyformer
