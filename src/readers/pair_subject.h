// A picture and a text that a model compares. Units are the text's tokens, then those of the
// picture; the answer is the logit of the two. Whatever is hidden on one side leaves the other
// side's vector as it is, so each variant of a side runs once.
#pragma once

#include "readers/picture_subject.h"
#include "readers/text_subject.h"
#include "run/answer_memo.h"

namespace whyformer {

enum class PairSide { kText, kPicture };

// What an option's word says to one side: "grey" says nothing to a text, so that goes its usual
// way; "drop" says something to both.
std::string word_for(PairSide side, const std::string& word);

class PairSubject : public Subject {
 public:
  // Sides that give their vectors (Head::kEmbedding), of models that belong together.
  PairSubject(std::unique_ptr<const TextSubject> text,
              std::unique_ptr<const PictureSubject> picture, DType dtype, int64_t memory_bytes);

  const TextSubject& text() const { return *text_; }
  const PictureSubject& picture() const { return *picture_; }
  // Variants of either side that were run so far.
  int64_t texts_run() const { return texts_run_; }
  int64_t pictures_run() const { return pictures_run_; }

  std::string kind() const override { return "pair"; }
  const std::vector<bool>& special() const override { return special_; }
  bool attends_by_unit() const override { return false; }
  std::string why_no_maps() const override;
  int64_t most_at_once() const override { return picture_->most_at_once(); }
  Run copies(int64_t count) const override;
  // A way that only one side knows leaves the other its usual one.
  using Subject::hiding;
  Variant hiding(const std::vector<bool>& hidden, const std::string& how) const override;
  // A graph that compares vectors; they come from runs of the two sides, or from earlier ones.
  Run run_of(std::span<const Variant> inputs) const override;
  std::vector<int64_t> players() const override;
  std::vector<bool> can_hide(const std::string& how) const override;
  // The trees of the two sides, joined at the root.
  PlayerTree player_tree() const override;
  std::vector<Value> values_at(const ModelGraph& graph, Place place) const override;
  // Rows of the two sides have different lengths: the shorter ones end with zeros.
  Tensor rows(Place place, const std::vector<Tensor>& values) const override;
  std::vector<Tensor> from_rows(Place place, const Tensor& rows) const override;
  std::optional<Tensor> pixel_channels(const Tensor& rows) const override;
  Tensor baseline(Place place, const std::string& name) const override;
  std::string usual_baseline() const override;
  std::string baseline_taken(const std::string& name) const override;

 private:
  int64_t tokens() const { return text_->units(); }
  // Numbers of a unit of the text, and of one of the picture.
  std::vector<int64_t> row_widths(Place place) const;
  // Vectors of length 1 of one side's variants.
  std::vector<std::vector<double>> vectors(const Subject& side,
                                           const std::vector<Variant>& variants, AnswerMemo& memo,
                                           int64_t& count) const;

  std::unique_ptr<const TextSubject> text_;
  std::unique_ptr<const PictureSubject> picture_;
  DType dtype_;
  int64_t memory_bytes_;
  std::vector<bool> special_;
  mutable AnswerMemo text_vectors_, picture_vectors_;
  mutable int64_t texts_run_ = 0, pictures_run_ = 0;
};

}  // namespace whyformer
