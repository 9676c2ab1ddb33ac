// What the files around a vocabulary say: tokenizer_config.json, special_tokens_map.json,
// added_tokens.json and the model type of config.json.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "readers/tokenizers/added_tokens.h"

namespace whyformer::tokenization {

// In the order in which transformers adds the tokens.
constexpr std::array<std::string_view, 7> kSpecialRoles = {
    "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"};

struct TokenizerSettings {
  std::map<std::string, AddedToken, std::less<>> special;  // by role: "mask_token"
  std::vector<AddedToken> added;                           // in the order of their ids
  std::string model_type;                                  // "bert"; empty if unknown
  int64_t model_max_length = 0;                            // 0 if absent or absurdly large

  bool do_lower_case = true;
  bool keep_accents = false;
  bool tokenize_chinese_chars = true;
  bool trim_offsets = true;
  std::optional<bool> strip_accents;
  std::optional<bool> add_prefix_space;

  // The token of a role; takes `fallback` if the files do not name one.
  const AddedToken& special_or(std::string_view role, std::string_view fallback);
};

// Throws FileError if one of the files is malformed. Missing files are fine.
TokenizerSettings read_settings(const FileLookup& files);

}  // namespace whyformer::tokenization
