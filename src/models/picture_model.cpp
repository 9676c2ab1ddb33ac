#include "models/picture_model.h"

#include <fmt/format.h>

#include "base/files.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr size_t kMostGraphs = 16;        // sizes and batches vary; old graphs are dropped
constexpr int64_t kMostPixels = 1 << 15;  // of one side

[[noreturn]] void refuse_texts(const std::string& name) {
  throw UnsupportedModel(
      fmt::format("'{}' does not compare pictures with texts; a CLIP model does", name));
}

}  // namespace

std::shared_ptr<const PictureModel> PictureModel::load(const std::filesystem::path& folder) {
  return load(files_in(folder), std::filesystem::weakly_canonical(folder).filename().string());
}

std::shared_ptr<const PictureModel> PictureModel::load(const FileLookup& files, std::string name) {
  return load(files, weights_in(files), std::move(name));
}

std::shared_ptr<const PictureModel> PictureModel::load(const FileLookup& files,
                                                       const WeightSource& weights,
                                                       std::string name) {
  return load_checkpoint_picture_model(files, weights, std::move(name));
}

bool PictureModel::reads(const Config& config) {
  return find_picture_architecture(config) != nullptr;
}

std::shared_ptr<const PictureModel> PictureModel::load_if_one(const std::filesystem::path& path,
                                                              const std::string& output) {
  std::error_code error;
  const bool folder = std::filesystem::is_directory(path, error);
  const std::filesystem::path onnx = folder ? onnx_file_in(path) : path;
  if (onnx.extension() == ".onnx" && std::filesystem::is_regular_file(onnx, error)) {
    const std::string name = std::filesystem::weakly_canonical(path).filename().string();
    return load_onnx_picture_model(onnx, files_of_model(onnx), name, output);
  }
  if (!folder) return nullptr;
  const FileLookup files = files_in(path);
  const auto config = files("config.json");
  if (!config || !reads(Config(parse_json_file(*config, "config.json")))) return nullptr;
  refuse_output(output, path.filename().string());
  return load(path);
}

PictureModel::PictureModel(std::string name, const FileLookup& files)
    : name_(std::move(name)), files_(files) {}

PictureModel::PictureModel(const PictureModel& other, std::vector<std::string> output_names)
    : name_(other.name_),
      architecture_(other.architecture_),
      problem_(Problem::kSingleLabel),
      output_names_(std::move(output_names)),
      notes_(other.notes_),
      channels_(other.channels_),
      height_(other.height_),
      width_(other.width_),
      any_height_(other.any_height_),
      any_width_(other.any_width_),
      files_(other.files_) {}

void PictureModel::check_takes(int64_t height, int64_t width) const {
  if ((any_height_ || height == height_) && (any_width_ || width == width_)) return;
  throw InvalidInput(fmt::format(
      "the picture processor gives {}x{} pixels, but '{}' is made for {}x{} and has positions for "
      "no others: do both belong "
      "together? Set the size (and the crop) in preprocessor_config.json to that of the model",
      width, height, name_, width_, height_));
}

void PictureModel::check_size(int64_t batch, int64_t height, int64_t width) {
  if (batch < 1 || height < 1 || width < 1 || height > kMostPixels || width > kMostPixels ||
      batch > kMostPictures) {
    throw InvalidInput(
        fmt::format("{} pictures of {}x{} pixels: there must be 1 to {} at once, of 1 to "
                    "{} pixels each way",
                    batch, height, width, kMostPictures, kMostPixels));
  }
}

std::shared_ptr<const PictureGraph> PictureModel::graph(const PictureKey& key) const {
  {
    const std::lock_guard lock(mutex_);
    const auto known = graphs_.find(key);
    if (known != graphs_.end()) return known->second;
  }
  check_size(key.batch, key.height, key.width);
  if (key.head == Head::kLogits && !has_classifier()) {
    throw InvalidInput(fmt::format("'{}' has no classifier: ask for its embedding", name_));
  }
  std::shared_ptr<const PictureGraph> built = build(key);
  const std::lock_guard lock(mutex_);
  if (graphs_.size() >= kMostGraphs) graphs_.clear();
  return graphs_.try_emplace(key, std::move(built)).first->second;
}

Value PictureModel::embedding_head(GraphBuilder& graph, Value vector, PictureGraph& built) {
  return built.key.head == Head::kSimilarity ? add_similarity(graph, vector, built) : vector;
}

void PictureModel::finish(const Graph& whole, PictureGraph& built) {
  finish_graph(whole, built, built.key.batch, built.key.all_rows ? KeptRows::kAll : KeptRows::kRead,
               {&built.pixels}, {&built.patches});
}

Feeds PictureModel::feeds(const PictureGraph& graph, const Tensor& pixels,
                          const std::vector<double>& reference) const {
  const PictureKey& key = graph.key;
  const Shape expected{key.batch, channels_, key.height, key.width};
  if (pixels.shape() != expected) {
    throw InvalidInput(
        fmt::format("pixels {} for a graph of {}", to_string(pixels.shape()), to_string(expected)));
  }
  Feeds feeds{{graph.pixels, pixels.contiguous().cast(key.dtype)}};
  feed_reference(graph, reference, feeds);
  return feeds;
}

std::vector<int64_t> PictureModel::ids_of(const std::string& text) const {
  return load_tokenizer(files_)->encode(text).ids;
}

std::vector<double> PictureModel::text_embedding(const std::string& text) const {
  if (!reads_texts()) refuse_texts(name_);
  return text_embedding(ids_of(text));
}

std::vector<double> PictureModel::text_embedding(const std::vector<int64_t>&) const {
  refuse_texts(name_);
}

std::shared_ptr<const TextModel> PictureModel::text_tower() const { refuse_texts(name_); }

std::shared_ptr<const PairGraph> PictureModel::pair_graph(const PairKey&) const {
  refuse_texts(name_);
}

double PictureModel::similarity_scale() const { refuse_texts(name_); }

std::shared_ptr<const PictureModel> PictureModel::among(
    const std::vector<std::string>& texts) const {
  if (!reads_texts()) refuse_texts(name_);
  std::vector<std::vector<int64_t>> ids;
  for (const std::string& text : texts) ids.push_back(ids_of(text));
  return among(ids, texts);
}

std::shared_ptr<const PictureModel> PictureModel::among(const std::vector<std::vector<int64_t>>&,
                                                        std::vector<std::string>) const {
  refuse_texts(name_);
}

}  // namespace whyformer
