#include "readers/picture_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "base/parallel.h"
#include "readers/pictures/blurred.h"
#include "readers/pictures/linear_imputation.h"
#include "run/input.h"
#include "run/missing.h"
#include "whyformer/error.h"
#include "whyformer/games.h"

namespace whyformer {
namespace {

// Blocks of a picture whose model has no tokens that stay: about as many as a usual ViT has
// patches.
constexpr int64_t kMostBlocks = 16;

int64_t tokens_of(const ModelGraph& graph) {
  const Shape& embeddings = graph.graph.shape(graph.embeddings);
  return embeddings.size() == 3 ? embeddings[1] : 0;
}

Picture of_one_colour(const Picture& like, uint8_t level) {
  return {like.width, like.height, std::vector<uint8_t>(like.pixels.size(), level)};
}

}  // namespace

PicturePart::PicturePart(std::shared_ptr<const PictureSource> source,
                         std::shared_ptr<const PictureProcessor> processor, ProcessedPicture input,
                         RunKind kind)
    : source_(std::move(source)),
      processor_(std::move(processor)),
      input_(std::move(input)),
      kind_(std::move(kind)),
      pixels_(input_.values.cast(kind_.dtype)) {
  choose_units(*copies(1).graph);
}

const PartTraits& PicturePart::traits() const {
  static const PartTraits kTraits{
      .name = "picture",
      .side = "Picture",
      .input_name = "pixels",
      .hiding = "grey",
      .baseline = "black",
      .words = {"grey", "black", "white", "mean", "blur", "blur-11", "impute"},
      .removal = "drop"};
  return kTraits;
}

std::string patch_maps_problem(const ModelGraph& graph) {
  const std::vector<AttentionSite>& sites = graph.found.sites;
  if (sites.empty()) return kNoAttention;
  if (std::any_of(sites.begin(), sites.end(),
                  [](const AttentionSite& site) { return site.windows > 1; })) {
    return "this model attends within windows and merges patches between layers, so no attention "
           "map goes over all of its patches";
  }
  const int64_t tokens = tokens_of(graph);
  const auto partial = std::find_if(sites.begin(), sites.end(), [&](const AttentionSite& site) {
    return !graph.found.covers_tokens(site, tokens);
  });
  if (partial != sites.end()) {
    return fmt::format(
        "attention '{}' has {} queries and {} keys, which are not the tokens that enter the first "
        "layer, so its map does not go over all patches",
        partial->name, partial->queries, partial->keys);
  }
  if (tokens >= graph.grid.first + graph.grid.count()) return "";
  return fmt::format(
      "which part of the picture each of the {} tokens stands for was not recognised, so attention "
      "cannot be shown on it",
      tokens);
}

void PicturePart::choose_units(const ModelGraph& graph) {
  const int64_t tokens = tokens_of(graph);
  why_no_maps_ = patch_maps_problem(graph);
  attends_by_unit_ = why_no_maps_.empty();
  grid_ = graph.grid;
  if (!attends_by_unit_) {
    grid_.first = 0;
    while (std::max(grid_.rows, grid_.columns) > kMostBlocks) {
      grid_.rows = (grid_.rows + 1) / 2;
      grid_.columns = (grid_.columns + 1) / 2;
      grid_.patch_height *= 2;
      grid_.patch_width *= 2;
    }
  }
  for (int64_t i = 0; i < (attends_by_unit_ ? tokens : grid_.count()); ++i) {
    const int64_t patch = i - grid_.first;
    const bool special = patch < 0 || patch >= grid_.count();
    units_.push_back({.text = !special ? fmt::format("row {}, column {}", patch / grid_.columns,
                                                     patch % grid_.columns)
                              : i == 0 ? "[CLS]"
                                       : "[DIST]",
                      .special = special});
  }
}

FedGraph PicturePart::fed(const Tensor& pixels) const {
  std::vector<Sample> samples;
  for (int64_t i = 0; i < pixels.dim(0); ++i)
    samples.push_back({{"pixel_values", pixels.select(0, i)}});
  return source_->fed(samples, kind_);
}

FedGraph PicturePart::copies(int64_t count) const {
  return source_->fed(std::vector<Sample>(count, sample()), kind_);
}

Tensor PicturePart::paint(const std::string& how) const {
  if (how == "black" || how == "white") {
    return processor_->values(of_one_colour(input_.seen, how == "black" ? 0 : 255))
        .cast(kind_.dtype);
  }
  if (how == "blur") {
    return blurred(pixels_, static_cast<double>(std::min(pixels_.dim(1), pixels_.dim(2))) / 10);
  }
  if (how == "blur-11") return blurred_with_zeros_around(pixels_);
  Tensor result = Tensor::zeros(pixels_.shape(), kind_.dtype);
  if (how == "zero") return result;
  if (how == "grey") {
    // Where nothing is normalised, 0 would be black.
    if (processor_->settings().normalisation) return result;
    return processor_->values(of_one_colour(input_.seen, 128)).cast(kind_.dtype);
  }
  if (how == "mean") {
    for (int64_t c = 0; c < pixels_.dim(0); ++c) {
      double sum = 0;
      const std::vector<double> plane = pixels_.select(0, c).to_doubles();
      for (const double value : plane) sum += value;
      result.select(0, c).fill(sum / static_cast<double>(plane.size()));
    }
    return result;
  }
  throw InvalidInput(fmt::format(
      "a picture is painted black, grey, white, in its mean colour or blurred, not by '{}'", how));
}

Cells PicturePart::cells() const {
  const int64_t height = pixels_.dim(1), width = pixels_.dim(2);
  Cells cells{.height = height,
              .width = width,
              .unit_height = grid_.patch_height,
              .unit_width = grid_.patch_width,
              .unit = std::vector<int64_t>(height * width, -1),
              .are_pixels = true};
  for (int64_t y = 0; y < std::min(height, grid_.rows * grid_.patch_height); ++y) {
    for (int64_t x = 0; x < std::min(width, grid_.columns * grid_.patch_width); ++x) {
      cells.unit[y * width + x] =
          grid_.first + y / grid_.patch_height * grid_.columns + x / grid_.patch_width;
    }
  }
  return cells;
}

namespace {

// What a picture variant's first number says: how parts are hidden, whether they are pixels, and
// how many units are left where they are taken out.
constexpr std::array<std::string_view, 8> kWays{"grey", "black",   "mean",   "blur",
                                                "zero", "blur-11", "impute", "drop"};
constexpr int64_t kPixels = 8, kUnitsLeft = 16;
static_assert(kWays.size() <= kPixels);

int64_t way_of(const std::string& how) {
  const auto way = std::find(kWays.begin(), kWays.end(), how == "auto" ? "grey" : how);
  if (way == kWays.end()) {
    throw InvalidInput(fmt::format(
        "parts of a picture are hidden by painting them grey, black, in its mean "
        "colour or blurred (blur, blur-11), by zero, by impute, or by drop, not by '{}'",
        how));
  }
  return way - kWays.begin();
}

Variant packed(int64_t first, const std::vector<bool>& bits) {
  Variant variant(1 + (bits.size() + 63) / 64, 0);
  variant[0] = first;
  for (size_t i = 0; i < bits.size(); ++i) {
    if (bits[i]) variant[1 + i / 64] |= static_cast<int64_t>(uint64_t{1} << (i % 64));
  }
  return variant;
}

std::vector<bool> unpacked(const Variant& variant, int64_t size) {
  std::vector<bool> bits(size);
  for (int64_t i = 0; i < size; ++i)
    bits[i] = static_cast<uint64_t>(variant[1 + i / 64]) >> (i % 64) & 1;
  return bits;
}

}  // namespace

Variant PicturePart::hiding(const std::vector<bool>& hidden, const std::string& how,
                            std::optional<int64_t>) const {
  int64_t first = way_of(how);
  if (kWays[first] == "drop") first += kUnitsLeft * std::count(hidden.begin(), hidden.end(), false);
  return packed(first, hidden);
}

Variant PicturePart::hiding_cells(const std::vector<bool>& hidden, const std::string& how) const {
  const int64_t way = way_of(how);
  if (kWays[way] == "drop")
    throw InvalidInput("patches can be dropped, pixels cannot: paint them, such as grey");
  return packed(way + kPixels, hidden);
}

FedGraph PicturePart::run_of(std::span<const Variant> inputs) const {
  const std::string way(kWays[inputs[0][0] % kPixels]);
  const bool of_pixels = inputs[0][0] % kUnitsLeft >= kPixels;
  HiddenUnits hidden;
  const int64_t size = of_pixels ? pixels_.dim(1) * pixels_.dim(2) : unit_count();
  for (const Variant& input : inputs) hidden.push_back(unpacked(input, size));
  if (of_pixels) return painted(hidden, way);
  if (way == "drop") return without(hidden);
  const auto run_painted = [&](const HiddenUnits& units) {
    std::vector<std::vector<bool>> pixels;
    for (const std::vector<bool>& one : units) pixels.push_back(pixels_of(one));
    return painted(pixels, way);
  };
  // What is imputed depends on the other hidden patches.
  if (!attends_by_unit_ || way == "impute") return run_painted(hidden);
  FedGraph result = copies(static_cast<int64_t>(inputs.size()));
  const size_t fed = result.feeds.size();
  painted_states_[way].feed(result, hidden, run_painted);
  return result.feeds.size() > fed ? result : run_painted(hidden);
}

FedGraph PicturePart::without(const HiddenUnits& hidden) const {
  if (!attends_by_unit_) {
    throw InvalidInput(
        "this model merges patches between layers, so none can be left out: hide them by painting, "
        "such as grey");
  }
  if (!embeddings_.defined()) {
    const FedGraph own = copies(1);
    const Value value = own.graph->embeddings;
    embeddings_ =
        run(own.graph->graph, own.feeds, {.outputs = {value}})[value].select(0, 0).contiguous();
  }
  const int64_t batch = static_cast<int64_t>(hidden.size());
  const int64_t left = std::count(hidden[0].begin(), hidden[0].end(), false);
  std::vector<Sample> samples;
  for (int64_t i = 0; i < batch; ++i) {
    Tensor tokens = Tensor::empty({left, embeddings_.dim(1)}, kind_.dtype);
    int64_t row = 0;
    for (int64_t unit = 0; unit < unit_count(); ++unit) {
      if (!hidden[i][unit]) tokens.select(0, row++).copy_from(embeddings_.select(0, unit));
    }
    samples.push_back(
        {{"pixel_values", Tensor::zeros(pixels_.shape(), kind_.dtype)}, {"tokens", tokens}});
  }
  return source_->fed(samples, kind_);
}

std::vector<int64_t> PicturePart::players() const {
  std::vector<int64_t> patches(grid_.count());
  std::iota(patches.begin(), patches.end(), grid_.first);
  return patches;
}

std::vector<bool> PicturePart::can_hide(const std::string&) const {
  std::vector<bool> can = special_units(units_);
  can.flip();
  return can;
}

PlayerTree PicturePart::player_tree() const { return grid_tree(grid_.rows, grid_.columns); }

FedGraph PicturePart::painted(const std::vector<std::vector<bool>>& pixels,
                              const std::string& how) const {
  const std::vector<double> own = pixels_.to_doubles();
  const bool imputes = how == "impute";
  const std::vector<double> same = imputes ? std::vector<double>() : paint(how).to_doubles();
  const auto count = static_cast<int64_t>(pixels.size()), size = static_cast<int64_t>(own.size());
  const int64_t plane = pixels_.dim(1) * pixels_.dim(2);
  std::vector<double> values(count * size);
  parallel_for(count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t picture = begin; picture < end; ++picture) {
      const std::vector<bool>& hidden = pixels[picture];
      const auto other = imputes ? noisily_imputed(own, pixels_.shape(), hidden) : same;
      for (int64_t i = 0; i < size; ++i) {
        values[picture * size + i] = hidden[i % plane] ? other[i] : own[i];
      }
    }
  });
  Shape shape = pixels_.shape();
  shape.insert(shape.begin(), static_cast<int64_t>(pixels.size()));
  return fed(Tensor::of<double>(shape, std::span<const double>(values)).cast(kind_.dtype));
}

