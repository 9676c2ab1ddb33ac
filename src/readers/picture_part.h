// A picture, as its processor gives it, with its model. Units are the class tokens and the patches;
// where a model attends within windows, they are square blocks of pixels.
#pragma once

#include <map>

#include "models/picture_source.h"
#include "readers/pictures/picture_processor.h"
#include "run/part.h"
#include "run/two_states.h"

namespace whyformer {

class PicturePart : public Part, public PartEntrance, public PartCells {
 public:
  PicturePart(std::shared_ptr<const PictureSource> source,
              std::shared_ptr<const PictureProcessor> processor, ProcessedPicture input,
              RunKind kind);

  // Where the patches are among the units.
  const PatchGrid& grid() const { return grid_; }
  // What keeps attention maps from being maps of the units; empty where nothing does.
  const std::string& why_no_maps() const { return why_no_maps_; }
  const ProcessedPicture& processed() const { return input_; }
  Sample sample() const { return {{"pixel_values", pixels_}}; }

  const PartTraits& traits() const override;
  const std::vector<Unit>& units() const override { return units_; }
  // Painted "grey" (0 after normalisation), "black", in the picture's "mean" colour, or as its
  // "blur"; by "zero" and "blur-11" as RISE does, after normalisation; by "impute" filled from the
  // pixels around them, with a little noise; or patches are left out by "drop", so that the model
  // gets fewer tokens.
  Variant hiding(const std::vector<bool>& hidden, const std::string& how,
                 std::optional<int64_t> background) const override;
  FedGraph run_of(std::span<const Variant> inputs) const override;
  std::vector<int64_t> players() const override;
  std::vector<bool> can_hide(const std::string& how) const override;
  // Halves of the picture, quarters, and so on.
  PlayerTree player_tree() const override;
  const PartEntrance& entrance() const override { return *this; }
  const PartCells* as_cells() const override { return this; }
  Cells cells() const override;
  Variant hiding_cells(const std::vector<bool>& hidden, const std::string& how) const override;
  Tensor rows(Depth depth, const std::vector<Tensor>& values) const override;
  std::vector<Tensor> from_rows(Depth depth, const Tensor& rows) const override;
  std::optional<Tensor> pixel_channels(const Tensor& rows) const override;
  // "black", "grey", "white", "mean" or "blur".
  Tensor baseline(Depth depth, const std::string& name) const override;

 private:
  int64_t unit_count() const { return static_cast<int64_t>(units_.size()); }
  // [pictures, channels, height, width].
  FedGraph fed(const Tensor& pixels) const;
  FedGraph copies(int64_t count) const;
  // The picture with some pixels of each input painted over.
  FedGraph painted(const std::vector<std::vector<bool>>& pixels, const std::string& how) const;
  std::vector<bool> pixels_of(const std::vector<bool>& units) const;
  FedGraph without(const HiddenUnits& hidden) const;
  // The whole picture painted over, [channels, height, width].
  Tensor paint(const std::string& how) const;
  void choose_units(const ModelGraph& graph);

  std::shared_ptr<const PictureSource> source_;
  std::shared_ptr<const PictureProcessor> processor_;
  ProcessedPicture input_;
  RunKind kind_;
  Tensor pixels_;  // [channels, height, width] as the runs take them
  PatchGrid grid_;
  std::vector<Unit> units_;
  bool attends_by_unit_ = true;
  std::string why_no_maps_;
  mutable std::map<std::string, TwoStates> painted_states_;  // by how they are painted
  mutable Tensor embeddings_;  // [tokens, width], once they are needed
};

// What keeps attention maps from being maps of patches; empty where nothing does.
std::string patch_maps_problem(const ModelGraph& graph);

// The picture as the model saw it; `file` as it was read.
PictureView view_of(const PicturePart& part, const Picture& file);

}  // namespace whyformer
