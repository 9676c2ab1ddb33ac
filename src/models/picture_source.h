// A source of graphs that read pictures. Samples have "pixel_values" [channels, height, width];
// where some patches are left out, "tokens" [tokens, width] stand for those that stay, and pixels
// are not read.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/architectures/picture_encoder.h"
#include "models/graph_source.h"
#include "models/text_source.h"

namespace whyformer {

// Of pictures of that size; the rest of the key as it is.
ShapeKey picture_key(int64_t channels, int64_t height, int64_t width, ShapeKey key = {});

class PictureSource : public GraphSource {
 public:
  static constexpr int64_t kMostPictures = 1 << 16;

  int64_t channels() const { return channels_; }
  // The size of picture the model was made for.
  int64_t height() const { return height_; }
  int64_t width() const { return width_; }
  // Of a picture of that size.
  ShapeKey own_key(ShapeKey key = {}) const {
    return picture_key(channels_, height_, width_, std::move(key));
  }
  // Throws InvalidInput for pictures of another size where the model is made for one.
  void check_takes(int64_t height, int64_t width) const;

  int64_t max_at_once() const override { return kMostPictures; }

  // Of models that compare pictures with texts (CLIP); all others throw UnsupportedModel.
  virtual bool reads_texts() const { return false; }
  // A text's vector of length 1, as the similarity head takes it.
  virtual std::vector<double> text_embedding(const std::vector<int64_t>& ids) const;
  // The text side by itself.
  virtual std::shared_ptr<const TextSource> text_source(const TokenizerFacts& tokenizer) const;
  // Both sides in one graph: samples have "input_ids", the last of which is read, and
  // "pixel_values"; the answer is the cosine of their vectors times the scale.
  virtual std::shared_ptr<const GraphSource> pair_source() const;
  // e to the model's learned logit scale: logits are that times the cosines.
  virtual double similarity_scale() const;
  // The model as a classifier among texts: its logits are those of the picture for each text.
  virtual std::shared_ptr<const PictureSource> among(const std::vector<std::vector<int64_t>>& ids,
                                                     std::vector<std::string> names) const;

  // Throws InvalidInput for sizes that no model takes.
  static void check_size(int64_t batch, int64_t height, int64_t width);

 protected:
  explicit PictureSource(std::string name) : GraphSource({.name = std::move(name)}) {}
  // A variant of a model.
  PictureSource(const PictureSource& other, std::vector<std::string> output_names);

  std::shared_ptr<const ModelGraph> build(const ShapeKey& key) const final;
  // Up to the last value; discovery and restriction to rows follow.
  virtual Graph build_pictures(const ShapeKey& key, ModelGraph& built) const = 0;

  // What the key's head needs behind an embedding [batch, width].
  static Value embedding_head(GraphBuilder& graph, Value vector, ModelGraph& built);

  int64_t channels_ = 3;
  int64_t height_ = 0;
  int64_t width_ = 0;
  bool any_height_ = true, any_width_ = true;
};

// Whether config.json tells of a picture model.
bool tells_of_pictures(const Config& config);

// A HuggingFace folder: config.json says which architecture, the weights fill it.
std::shared_ptr<const PictureSource> checkpoint_picture_source(const FileLookup& files,
                                                               const WeightSource& weights,
                                                               std::string name);

}  // namespace whyformer
