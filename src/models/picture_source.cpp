#include "models/picture_source.h"

#include <fmt/format.h>

#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr int64_t kMostPixels = 1 << 15;  // of one side

[[noreturn]] void refuse_texts(const std::string& name) {
  throw UnsupportedModel(
      fmt::format("'{}' does not compare pictures with texts; a CLIP model does", name));
}

}  // namespace

ShapeKey picture_key(int64_t channels, int64_t height, int64_t width, ShapeKey key) {
  key.shapes["pixel_values"] = {channels, height, width};
  return key;
}

bool tells_of_pictures(const Config& config) {
  return find_picture_architecture(config) != nullptr;
}

PictureSource::PictureSource(const PictureSource& other, std::vector<std::string> output_names)
    : GraphSource({.name = other.facts_.name,
                   .architecture = other.facts_.architecture,
                   .problem = Problem::kSingleLabel,
                   .output_names = std::move(output_names),
                   .notes = other.facts_.notes}),
      channels_(other.channels_),
      height_(other.height_),
      width_(other.width_),
      any_height_(other.any_height_),
      any_width_(other.any_width_) {}

void PictureSource::check_takes(int64_t height, int64_t width) const {
  if ((any_height_ || height == height_) && (any_width_ || width == width_)) return;
  throw InvalidInput(fmt::format(
      "the picture processor gives {}x{} pixels, but '{}' is made for {}x{} and has positions for "
      "no others: do both belong together? Set the size (and the crop) in preprocessor_config.json "
      "to that of the model",
      width, height, name(), width_, height_));
}

void PictureSource::check_size(int64_t batch, int64_t height, int64_t width) {
  if (batch < 1 || height < 1 || width < 1 || height > kMostPixels || width > kMostPixels ||
      batch > kMostPictures) {
    throw InvalidInput(
        fmt::format("{} pictures of {}x{} pixels: there must be 1 to {} at once, of 1 to "
                    "{} pixels each way",
                    batch, height, width, kMostPictures, kMostPixels));
  }
}

std::shared_ptr<const ModelGraph> PictureSource::build(const ShapeKey& key) const {
  const Shape pixels = key.shape("pixel_values");
  check_size(key.batch, pixels[1], pixels[2]);
  require_classifier(key);
  auto built = std::make_shared<ModelGraph>();
  built->key = key;
  const Graph whole = build_pictures(key, *built);
  finish_graph(whole, *built, key.batch);
  return built;
}

Value PictureSource::embedding_head(GraphBuilder& graph, Value vector, ModelGraph& built) {
  return built.key.head == Head::kSimilarity ? add_similarity(graph, vector, built) : vector;
}

std::vector<double> PictureSource::text_embedding(const std::vector<int64_t>&) const {
  refuse_texts(name());
}

std::shared_ptr<const TextSource> PictureSource::text_source(const TokenizerFacts&) const {
  refuse_texts(name());
}

std::shared_ptr<const GraphSource> PictureSource::pair_source() const { refuse_texts(name()); }

double PictureSource::similarity_scale() const { refuse_texts(name()); }

std::shared_ptr<const PictureSource> PictureSource::among(const std::vector<std::vector<int64_t>>&,
                                                          std::vector<std::string>) const {
  refuse_texts(name());
}

}  // namespace whyformer
