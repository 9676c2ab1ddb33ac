#include "readers/tokenizers/text_pattern.h"

#include <fmt/format.h>
#include <unicode/regex.h>
#include <unicode/utf16.h>

#include <optional>

#include "whyformer/error.h"

namespace whyformer::tokenization {
namespace {

// Collects matches that come in order, with the stretches between them.
class MatchList {
 public:
  void add(size_t begin, size_t end) {
    if (covered_ != begin) matches_.push_back({covered_, begin, false});
    matches_.push_back({begin, end, true});
    covered_ = end;
  }
  std::vector<Match> close(size_t size) && {
    if (covered_ != size || size == 0) matches_.push_back({covered_, size, false});
    return std::move(matches_);
  }

 private:
  std::vector<Match> matches_;
  size_t covered_ = 0;
};

struct LiteralPattern final : TextPattern {
  explicit LiteralPattern(std::string literal) : literal(std::move(literal)) {}

  std::vector<Match> find(std::string_view text) const override {
    MatchList matches;
    if (text.empty()) return std::move(matches).close(0);
    size_t position = 0;
    while ((position = text.find(literal, position)) != std::string_view::npos) {
      matches.add(position, position + literal.size());
      position += literal.size();
      if (!literal.empty()) continue;
      if (position == text.size()) break;
      position += utf8_length(static_cast<unsigned char>(text[position]));
    }
    return std::move(matches).close(text.size());
  }

  std::string literal;
};

// What Oniguruma means by \s or \p{L}, for ICU, whose sets differ; nothing if they agree.
std::string class_in_icu_syntax(char name, std::string_view property) {
  const auto set = [](std::string_view inside, bool negated) {
    return fmt::format("[{}{}]", negated ? "^" : "", inside);
  };
  const std::string word =
      "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\u00B2\\u00B3\\u00B9\\u00BC-\\u00BE" + recent_letters() +
      recent_marks() + recent_numbers();
  switch (name) {
    case 's':
    case 'S':
      return set("\\p{White_Space}", name == 'S');
    case 'w':
    case 'W':
      return set(word, name == 'W');
    case 'd':
    case 'D':
      return set("\\p{Nd}" + recent_numbers(), name == 'D');
    case 'h':
    case 'H':
      return set("0-9a-fA-F", name == 'H');
    default:
      break;
  }
  const bool negated = name == 'P';
  if (property == "L") return set("\\p{L}" + recent_letters(), negated);
  if (property == "M") return set("\\p{M}" + recent_marks(), negated);
  if (property == "N") return set("\\p{N}" + recent_numbers(), negated);
  return {};
}

std::string in_icu_syntax(std::string_view expression) {
  std::string translated;
  for (size_t i = 0; i < expression.size(); ++i) {
    if (expression[i] != '\\' || i + 1 == expression.size()) {
      translated += expression[i];
      continue;
    }
    const char name = expression[++i];
    std::string_view property;
    if ((name == 'p' || name == 'P') && expression.substr(i + 1).starts_with('{')) {
      const size_t end = expression.find('}', i);
      if (end != std::string_view::npos) property = expression.substr(i + 2, end - i - 2);
    }
    const std::string replacement = class_in_icu_syntax(name, property);
    if (replacement.empty()) {
      translated += {'\\', name};
    } else {
      translated += replacement;
      if (!property.empty()) i += property.size() + 2;
    }
  }
  return translated;
}

// UTF-16 positions of a text to positions in its UTF-8 form; asked in rising order.
class ToUtf8 {
 public:
  explicit ToUtf8(const icu::UnicodeString& text) : text_(text) {}
  size_t operator()(int32_t position) {
    while (unit_ < position) {
      const UChar32 character = text_.char32At(unit_);
      unit_ += U16_LENGTH(character);
      byte_ += utf8_length_of(static_cast<char32_t>(character));
    }
    return byte_;
  }

 private:
  const icu::UnicodeString& text_;
  int32_t unit_ = 0;
  size_t byte_ = 0;
};

struct RegexPattern final : TextPattern {
  std::vector<Match> find(std::string_view text) const override {
    MatchList matches;
    if (text.empty()) return std::move(matches).close(0);
    const icu::UnicodeString units = icu::UnicodeString::fromUTF8(
        icu::StringPiece(text.data(), static_cast<int32_t>(text.size())));
    UErrorCode status = U_ZERO_ERROR;
    const std::unique_ptr<icu::RegexMatcher> matcher(compiled->matcher(units, status));
    if (U_SUCCESS(status)) {
      constexpr int32_t kMilliseconds = 2000, kStackBytes = 8 << 20;
      matcher->setTimeLimit(kMilliseconds, status);
      matcher->setStackLimit(kStackBytes, status);
    }
    ToUtf8 to_utf8(units);
    std::optional<int32_t> last_end;
    int32_t start = 0;
    while (U_SUCCESS(status) && start <= units.length() && matcher->find(start, status)) {
      const int32_t begin = matcher->start(status), end = matcher->end(status);
      // An empty match right behind the last match does not count.
      if (begin == end && last_end == end) {
        start = start < units.length() ? units.moveIndex32(start, 1) : start + 1;
        continue;
      }
      const size_t first = to_utf8(begin);
      matches.add(first, to_utf8(end));
      start = end;
      last_end = end;
    }
    if (U_FAILURE(status)) {
      throw InvalidInput(
          fmt::format("splitting the text with the tokenizer's regular expression failed ({}); "
                      "shorten the text",
                      u_errorName(status)));
    }
    return std::move(matches).close(text.size());
  }

  std::unique_ptr<const icu::RegexPattern> compiled;
};

}  // namespace

std::shared_ptr<const TextPattern> literal_pattern(std::string literal) {
  return std::make_shared<LiteralPattern>(std::move(literal));
}

std::shared_ptr<const TextPattern> regex_pattern(std::string_view expression,
                                                 std::string_view file) {
  constexpr size_t kLongest = 4096;
  if (expression.size() > kLongest) {
    throw UnsupportedModel(fmt::format(
        "'{}': a regular expression of {} bytes is longer than the {} that are supported", file,
        expression.size(), kLongest));
  }
  auto pattern = std::make_shared<RegexPattern>();
  UErrorCode status = U_ZERO_ERROR;
  // Oniguruma's Ruby syntax: ^ and $ match at every line, and only \n ends one.
  pattern->compiled.reset(
      icu::RegexPattern::compile(icu::UnicodeString::fromUTF8(in_icu_syntax(expression)),
                                 UREGEX_MULTILINE | UREGEX_UNIX_LINES, status));
  if (U_FAILURE(status)) {
    throw UnsupportedModel(
        fmt::format("'{}': the regular expression '{}' is not supported ({}); "
                    "use a tokenizer without it",
                    file, expression, u_errorName(status)));
  }
  return pattern;
}

std::shared_ptr<const TextPattern> read_pattern(const Json& json, std::string_view file) {
  const JsonFields fields(json, file, "a pattern");
  if (const auto literal = fields.optional_text("String")) return literal_pattern(*literal);
  return regex_pattern(fields.text("Regex"), file);
}

}  // namespace whyformer::tokenization
