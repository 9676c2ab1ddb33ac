#include "methods/attention/stream_methods.h"
#include "run/not_a_number.h"

namespace whyformer {
namespace {

struct GradCamOptions {
  std::string average = "row";  // gradient averaged over the read-out row, or over the whole map
  bool min_max = false;
  OwnEntry own = OwnEntry::kZero;
};

// Mean gradient of a head: over the read-out rows without the read-out token's own column (ViT
// definition), or over the whole map (BERT definition).
double head_weight(const double* gradient, const ReadMap& map, bool whole_map) {
  double sum = 0;
  int64_t count = 0;
  for (size_t i = 0; i < map.read.size(); ++i) {
    if (!whole_map && map.read[i] == 0) continue;
    for (int64_t j = 0; j < map.keys.count; ++j) {
      if (!whole_map && map.own && j == *map.own) continue;
      sum += gradient[static_cast<int64_t>(i) * map.keys.count + j];
      ++count;
    }
  }
  return count > 0 ? sum / static_cast<double>(count) : 0;
}

// (Σ_h g_h A_h / H)⁺ of one layer: the positive part after the mean over heads.
Matrix weighted_map(const Tensor& attention, const Tensor& gradient, const ReadMap& read,
                    bool whole_map) {
  const int64_t heads = attention.dim(0), size = attention.dim(1) * attention.dim(2);
  const std::vector<double> maps = attention.to_doubles(), slopes = gradient.to_doubles();
  Matrix map(attention.dim(1), attention.dim(2));
  for (int64_t head = 0; head < heads; ++head) {
    const double* a = maps.data() + head * size;
    const double weight = head_weight(slopes.data() + head * size, read, whole_map);
    for (int64_t i = 0; i < size; ++i) map.values[i] += weight * a[i] / static_cast<double>(heads);
  }
  for (double& value : map.values) value = positive_part(value);
  return map;
}

// Chefer et al.'s ViT code has no column of the token that is read: least and most are those of the
// others, unless its own score is kept among them.
void scale_row(std::vector<double>& scores, std::optional<int64_t> own, OwnEntry how) {
  if (!own || how == OwnEntry::kKeep) return min_max(scores);
  scores.erase(scores.begin() + *own);
  min_max(scores);
  scores.insert(scores.begin() + *own, 0.0);
}

Scores grad_cam(Run& run, const GradCamOptions& options) {
  const bool whole_map = options.average == "map";
  return read_rows(run, read_maps(run, -1, "grad-cam.layer"), [&](const ReadMap& read) {
    Matrix map = weighted_map(run.attention(read.layer), run.attention_gradient(read.layer), read,
                              whole_map);
    // The BERT definition scales by the whole map, the other by the row.
    if (whole_map && options.min_max) min_max(map.values);
    std::vector<double> scores = times(read.read, map);
    treat_own_entry(scores, read.own, options.own);
    if (!whole_map && options.min_max) scale_row(scores, read.own, options.own);
    return scores;
  });
}

}  // namespace

const Method kGradCam{
    {.name = "grad-cam",
     .summary = "last attention map, heads weighted by their mean gradient",
     .paper = "Selvaraju et al., ICCV 2017; on attention: Chefer et al., CVPR 2021",
     .cost = "1 forward, 1 backward",
     .class_specific = true,
     .is_signed = false,
     .options = {{"average",
                  "mean of the gradients over the read-out row, or over the whole map",
                  std::string("row"),
                  {"row", "map"}},
                 {"min-max", "min-max scaling to 0…1, as in the reference code", false},
                 {"own",
                  "the read-out token's own score: keep, set to 0, or set to the minimum",
                  std::string("zero"),
                  {"keep", "zero", "minimum"}}},
     .presets = {{"chefer-vit", "as in Chefer et al.'s ViT code", {{"min-max", true}}},
                 {"chefer-streams",
                  "as in Chefer et al.'s code for LXMERT and DETR",
                  {{"average", std::string("map")}}},
                 {"chefer-bert",
                  "as in Chefer et al.'s BERT code",
                  {{"average", std::string("map")}, {"min-max", true}}}}},
    {.attention = true, .attention_gradient = true},
    [](Run& run, const OptionReader& options) {
      return grad_cam(run, {.average = options.word("average"),
                            .min_max = options.flag("min-max"),
                            .own = own_entry_named(options.word("own"))});
    }};

}  // namespace whyformer
