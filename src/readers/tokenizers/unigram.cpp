#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "readers/tokenizers/characters.h"
#include "readers/tokenizers/prefix_tree.h"
#include "readers/tokenizers/token_model.h"
#include "whyformer/error.h"

namespace whyformer::tokenization {
namespace {

PrefixTree tree_of(const Vocabulary& vocabulary) {
  std::vector<PrefixTree::Entry> entries;
  entries.reserve(vocabulary.size());
  for (size_t id = 0; id < vocabulary.size(); ++id) {
    entries.push_back({*vocabulary.token_of(static_cast<int64_t>(id)), static_cast<int32_t>(id)});
  }
  return PrefixTree(std::move(entries));
}

class Unigram final : public TokenModel {
 public:
  Unigram(Vocabulary vocabulary, std::vector<double> scores, const UnigramOptions& options)
      : TokenModel(std::move(vocabulary)),
        scores_(std::move(scores)),
        options_(options),
        tree_(tree_of(this->vocabulary())) {
    constexpr double kUnknownPenalty = 10.0;
    unknown_score_ =
        std::accumulate(scores_.begin(), scores_.end(), std::numeric_limits<double>::infinity(),
                        [](double a, double b) { return std::min(a, b); }) -
        kUnknownPenalty;
    for (int byte = 0; byte < 256 && options_.byte_fallback; ++byte) {
      byte_ids_[static_cast<size_t>(byte)] =
          this->vocabulary().find(fmt::format("<0x{:02X}>", byte));
    }
  }

  void tokenize(std::string_view text, std::vector<ModelToken>& tokens) const override {
    if (text.empty()) return;
    for (const ModelToken& token : best_path(text)) {
      // Unknown characters in a row are one token; together they may happen to be a token of the
      // vocabulary.
      const std::string_view surface = text.substr(token.begin, token.end - token.begin);
      const auto id = token.id == options_.unk_id ? vocabulary().find(surface) : token.id;
      if (id) {
        tokens.push_back({*id, token.begin, token.end});
      } else if (!options_.byte_fallback || !add_bytes(surface, token, tokens)) {
        tokens.push_back(token);
      }
    }
  }

  std::optional<int64_t> unknown_id() const override { return options_.unk_id; }

 private:
  // The best way to reach a place of the text: its total score, and its last token.
  struct Best {
    double score = 0;
    int32_t id = 0;
    uint32_t begin = kNowhere;
    static constexpr uint32_t kNowhere = ~uint32_t{0};
  };

  std::vector<ModelToken> best_path(std::string_view text) const {
    std::vector<Best> best(text.size() + 1);
    for (size_t begin = 0; begin < text.size();) {
      const double score = best[begin].score;
      const size_t character = utf8_length(static_cast<unsigned char>(text[begin]));
      const auto offer = [&](size_t length, int64_t id, double token_score) {
        Best& target = best[begin + length];
        if (target.begin != Best::kNowhere && score + token_score <= target.score) return;
        target = {score + token_score, static_cast<int32_t>(id), static_cast<uint32_t>(begin)};
      };
      bool has_character = false;
      tree_.find_prefixes(text.substr(begin), [&](size_t length, int32_t id) {
        offer(length, id, scores_[static_cast<size_t>(id)]);
        has_character = has_character || length == character;
      });
      if (!has_character) offer_unknown(offer, character);
      begin += character;
    }
    return backwards(best);
  }

  template <typename Offer>
  void offer_unknown(const Offer& offer, size_t length) const {
    if (!options_.unk_id) {
      throw InvalidInput(
          "the text has a character that is not in the vocabulary, and the tokenizer has no "
          "unknown token; remove that character");
    }
    offer(length, *options_.unk_id, unknown_score_);
  }

  std::vector<ModelToken> backwards(const std::vector<Best>& best) const {
    std::vector<ModelToken> path;
    bool last_unknown = false;
    for (size_t end = best.size() - 1; end > 0;) {
      const Best& node = best[end];
      const bool unknown = node.id == options_.unk_id;
      if (unknown && last_unknown) {
        path.back().begin = node.begin;
      } else {
        path.push_back({node.id, node.begin, static_cast<uint32_t>(end)});
      }
      last_unknown = unknown;
      end = node.begin;
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

  bool add_bytes(std::string_view surface, const ModelToken& token,
                 std::vector<ModelToken>& tokens) const {
    const auto id_of = [&](char byte) { return byte_ids_[static_cast<unsigned char>(byte)]; };
    if (!std::all_of(surface.begin(), surface.end(),
                     [&](char byte) { return id_of(byte).has_value(); }))
      return false;
    for (const char byte : surface) tokens.push_back({*id_of(byte), token.begin, token.end});
    return true;
  }

  std::vector<double> scores_;
  UnigramOptions options_;
  PrefixTree tree_;
  double unknown_score_ = 0;
  std::array<std::optional<int64_t>, 256> byte_ids_;
};

}  // namespace

std::unique_ptr<const TokenModel> unigram_model(Vocabulary vocabulary, std::vector<double> scores,
                                                const UnigramOptions& options,
                                                std::string_view file) {
  if (scores.size() != vocabulary.size()) {
    throw FileError(
        fmt::format("'{}': {} tokens but {} scores", file, vocabulary.size(), scores.size()));
  }
  if (options.unk_id && static_cast<size_t>(*options.unk_id) >= scores.size()) {
    throw FileError(fmt::format("'{}': the unknown token has id {} but there are {} tokens", file,
                                *options.unk_id, scores.size()));
  }
  if (!std::all_of(scores.begin(), scores.end(),
                   [](double score) { return std::isfinite(score); })) {
    throw FileError(
        fmt::format("'{}': a score is not a finite number; download the file again", file));
  }
  return std::make_unique<Unigram>(std::move(vocabulary), std::move(scores), options);
}

}  // namespace whyformer::tokenization
