#include "models/built_in.h"

#include <array>

// Start and end of each file, from built_in_files.S.
extern "C" {
extern const std::byte whyformer_sentiment_config[], whyformer_sentiment_config_end[];
extern const std::byte whyformer_sentiment_weights[], whyformer_sentiment_weights_end[];
extern const std::byte whyformer_sentiment_tokenizer[], whyformer_sentiment_tokenizer_end[];
extern const std::byte whyformer_sentiment_tokenizer_config[],
    whyformer_sentiment_tokenizer_config_end[];
}

namespace whyformer {
namespace {

struct EmbeddedFile {
  std::string_view name;
  const std::byte* begin;
  const std::byte* end;
};

}  // namespace

FileLookup built_in_sentiment() {
  return [](std::string_view name) -> std::optional<Bytes> {
    const std::array files{
        EmbeddedFile{"config.json", whyformer_sentiment_config, whyformer_sentiment_config_end},
        EmbeddedFile{"model.safetensors", whyformer_sentiment_weights,
                     whyformer_sentiment_weights_end},
        EmbeddedFile{"tokenizer.json", whyformer_sentiment_tokenizer,
                     whyformer_sentiment_tokenizer_end},
        EmbeddedFile{"tokenizer_config.json", whyformer_sentiment_tokenizer_config,
                     whyformer_sentiment_tokenizer_config_end}};
    for (const EmbeddedFile& file : files) {
      if (file.name == name) return Bytes{{file.begin, file.end}, nullptr};
    }
    return std::nullopt;
  };
}

}  // namespace whyformer
