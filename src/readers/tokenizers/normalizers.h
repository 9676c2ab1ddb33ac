// The normalizers of tokenizer.json: how a text is cleaned before it is split.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "readers/tokenizers/aligned_text.h"
#include "readers/tokenizers/charsmap.h"
#include "readers/tokenizers/json_fields.h"
#include "readers/tokenizers/text_pattern.h"
#include "readers/tokenizers/unicode_forms.h"

namespace whyformer::tokenization {

using Normalizer = std::function<void(AlignedText&)>;

struct BertNormalizerOptions {
  bool clean_text = true;
  bool handle_chinese_chars = true;
  std::optional<bool> strip_accents{};  // by default as lowercase
  bool lowercase = true;
};

Normalizer bert_normalizer(const BertNormalizerOptions& options);
Normalizer unicode_form(UnicodeForm form);
Normalizer lowercase();
Normalizer strip_accents();
Normalizer replace(std::shared_ptr<const TextPattern> pattern, std::string content);
Normalizer precompiled(std::shared_ptr<const Charsmap> charsmap);
Normalizer sequence(std::vector<Normalizer> normalizers);

// Throws UnsupportedModel for a type it does not know.
Normalizer read_normalizer(const Json& json, std::string_view file);

}  // namespace whyformer::tokenization
