#include "models/built_in.h"

#include <array>
#include <span>

// Start and end of each file, from built_in_files.S.
extern "C" {
extern const std::byte whyformer_sentiment_config[], whyformer_sentiment_config_end[];
extern const std::byte whyformer_sentiment_weights[], whyformer_sentiment_weights_end[];
extern const std::byte whyformer_sentiment_tokenizer[], whyformer_sentiment_tokenizer_end[];
extern const std::byte whyformer_sentiment_tokenizer_config[],
    whyformer_sentiment_tokenizer_config_end[];
extern const std::byte whyformer_pictures_config[], whyformer_pictures_config_end[];
extern const std::byte whyformer_pictures_weights[], whyformer_pictures_weights_end[];
extern const std::byte whyformer_pictures_processor[], whyformer_pictures_processor_end[];
extern const std::byte whyformer_income_weights[], whyformer_income_weights_end[];
extern const std::byte whyformer_income_table[], whyformer_income_table_end[];
extern const std::byte whyformer_income_background[], whyformer_income_background_end[];
extern const std::byte whyformer_income_rows[], whyformer_income_rows_end[];
}

namespace whyformer {
namespace {

struct EmbeddedFile {
  std::string_view name;
  const std::byte* begin;
  const std::byte* end;
};

const std::array kSentiment{
    EmbeddedFile{"config.json", whyformer_sentiment_config, whyformer_sentiment_config_end},
    EmbeddedFile{"model.safetensors", whyformer_sentiment_weights, whyformer_sentiment_weights_end},
    EmbeddedFile{"tokenizer.json", whyformer_sentiment_tokenizer,
                 whyformer_sentiment_tokenizer_end},
    EmbeddedFile{"tokenizer_config.json", whyformer_sentiment_tokenizer_config,
                 whyformer_sentiment_tokenizer_config_end}};

const std::array kPictures{
    EmbeddedFile{"config.json", whyformer_pictures_config, whyformer_pictures_config_end},
    EmbeddedFile{"model.safetensors", whyformer_pictures_weights, whyformer_pictures_weights_end},
    EmbeddedFile{"preprocessor_config.json", whyformer_pictures_processor,
                 whyformer_pictures_processor_end}};

const std::array kIncome{
    EmbeddedFile{"model.safetensors", whyformer_income_weights, whyformer_income_weights_end},
    EmbeddedFile{"table.json", whyformer_income_table, whyformer_income_table_end},
    EmbeddedFile{"background.csv", whyformer_income_background, whyformer_income_background_end},
    EmbeddedFile{"rows.csv", whyformer_income_rows, whyformer_income_rows_end}};

FileLookup lookup_in(std::span<const EmbeddedFile> files) {
  return [files](std::string_view name) -> std::optional<Bytes> {
    for (const EmbeddedFile& file : files) {
      if (file.name == name) return Bytes{{file.begin, file.end}, nullptr};
    }
    return std::nullopt;
  };
}

}  // namespace

FileLookup built_in_sentiment() { return lookup_in(kSentiment); }

FileLookup built_in_pictures() { return lookup_in(kPictures); }

FileLookup built_in_income() { return lookup_in(kIncome); }

}  // namespace whyformer
