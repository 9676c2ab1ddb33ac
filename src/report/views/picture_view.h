// What every report of explained pictures draws: one picture, its explained classes, and their
// methods side by side.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "evaluate/heat_map.h"
#include "report/views/view.h"

namespace whyformer::report {

// Throws InvalidInput unless all explanations are of one picture, cut into the same patches.
void check_pictures(std::span<const Explanation> explanations);

// One method over all classes; null where a class was not explained by it.
struct MethodColumn {
  std::string name;
  std::vector<const Attribution*> attributions;
};
std::vector<MethodColumn> method_columns(std::span<const Explanation> explanations);

// The best answers, every explained class among them and marked as target.
std::vector<LabelValue> explained_labels(std::span<const Explanation> explanations, size_t limit);

MapSize patches_of(const PictureView& picture);

// A patch's scores [rows, columns] out of those of all units; what is not finite counts as 0.
std::vector<double> patch_scores(const PictureView& picture, std::span<const double> scores);

// The maps over all units, with their layer; others (windows of Swin) cannot be put on the picture.
struct PictureLayer {
  int64_t layer = 0;
  const AttentionMap* map = nullptr;
};
std::vector<PictureLayer> layers_over_units(const Explanation& explanation);

// The unit that stands for the whole picture: the first special one; -1 where there is none.
int64_t read_out_unit(const Explanation& explanation);

// What the read-out token attends to, over all units; the mean over all queries where there is
// none.
std::vector<double> read_out_row(const Explanation& explanation, std::span<const float> weights);

}  // namespace whyformer::report
