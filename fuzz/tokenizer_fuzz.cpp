// Reads the bytes as tokenizer.json and, if they load, encodes a few texts with it.
#include <cstddef>
#include <cstdint>
#include <string>

#include "readers/tokenizers/tokenizer.h"
#include "whyformer/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace whyformer;
  const FileLookup files = [&](std::string_view name) -> std::optional<Bytes> {
    if (name != "tokenizer.json") return std::nullopt;
    return Bytes{std::as_bytes(std::span(data, size)), nullptr};
  };
  try {
    const auto tokenizer = load_tokenizer(files);
    for (const std::string_view text :
         {"", " ", "A quick test.",
          "[MASK] <mask>  caf\u00e9 \u4e2d\u6587 \U0001F469\u200D\U0001F680",
          "\xff\xc3(\xed\xa0\x80"}) {
      try {
        tokenizer->encode(text, std::nullopt, 0);
        tokenizer->encode(text, "a pair", 8);
      } catch (const Error&) {
      }
    }
  } catch (const Error&) {
  }
  return 0;
}