std::vector<bool> PicturePart::pixels_of(const std::vector<bool>& units) const {
  const int64_t height = pixels_.dim(1), width = pixels_.dim(2);
  std::vector<bool> covered(height * width, false);
  for (int64_t patch = 0; patch < grid_.count(); ++patch) {
    if (!units[grid_.first + patch]) continue;
    const int64_t top = patch / grid_.columns * grid_.patch_height;
    const int64_t left = patch % grid_.columns * grid_.patch_width;
    for (int64_t y = top; y < std::min(height, top + grid_.patch_height); ++y) {
      const int64_t right = std::min(width, left + grid_.patch_width);
      std::fill(covered.begin() + y * width + left, covered.begin() + y * width + right, true);
    }
  }
  return covered;
}

namespace {

// Calls visit(index in rows [units, channels, patch height, patch width], index in pixels).
template <class Visit>
void for_each_pixel(const PatchGrid& grid, const Shape& pixels, Visit visit) {
  const int64_t channels = pixels[0], height = pixels[1], width = pixels[2];
  const int64_t area = grid.patch_height * grid.patch_width;
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t y = 0; y < std::min(height, grid.rows * grid.patch_height); ++y) {
      for (int64_t x = 0; x < std::min(width, grid.columns * grid.patch_width); ++x) {
        const int64_t unit =
            grid.first + y / grid.patch_height * grid.columns + x / grid.patch_width;
        const int64_t inside = y % grid.patch_height * grid.patch_width + x % grid.patch_width;
        visit((unit * channels + c) * area + inside, (c * height + y) * width + x);
      }
    }
  }
}

}  // namespace

