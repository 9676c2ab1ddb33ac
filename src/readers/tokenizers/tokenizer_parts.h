// What a tokenizer is made of, whichever files it came from.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "readers/tokenizers/added_tokens.h"
#include "readers/tokenizers/normalizers.h"
#include "readers/tokenizers/post_processor.h"
#include "readers/tokenizers/pre_tokenizers.h"
#include "readers/tokenizers/token_model.h"
#include "readers/tokenizers/tokenizer.h"

namespace whyformer {

struct Tokenizer::Parts {
  tokenization::Normalizer normalizer;       // may be empty
  tokenization::PreTokenizer pre_tokenizer;  // may be empty
  std::unique_ptr<const tokenization::TokenModel> model;
  tokenization::AddedTokens added_tokens;
  tokenization::PostProcessor post_processor;
  std::optional<int64_t> mask_id, pad_id, cls_id, sep_id, unk_id;
  int64_t model_max_length = 0;

  std::optional<int64_t> find(std::string_view token) const {
    const auto added = added_tokens.find(token);
    return added ? added : model->vocabulary().find(token);
  }
};

}  // namespace whyformer
