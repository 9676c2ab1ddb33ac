// A source of graphs that read texts as token ids. Samples have "input_ids" and "token_type_ids"
// [tokens], and "hidden" where attention must not see some positions.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/architectures/encoder.h"
#include "models/graph_source.h"
#include "models/model_files.h"

namespace whyformer {

// What a text source must know of the tokenizer in front of it.
struct TokenizerFacts {
  int64_t vocabulary = 0;
  int64_t longest_input = 0;  // that it is made for, in tokens; 0 where it does not say
  std::optional<int64_t> pad_id = {};
};

// Texts of equal length for one run. `hidden` marks positions that attention must not see.
struct TokenBatch {
  std::vector<std::vector<int64_t>> ids;
  std::vector<std::vector<int64_t>> types;
  std::vector<std::vector<bool>> hidden;  // empty: nothing is hidden
};
std::vector<Sample> samples_of(const TokenBatch& batch);

// Of texts of so many tokens; the rest of the key as it is.
ShapeKey text_key(int64_t tokens, ShapeKey key = {});
ShapeKey masked_text_key(int64_t tokens, ShapeKey key = {});

enum class Pooling { kMean, kFirst };

class TextSource : public GraphSource {
 public:
  // An output of answers for every token, whose mean is explained instead; empty for none.
  const std::string& averaged_output() const { return averaged_output_; }
  // The tokenizer may give a second text type 1, but the model has type 0 alone.
  bool has_one_token_type() const { return has_one_token_type_; }
  Pooling pooling() const { return pooling_; }
  // The longest input in tokens, special ones included.
  int64_t max_tokens() const { return max_tokens_; }
  // The one length that an ONNX file works with: texts are filled up with padding, which graphs
  // hide from attention. 0 for any length.
  int64_t fixed_tokens() const { return fixed_tokens_; }
  // Whether the model can be told to look away from padding.
  virtual bool hides_padding() const { return true; }
  virtual bool reads_pairs() const { return true; }
  // How many of a text's tokens count: no token sees what comes behind them.
  virtual int64_t tokens_read(const std::vector<int64_t>& ids) const {
    return static_cast<int64_t>(ids.size());
  }
  // A length to look at the model with.
  int64_t probe_tokens() const {
    return fixed_tokens_ > 0 ? fixed_tokens_ : std::min<int64_t>(8, max_tokens_);
  }
  // The id that stands for nothing, where there is one.
  std::optional<int64_t> pad_id() const { return pad_id_; }

 protected:
  TextSource(std::string name, const TokenizerFacts& tokenizer)
      : GraphSource({.name = std::move(name)}), pad_id_(tokenizer.pad_id) {}

  ShapeKey served_by(ShapeKey key) const override;
  void feed(const ModelGraph& graph, std::span<const Sample> samples, Feeds& feeds) const override;
  virtual void feed_tokens(const ModelGraph& graph, const TokenBatch& batch,
                           Feeds& feeds) const = 0;

  // Adds what the key's head needs behind hidden states [batch, tokens, width].
  Value embedding_head(GraphBuilder& graph, Value hidden, ModelGraph& built) const;

  std::string averaged_output_;
  bool has_one_token_type_ = false;
  std::optional<int64_t> pad_id_;
  int64_t max_tokens_ = 0;
  int64_t fixed_tokens_ = 0;
  Pooling pooling_ = Pooling::kMean;

 private:
  Value pooled(GraphBuilder& graph, Value hidden, ModelGraph& built) const;
  TokenBatch filled_up(const TokenBatch& batch) const;
};

// [batch, tokens] of integers.
Tensor batch_tensor(const std::vector<std::vector<int64_t>>& rows, int64_t tokens);

// One number per token, as the graph's float type.
Tensor token_numbers(const TokenBatch& batch, DType dtype, const Shape& shape, double if_shown,
                     double if_hidden);

// How sentence-transformers folders say that token vectors become one; the mean where they do not.
Pooling pooling_from(const FileLookup& files);
bool tells_pooling(const FileLookup& files);

// Whether the second text of a pair gets token type 1. transformers 5 decides by the tokenizer's
// class: BERT's and ELECTRA's give token types, all others (ALBERT's too) leave them at 0.
bool gives_token_types(const FileLookup& files, const Config& model);

// A HuggingFace folder: config.json says which architecture, the weights fill it. The tokenizer is
// asked for once both were found.
using AskTokenizer = std::function<TokenizerFacts()>;
std::shared_ptr<const TextSource> checkpoint_text_source(const FileLookup& files,
                                                         const WeightSource& weights,
                                                         std::string name,
                                                         const AskTokenizer& tokenizer);

}  // namespace whyformer
