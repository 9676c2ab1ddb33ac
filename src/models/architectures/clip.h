// The text side of CLIP: texts become vectors that pictures are compared with.
#pragma once

#include <memory>
#include <vector>

#include "models/architectures/picture_encoder.h"
#include "models/text_source.h"

namespace whyformer {

// A text under construction, for ids [batch, tokens].
struct ClipTextOutputs {
  Value word_embeddings;
  Value embeddings;  // positions added; what enters the first layer
  Value vector;      // [batch, width] of the last token, projected; not normalised
};

class ClipTexts {
 public:
  explicit ClipTexts(const Config& config);

  // Positions that the model has.
  int64_t most_tokens(const Checkpoint& checkpoint) const;
  // How many tokens there are up to the one that is read; no token sees what comes behind it.
  int64_t tokens_read(const std::vector<int64_t>& ids) const;

  // The last of the tokens is read. `mask` is additive, [batch, 1, 1, tokens], and invalid where
  // nothing is hidden.
  ClipTextOutputs encode(GraphBuilder& graph, const Checkpoint& checkpoint, Value ids, Value mask,
                         DType type) const;

  // The vector of a text's end token, [width]. Throws InvalidInput for more tokens than the model
  // has positions.
  Tensor embedding(const Checkpoint& checkpoint, std::vector<int64_t> ids, DType type) const;

 private:
  LayerSettings settings_of_texts() const;

  Config config_;
};

// The text side by itself: an encoder without a classifier.
std::shared_ptr<const TextSource> clip_text_source(std::string name,
                                                   std::shared_ptr<const Checkpoint> checkpoint,
                                                   const Config& config,
                                                   const TokenizerFacts& tokenizer);

}  // namespace whyformer
