// A tokenised text with its model.
#pragma once

#include "models/text_model.h"
#include "run/subject.h"
#include "run/two_states.h"
#include "whyformer/model.h"

namespace whyformer {

class TextSubject : public Subject {
 public:
  TextSubject(const TextModel& model, Encoding encoding, RunKind kind, TextInput input = {});

  const TextModel& model() const { return model_; }
  const Encoding& encoding() const { return encoding_; }
  const TextInput& input() const { return input_; }
  // Other inputs of one length.
  Run run_of(const TokenBatch& batch) const;
  // Any text, cut off where the model's longest input ends.
  Variant of_text(const TextInput& text) const;

  std::string kind() const override { return "text"; }
  const std::vector<bool>& special() const override { return encoding_.special; }
  bool attends_by_unit() const override { return why_no_maps().empty(); }
  std::string why_no_maps() const override;
  Run copies(int64_t count) const override;
  int64_t most_at_once() const override { return model_.most_at_once(); }
  // "mask" in place, "delete" (later positions move up), "drop" from attention in every layer,
  // "zero" their word vectors while positions stay, or "retokenize" the text with mask tokens
  // written into it.
  using Subject::hiding;
  Variant hiding(const std::vector<bool>& hidden, const std::string& how) const override;
  Run run_of(std::span<const Variant> inputs) const override;
  std::vector<int64_t> players() const override;
  std::vector<bool> can_hide(const std::string& how) const override;
  PlayerTree player_tree() const override;
  std::vector<Value> values_at(const ModelGraph& graph, Place place) const override {
    return {value_at(graph, place)};
  }
  // Every ordinary token replaced by "pad", "mask" or "unk", or by a "zero" vector; special tokens
  // are kept.
  Tensor baseline(Place place, const std::string& name) const override;
  std::string usual_baseline() const override { return "pad"; }

 private:
  Value value_at(const ModelGraph& graph, Place place) const;
  TokenBatch repeated(int64_t count) const;
  Tensor value_of(Place place, const std::vector<int64_t>& ids) const;
  void zero_word_vectors(Run& run, const std::vector<std::vector<bool>>& zeroed) const;
  std::vector<std::string> segments() const;
  Variant retokenized(const std::vector<bool>& hidden) const;
  // The masked positions of each input; nothing unless they differ from the explained one by mask
  // tokens alone.
  std::optional<HiddenUnits> masked_only(std::span<const Variant> inputs) const;

  const TextModel& model_;
  Encoding encoding_;
  RunKind kind_;
  TextInput input_;
  TwoStates masked_states_;
  mutable std::optional<std::string> why_no_maps_;  // once it was asked for
};

// What keeps attention maps from being maps of a text's tokens; empty where nothing does.
std::string token_maps_problem(const Discovery& found, int64_t tokens);

}  // namespace whyformer
