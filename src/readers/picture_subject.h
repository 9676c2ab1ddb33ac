// A picture, as its processor gives it, with its model. Units are the class tokens and the patches;
// where a model attends within windows, they are square blocks of pixels.
#pragma once

#include <map>

#include "models/picture_model.h"
#include "readers/pictures/picture_processor.h"
#include "run/subject.h"
#include "run/two_states.h"

namespace whyformer {

class PictureSubject : public Subject {
 public:
  PictureSubject(const PictureModel& model, const PictureProcessor& processor,
                 ProcessedPicture input, RunKind kind);

  const PictureModel& model() const { return model_; }
  const Picture& seen() const { return input_.seen; }
  const PictureRegion& region() const { return input_.region; }
  // Where the patches are among the units.
  const PatchGrid& grid() const { return grid_; }

  std::string kind() const override { return "picture"; }
  const std::vector<bool>& special() const override { return special_; }
  bool attends_by_unit() const override { return attends_by_unit_; }
  std::string why_no_maps() const override { return why_no_maps_; }
  int64_t most_at_once() const override { return model_.most_at_once(); }
  Run copies(int64_t count) const override;
  // Painted "grey" (0 after normalisation), "black", in the picture's "mean" colour, or as its
  // "blur"; or patches are left out by "drop", so that the model gets fewer tokens.
  using Subject::hiding;
  Variant hiding(const std::vector<bool>& hidden, const std::string& how) const override;
  Run run_of(std::span<const Variant> inputs) const override;
  std::vector<int64_t> players() const override;
  std::vector<bool> can_hide(const std::string& how) const override;
  // Halves of the picture, quarters, and so on.
  PlayerTree player_tree() const override;
  Cells cells() const override;
  Variant hiding_cells(const std::vector<bool>& hidden, const std::string& how) const override;
  std::vector<double> unit_means(const std::vector<double>& cells) const override;
  std::vector<Value> values_at(const ModelGraph& graph, Place place) const override {
    return {value_at(graph, place)};
  }
  Tensor rows(Place place, const std::vector<Tensor>& values) const override;
  std::vector<Tensor> from_rows(Place place, const Tensor& rows) const override;
  std::optional<Tensor> pixel_channels(const Tensor& rows) const override;
  // "black", "grey", "white" or "blur".
  Tensor baseline(Place place, const std::string& name) const override;
  std::string usual_baseline() const override { return "black"; }

 private:
  Value value_at(const ModelGraph& graph, Place place) const;
  Run run_of(const Tensor& pixels) const;
  // The picture with some pixels of each input painted over.
  Run painted(const std::vector<std::vector<bool>>& pixels, const std::string& how) const;
  std::vector<bool> pixels_of(const std::vector<bool>& units) const;
  Run without(const HiddenUnits& hidden) const;
  // The whole picture painted over, [channels, height, width].
  Tensor paint(const std::string& how) const;
  void choose_units(const PictureGraph& graph);

  const PictureModel& model_;
  const PictureProcessor& processor_;
  ProcessedPicture input_;
  RunKind kind_;
  Tensor pixels_;  // [channels, height, width] as the runs take them
  PatchGrid grid_;
  std::vector<bool> special_;
  bool attends_by_unit_ = true;
  std::string why_no_maps_;
  mutable std::map<std::string, TwoStates> painted_states_;  // by how they are painted
  mutable Tensor embeddings_;  // [tokens, width], once they are needed
};

// What keeps attention maps from being maps of patches; empty where nothing does.
std::string patch_maps_problem(const PictureGraph& graph);

// [channels, height, width] blurred by a Gaussian of this deviation in pixels; edges are mirrored.
Tensor blurred(const Tensor& pixels, double deviation);

}  // namespace whyformer
