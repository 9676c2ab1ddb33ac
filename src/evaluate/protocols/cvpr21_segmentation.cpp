#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "evaluate/protocols/average_precision.h"
#include "evaluate/protocols/pixel_maps.h"
#include "evaluate/segments.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// The authors divide by np.spacing(1) plus the union (baselines/ViT/imagenet_seg_eval.py of
// hila-chefer/Transformer-Explainability): without a union the IoU is 0.
Ratio in_per_cent(Ratio ratio) {
  constexpr double kSpacing = std::numeric_limits<double>::epsilon();
  return {100 * ratio.part, ratio.whole > 0 ? ratio.whole : kSpacing};
}

// Both classes flattened together: 1 - m for the background, m for the object. The reference
// replaces what is not a number by 0, so a constant map is 0 in both.
double mean_average_precision(const std::vector<double>& map, const std::vector<bool>& object) {
  const bool constant = std::ranges::all_of(map, [&](double value) { return value == map[0]; });
  std::vector<double> scores;
  std::vector<bool> truth = object;
  truth.flip();
  for (const double value : map) scores.push_back(constant ? 0 : 1 - value);
  scores.insert(scores.end(), map.begin(), map.end());
  truth.insert(truth.end(), object.begin(), object.end());
  return 100 * average_precision(scores, truth);
}

MeasuredRow segmentation_of(const std::vector<double>& map, std::vector<bool> object) {
  std::vector<bool> segment = above_mean(map);
  double right = 0;
  for (size_t i = 0; i < segment.size(); ++i) right += segment[i] == object[i] ? 1 : 0;
  const Ratio pixels{100 * right, static_cast<double>(segment.size())};
  const double precision = mean_average_precision(map, object);
  const Ratio of_object = in_per_cent(intersection_over_union(segment, object));
  segment.flip();
  object.flip();
  const Ratio of_background = in_per_cent(intersection_over_union(segment, object));
  const auto share = [](const Ratio& ratio) { return ratio.part / ratio.whole; };
  return {{share(pixels), {pixels}},
          {(share(of_object) + share(of_background)) / 2, {of_background, of_object}},
          {precision}};
}

std::vector<MeasuredRow> measure_segmentation(const ProtocolCase& one,
                                              std::span<const ScoredInput> scored) {
  const PixelMaps maps(one.run, kCvpr21Segmentation.info.name);
  if (!one.input.pixels) {
    throw InvalidInput(fmt::format("{} needs the mask of the object in each picture",
                                   kCvpr21Segmentation.info.name));
  }
  const std::vector<bool> object = one.input.pixels(one.explanation);
  if (static_cast<int64_t>(object.size()) != maps.pixels()) {
    throw InvalidInput(fmt::format("the mask has {} pixels, the picture that the model saw {}",
                                   object.size(), maps.pixels()));
  }
  std::vector<MeasuredRow> all;
  for (const ScoredInput& method : scored) {
    all.push_back(segmentation_of(maps.map_of(method), object));
  }
  return all;
}

std::vector<EvaluationColumn> segmentation_columns() {
  const std::string paper = "Chefer et al., CVPR 2021";
  const std::string misleads =
      "the object is not always the reason; maps that cover large objects win by their size";
  return {{.metric = "pixel-accuracy",
           .summary = "pixels that the map puts on the right side of the object's border, in per "
                      "cent of all pixels of all pictures",
           .paper = paper,
           .misleads = misleads,
           .sums_ratios = true},
          {.metric = "mean-iou",
           .summary = "mean of the IoU of background and object, in per cent; intersections and "
                      "unions are summed over all pictures before the division",
           .paper = paper,
           .misleads = misleads,
           .sums_ratios = true},
          {.metric = "mean-average-precision",
           .summary = "average precision of 1 - m for the background and m for the object, "
                      "together, in per cent; the mean over pictures",
           .paper = paper,
           .misleads = misleads}};
}

}  // namespace

const Protocol kCvpr21Segmentation{
    .info = {.name = "cvpr21-segmentation",
             .summary = "maps of the predicted class, cut at their mean, against the object's mask",
             .paper = "Chefer et al., CVPR 2021 (ImageNet-segmentation)",
             .data = "pictures with masks"},
    .parts = {{ExplainedClass::kPredicted, segmentation_columns(), measure_segmentation}}};

}  // namespace whyformer
