#include "readers/tokenizers/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>

#include "readers/tokenizers/byte_level.h"
#include "readers/tokenizers/tokenizer_parts.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using namespace tokenization;

// Byte positions of a text to character positions.
class CharacterPositions {
 public:
  explicit CharacterPositions(std::string_view text) : size_(text.size()) {
    if (is_ascii(text)) return;
    positions_.reserve(text.size());
    int32_t position = -1;
    for (const char c : text) {
      if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) ++position;
      positions_.push_back(position);
    }
  }

  // An empty span behind the last byte stays in bytes; the package leaves it so.
  Encoding::Offset convert(Span span) const {
    if (span.begin >= size_) return {span.begin, span.end};
    const int64_t end = span.end < size_
                            ? at(span.end)
                            : (span.end == size_ ? at(size_ - 1) : at(span.begin) + 1) + 1;
    return {at(span.begin), end};
  }

 private:
  int64_t at(size_t byte) const {
    return positions_.empty() ? static_cast<int64_t>(byte) : positions_[byte];
  }

  size_t size_;
  std::vector<int32_t> positions_;
};

bool is_byte_level_space(char32_t c) { return c == kSpaceCharacter || is_whitespace(c); }

void count_spaces(std::string_view token_text, TextToken& token) {
  uint32_t leading = 0, trailing = 0, characters = 0;
  for (size_t position = 0; position < token_text.size(); ++characters) {
    const bool space = is_byte_level_space(next_character(token_text, position));
    if (space && leading == characters) ++leading;
    trailing = space ? trailing + 1 : 0;
  }
  token.leading_spaces = leading;
  token.trailing_spaces = trailing;
}

std::vector<TextToken> tokenize(const Tokenizer::Parts& parts, std::string_view text) {
  constexpr size_t kLargest = size_t{1} << 30;
  if (text.size() > kLargest) {
    throw InvalidInput(fmt::format("a text of {} bytes is longer than the {} that are supported",
                                   text.size(), kLargest));
  }
  std::vector<Piece> pieces = parts.added_tokens.split(text, parts.normalizer);
  if (parts.pre_tokenizer) parts.pre_tokenizer(pieces);

  const CharacterPositions positions(text);
  const bool trims = !parts.post_processor.trims_with_prefix_space.empty();
  std::vector<TextToken> tokens;
  std::vector<ModelToken> word_tokens;
  for (size_t word = 0; word < pieces.size(); ++word) {
    const AlignedText& piece = pieces[word].text;
    word_tokens.clear();
    if (pieces[word].added_token) {
      word_tokens.push_back(
          {*pieces[word].added_token, 0, static_cast<uint32_t>(piece.text().size())});
    } else {
      parts.model->tokenize(piece.text(), word_tokens);
    }
    for (const ModelToken& part : word_tokens) {
      TextToken token{.id = part.id, .word = static_cast<int64_t>(word)};
      token.offset = positions.convert(
          piece.original(part.begin, part.end).value_or(Span{part.begin, part.end}));
      if (trims) {
        const bool added = pieces[word].added_token.has_value();
        count_spaces(
            added ? piece.text() : parts.model->vocabulary().token_of(part.id).value_or(""), token);
      }
      tokens.push_back(token);
    }
  }
  return tokens;
}

// The longer text gives way first; if that is not enough, both end up about equally long.
void truncate_longest_first(std::vector<TextToken>& text, std::vector<TextToken>* pair,
                            size_t room) {
  const size_t total = text.size() + (pair == nullptr ? 0 : pair->size());
  if (total <= room) return;
  if (pair == nullptr) {
    text.resize(room);
    return;
  }
  const bool text_is_longer = text.size() > pair->size();
  size_t shorter = std::min(text.size(), pair->size());
  size_t longer = shorter > room ? shorter : std::max(shorter, room - shorter);
  if (shorter + longer > room) {
    shorter = room / 2;
    longer = shorter + room % 2;
  }
  const auto cut = [](std::vector<TextToken>& tokens, size_t length) {
    if (length < tokens.size()) tokens.resize(length);
  };
  cut(text, text_is_longer ? longer : shorter);
  cut(*pair, text_is_longer ? shorter : longer);
}

}  // namespace

Tokenizer::Tokenizer(std::unique_ptr<const Parts> parts) : parts_(std::move(parts)) {}
Tokenizer::~Tokenizer() = default;

Encoding Tokenizer::encode(std::string_view text, std::optional<std::string_view> pair,
                           int64_t max_length) const {
  const PostProcessor& processor = parts_->post_processor;
  const CleanText clean_text = replace_ill_formed_utf8(text);
  const CleanText clean_pair = replace_ill_formed_utf8(pair.value_or(""));
  std::vector<TextToken> text_tokens = tokenize(*parts_, clean_text.text);
  std::vector<TextToken> pair_tokens;
  if (pair) pair_tokens = tokenize(*parts_, clean_pair.text);
  std::vector<TextToken>* const pair_pointer = pair ? &pair_tokens : nullptr;

  const size_t total = text_tokens.size() + pair_tokens.size();
  if (max_length != 0) {
    const int64_t added = processor.count_special_tokens(pair ? processor.pair : processor.single);
    if (max_length < added) {
      throw InvalidInput(
          fmt::format("a maximum length of {} leaves no room for the {} special tokens; raise it",
                      max_length, added));
    }
    truncate_longest_first(text_tokens, pair_pointer, static_cast<size_t>(max_length - added));
  }
  const size_t kept = text_tokens.size() + pair_tokens.size();
  processor.trim_offsets(text_tokens);
  processor.trim_offsets(pair_tokens);

  Encoding encoding = processor.assemble(text_tokens, pair_pointer);
  encoding.truncated = static_cast<int64_t>(total - kept);
  encoding.invalid_bytes = clean_text.replaced + clean_pair.replaced;
  encoding.tokens.reserve(encoding.ids.size());
  for (const int64_t id : encoding.ids) encoding.tokens.push_back(token(id));
  return encoding;
}

std::string Tokenizer::token(int64_t id) const {
  if (const std::string* added = parts_->added_tokens.content_of(id)) return *added;
  if (const auto known = parts_->model->vocabulary().token_of(id)) return std::string(*known);
  throw InvalidInput(fmt::format("the vocabulary has no token with id {}; ids go up to {}", id,
                                 vocabulary_size() - 1));
}

std::optional<int64_t> Tokenizer::id_of(std::string_view token) const {
  return parts_->find(token);
}
std::optional<int64_t> Tokenizer::mask_id() const { return parts_->mask_id; }
std::optional<int64_t> Tokenizer::pad_id() const { return parts_->pad_id; }
std::optional<int64_t> Tokenizer::cls_id() const { return parts_->cls_id; }
std::optional<int64_t> Tokenizer::sep_id() const { return parts_->sep_id; }
std::optional<int64_t> Tokenizer::unk_id() const { return parts_->unk_id; }
int64_t Tokenizer::model_max_length() const { return parts_->model_max_length; }

int64_t Tokenizer::vocabulary_size() const {
  auto size = static_cast<int64_t>(parts_->model->vocabulary().size());
  for (const auto& [id, token] : parts_->added_tokens.tokens()) {
    if (!parts_->model->vocabulary().find(token.content)) ++size;
  }
  return size;
}

}  // namespace whyformer
