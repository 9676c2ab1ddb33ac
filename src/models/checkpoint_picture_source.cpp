#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "base/length.h"
#include "models/architectures/clip.h"
#include "models/picture_source.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

std::vector<double> of_length_one(std::vector<double> vector) {
  const double length = length_or_one(vector);
  for (double& x : vector) x /= length;
  return vector;
}

// What the variants of a model share.
struct Weights {
  Weights(Config all, StoredTensors tensors, const PictureArchitecture& architecture)
      : config(std::move(all)), checkpoint(std::move(tensors)), kind(architecture) {}

  Config config;  // the whole config.json
  Checkpoint checkpoint;
  const PictureArchitecture& kind;
};

// The scaled cosine of vectors [batch, width]: [batch, 1].
Value compared(GraphBuilder& graph, Value text, Value picture, double scale) {
  const int64_t batch = graph.shape(text)[0], width = graph.shape(text)[1];
  const DType type = graph.type(text).dtype;
  const Value row =
      reshape(graph, l2_normalise(graph, text, "pair/text"), {batch, 1, width}, "pair/row");
  const Value column = reshape(graph, l2_normalise(graph, picture, "pair/picture"),
                               {batch, width, 1}, "pair/column");
  const Value cosine =
      reshape(graph, matmul(graph, row, column, "pair/cosine"), {batch, 1}, "pair/cosine");
  Tensor factor = Tensor::empty({1, 1}, type);
  factor.fill(scale);
  return linear(graph, cosine, std::make_shared<LinearWeights>(factor, Tensor()), "pair/scale");
}

double scale_of(const Weights& weights) {
  return std::exp(weights.checkpoint.tensor("logit_scale", {}, DType::kFloat64).to_doubles()[0]);
}

// A picture and a text compared. Values beside the picture's are the text's.
class ClipPairSource final : public GraphSource {
 public:
  ClipPairSource(SourceFacts facts, std::shared_ptr<const Weights> weights, const Config& config,
                 std::string prefix)
      : GraphSource(std::move(facts)),
        weights_(std::move(weights)),
        config_(config),
        prefix_(std::move(prefix)) {}

  int64_t parameter_count() const override { return weights_->checkpoint.parameter_count(); }
  int64_t tensor_count() const override { return weights_->checkpoint.tensor_count(); }

 private:
  std::shared_ptr<const ModelGraph> build(const ShapeKey& key) const override {
    auto built = std::make_shared<ModelGraph>();
    built->key = key;
    const Shape size = key.shape("pixel_values");
    PictureSource::check_size(key.batch, size[1], size[2]);
    GraphBuilder graph;
    const Value ids =
        graph.input("input_ids", {key.batch, key.shape("input_ids")[0]}, DType::kInt64);
    const Value pixels =
        graph.input("pixel_values", {key.batch, size[0], size[1], size[2]}, key.dtype);
    built->inputs = {{"input_ids", ids}, {"pixel_values", pixels}};
    const ClipTextOutputs text =
        ClipTexts(weights_->config).encode(graph, weights_->checkpoint, ids, {}, key.dtype);
    built->entries = {{text.word_embeddings, "input_ids"}, {pixels, "pixel_values"}};
    built->beside = {text.embeddings};
    EncoderBuilder build(graph, weights_->checkpoint, config_, prefix_, key.dtype);
    const PictureOutputs encoded = weights_->kind.encode(build, pixels);
    built->embeddings = encoded.embeddings;
    built->layers_input = encoded.layers_input;
    built->output =
        compared(graph, text.vector, weights_->kind.embed(build, encoded), scale_of(*weights_));
    finish_graph(graph.finish(), *built, key.batch);
    return built;
  }

  std::shared_ptr<const Weights> weights_;
  Config config_;  // of the picture side
  std::string prefix_;
};

// A HuggingFace folder: config.json says which architecture, the weights fill it.
class CheckpointPictureSource final : public PictureSource {
 public:
  CheckpointPictureSource(std::string name, std::shared_ptr<const Weights> weights)
      : PictureSource(std::move(name)),
        weights_(std::move(weights)),
        config_(weights_->kind.model_type == kClip.model_type
                    ? weights_->config.part("vision_config", "vision_config_dict")
                    : weights_->config) {
    const Config& config = weights_->config;
    const std::string_view prefix = weights_->kind.prefix;
    facts_.architecture =
        config.architecture().empty() ? config.model_type() : config.architecture();
    prefix_ = weights_->checkpoint.has_prefix(std::string(prefix) + "embeddings.") ? prefix : "";
    channels_ = config_.size_or("num_channels", 3);
    std::tie(height_, width_) = config_.pair_or("image_size", 224);
    any_height_ = any_width_ = weights_->kind.takes_other_sizes;
    read_head();
    // Building a graph now shows at once whether config and weights belong together.
    const auto built = graph(own_key({.head = own_head()}));
    if (facts_.output_names.empty()) name_dimensions(built->graph.shape(built->output)[1]);
    facts_.notes = weights_->checkpoint.notes();
    if (const std::string limits = config.text_or("whyformer_limits", ""); !limits.empty())
      facts_.notes.push_back(limits);
  }

