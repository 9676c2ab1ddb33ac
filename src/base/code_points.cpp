#include "base/code_points.h"

#include <algorithm>

namespace whyformer {
namespace {

bool starts_code_point(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

void append_utf8(std::string& out, UChar32 code_point) {
  uint8_t bytes[U8_MAX_LENGTH];
  int32_t length = 0;
  U8_APPEND_UNSAFE(bytes, length, code_point);
  out.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(length));
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for_each_code_point(text, [&](UChar32 c, size_t, size_t) { append_utf8(out, c); });
  return out;
}

CodePointText::CodePointText(std::string_view text) : text_(valid_utf8(text)) {
  for_each_code_point(text_, [&](UChar32, size_t start, size_t) { starts_.push_back(start); });
  starts_.push_back(text_.size());
}

std::string CodePointText::slice(int64_t start, int64_t end) const {
  start = std::clamp<int64_t>(start, 0, size());
  end = std::clamp<int64_t>(end, start, size());
  const size_t first = starts_[static_cast<size_t>(start)];
  return text_.substr(first, starts_[static_cast<size_t>(end)] - first);
}

std::string code_points(std::string_view text, int64_t start, int64_t end) {
  int64_t seen = -1;
  size_t begin = text.size(), stop = text.size();
  for (size_t i = 0; i < text.size(); ++i) {
    if (!starts_code_point(text[i])) continue;
    ++seen;
    if (seen == start) begin = i;
    if (seen == end) {
      stop = i;
      break;
    }
  }
  return begin < stop ? std::string(text.substr(begin, stop - begin)) : std::string();
}

}  // namespace whyformer