Tensor PicturePart::rows(Depth depth, const std::vector<Tensor>& values_at_place) const {
  const Tensor& value = values_at_place[0];
  if (depth != Depth::kInput) {
    if (attends_by_unit_) return value;
    throw MissingForMethod(
        Missing::kDepth,
        "this model merges patches between layers, so its tokens there are not the patches");
  }
  const std::vector<double> values = value.to_doubles();
  const int64_t width = pixels_.dim(0) * grid_.patch_height * grid_.patch_width;
  std::vector<double> rows(unit_count() * width, 0.0);
  for_each_pixel(grid_, pixels_.shape(),
                 [&](int64_t row, int64_t pixel) { rows[row] = values[pixel]; });
  return Tensor::of<double>({unit_count(), width}, std::span<const double>(rows))
      .cast(value.dtype());
}

std::vector<Tensor> PicturePart::from_rows(Depth depth, const Tensor& rows) const {
  if (depth != Depth::kInput) return {rows};
  // Pixels that no patch covers stay as they are.
  std::vector<double> values = pixels_.to_doubles();
  const std::vector<double> given = rows.to_doubles();
  for_each_pixel(grid_, pixels_.shape(),
                 [&](int64_t row, int64_t pixel) { values[pixel] = given[row]; });
  return {Tensor::of<double>(pixels_.shape(), std::span<const double>(values)).cast(rows.dtype())};
}

