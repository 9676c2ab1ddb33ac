#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "models/architectures/clip.h"
#include "models/picture_model.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

std::vector<double> of_length_one(std::vector<double> vector) {
  double squares = 0;
  for (const double x : vector) squares += x * x;
  const double length = std::sqrt(squares);
  if (length > 0) {
    for (double& x : vector) x /= length;
  }
  return vector;
}

constexpr size_t kMostPairGraphs = 16;

// What the variants of a model share.
struct Weights {
  Weights(Config all, StoredTensors tensors, const PictureArchitecture& architecture)
      : config(std::move(all)), checkpoint(std::move(tensors)), kind(architecture) {}

  Config config;  // the whole config.json
  Checkpoint checkpoint;
  const PictureArchitecture& kind;
  std::mutex mutex = {};
  std::shared_ptr<const TextModel> text_tower = {};  // once it is asked for
  std::map<PairKey, std::shared_ptr<const PairGraph>> pair_graphs = {};
};

// A HuggingFace folder: config.json says which architecture, the weights fill it.
class CheckpointPictureModel final : public PictureModel {
 public:
  CheckpointPictureModel(const FileLookup& files, std::string name,
                         std::shared_ptr<Weights> weights)
      : PictureModel(std::move(name), files),
        weights_(std::move(weights)),
        config_(weights_->kind.model_type == kClip.model_type
                    ? weights_->config.part("vision_config", "vision_config_dict")
                    : weights_->config) {
    const Config& config = weights_->config;
    const std::string_view prefix = weights_->kind.prefix;
    architecture_ = config.architecture().empty() ? config.model_type() : config.architecture();
    prefix_ = weights_->checkpoint.has_prefix(std::string(prefix) + "embeddings.") ? prefix : "";
    channels_ = config_.size_or("num_channels", 3);
    std::tie(height_, width_) = config_.pair_or("image_size", 224);
    any_height_ = any_width_ = weights_->kind.takes_other_sizes;
    read_head();
    // Building a graph now shows at once whether config and weights belong together.
    const auto built = graph({.height = height_,
                              .width = width_,
                              .head = has_classifier() ? Head::kLogits : Head::kEmbedding});
    if (output_names_.empty()) name_dimensions(built->graph.shape(built->output)[1]);
    notes_ = weights_->checkpoint.notes();
    if (const std::string limits = config.text_or("whyformer_limits", ""); !limits.empty())
      notes_.push_back(limits);
  }

  // The same weights as a classifier among texts, whose vectors are the rows of `texts`.
  CheckpointPictureModel(const CheckpointPictureModel& other, std::vector<std::string> names,
                         const Tensor& texts)
      : PictureModel(other, std::move(names)),
        weights_(other.weights_),
        config_(other.config_),
        prefix_(other.prefix_) {
    for (const DType type : {DType::kFloat32, DType::kFloat64}) {
      texts_[type] = std::make_shared<LinearWeights>(texts.cast(type), Tensor());
    }
  }

  int64_t parameter_count() const override { return weights_->checkpoint.parameter_count(); }
  int64_t tensor_count() const override { return weights_->checkpoint.tensor_count(); }

  bool reads_texts() const override {
    return weights_->checkpoint.has("text_projection.weight") &&
           weights_->checkpoint.has("logit_scale");
  }

  std::vector<double> text_embedding(const std::vector<int64_t>& ids) const override {
    if (!reads_texts()) return PictureModel::text_embedding(ids);
    const ClipTexts texts(weights_->config);
    return of_length_one(texts.embedding(weights_->checkpoint, ids, DType::kFloat32).to_doubles());
  }

  std::shared_ptr<const TextModel> text_tower() const override {
    if (!reads_texts()) return PictureModel::text_tower();
    const std::lock_guard lock(weights_->mutex);
    if (weights_->text_tower == nullptr) {
      // Owned by these weights, so it must not own them.
      const std::shared_ptr<const Checkpoint> checkpoint(std::shared_ptr<void>(),
                                                         &weights_->checkpoint);
      weights_->text_tower = clip_text_tower(files(), name_, checkpoint, weights_->config);
    }
    return {weights_, weights_->text_tower.get()};
  }

