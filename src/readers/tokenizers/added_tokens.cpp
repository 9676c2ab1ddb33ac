#include "readers/tokenizers/added_tokens.h"

#include <algorithm>

namespace whyformer::tokenization {
namespace {

// Where the run of spaces that ends at `position` begins, not before `first`.
size_t start_of_spaces(std::string_view text, size_t position, size_t first) {
  while (position > first) {
    size_t begin = position - 1;
    while (begin > first && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
    size_t after = begin;
    if (!is_whitespace(next_character(text, after))) break;
    position = begin;
  }
  return position;
}

size_t end_of_spaces(std::string_view text, size_t position) {
  while (position < text.size()) {
    size_t after = position;
    if (!is_whitespace(next_character(text, after))) break;
    position = after;
  }
  return position;
}

bool ends_with_word_character(std::string_view text) {
  if (text.empty()) return false;
  size_t position = text.size() - 1;
  while (position > 0 && (static_cast<unsigned char>(text[position]) & 0xC0) == 0x80) --position;
  return is_word_character(next_character(text, position));
}

bool starts_with_word_character(std::string_view text) {
  size_t position = 0;
  return !text.empty() && is_word_character(next_character(text, position));
}

}  // namespace

AddedToken special_token(std::string content) {
  return {.content = std::move(content), .normalized = false};
}

void AddedTokens::add(const std::vector<AddedToken>& tokens, const TokenModel& model) {
  const auto model_size = static_cast<int64_t>(model.vocabulary().size());
  int64_t next_id =
      tokens_.empty() ? model_size : std::max(model_size, tokens_.rbegin()->first + 1);
  for (const AddedToken& token : tokens) {
    if (token.content.empty()) continue;
    auto id = find(token.content);
    if (!id) id = model.vocabulary().find(token.content);
    if (!id) id = next_id++;
    ids_[token.content] = *id;
    tokens_[*id] = token;
  }
}

void AddedTokens::seal(const Normalizer& normalizer) {
  std::vector<std::string> normal_forms;
  normal_forms.reserve(tokens_.size());
  std::vector<PrefixTree::Entry> raw, normalized;
  for (const auto& [id, token] : tokens_) {
    if (!token.normalized) {
      raw.push_back({token.content, static_cast<int32_t>(id)});
      continue;
    }
    AlignedText text(token.content);
    if (normalizer) normalizer(text);
    normal_forms.push_back(text.text());
    normalized.push_back({normal_forms.back(), static_cast<int32_t>(id)});
  }
  in_raw_text_ = PrefixTree(std::move(raw));
  in_normalized_text_ = PrefixTree(std::move(normalized));
}

std::optional<int64_t> AddedTokens::find(std::string_view content) const {
  const auto found = ids_.find(content);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

const std::string* AddedTokens::content_of(int64_t id) const {
  const auto found = tokens_.find(id);
  return found == tokens_.end() ? nullptr : &found->second.content;
}

std::vector<Piece> AddedTokens::split(std::string_view text, const Normalizer& normalizer) const {
  std::vector<Piece> pieces;
  split_at(AlignedText(text), in_raw_text_, pieces);
  split_each(pieces, [&](AlignedText& part, std::vector<Piece>& parts) {
    if (normalizer) normalizer(part);
    split_at(part, in_normalized_text_, parts);
  });
  return pieces;
}

// Of the tokens that match, the leftmost; of those, the longest.
void AddedTokens::split_at(const AlignedText& aligned, const PrefixTree& tree,
                           std::vector<Piece>& pieces) const {
  const std::string_view text = aligned.text();
  size_t covered = 0;
  for (size_t position = 0; position < text.size();) {
    size_t length = 0;
    int32_t id = -1;
    tree.find_prefixes(text.substr(position), [&](size_t found_length, int32_t found_id) {
      length = found_length;
      id = found_id;
    });
    if (length == 0) {
      ++position;
      continue;
    }
    size_t begin = position, end = position + length;
    position = end;
    const AddedToken& token = tokens_.at(id);
    if (token.single_word && (ends_with_word_character(text.substr(0, begin)) ||
                              starts_with_word_character(text.substr(end)))) {
      continue;
    }
    if (token.lstrip) begin = start_of_spaces(text, begin, covered);
    if (token.rstrip) end = end_of_spaces(text, end);
    if (covered < begin) pieces.push_back({aligned.slice(covered, begin), std::nullopt});
    pieces.push_back({aligned.slice(begin, end), id});
    covered = end;
  }
  if (covered < text.size()) pieces.push_back({aligned.slice(covered, text.size()), std::nullopt});
}

AddedToken read_added_token(const JsonFields& fields) {
  const bool special = fields.flag_or("special", false);
  return {.content = fields.text("content"),
          .single_word = fields.flag_or("single_word", false),
          .lstrip = fields.flag_or("lstrip", false),
          .rstrip = fields.flag_or("rstrip", false),
          .normalized = fields.flag_or("normalized", !special)};
}

}  // namespace whyformer::tokenization
