// A tokenised text with the source that runs it.
#pragma once

#include "models/text_source.h"
#include "readers/tokenizers/tokenizer.h"
#include "run/part.h"
#include "run/two_states.h"

namespace whyformer {

// A text as a model reads it, or two.
struct ReadText {
  Encoding encoding;
  TextInput input;  // empty where only tokens are known
};

// What a text part needs of its reader; both outlive it.
struct TextReading {
  std::shared_ptr<const TextSource> source;
  std::shared_ptr<const Tokenizer> tokenizer;

  // The tokens that the model reads of a text, or of two; cut off where its longest input ends, and
  // filled up where it has one length.
  Encoding encode(const TextInput& text) const;
};

class TextPart : public Part, public PartEntrance, public PartText {
 public:
  TextPart(TextReading reading, ReadText text, RunKind kind);

  const PartTraits& traits() const override;
  const std::vector<Unit>& units() const override { return units_; }
  // "mask" in place, "delete" (later positions move up), "drop" from attention in every layer,
  // "zero" their word vectors while positions stay, or "retokenize" the text with mask tokens
  // written into it.
  Variant hiding(const std::vector<bool>& hidden, const std::string& how,
                 std::optional<int64_t> background) const override;
  FedGraph run_of(std::span<const Variant> inputs) const override;
  std::vector<int64_t> players() const override;
  std::vector<bool> can_hide(const std::string& how) const override;
  PlayerTree player_tree() const override;
  const PartEntrance& entrance() const override { return *this; }
  const PartText* as_text() const override { return this; }
  // Every ordinary token replaced by "pad", "mask" or "unk", or by a "zero" vector; special tokens
  // are kept.
  Tensor baseline(Depth depth, const std::string& name) const override;
  const TextInput& text() const override { return text_.input; }
  // Any text, cut off where the model's longest input ends.
  Variant of_text(const TextInput& text) const override;

 private:
  FedGraph fed(const TokenBatch& batch) const;
  TokenBatch repeated(int64_t count) const;
  Tensor value_of(Depth depth, const std::vector<int64_t>& ids) const;
  void zero_word_vectors(FedGraph& inputs, const std::vector<std::vector<bool>>& zeroed) const;
  std::vector<std::string> segments() const;
  Variant retokenized(const std::vector<bool>& hidden) const;
  // The masked positions of each input; nothing unless they differ from the explained one by mask
  // tokens alone.
  std::optional<HiddenUnits> masked_only(std::span<const Variant> inputs) const;

  TextReading reading_;
  ReadText text_;
  RunKind kind_;
  std::vector<Unit> units_;
  TwoStates masked_states_;
};

// One unit per token; word indices run on from the text to its pair.
std::vector<Unit> units_of(const Encoding& encoding);

// What keeps attention maps from being maps of a text's tokens; empty where nothing does.
std::string token_maps_problem(const Discovery& found, int64_t tokens);

}  // namespace whyformer