  std::shared_ptr<const PairGraph> pair_graph(const PairKey& key) const override {
    if (!reads_texts()) return PictureModel::pair_graph(key);
    check_size(key.batch, key.height, key.width);
    const std::lock_guard lock(weights_->mutex);
    std::shared_ptr<const PairGraph>& known = weights_->pair_graphs[key];
    if (known != nullptr) return known;
    std::shared_ptr<const PairGraph> built = build_pair(key);
    if (weights_->pair_graphs.size() > kMostPairGraphs) weights_->pair_graphs.clear();
    return weights_->pair_graphs[key] = built;
  }

  double similarity_scale() const override {
    if (!reads_texts()) return PictureModel::similarity_scale();
    return std::exp(
        weights_->checkpoint.tensor("logit_scale", {}, DType::kFloat64).to_doubles()[0]);
  }

  std::shared_ptr<const PictureModel> among(const std::vector<std::vector<int64_t>>& ids,
                                            std::vector<std::string> names) const override {
    if (!reads_texts()) return PictureModel::among(ids, std::move(names));
    if (ids.empty() || ids.size() != names.size()) {
      throw InvalidInput(
          fmt::format("{} texts with {} names: give at least one text, and one name "
                      "for each",
                      ids.size(), names.size()));
    }
    const double scale = similarity_scale();
    std::vector<double> rows;
    for (const std::vector<int64_t>& text : ids) {
      for (const double x : text_embedding(text)) rows.push_back(scale * x);
    }
    const auto count = static_cast<int64_t>(ids.size());
    const Tensor texts = Tensor::of<double>({count, static_cast<int64_t>(rows.size()) / count},
                                            std::span<const double>(rows));
    return std::make_shared<CheckpointPictureModel>(*this, std::move(names), texts);
  }

 private:
  void read_head() {
    const Checkpoint& checkpoint = weights_->checkpoint;
    const auto& classifiers = weights_->kind.classifiers;
    const auto found =
        std::find_if(classifiers.begin(), classifiers.end(),
                     [&](std::string_view name) { return !name.empty() && checkpoint.has(name); });
    const bool promised = architecture_.find("ForImageClassification") != std::string::npos;
    if (found == classifiers.end() && !promised) {
      if (weights_->config.names_head()) head_left_out_ = architecture_;
      return;
    }
    const std::string name(found == classifiers.end() ? classifiers[0] : *found);
    labels_ = checkpoint.tensor(name, {-1, -1}, DType::kFloat32).dim(0);
    output_names_ = weights_->config.labels(labels_);
    problem_ = weights_->config.problem(labels_);
  }

  void name_dimensions(int64_t width) {
    for (int64_t i = 0; i < width; ++i) output_names_.push_back(fmt::format("dimension {}", i));
  }

  std::shared_ptr<PictureGraph> build(const PictureKey& key) const override {
    auto built = std::make_shared<PictureGraph>();
    built->key = key;
    GraphBuilder graph;
    built->pixels =
        graph.input("pixel_values", {key.batch, channels_, key.height, key.width}, key.dtype);
    EncoderBuilder build(graph, weights_->checkpoint, config_, prefix_, key.dtype);
    build.set_given_tokens(key.given_tokens);
    const PictureOutputs encoded = weights_->kind.encode(build, built->pixels);
    built->patches = encoded.patches;
    built->embeddings = encoded.embeddings;
    built->layers_input = encoded.layers_input;
    built->grid = encoded.grid;
    built->output = head(build, encoded, *built);
    finish(graph.finish(), *built);
    return built;
  }

