#include "whyformer/games.h"

#include <limits>

#include "readers/token_segments.h"
#include "readers/tokenizers/characters.h"

namespace whyformer {
namespace {

struct Token {
  std::string text;
  bool balanced = true;  // a bracket's partner is in the same group
};

// Tokens begin to end, merged; `node` is its number in the tree.
struct Group {
  size_t begin, end;
  int64_t node;
  size_t size() const { return end - begin; }
};

// The pattern ^.*\W$ of the shap package, whose dot stops at a line feed and whose $ may stand
// before a last one.
bool ends_outside_a_word(std::string_view text) {
  std::vector<char32_t> characters;
  for (size_t at = 0; at < text.size();)
    characters.push_back(tokenization::next_character(text, at));
  for (int without = 0; without < 2; ++without) {
    if (without == 1) {
      if (characters.empty() || characters.back() != '\n') return false;
      characters.pop_back();
    }
    if (characters.empty() || is_word_character(characters.back())) continue;
    bool one_line = true;
    for (size_t i = 0; i + 1 < characters.size(); ++i) one_line &= characters[i] != '\n';
    if (one_line) return true;
  }
  return false;
}

bool starts_with_letter(std::string_view text) {
  return !text.empty() &&
         ((text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z'));
}

// Trimmed, and "##" in front of what continues a word.
std::vector<Token> tokens_of(const std::vector<std::string>& segments) {
  std::vector<Token> tokens;
  for (size_t i = 0; i < segments.size(); ++i) {
    const bool continues = i > 0 && !ends_outside_a_word(segments[i - 1]) &&
                           starts_with_letter(segments[i]) && !tokens[i - 1].text.empty();
    Token token{(continues ? "##" : "") + std::string(trimmed(segments[i]))};
    token.balanced = token.text != "(" && token.text != ")";
    tokens.push_back(std::move(token));
  }
  return tokens;
}

bool is_control(const std::string& text) { return text.starts_with('[') && text.ends_with(']'); }
bool ends_sentence(const std::string& text) { return text == "." || text == "?" || text == "!"; }
bool connects(const std::string& text) { return text == "but" || text == "and" || text == "or"; }
bool is_ending(const std::string& text) { return text == "t" || text == "s"; }

// How well two neighbours go together. The numbers are those of shap's `merge_score`.
double merge_score(const std::vector<Token>& tokens, const Group& left, const Group& right,
                   const std::string& separator) {
  const Token& last = tokens[left.end - 1];
  const Token& first = tokens[right.begin];
  const Token& opening = tokens[left.begin];
  double score = 0;
  if (!separator.empty() && last.text == separator && first.text == separator) {
    score = -std::numeric_limits<double>::infinity();
  }
  if (first.text.starts_with("##")) score += 20;
  if (first.text == "'" &&
      (right.size() == 1 || (right.size() == 2 && is_ending(tokens[right.begin + 1].text)))) {
    score += 15;
  }
  if (last.text == "'" && is_ending(first.text)) score += 15;
  if (is_control(opening.text) != is_control(tokens[right.end - 1].text)) score -= 1000;
  if (first.text == "(" && !first.balanced) score -= 100;
  if (last.text == ")" && !last.balanced) score -= 100;
  if (opening.text == "(") score -= 2;
  if (connects(last.text) || connects(first.text)) score -= 2;
  if (last.text == ",") score -= 10;
  if (first.text == ",") score -= right.size() > 1 ? 10 : 1;
  if (ends_sentence(last.text)) score -= 20;
  if (ends_sentence(first.text)) score -= right.size() > 1 ? 20 : 1;
  return score - static_cast<double>(left.size() + right.size());
}

}  // namespace

PlayerTree token_tree(const std::vector<std::string>& segments, const std::string& separator) {
  std::vector<Token> tokens = tokens_of(segments);
  std::vector<Group> groups;
  for (size_t i = 0; i < tokens.size(); ++i) groups.push_back({i, i + 1, static_cast<int64_t>(i)});
  PlayerTree tree;
  while (groups.size() > 1) {
    size_t best = 0;
    double best_score = merge_score(tokens, groups[0], groups[1], separator);
    for (size_t i = 1; i + 1 < groups.size(); ++i) {
      const double score = merge_score(tokens, groups[i], groups[i + 1], separator);
      if (score > best_score) {
        best = i;
        best_score = score;
      }
    }
    Group& left = groups[best];
    const Group right = groups[best + 1];
    tree.merges.push_back({left.node, right.node});
    left.end = right.end;
    left.node = static_cast<int64_t>(tokens.size() + tree.merges.size()) - 1;
    if (tokens[left.begin].text == "(" && tokens[left.end - 1].text == ")") {
      tokens[left.begin].balanced = tokens[left.end - 1].balanced = true;
    }
    groups.erase(groups.begin() + static_cast<int64_t>(best) + 1);
  }
  return tree;
}

}  // namespace whyformer
