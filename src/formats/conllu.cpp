#include "formats/conllu.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/code_points.h"
#include "formats/sentence_lines.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr size_t kConlluColumns = 10;
constexpr size_t kForm = 1, kHead = 6, kRelation = 7, kMisc = 9;
constexpr int64_t kMostSentenceWords = 10'000;  // of a sentence; no model reads as many

int64_t length_of(std::string_view text) { return CodePointText(text).size(); }

// A sentence as its lines come.
class SentenceReader {
 public:
  bool is_open() const { return !sentence_.text.empty(); }

  void add(std::string_view line, int64_t number) {
    if (!is_open()) sentence_.line = number;
    const auto columns = split(line, number);
    const std::string_view id = columns[0];
    if (id.find('.') != std::string_view::npos) return;  // an empty node of enhanced trees
    if (const size_t dash = id.find('-'); dash != std::string_view::npos) {
      add_range(number_of(id.substr(0, dash), number, "ID"),
                number_of(id.substr(dash + 1), number, "ID"), columns, number);
      return;
    }
    const auto next = static_cast<int64_t>(sentence_.words.size()) + 1;
    if (number_of(id, number, "ID") != next) {
      fail(number, fmt::format("expected the word {}, got '{}'", next, id));
    }
    if (next > kMostSentenceWords) {
      fail(number, fmt::format("the sentence has more than {} words", kMostSentenceWords));
    }
    add_word(columns, number);
  }

  ParsedSentence finish(int64_t number) {
    if (static_cast<int64_t>(sentence_.words.size()) < range_end_) {
      fail(number,
           fmt::format("the sentence ends before word {} of a multiword token", range_end_));
    }
    for (size_t i = 0; i < sentence_.words.size(); ++i) {
      DependencyWord& word = sentence_.words[i];
      if (word.head >= static_cast<int64_t>(sentence_.words.size())) {
        fail(lines_[i], fmt::format("the head {} is no word of the sentence, which has {}",
                                    word.head + 1, sentence_.words.size()));
      }
      if (word.head == static_cast<int64_t>(i)) fail(lines_[i], "the word is its own head");
    }
    ParsedSentence done = std::move(sentence_);
    *this = SentenceReader();
    return done;
  }

 private:
  using Columns = std::array<std::string_view, kConlluColumns>;

  [[noreturn]] static void fail(int64_t line, const std::string& what) {
    throw InvalidInput(fmt::format("line {}: {}", line, what));
  }

  static Columns split(std::string_view line, int64_t number) {
    Columns columns;
    size_t count = 0;
    for (size_t start = 0; start <= line.size(); ++count) {
      const size_t end = std::min(line.find('\t', start), line.size());
      if (count < kConlluColumns) columns[count] = line.substr(start, end - start);
      start = end + 1;
    }
    if (count != kConlluColumns) {
      fail(number, fmt::format("CoNLL-U has {} columns with tabs between them, this line {}",
                               kConlluColumns, count));
    }
    if (columns[kForm].empty()) fail(number, "the word has no form");
    return columns;
  }

  static int64_t number_of(std::string_view text, int64_t line, const char* column) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value >= 0 &&
        value <= kMostSentenceWords) {
      return value;
    }
    fail(line,
         fmt::format("{} '{}': expected a number up to {}", column, text, kMostSentenceWords));
  }

  static bool space_after(const Columns& columns) {
    const std::string_view misc = columns[kMisc];
    constexpr std::string_view kNoSpace = "SpaceAfter=No";
    for (size_t start = 0; start < misc.size();) {
      const size_t end = std::min(misc.find('|', start), misc.size());
      if (misc.substr(start, end - start) == kNoSpace) return false;
      start = end + 1;
    }
    return true;
  }

  // Where the form came to stand.
  int64_t write(const Columns& columns) {
    if (space_wanted_) {
      sentence_.text += ' ';
      ++length_;
    }
    const int64_t start = length_;
    sentence_.text += columns[kForm];
    length_ += length_of(columns[kForm]);
    space_wanted_ = space_after(columns);
    return start;
  }

  void add_range(int64_t first, int64_t last, const Columns& columns, int64_t number) {
    const auto next = static_cast<int64_t>(sentence_.words.size()) + 1;
    if (first != next || last < first || next <= range_end_) {
      fail(number,
           fmt::format("the multiword token {}-{} stands in front of word {}", first, last, next));
    }
    range_end_ = last;
    range_form_ = columns[kForm];
    range_start_ = write(columns);
    range_at_ = 0;
    spelt_ = true;
  }

  void add_word(const Columns& columns, int64_t number) {
    DependencyWord word{.relation = std::string(columns[kRelation])};
    const std::string_view head = columns[kHead];
    word.head = head == "_" ? -1 : number_of(head, number, "HEAD") - 1;
    const auto own = static_cast<int64_t>(sentence_.words.size()) + 1;
    if (own > range_end_) {
      word.start = write(columns);
      word.end = length_;
    } else {
      place_in_range(columns[kForm], own, word);
    }
    sentence_.words.push_back(std::move(word));
    lines_.push_back(number);
  }

  // "don't" is spelt by "do" and "n't", "du" not by "de" and "le".
  void place_in_range(std::string_view form, int64_t own, DependencyWord& word) {
    if (spelt_ && range_form_.substr(range_at_).starts_with(form)) {
      word.start = range_start_ + length_of(range_form_.substr(0, range_at_));
      range_at_ += form.size();
      word.end = range_start_ + length_of(range_form_.substr(0, range_at_));
      if (own < range_end_ || range_at_ == range_form_.size()) return;
    }
    spelt_ = false;
    word.start = word.end = 0;
    const auto first = static_cast<int64_t>(range_first_word());
    for (int64_t i = first; i < static_cast<int64_t>(sentence_.words.size()); ++i) {
      sentence_.words[i].start = sentence_.words[i].end = 0;
    }
  }

  size_t range_first_word() const {
    size_t first = sentence_.words.size();
    while (first > 0 && sentence_.words[first - 1].start >= range_start_ &&
           sentence_.words[first - 1].is_written()) {
      --first;
    }
    return first;
  }

  ParsedSentence sentence_;
  std::vector<int64_t> lines_;  // of the words
  int64_t length_ = 0;          // of the text, in code points
  bool space_wanted_ = false;
  int64_t range_end_ = 0, range_start_ = 0;  // last word of a multiword token, its place
  std::string_view range_form_;
  size_t range_at_ = 0;  // bytes of it that words have spelt
  bool spelt_ = true;
};

}  // namespace

std::vector<ParsedSentence> parse_conllu(std::string_view bytes, int64_t limit) {
  const std::string text = valid_utf8(bytes);
  std::vector<ParsedSentence> sentences;
  SentenceReader reader;
  for_each_sentence_line(
      text,
      [&](std::string_view line, int64_t number) {
        if (!line.starts_with('#')) reader.add(line, number);
      },
      [&](int64_t number) {
        if (reader.is_open()) sentences.push_back(reader.finish(number));
        return limit > 0 && static_cast<int64_t>(sentences.size()) == limit;
      });
  return sentences;
}

std::vector<ParsedSentence> read_treebank(const std::filesystem::path& path, int64_t limit) {
  return sentences_of_file(path, [&](std::string_view text) { return parse_conllu(text, limit); });
}

}  // namespace whyformer
