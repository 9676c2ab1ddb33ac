// A picture model in an ONNX file: one input of pixels; patches and layers by discovery.
#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "models/onnx_graph.h"
#include "models/picture_model.h"
#include "models/sample_ranges.h"
#include "onnx/onnx_model.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr int64_t kUsualSide = 224;   // pixels, where neither the file nor its config tells
constexpr int64_t kUsualBlocks = 14;  // a side, where discovery finds no patches

// The only input, if it is pixels [batch, channels, height, width].
const onnx::InputInfo* pixel_input(const onnx::OnnxFile& file) {
  if (file.graph.inputs.size() != 1) return nullptr;
  const onnx::InputInfo& input = file.graph.inputs[0];
  const bool colours = input.shape.size() == 4 &&
                       (input.shape[1] == 1 || input.shape[1] == 3 || input.shape[1] <= 0);
  return colours && onnx::is_float(input.type) ? &input : nullptr;
}

class OnnxPictureModel final : public PictureModel {
 public:
  OnnxPictureModel(onnx::OnnxFile file, const FileLookup& files, std::string name,
                   const std::string& output)
      : PictureModel(std::move(name), files), config_(config_of(files)), model_(std::move(file)) {
    const onnx::InputInfo& input = *pixel_input(model_.file());
    input_ = input.name;
    architecture_ = !config_.architecture().empty() ? config_.architecture()
                    : !config_.model_type().empty() ? config_.model_type()
                                                    : "ONNX";
    const auto [height, width] = config_.pair_or("image_size", kUsualSide);
    channels_ = input.shape[1] > 0 ? input.shape[1] : config_.size_or("num_channels", channels_);
    most_at_once_ = input.shape[0] > 0 ? input.shape[0] : kMostPictures;
    height_ = input.shape[2] > 0 ? input.shape[2] : height;
    width_ = input.shape[3] > 0 ? input.shape[3] : width;
    any_height_ = input.shape[2] <= 0;
    any_width_ = input.shape[3] <= 0;
    choose_output(output);
  }

  int64_t parameter_count() const override { return model_.file().parameters().numbers; }
  int64_t tensor_count() const override { return model_.file().parameters().tensors; }
  int64_t most_at_once() const override { return most_at_once_; }

 private:
  // A file that leaves the size open may still be made for one, as positions are.
  template <class Build>
  std::invoke_result_t<Build> for_size(int64_t height, int64_t width, const Build& build) const {
    try {
      return build();
    } catch (const InvalidInput& error) {
      if (!any_height_ && !any_width_) throw;
      throw InvalidInput(
          fmt::format("'{}' does not take pictures of {}x{} pixels ({}): set the size in "
                      "preprocessor_config.json, and image_size in "
                      "config.json, to those that it was made for",
                      name_, width, height, error.what()));
    }
  }

  // The one that was asked for; logits, or else vectors of the whole picture.
  void choose_output(const std::string& asked) {
    check_output(model_.file(), asked);
    onnx::BuildRequest request = request_for(
        {.batch = std::min<int64_t>(1, most_at_once_), .height = height_, .width = width_});
    for (const auto& output : model_.file().graph.outputs) request.outputs.push_back(output.name);
    const onnx::BuiltGraph probe = for_size(height_, width_, [&] { return model_.build(request); });
    const auto choose = [&](std::string_view wanted) {
      for (const auto& output : model_.file().graph.outputs) {
        const Value value = probe.values.at(output.name);
        const bool fits =
            probe.graph.shape(value).size() == 2 && probe.graph.type(value).dtype != DType::kInt64;
        const bool named =
            asked.empty() ? output.name.find(wanted) != output.name.npos : output.name == asked;
        if (output_.empty() && fits && named) output_ = output.name;
      }
    };
    choose("logits");
    choose("");
    if (output_.empty()) {
      throw UnsupportedModel(
          fmt::format("{} gives no numbers for a whole picture, [batch, classes]",
                      asked.empty() ? "the ONNX file" : "the output '" + asked + "'"));
    }
    if (has_dynamic_ranges(probe.graph) && most_at_once_ > 1) {
      const onnx::BuildRequest of_two =
          request_for({.batch = 2, .height = height_, .width = width_});
      most_at_once_ = std::min(most_at_once_, most_together(model_, of_two, output_));
    }
    const int64_t width = probe.graph.shape(probe.values.at(output_))[1];
    if (output_.find("embed") == output_.npos && output_.find("pool") == output_.npos) {
      output_names_ = config_.labels(width);
      problem_ = config_.problem(width);
      return;
    }
    for (int64_t i = 0; i < width; ++i) output_names_.push_back(fmt::format("dimension {}", i));
  }

  onnx::BuildRequest request_for(const PictureKey& key) const {
    onnx::BuildRequest request;
    request.floats = key.dtype;
    request.inputs[input_] = {
        {key.batch, channels_, key.height, key.width}, std::nullopt, InputRole::kExplained};
    return request;
  }

  std::shared_ptr<PictureGraph> build(const PictureKey& key) const override {
    auto built = std::make_shared<PictureGraph>();
    built->key = key;
    if (key.given_tokens > 0) {
      throw InvalidInput(
          "patches of a picture model in an ONNX file cannot be left out: hide them by painting, "
          "such as "
          "grey");
    }
    OnnxGraph imported = for_size(key.height, key.width, [&] {
      return build_onnx(model_, request_for(key), output_, key.batch);
    });
    built->pixels = imported.input(input_);
    built->output = imported.output;
    GraphBuilder graph(std::move(imported.graph), Folding::kNo);
    if (key.head != Head::kLogits) built->output = embedding_head(graph, built->output, *built);
    const Graph whole = graph.finish();
    const Discovery found = discover(whole, built->output, key.batch);
    built->grid = grid_of(found, key);
    built->embeddings = built->layers_input = built->patches =
        first_layer_input(whole, found, built->pixels);
    finish(whole, *built);
    return built;
  }

  // The patches of the first stream that has some; else blocks of pixels.
  PatchGrid grid_of(const Discovery& found, const PictureKey& key) const {
    PatchGrid grid;
    for (const Stream& stream : found.streams) {
      int64_t first = 0;
      for (const StreamSegment& segment : stream.segments) {
        const bool patches =
            segment.kind == StreamSegment::Kind::kPatches && segment.grid.size() == 2;
        if (patches && grid.rows == 0) grid = {first, segment.grid[0], segment.grid[1]};
        first += segment.length;
      }
    }
    if (grid.rows == 0) {
      grid = {0, std::min(key.height, kUsualBlocks), std::min(key.width, kUsualBlocks)};
    }
    grid.patch_height = (key.height + grid.rows - 1) / grid.rows;
    grid.patch_width = (key.width + grid.columns - 1) / grid.columns;
    return grid;
  }

  Config config_;
  onnx::OnnxModel model_;
  std::string input_, output_;
  int64_t most_at_once_ = 1;
};

}  // namespace

std::shared_ptr<const PictureModel> load_onnx_picture_model(const std::filesystem::path& file,
                                                            const FileLookup& files,
                                                            std::string name,
                                                            const std::string& output) {
  onnx::OnnxFile read = onnx::read_onnx(file);
  if (pixel_input(read) == nullptr) return nullptr;
  return std::make_shared<OnnxPictureModel>(std::move(read), files, std::move(name), output);
}

}  // namespace whyformer
