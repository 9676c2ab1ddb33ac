// A picture model as a folder holds it: weights, and graphs built from them on demand.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "models/architectures/picture_encoder.h"
#include "models/text_model.h"

namespace whyformer {

// What a graph is built for; pixels as the picture processor gives them.
struct PictureKey {
  int64_t batch = 1;
  int64_t height = 0;
  int64_t width = 0;
  Head head = Head::kLogits;
  DType dtype = DType::kFloat32;
  bool all_rows = false;  // those of the last layer too that the output does not read
  // Above 0: `embeddings` is an input with so many tokens, some patches being left out; pixels are
  // not read.
  int64_t given_tokens = 0;
  auto operator<=>(const PictureKey&) const = default;
};

struct PictureGraph : ModelGraph {
  PictureKey key;
  Value pixels;   // [batch, channels, height, width]
  Value patches;  // [batch, patches, width], before positions
  PatchGrid grid;
};

// A picture beside a text, for models that compare the two.
struct PairKey {
  int64_t batch = 1;
  int64_t tokens = 0;
  int64_t height = 0;
  int64_t width = 0;
  DType dtype = DType::kFloat32;
  auto operator<=>(const PairKey&) const = default;
};

// Both sides in one graph; `embeddings` and `layers_input` are the picture's, the output is the
// logit [batch, 1].
struct PairGraph : ModelGraph {
  PairKey key;
  Value ids;              // [batch, tokens], the last of which is read
  Value word_embeddings;  // [batch, tokens, width]
  Value text_embeddings;  // positions added; what enters the first layer
  Value pixels;
};

class PictureModel {
 public:
  static constexpr int64_t kMostPictures = 1 << 16;

  // From a HuggingFace folder with config.json and weights.
  static std::shared_ptr<const PictureModel> load(const std::filesystem::path& folder);
  static std::shared_ptr<const PictureModel> load(const FileLookup& files, std::string name);
  static std::shared_ptr<const PictureModel> load(const FileLookup& files,
                                                  const WeightSource& weights, std::string name);
  // Whether config.json tells of a model that `load` takes.
  static bool reads(const Config& config);
  // From such a folder, an ONNX file, or a folder that holds one; null where it is another kind of
  // model. `output` names the one to explain of an ONNX file, which chooses it where that is empty.
  static std::shared_ptr<const PictureModel> load_if_one(const std::filesystem::path& path,
                                                         const std::string& output = {});

  virtual ~PictureModel() = default;
  PictureModel(const PictureModel&) = delete;
  PictureModel& operator=(const PictureModel&) = delete;

  const std::string& name() const { return name_; }
  const std::string& architecture() const { return architecture_; }
  bool has_classifier() const { return problem_.has_value(); }
  // As config.json names the whole: "BeitForSemanticSegmentation". Empty if there is none, or if it
  // is not known.
  const std::string& head_left_out() const { return head_left_out_; }
  std::optional<Problem> problem() const { return problem_; }  // nothing without a classifier
  // Names of the outputs: labels, texts, or dimensions of the embedding.
  const std::vector<std::string>& output_names() const { return output_names_; }
  // What its users should know: how the files were read, and what config.json says in
  // "whyformer_limits" that the model does not know.
  const std::vector<std::string>& notes() const { return notes_; }
  int64_t channels() const { return channels_; }
  // The size of picture the model was made for.
  int64_t height() const { return height_; }
  int64_t width() const { return width_; }
  // Throws InvalidInput for pictures of another size where the model is made for one.
  void check_takes(int64_t height, int64_t width) const;

  // How many pictures a graph may take; files may fix the number.
  virtual int64_t most_at_once() const { return kMostPictures; }

  virtual int64_t parameter_count() const = 0;
  virtual int64_t tensor_count() const = 0;

  // Built once per key and shared. Throws InvalidInput for a size that the model cannot take.
  std::shared_ptr<const PictureGraph> graph(const PictureKey& key) const;

  // What the graph's inputs get: pixels [batch, channels, height, width], and `reference` [width]
  // only for the similarity head.
  Feeds feeds(const PictureGraph& graph, const Tensor& pixels,
              const std::vector<double>& reference = {}) const;

  // Of models that compare pictures with texts (CLIP); all others throw UnsupportedModel.
  virtual bool reads_texts() const { return false; }
  // A text's vector of length 1, as the similarity head takes it: from tokens, or from the text
  // where the folder has a tokenizer.
  virtual std::vector<double> text_embedding(const std::vector<int64_t>& ids) const;
  std::vector<double> text_embedding(const std::string& text) const;
  // The text side by itself, where the folder has a tokenizer.
  virtual std::shared_ptr<const TextModel> text_tower() const;
  // A picture and a text compared: the cosine of their vectors times the scale.
  virtual std::shared_ptr<const PairGraph> pair_graph(const PairKey& key) const;
  // e to the model's learned logit scale: logits are that times the cosines.
  virtual double similarity_scale() const;
  // The model as a classifier among texts: its logits are those of the picture for each text.
  std::shared_ptr<const PictureModel> among(const std::vector<std::string>& texts) const;
  virtual std::shared_ptr<const PictureModel> among(const std::vector<std::vector<int64_t>>& ids,
                                                    std::vector<std::string> names) const;

 protected:
  PictureModel(std::string name, const FileLookup& files);
  // A variant of a model.
  explicit PictureModel(const PictureModel& other, std::vector<std::string> output_names);

  // Up to the last value; discovery and restriction to rows follow in `finish`.
  virtual std::shared_ptr<PictureGraph> build(const PictureKey& key) const = 0;

  // What the key's head needs behind an embedding [batch, width].
  static Value embedding_head(GraphBuilder& graph, Value vector, PictureGraph& built);
  // Finds attention in the graph, and leaves out rows of the last layer that nobody reads.
  static void finish(const Graph& whole, PictureGraph& built);

  std::string name_;
  std::string architecture_;
  std::string head_left_out_;
  std::optional<Problem> problem_;
  std::vector<std::string> output_names_, notes_;
  int64_t channels_ = 3;
  int64_t height_ = 0;
  int64_t width_ = 0;
  bool any_height_ = true, any_width_ = true;  // not that of the model alone

  const FileLookup& files() const { return files_; }
  // Throws InvalidInput for a size that no graph is built for.
  static void check_size(int64_t batch, int64_t height, int64_t width);

 private:
  std::vector<int64_t> ids_of(const std::string& text) const;

  FileLookup files_;  // the tokenizer is read when a text comes
  mutable std::mutex mutex_;
  mutable std::map<PictureKey, std::shared_ptr<const PictureGraph>> graphs_;
};

// The two kinds of picture model. The second is null for a file that takes something else than
// pixels.
std::shared_ptr<const PictureModel> load_onnx_picture_model(const std::filesystem::path& file,
                                                            const FileLookup& files,
                                                            std::string name,
                                                            const std::string& output = {});
std::shared_ptr<const PictureModel> load_checkpoint_picture_model(const FileLookup& files,
                                                                  const WeightSource& weights,
                                                                  std::string name);

}  // namespace whyformer
