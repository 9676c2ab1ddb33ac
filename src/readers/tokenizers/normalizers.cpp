#include "readers/tokenizers/normalizers.h"

#include "readers/tokenizers/byte_level.h"

namespace whyformer::tokenization {
namespace {

void to_lowercase(AlignedText& aligned) {
  const std::string& text = aligned.text();
  if (is_ascii(text)) {
    aligned.map(to_lower);
    return;
  }
  std::vector<CharacterChange> changes;
  changes.reserve(text.size());
  for (size_t position = 0; position < text.size();) {
    const char32_t character = next_character(text, position);
    if (character == kCapitalIWithDot) {
      changes.push_back({U'i', 0});
      changes.push_back({U'\u0307', 1});
    } else {
      changes.push_back({to_lower(character), 0});
    }
  }
  aligned.transform(changes, 0);
}

void clean(AlignedText& aligned) {
  const auto is_kept_control = [](char32_t c) { return c == '\t' || c == '\n' || c == '\r'; };
  aligned.filter([&](char32_t c) { return c != 0xFFFD && (is_kept_control(c) || !is_other(c)); });
  aligned.map([](char32_t c) { return is_whitespace(c) ? U' ' : c; });
}

void put_spaces_around_chinese(AlignedText& aligned) {
  const std::string& text = aligned.text();
  if (is_ascii(text)) return;
  std::vector<CharacterChange> changes;
  changes.reserve(text.size());
  for (size_t position = 0; position < text.size();) {
    const char32_t character = next_character(text, position);
    if (is_chinese_character(character)) {
      changes.insert(changes.end(), {{U' ', 0}, {character, 1}, {U' ', 1}});
    } else {
      changes.push_back({character, 0});
    }
  }
  aligned.transform(changes, 0);
}

// SentencePiece's nmt rules: control characters vanish, other separators become spaces.
void nmt(AlignedText& aligned) {
  aligned.filter([](char32_t c) {
    return !((c >= 0x01 && c <= 0x08) || c == 0x0B || (c >= 0x0E && c <= 0x1F) || c == 0x7F ||
             c == 0x8F || c == 0x9F);
  });
  aligned.map([](char32_t c) {
    const bool space = c == 0x09 || c == 0x0A || c == 0x0C || c == 0x0D || c == 0x1680 ||
                       (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 || c == 0x2581 ||
                       c == 0xFEFF || c == 0xFFFD;
    return space ? U' ' : c;
  });
}

size_t count_leading_spaces(std::string_view text) {
  size_t count = 0;
  for (size_t position = 0; position < text.size(); ++count) {
    if (!is_whitespace(next_character(text, position))) break;
  }
  return count;
}

size_t count_trailing_spaces(std::string_view text) {
  size_t trailing = 0;
  for (size_t position = 0; position < text.size();) {
    trailing = is_whitespace(next_character(text, position)) ? trailing + 1 : 0;
  }
  return trailing;
}

Normalizer read_strip(const JsonFields& fields) {
  const bool left = fields.flag_or("strip_left", true), right = fields.flag_or("strip_right", true);
  return [=](AlignedText& aligned) {
    const std::string& text = aligned.text();
    aligned.strip(left ? count_leading_spaces(text) : 0, right ? count_trailing_spaces(text) : 0);
  };
}

Normalizer read_bert(const JsonFields& fields) {
  return bert_normalizer({.clean_text = fields.flag_or("clean_text", true),
                          .handle_chinese_chars = fields.flag_or("handle_chinese_chars", true),
                          .strip_accents = fields.optional_flag("strip_accents"),
                          .lowercase = fields.flag_or("lowercase", true)});
}

Normalizer read_replace(const JsonFields& fields) {
  return replace(read_pattern(fields.required("pattern"), fields.file()), fields.text("content"));
}

Normalizer read_sequence(const JsonFields& fields) {
  std::vector<Normalizer> parts;
  for (const Json& part : fields.list("normalizers"))
    parts.push_back(read_normalizer(part, fields.file()));
  return sequence(std::move(parts));
}

Normalizer read_precompiled(const JsonFields& fields) {
  const std::string encoded = fields.text_or("precompiled_charsmap", "");
  if (encoded.empty()) return [](AlignedText&) {};
  return precompiled(
      std::make_shared<Charsmap>(decode_base64(encoded, fields.file()), fields.file()));
}

}  // namespace

Normalizer bert_normalizer(const BertNormalizerOptions& options) {
  return [=](AlignedText& aligned) {
    if (options.clean_text) clean(aligned);
    if (options.handle_chinese_chars) put_spaces_around_chinese(aligned);
    if (options.strip_accents.value_or(options.lowercase) && !is_ascii(aligned.text())) {
      aligned.transform(normalization_changes(aligned.text(), UnicodeForm::kNfd), 0);
      aligned.filter([](char32_t c) { return !is_nonspacing_mark(c); });
    }
    if (options.lowercase) to_lowercase(aligned);
  };
}

Normalizer unicode_form(UnicodeForm form) {
  return [form](AlignedText& aligned) {
    aligned.transform(normalization_changes(aligned.text(), form), 0);
  };
}

Normalizer lowercase() { return to_lowercase; }

Normalizer strip_accents() {
  return [](AlignedText& aligned) {
    aligned.filter([](char32_t c) { return !is_combining_mark(c); });
  };
}

Normalizer replace(std::shared_ptr<const TextPattern> pattern, std::string content) {
  return [pattern = std::move(pattern), content = std::move(content)](AlignedText& aligned) {
    aligned.replace(pattern->find(aligned.text()), content);
  };
}

Normalizer precompiled(std::shared_ptr<const Charsmap> charsmap) {
  return [charsmap = std::move(charsmap)](AlignedText& aligned) { charsmap->apply(aligned); };
}

Normalizer sequence(std::vector<Normalizer> normalizers) {
  return [normalizers = std::move(normalizers)](AlignedText& aligned) {
    for (const Normalizer& normalizer : normalizers) normalizer(aligned);
  };
}

Normalizer read_normalizer(const Json& json, std::string_view file) {
  const JsonFields fields(json, file, "a normalizer");
  const std::string type = fields.text("type");
  if (type == "BertNormalizer") return read_bert(fields);
  if (type == "Sequence") return read_sequence(fields);
  if (type == "Lowercase") return lowercase();
  if (type == "NFC") return unicode_form(UnicodeForm::kNfc);
  if (type == "NFD") return unicode_form(UnicodeForm::kNfd);
  if (type == "NFKC") return unicode_form(UnicodeForm::kNfkc);
  if (type == "NFKD") return unicode_form(UnicodeForm::kNfkd);
  if (type == "StripAccents") return strip_accents();
  if (type == "Strip") return read_strip(fields);
  if (type == "Replace") return read_replace(fields);
  if (type == "Prepend") {
    return [prefix = fields.text("prepend")](AlignedText& aligned) { aligned.prepend(prefix); };
  }
  if (type == "Precompiled") return read_precompiled(fields);
  if (type == "Nmt") return nmt;
  if (type == "ByteLevel") return bytes_to_characters;
  throw UnsupportedModel(fmt::format("'{}': the normalizer '{}' is not supported", file, type));
}

}  // namespace whyformer::tokenization
