// Text to token ids and back, as the HuggingFace `tokenizers` package does it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace whyformer {

// One input, special tokens included. All vectors have one entry per token.
struct Encoding {
  struct Offset {
    int64_t start = 0, end = 0;
    bool operator==(const Offset&) const = default;
  };
  std::vector<int64_t> ids;
  std::vector<int64_t> type_ids;    // segment ids as the post-processor's template says
  std::vector<std::string> tokens;  // vocabulary strings
  std::vector<Offset>
      offsets;  // code points of the segment's original text; {0, 0} for special tokens
  std::vector<bool> special;  // added by the template
  std::vector<int>
      segment;  // 0 = text, 1 = pair; a special token belongs to the sequence it closes
  std::vector<int64_t> word;  // word index within its segment; -1 for special tokens
  int64_t truncated = 0;      // how many tokens were cut off to respect max_length
  int64_t invalid_bytes = 0;  // how many ill-formed UTF-8 sequences were read as U+FFFD
};

// Immutable, shareable between threads.
class Tokenizer {
 public:
  struct Parts;  // the pipeline, see tokenizer_parts.h
  explicit Tokenizer(std::unique_ptr<const Parts> parts);
  ~Tokenizer();

  // `max_length` counts special tokens; 0 means no limit. Ill-formed UTF-8 is read as U+FFFD.
  // Throws InvalidInput if `max_length` leaves no room for the special tokens.
  Encoding encode(std::string_view text, std::optional<std::string_view> pair = {},
                  int64_t max_length = 0) const;

  std::string token(int64_t id) const;  // throws InvalidInput if the vocabulary has no such id
  std::optional<int64_t> id_of(std::string_view token) const;
  std::optional<int64_t> mask_id() const;
  std::optional<int64_t> pad_id() const;
  std::optional<int64_t> cls_id() const;
  std::optional<int64_t> sep_id() const;
  std::optional<int64_t> unk_id() const;
  int64_t vocabulary_size() const;   // added tokens included
  int64_t model_max_length() const;  // from tokenizer_config.json; 0 if absent or absurdly large

 private:
  std::unique_ptr<const Parts> parts_;
};

// Reads tokenizer.json, or what older models have instead: vocab.txt, vocab.json with merges.txt,
// spiece.model or sentencepiece.bpe.model. Throws FileError or UnsupportedModel.
std::shared_ptr<const Tokenizer> load_tokenizer(const FileLookup& files);

}  // namespace whyformer