  // The same weights as a classifier among texts, whose vectors are the rows of `texts`.
  CheckpointPictureSource(const CheckpointPictureSource& other, std::vector<std::string> names,
                          const Tensor& texts)
      : PictureSource(other, std::move(names)),
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
    if (!reads_texts()) return PictureSource::text_embedding(ids);
    const ClipTexts texts(weights_->config);
    return of_length_one(texts.embedding(weights_->checkpoint, ids, DType::kFloat32).to_doubles());
  }

  std::shared_ptr<const TextSource> text_source(const TokenizerFacts& tokenizer) const override {
    if (!reads_texts()) return PictureSource::text_source(tokenizer);
    const std::shared_ptr<const Checkpoint> checkpoint(weights_, &weights_->checkpoint);
    return clip_text_source(name(), checkpoint, weights_->config, tokenizer);
  }

  std::shared_ptr<const GraphSource> pair_source() const override {
    if (!reads_texts()) return PictureSource::pair_source();
    return std::make_shared<ClipPairSource>(facts_, weights_, config_, prefix_);
  }

  double similarity_scale() const override {
    return reads_texts() ? scale_of(*weights_) : PictureSource::similarity_scale();
  }

  std::shared_ptr<const PictureSource> among(const std::vector<std::vector<int64_t>>& ids,
                                             std::vector<std::string> names) const override {
    if (!reads_texts()) return PictureSource::among(ids, std::move(names));
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
    return std::make_shared<CheckpointPictureSource>(*this, std::move(names), texts);
  }

 private:
  void read_head() {
    const Checkpoint& checkpoint = weights_->checkpoint;
    const auto& classifiers = weights_->kind.classifiers;
    const auto found =
        std::find_if(classifiers.begin(), classifiers.end(),
                     [&](std::string_view name) { return !name.empty() && checkpoint.has(name); });
    const bool promised = facts_.architecture.find("ForImageClassification") != std::string::npos;
    if (found == classifiers.end() && !promised) {
      if (weights_->config.names_head()) facts_.head_left_out = facts_.architecture;
      return;
    }
    const std::string name(found == classifiers.end() ? classifiers[0] : *found);
    labels_ = checkpoint.tensor(name, {-1, -1}, DType::kFloat32).dim(0);
    facts_.output_names = weights_->config.labels(labels_);
    facts_.problem = weights_->config.problem(labels_);
  }

  Graph build_pictures(const ShapeKey& key, ModelGraph& built) const override {
    GraphBuilder graph;
    const Shape size = key.shape("pixel_values");
    const Value pixels =
        graph.input("pixel_values", {key.batch, size[0], size[1], size[2]}, key.dtype);
    built.inputs = {{"pixel_values", pixels}};
    built.entries = {{pixels, "pixel_values"}};
    EncoderBuilder build(graph, weights_->checkpoint, config_, prefix_, key.dtype);
    const Shape given = key.shape("tokens");
    build.set_given_tokens(given.empty() ? 0 : given[0]);
    const PictureOutputs encoded = weights_->kind.encode(build, pixels);
    built.patches = encoded.patches;
    built.embeddings = encoded.embeddings;
    built.layers_input = encoded.layers_input;
    built.grid = encoded.grid;
    built.output = head(build, encoded, built);
    return graph.finish();
  }

  // Patches that are left out leave their tokens out: the others are given.
  void feed(const ModelGraph& graph, std::span<const Sample> samples, Feeds& feeds) const override {
    GraphSource::feed(graph, samples, feeds);
    if (graph.key.shapes.contains("tokens")) feeds[graph.embeddings] = stacked(samples, "tokens");
  }

  Value head(EncoderBuilder& build, const PictureOutputs& encoded, ModelGraph& built) const {
    const PictureArchitecture& kind = weights_->kind;
    if (built.key.head != Head::kLogits) {
      return embedding_head(build.graph(), kind.embed(build, encoded), built);
    }
    if (texts_.empty()) return kind.classify(build, encoded, labels_);
    const Value unit = l2_normalise(build.graph(), kind.embed(build, encoded), "texts/normalise");
    return linear(build.graph(), unit, texts_.at(built.key.dtype), "texts");
  }

  std::shared_ptr<const Weights> weights_;
  Config config_;  // of the picture side
  std::string prefix_;
  int64_t labels_ = 0;
  std::map<DType, std::shared_ptr<const LinearWeights>> texts_;
};

}  // namespace

std::shared_ptr<const PictureSource> checkpoint_picture_source(const FileLookup& files,
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
  auto weights = std::make_shared<const Weights>(std::move(config), std::move(tensors), *kind);
  return std::make_shared<CheckpointPictureSource>(std::move(name), std::move(weights));
}

}  // namespace whyformer