std::optional<Tensor> PicturePart::pixel_channels(const Tensor& rows) const {
  const std::vector<double> given = rows.to_doubles();
  const int64_t channels = pixels_.dim(0), area = pixels_.dim(1) * pixels_.dim(2);
  std::vector<double> values(area * channels, 0.0);
  for_each_pixel(grid_, pixels_.shape(), [&](int64_t row, int64_t pixel) {
    values[pixel % area * channels + pixel / area] = given[row];
  });
  return Tensor::of<double>({area, channels}, std::span<const double>(values)).cast(rows.dtype());
}

Tensor PicturePart::baseline(Depth depth, const std::string& name) const {
  const Tensor neutral = paint(name);
  if (depth == Depth::kInput) return rows(depth, {neutral});
  Shape shape = neutral.shape();
  shape.insert(shape.begin(), 1);
  const FedGraph other = fed(neutral.reshape(shape));
  const Value value = other.graph->values_at(depth)[0];
  return run(other.graph->graph, other.feeds, {.outputs = {value}})[value]
      .select(0, 0)
      .contiguous();
}

PictureView view_of(const PicturePart& part, const Picture& file) {
  const Picture& seen = part.processed().seen;
  const std::shared_ptr<uint8_t[]> rgb(new uint8_t[seen.pixels.size()]);
  std::copy(seen.pixels.begin(), seen.pixels.end(), rgb.get());
  const PictureRegion& region = part.processed().region;
  return {.width = seen.width,
          .height = seen.height,
          .rgb = rgb,
          .first_patch = part.grid().first,
          .rows = part.grid().rows,
          .columns = part.grid().columns,
          .file_width = file.width,
          .file_height = file.height,
          .left = region.left,
          .top = region.top,
          .right = region.left + region.width,
          .bottom = region.top + region.height};
}

}  // namespace whyformer
