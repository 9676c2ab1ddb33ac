// The normalizers of tokenizer.json: how a text is cleaned before it is split.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inputs/aligned_text.h"
#include "inputs/charsmap.h"
#include "inputs/json_fields.h"
#include "inputs/text_pattern.h"
#include "inputs/unicode_forms.h"

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
