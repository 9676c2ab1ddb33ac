#include "readers/tokenizers/pre_tokenizers.h"

#include "readers/tokenizers/byte_level.h"
#include "readers/tokenizers/text_pattern.h"

namespace whyformer::tokenization {
namespace {

size_t total_size(const std::vector<Piece>& pieces) {
  size_t total = 0;
  for (const Piece& piece : pieces) total += piece.text.text().size();
  return total;
}

// Each step may add a little to every piece and split it: steps of a hostile file would make more
// and more of them.
void check_pieces(const std::vector<Piece>& pieces, size_t most) {
  const size_t total = total_size(pieces);
  if (total <= most) return;
  throw UnsupportedModel(
      fmt::format("the tokenizer's pre-tokenizers make {} bytes of the text, more than the {} that "
                  "sound ones could: look at their rules, or "
                  "use the model's own tokenizer",
                  total, most));
}

// Splits at the characters that match.
template <typename Predicate>
PreTokenizer split_at(Predicate matches, SplitBehavior behavior) {
  return [=](std::vector<Piece>& pieces) {
    split_each(pieces, [&](const AlignedText& text, std::vector<Piece>& parts) {
      split(text, find_characters(text.text(), matches), behavior, parts);
    });
  };
}

// \w+|[^\w\s]+ with everything else removed.
std::vector<Match> find_outside_words(std::string_view text) {
  enum class Class { kWord, kSpace, kOther };
  const auto class_of = [](char32_t c) {
    if (is_whitespace(c)) return Class::kSpace;
    return is_word_character(c) ? Class::kWord : Class::kOther;
  };
  std::vector<Match> matches;
  size_t begin = 0;
  while (begin < text.size()) {
    size_t end = begin;
    const Class kind = class_of(next_character(text, end));
    while (end < text.size()) {
      size_t after = end;
      if (class_of(next_character(text, after)) != kind) break;
      end = after;
    }
    matches.push_back({begin, end, kind == Class::kSpace});
    begin = end;
  }
  return matches;
}

SplitBehavior read_behavior(const JsonFields& fields, std::string_view fallback) {
  const std::string name =
      fallback.empty() ? fields.text("behavior") : fields.text_or("behavior", fallback);
  if (name == "Removed") return SplitBehavior::kRemoved;
  if (name == "Isolated") return SplitBehavior::kIsolated;
  if (name == "MergedWithPrevious") return SplitBehavior::kMergedWithPrevious;
  if (name == "MergedWithNext") return SplitBehavior::kMergedWithNext;
  if (name == "Contiguous") return SplitBehavior::kContiguous;
  throw UnsupportedModel(
      fmt::format("'{}': the split behavior '{}' is not supported", fields.file(), name));
}

char32_t read_character(const JsonFields& fields, std::string_view name) {
  const std::string text = fields.text(name);
  if (count_characters(text) != 1) fields.fail(name, "a single character");
  size_t position = 0;
  return next_character(text, position);
}

PreTokenizer read_split(const JsonFields& fields) {
  const auto pattern = read_pattern(fields.required("pattern"), fields.file());
  const SplitBehavior behavior = read_behavior(fields, "");
  const bool invert = fields.flag_or("invert", false);
  return [=](std::vector<Piece>& pieces) {
    split_each(pieces, [&](const AlignedText& text, std::vector<Piece>& parts) {
      std::vector<Match> matches = pattern->find(text.text());
      if (invert) {
        for (Match& match : matches) match.matched = !match.matched;
      }
      split(text, std::move(matches), behavior, parts);
    });
  };
}

PreTokenizer read_metaspace(const JsonFields& fields) {
  MetaspaceOptions options{.replacement = read_character(fields, "replacement"),
                           .split = fields.flag_or("split", true)};
  // Files from before prepend_scheme only say whether to add a space.
  const bool add_prefix_space = fields.flag_or("add_prefix_space", true);
  const std::string scheme =
      fields.text_or("prepend_scheme", add_prefix_space ? "always" : "never");
  if (scheme == "first") {
    options.prepend_scheme = PrependScheme::kFirst;
  } else if (scheme == "never") {
    options.prepend_scheme = PrependScheme::kNever;
  } else if (scheme != "always") {
    throw UnsupportedModel(
        fmt::format("'{}': the prepend_scheme '{}' is not supported", fields.file(), scheme));
  }
  return metaspace(options);
}

PreTokenizer read_sequence(const JsonFields& fields) {
  std::vector<PreTokenizer> parts;
  for (const Json& part : fields.list("pretokenizers"))
    parts.push_back(read_pre_tokenizer(part, fields.file()));
  return sequence(std::move(parts));
}

}  // namespace

PreTokenizer bert_pre_tokenizer() {
  return sequence({split_at(is_whitespace, SplitBehavior::kRemoved),
                   split_at(is_punctuation, SplitBehavior::kIsolated)});
}

PreTokenizer byte_level(const ByteLevelOptions& options) {
  return [=](std::vector<Piece>& pieces) {
    split_each(pieces, [&](AlignedText& text, std::vector<Piece>& parts) {
      if (options.add_prefix_space && !text.text().starts_with(' ')) text.prepend(" ");
      if (options.use_regex) {
        split(text, find_gpt2_words(text.text()), SplitBehavior::kIsolated, parts);
      } else if (!text.empty()) {
        parts.push_back({std::move(text), std::nullopt});
      }
    });
    for (Piece& piece : pieces) {
      if (!piece.added_token) bytes_to_characters(piece.text);
    }
  };
}

PreTokenizer whitespace_split() { return split_at(is_whitespace, SplitBehavior::kRemoved); }

PreTokenizer metaspace(const MetaspaceOptions& options) {
  std::string replacement;
  append_utf8(replacement, options.replacement);
  return [=](std::vector<Piece>& pieces) {
    split_each(pieces, [&](AlignedText& text, std::vector<Piece>& parts) {
      text.replace(find_characters(text.text(), [](char32_t c) { return c == U' '; }), replacement);
      const bool prepend =
          options.prepend_scheme == PrependScheme::kAlways ||
          (options.prepend_scheme == PrependScheme::kFirst && text.original_begin() == 0);
      if (prepend && !text.text().starts_with(replacement)) text.prepend(replacement);
      if (options.split) {
        const auto is_replacement = [&](char32_t c) { return c == options.replacement; };
        split(text, find_characters(text.text(), is_replacement), SplitBehavior::kMergedWithNext,
              parts);
      } else if (!text.empty()) {
        parts.push_back({std::move(text), std::nullopt});
      }
    });
  };
}

PreTokenizer sequence(std::vector<PreTokenizer> pre_tokenizers) {
  return [pre_tokenizers = std::move(pre_tokenizers)](std::vector<Piece>& pieces) {
    const size_t most = most_bytes_made_of(total_size(pieces));
    for (const PreTokenizer& pre_tokenizer : pre_tokenizers) {
      pre_tokenizer(pieces);
      check_pieces(pieces, most);
    }
  };
}

PreTokenizer read_pre_tokenizer(const Json& json, std::string_view file) {
  const JsonFields fields(json, file, "a pre-tokenizer");
  const std::string type = fields.text("type");
  if (type == "BertPreTokenizer") return bert_pre_tokenizer();
  if (type == "ByteLevel") {
    return byte_level({.add_prefix_space = fields.flag_or("add_prefix_space", true),
                       .use_regex = fields.flag_or("use_regex", true)});
  }
  if (type == "Whitespace") {
    return [](std::vector<Piece>& pieces) {
      split_each(pieces, [](const AlignedText& text, std::vector<Piece>& parts) {
        split(text, find_outside_words(text.text()), SplitBehavior::kRemoved, parts);
      });
    };
  }
  if (type == "WhitespaceSplit") return whitespace_split();
  if (type == "Metaspace") return read_metaspace(fields);
  if (type == "Punctuation") return split_at(is_punctuation, read_behavior(fields, "Isolated"));
  if (type == "Digits") {
    const bool each = fields.flag_or("individual_digits", false);
    return split_at(is_numeric, each ? SplitBehavior::kIsolated : SplitBehavior::kContiguous);
  }
  if (type == "Split") return read_split(fields);
  if (type == "CharDelimiterSplit") {
    const char32_t delimiter = read_character(fields, "delimiter");
    return split_at([delimiter](char32_t c) { return c == delimiter; }, SplitBehavior::kRemoved);
  }
  if (type == "Sequence") return read_sequence(fields);
  throw UnsupportedModel(fmt::format("'{}': the pre-tokenizer '{}' is not supported", file, type));
}

}  // namespace whyformer::tokenization
