// A picture model in an ONNX file: one input of pixels; patches and layers by discovery.
#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "models/onnx_graph.h"
#include "models/onnx_source.h"
#include "models/sample_ranges.h"
#include "onnx/onnx_model.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr int64_t kUsualSide = 224;   // pixels, where neither the file nor its config tells
constexpr int64_t kUsualBlocks = 14;  // a side, where discovery finds no patches

// The only input, if it is pixels [batch, channels, height, width].
const onnx::DeclaredValue* pixel_input(const onnx::OnnxFile& file) {
  if (file.graph.inputs.size() != 1) return nullptr;
  const onnx::DeclaredValue& input = file.graph.inputs[0];
  const bool colours = input.shape.size() == 4 &&
                       (input.shape[1] == 1 || input.shape[1] == 3 || input.shape[1] <= 0);
  return colours && onnx::is_float(input.type) ? &input : nullptr;
}

class OnnxPictureSource final : public PictureSource {
 public:
  OnnxPictureSource(const OnnxDocument& document, std::string name, const std::string& output)
      : PictureSource(std::move(name)), config_(document.config()), model_(document.model) {
    const onnx::DeclaredValue& input = *pixel_input(model_->file());
    input_ = input.name;
    facts_.native = native_names_of(model_->file());
    facts_.architecture = !config_.architecture().empty() ? config_.architecture()
                          : !config_.model_type().empty() ? config_.model_type()
                                                          : "ONNX";
    const auto [height, width] = config_.pair_or("image_size", kUsualSide);
    channels_ = input.shape[1] > 0 ? input.shape[1] : config_.size_or("num_channels", channels_);
    max_at_once_ = input.shape[0] > 0 ? input.shape[0] : kMostPictures;
    height_ = input.shape[2] > 0 ? input.shape[2] : height;
    width_ = input.shape[3] > 0 ? input.shape[3] : width;
    any_height_ = input.shape[2] <= 0;
    any_width_ = input.shape[3] <= 0;
    choose_output(output);
  }

  int64_t parameter_count() const override { return model_->file().parameters().numbers; }
  int64_t tensor_count() const override { return model_->file().parameters().tensors; }
  int64_t max_at_once() const override { return max_at_once_; }

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
                      name(), width, height, error.what()));
    }
  }

  // The one that was asked for; logits, or else vectors of the whole picture.
  void choose_output(const std::string& asked) {
    check_output(model_->file(), asked);
    onnx::BuildRequest request =
        request_for(own_key({.batch = std::min<int64_t>(1, max_at_once_)}));
    for (const auto& output : model_->file().graph.outputs) request.outputs.push_back(output.name);
    const onnx::BuiltGraph probe =
        for_size(height_, width_, [&] { return model_->build(request); });
    const auto choose = [&](std::string_view wanted) {
      for (const auto& output : model_->file().graph.outputs) {
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
    if (has_dynamic_ranges(probe.graph) && max_at_once_ > 1) {
      const onnx::BuildRequest of_two = request_for(own_key({.batch = 2}));
      max_at_once_ = std::min(max_at_once_, most_together(*model_, of_two, output_));
    }
    const int64_t width = probe.graph.shape(probe.values.at(output_))[1];
    if (output_.find("embed") == output_.npos && output_.find("pool") == output_.npos) {
      facts_.output_names = config_.labels(width);
      facts_.problem = config_.problem(width);
      return;
    }
    name_dimensions(width);
  }

  onnx::BuildRequest request_for(const ShapeKey& key) const {
    Shape shape = key.shape("pixel_values");
    shape.insert(shape.begin(), key.batch);
    onnx::BuildRequest request;
    request.floats = key.dtype;
    request.inputs[input_] = {shape, std::nullopt, InputRole::kExplained};
    return request;
  }

  Graph build_pictures(const ShapeKey& key, ModelGraph& built) const override {
    if (key.shapes.contains("tokens")) {
      throw InvalidInput(
          "patches of a picture model in an ONNX file cannot be left out: hide them by painting, "
          "such as grey");
    }
    const Shape size = key.shape("pixel_values");
    OnnxGraph imported = for_size(size[1], size[2], [&] {
      return build_onnx(*model_, request_for(key), output_, key.batch);
    });
    const Value pixels = imported.input(input_);
    built.inputs = {{"pixel_values", pixels}};
    built.entries = {{pixels, "pixel_values"}};
    built.output = imported.output;
    GraphBuilder graph(std::move(imported.graph), Folding::kNo);
    if (key.head != Head::kLogits) built.output = embedding_head(graph, built.output, built);
    Graph whole = graph.finish();
    const Discovery found = discover(whole, built.output, key.batch);
    built.grid = grid_of(found, size[1], size[2]);
    built.embeddings = built.layers_input = built.patches = first_layer_input(whole, found, pixels);
    return whole;
  }

  // The patches of the first stream that has some; else blocks of pixels.
  static PatchGrid grid_of(const Discovery& found, int64_t height, int64_t width) {
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
      grid = {0, std::min(height, kUsualBlocks), std::min(width, kUsualBlocks)};
    }
    grid.patch_height = (height + grid.rows - 1) / grid.rows;
    grid.patch_width = (width + grid.columns - 1) / grid.columns;
    return grid;
  }

  Config config_;
  std::shared_ptr<const onnx::OnnxModel> model_;
  std::string input_, output_;
  int64_t max_at_once_ = 1;
};

}  // namespace

std::shared_ptr<const PictureSource> onnx_picture_source(const OnnxDocument& document,
                                                         std::string name,
                                                         const std::string& output) {
  if (pixel_input(document.model->file()) == nullptr) return nullptr;
  return std::make_shared<OnnxPictureSource>(document, std::move(name), output);
}

}  // namespace whyformer