  std::shared_ptr<const PairGraph> build_pair(const PairKey& key) const {
    auto built = std::make_shared<PairGraph>();
    built->key = key;
    GraphBuilder graph;
    built->ids = graph.input("input_ids", {key.batch, key.tokens}, DType::kInt64);
    built->pixels =
        graph.input("pixel_values", {key.batch, channels_, key.height, key.width}, key.dtype);
    const ClipTextOutputs text =
        ClipTexts(weights_->config).encode(graph, weights_->checkpoint, built->ids, {}, key.dtype);
    built->word_embeddings = text.word_embeddings;
    built->text_embeddings = text.embeddings;
    EncoderBuilder build(graph, weights_->checkpoint, config_, prefix_, key.dtype);
    const PictureOutputs encoded = weights_->kind.encode(build, built->pixels);
    built->embeddings = encoded.embeddings;
    built->layers_input = encoded.layers_input;
    built->output = compared(graph, text.vector, weights_->kind.embed(build, encoded));
    finish_graph(graph.finish(), *built, key.batch, KeptRows::kRead, {&built->ids, &built->pixels},
                 {&built->word_embeddings, &built->text_embeddings});
    return built;
  }

  // The scaled cosine of vectors [batch, width]: [batch, 1].
  Value compared(GraphBuilder& graph, Value text, Value picture) const {
    const int64_t batch = graph.shape(text)[0], width = graph.shape(text)[1];
    const DType type = graph.type(text).dtype;
    const Value row =
        reshape(graph, l2_normalise(graph, text, "pair/text"), {batch, 1, width}, "pair/row");
    const Value column = reshape(graph, l2_normalise(graph, picture, "pair/picture"),
                                 {batch, width, 1}, "pair/column");
    const Value cosine =
        reshape(graph, matmul(graph, row, column, "pair/cosine"), {batch, 1}, "pair/cosine");
    Tensor scale = Tensor::empty({1, 1}, type);
    scale.fill(similarity_scale());
    return linear(graph, cosine, std::make_shared<LinearWeights>(scale, Tensor()), "pair/scale");
  }

  Value head(EncoderBuilder& build, const PictureOutputs& encoded, PictureGraph& built) const {
    const PictureArchitecture& kind = weights_->kind;
    if (built.key.head != Head::kLogits) {
      return embedding_head(build.graph(), kind.embed(build, encoded), built);
    }
    if (texts_.empty()) return kind.classify(build, encoded, labels_);
    const Value unit = l2_normalise(build.graph(), kind.embed(build, encoded), "texts/normalise");
    return linear(build.graph(), unit, texts_.at(built.key.dtype), "texts");
  }

  std::shared_ptr<Weights> weights_;
  Config config_;  // of the picture side
  std::string prefix_;
  int64_t labels_ = 0;
  std::map<DType, std::shared_ptr<const LinearWeights>> texts_;
};

}  // namespace

std::shared_ptr<const PictureModel> load_checkpoint_picture_model(const FileLookup& files,
                                                                  const WeightSource& source,
                                                                  std::string name) {
  const auto file = files("config.json");
  if (!file) {
    throw FileError(fmt::format(
        "'{}' has no config.json: give a HuggingFace model folder (config.json, weights)", name));
  }
  Config config(parse_json_file(*file, "config.json"));
  const PictureArchitecture* kind = find_picture_architecture(config);
  if (kind == nullptr) {
    std::vector<std::string_view> names;
    for (const PictureArchitecture* known : picture_architectures())
      names.push_back(known->model_type);
    throw UnsupportedModel(
        fmt::format("picture models of type '{}' are not supported; supported are {}",
                    config.model_type(), fmt::join(names, ", ")));
  }
  StoredTensors tensors = with_names_of_files(source(), kind->renamings);
  auto weights = std::make_shared<Weights>(std::move(config), std::move(tensors), *kind);
  return std::make_shared<CheckpointPictureModel>(files, std::move(name), std::move(weights));
}

}  // namespace whyformer
