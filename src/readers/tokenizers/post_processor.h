// The post-processors of tokenizer.json: which special tokens surround a text or a pair of texts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "readers/tokenizers/json_fields.h"
#include "readers/tokenizers/tokenizer.h"

namespace whyformer::tokenization {

// A token of one text, before the special tokens are added.
struct TextToken {
  int64_t id = 0;
  int64_t word = 0;
  Encoding::Offset offset{};
  uint32_t leading_spaces = 0, trailing_spaces = 0;  // of the token's text
};

// One step of a template: the whole text, the whole pair, or special tokens.
struct TemplateStep {
  enum class Kind { kText, kPair, kSpecial };
  Kind kind = Kind::kText;
  int64_t type_id = 0;
  std::vector<int64_t> ids{};  // of the special tokens
};
using Template = std::vector<TemplateStep>;

struct PostProcessor {
  Template single{{.kind = TemplateStep::Kind::kText}};
  Template pair{{.kind = TemplateStep::Kind::kText},
                {.kind = TemplateStep::Kind::kPair, .type_id = 1}};
  // One entry per step that takes the spaces around a byte-level token out of its offsets; the
  // entry tells whether the first token starts with a space that was added to it.
  std::vector<bool> trims_with_prefix_space{};

  int64_t count_special_tokens(const Template& form) const;
  void trim_offsets(std::vector<TextToken>& tokens) const;
  // Ids, type ids, offsets, words, segments and the special mask; no token strings.
  Encoding assemble(const std::vector<TextToken>& text, const std::vector<TextToken>* pair) const;
};

struct ClsSep {
  int64_t cls, sep;
};
PostProcessor bert_processing(ClsSep ids);     // [CLS] text [SEP] pair [SEP], the pair of type 1
PostProcessor roberta_processing(ClsSep ids);  // <s> text </s> </s> pair </s>, all of type 0

// Throws UnsupportedModel for a type it does not know.
PostProcessor read_post_processor(const Json& json, std::string_view file);

}  // namespace whyformer::tokenization
