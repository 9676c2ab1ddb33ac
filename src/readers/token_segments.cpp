#include "readers/token_segments.h"

#include <algorithm>

#include "base/code_points.h"
#include "readers/tokenizers/characters.h"

namespace whyformer {
namespace {

// What Python's str.isspace and \s accept.
bool is_space(char32_t c) { return tokenization::is_whitespace(c) || (c >= 0x1C && c <= 0x1F); }

// The text is code points from here on: offsets count them.
class CodePoints {
 public:
  explicit CodePoints(std::string_view text) : text_(text) {
    for (size_t at = 0; at < text.size(); at += tokenization::utf8_length(text[at]))
      starts_.push_back(at);
    starts_.push_back(text.size());
  }
  std::string slice(int64_t start, int64_t end) const {
    const auto most = static_cast<int64_t>(starts_.size()) - 1;
    start = std::min(start, most);
    end = std::clamp(end, start, most);
    return std::string(text_.substr(starts_[start], starts_[end] - starts_[start]));
  }

 private:
  std::string_view text_;
  std::vector<size_t> starts_;
};

std::string tidied(const std::string& text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    if (!is_space(tokenization::next_character(text, at))) {
      result.append(text, begin, at - begin);
    } else if (!result.empty() && result.back() != ' ') {
      result += ' ';
    }
  }
  if (!result.empty() && result.back() == ' ') result.pop_back();
  return result;
}

}  // namespace

bool is_word_character(char32_t c) {
  return c == '_' || tokenization::is_letter(c) || tokenization::is_number(c);
}

std::string_view trimmed(std::string_view text) {
  size_t begin = text.size(), end = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t start = at;
    if (is_space(tokenization::next_character(text, at))) continue;
    begin = std::min(begin, start);
    end = at;
  }
  return begin < end ? text.substr(begin, end - begin) : std::string_view();
}

std::vector<std::string> token_segments(const Encoding& encoding, std::string_view text,
                                        std::string_view pair) {
  const tokenization::CleanText clean = tokenization::replace_ill_formed_utf8(text);
  const tokenization::CleanText clean_pair = tokenization::replace_ill_formed_utf8(pair);
  const CodePoints texts[] = {CodePoints(clean.text), CodePoints(clean_pair.text)};
  std::vector<std::string> segments;
  const size_t count = encoding.ids.size();
  for (size_t i = 0; i < count; ++i) {
    const Encoding::Offset& own = encoding.offsets[i];
    const bool followed = i + 1 < count && encoding.segment[i + 1] == encoding.segment[i];
    const int64_t next = followed ? encoding.offsets[i + 1].start : own.end;
    segments.push_back(texts[encoding.segment[i]].slice(own.start, std::max(own.end, next)));
  }
  return segments;
}

std::string masked_text(const Encoding& encoding, const std::vector<std::string>& segments,
                        int segment, const std::vector<bool>& hidden,
                        const std::string& mask_token) {
  const std::string mask = mask_token.empty() ? " ..." : " " + mask_token;
  std::string text;
  bool after_mask = false;
  for (size_t i = 0; i < segments.size(); ++i) {
    if (encoding.segment[i] != segment) continue;
    const bool masked = hidden[i] && !encoding.special[i];
    if (!masked) {
      text += segments[i];
    } else if (!mask_token.empty() || !after_mask) {
      text += mask;
    }
    after_mask = masked;
  }
  return tidied(text);
}

}  // namespace whyformer
