// SentencePiece's precompiled character map: a double-array trie from strings to their normal form.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "readers/tokenizers/aligned_text.h"

namespace whyformer::tokenization {

class Charsmap {
 public:
  // `blob` is the binary form inside a SentencePiece model. Throws FileError naming `file`.
  Charsmap(std::string_view blob, std::string_view file);

  void apply(AlignedText& text) const;

 private:
  std::optional<std::string_view> lookup(std::string_view key) const;

  std::vector<uint32_t> trie_;
  std::string normalized_;  // the normal forms, each closed by a zero byte
};

// Standard base64 with padding. Throws FileError naming `file`.
std::string decode_base64(std::string_view text, std::string_view file);

}  // namespace whyformer::tokenization
