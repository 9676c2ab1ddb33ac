#include "formats/labelled_words.h"

#include <fmt/format.h>

#include <utility>

#include "base/code_points.h"
#include "formats/sentence_lines.h"
#include "whyformer/error.h"

namespace whyformer {

namespace {

// Words of one sentence after the other, each sentence with single spaces between them.
class WordsReader {
 public:
  void add(std::string_view line, int64_t number) {
    const size_t tab = line.find('\t');
    if (tab == 0 || tab == std::string_view::npos || tab + 1 == line.size() ||
        line.find('\t', tab + 1) != std::string_view::npos) {
      throw InvalidInput(
          fmt::format("line {}: expected a word and its label with a tab between them", number));
    }
    if (sentence_.words.empty()) sentence_.place = fmt::format("line {}", number);
    if (!written_.empty()) {
      written_ += ' ';
      ++length_;
    }
    const int64_t letters = CodePointText(line.substr(0, tab)).size();
    written_ += line.substr(0, tab);
    sentence_.words.push_back({length_, length_ + letters, std::string(line.substr(tab + 1))});
    length_ += letters;
  }

  bool is_open() const { return !sentence_.words.empty(); }
  LearnedExample finish() {
    sentence_.input = TextInput{std::exchange(written_, {}), {}};
    length_ = 0;
    return std::exchange(sentence_, {});
  }

 private:
  LearnedExample sentence_;
  std::string written_;
  int64_t length_ = 0;  // in code points
};

}  // namespace

std::vector<LearnedExample> parse_labelled_words(std::string_view bytes, int64_t limit) {
  const std::string text = valid_utf8(bytes);
  std::vector<LearnedExample> sentences;
  WordsReader reader;
  for_each_sentence_line(
      text, [&](std::string_view line, int64_t number) { reader.add(line, number); },
      [&](int64_t) {
        if (reader.is_open()) sentences.push_back(reader.finish());
        return limit > 0 && static_cast<int64_t>(sentences.size()) == limit;
      });
  return sentences;
}

std::vector<LearnedExample> read_labelled_words(const std::filesystem::path& path, int64_t limit) {
  return sentences_of_file(
      path, [&](std::string_view text) { return parse_labelled_words(text, limit); });
}

}  // namespace whyformer
