#include "readers/pictures/picture_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "formats/file_checks.h"
#include "readers/tokenizers/json_fields.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using tokenization::Json;
using tokenization::JsonFields;
using tokenization::parse_json;

using Colours = std::array<double, 3>;
constexpr Colours kHalf = {0.5, 0.5, 0.5};
constexpr Colours kClipMean = {0.48145466, 0.4578275, 0.40821073};
constexpr Colours kClipDeviation = {0.26862954, 0.26130258, 0.27577711};
constexpr int64_t kLongestSide = 65'535;

// What an image processor of transformers 5 does where its file says nothing.
struct ProcessorClass {
  std::string_view name;  // without "ImageProcessor" and what may follow it
  Resampling resampling;
  std::optional<PictureSize> size;
  std::optional<int64_t> shortest_edge;
  bool number_is_square;  // whether "size": 224 means 224 x 224, or the shortest edge
  std::optional<PictureSize> crop_size;
  bool crops;
  Colours mean = kHalf;
  Colours deviation = kHalf;
};

constexpr PictureSize kSquare224 = {224, 224};
constexpr PictureSize kSquare256 = {256, 256};

const ProcessorClass kClasses[] = {
    {"ViT", Resampling::kBilinear, kSquare224, {}, true, {}, false},
    {"DeiT", Resampling::kBicubic, kSquare256, {}, true, kSquare224, true},
    {"Beit", Resampling::kBicubic, kSquare224, {}, true, kSquare224, false},
    {"Bit", Resampling::kBicubic, {}, 224, false, kSquare224, true, kClipMean, kClipDeviation},
    {"CLIP", Resampling::kBicubic, {}, 224, false, kSquare224, true, kClipMean, kClipDeviation},
    {"Siglip", Resampling::kBicubic, kSquare224, {}, false, {}, false},
    {"ConvNext", Resampling::kBicubic, {}, 384, false, {}, false},
};

// The processor that transformers takes for a model whose file does not name one.
struct ModelClass {
  std::string_view model_type;
  std::string_view processor;
};
constexpr ModelClass kModelClasses[] = {
    {"beit", "Beit"},           {"bit", "Bit"},
    {"clip", "CLIP"},           {"convnext", "ConvNext"},
    {"convnextv2", "ConvNext"}, {"data2vec-vision", "Beit"},
    {"deit", "DeiT"},           {"dinov2", "Bit"},
    {"siglip", "Siglip"},       {"swin", "ViT"},
    {"swinv2", "ViT"},          {"vit", "ViT"},
    {"vit_mae", "ViT"},         {"vit_msn", "ViT"},
};

// Keys that are read, and those that leave the pixels of an RGB picture as they are.
constexpr std::string_view kKnownKeys[] = {"do_resize",
                                           "size",
                                           "default_to_square",
                                           "resample",
                                           "do_center_crop",
                                           "crop_size",
                                           "do_rescale",
                                           "rescale_factor",
                                           "do_normalize",
                                           "image_mean",
                                           "image_std",
                                           "image_processor_type",
                                           "feature_extractor_type",
                                           "processor_class",
                                           "auto_map",
                                           "model_input_names",
                                           "do_convert_rgb",
                                           "do_reduce_labels",
                                           "reduce_labels",
                                           "data_format",
                                           "input_data_format",
                                           "return_tensors",
                                           "device",
                                           "disable_grouping",
                                           "image_seq_length",
                                           "_valid_processor_keys"};

class SettingsReader {
 public:
  SettingsReader(const Json& object, std::string_view file, const ProcessorClass& defaults)
      : object_(object), fields_(object, file, "the image processor"), defaults_(defaults) {}

  PictureSettings read() {
    check_keys();
    PictureSettings settings;
    if (fields_.flag_or("do_resize", true)) read_resize(settings);
    if (fields_.flag_or("do_center_crop", defaults_.crops)) read_crop(settings);
    if (is_convnext()) read_crop_share(settings);
    settings.factor.reset();
    if (fields_.flag_or("do_rescale", true))
      settings.factor = number_or("rescale_factor", 1.0 / 255);
    if (fields_.flag_or("do_normalize", true)) {
      settings.normalisation = {colours_or("image_mean", defaults_.mean),
                                colours_or("image_std", defaults_.deviation)};
      if (std::ranges::count(settings.normalisation->deviation, 0.0) > 0) {
        throw FileError(fmt::format("'{}': 'image_std' must not be 0", fields_.file()));
      }
    }
    return settings;
  }

 private:
  bool is_convnext() const { return defaults_.name == "ConvNext"; }

  // A key nobody knows may be a step nobody takes; unless it says that there is no such step.
  void check_keys() const {
    std::vector<std::string> unknown;
    for (const auto& [key, value] : object_.items()) {
      const bool inactive = value.is_null() || value == false;
      const bool known = std::ranges::find(kKnownKeys, key) != std::end(kKnownKeys) ||
                         (key == "crop_pct" && is_convnext()) ||
                         (key == "pad_size" && !fields_.flag_or("do_pad", false));
      if (!inactive && !known) unknown.push_back(in_quotes(key));
    }
    if (unknown.empty()) return;
    throw UnsupportedModel(fmt::format(
        "'{}' asks for {}, which would change the pixels in a way that is not supported; prepare "
        "the pixel values outside and pass them as an array",
        fields_.file(), fmt::join(unknown, ", ")));
  }

  int64_t side(const Json& value, std::string_view what) const {
    const bool fits = value.is_number_integer() && value >= 1 && value <= kLongestSide;
    if (fits) return value.get<int64_t>();
    throw FileError(fmt::format("'{}': {} should be an integer from 1 to {}", fields_.file(), what,
                                kLongestSide));
  }

  // {"height": …, "width": …}, [height, width]; nothing for other spellings.
  std::optional<PictureSize> sides(const Json& value, std::string_view key) const {
    const std::string what = fmt::format("each side of '{}'", key);
    if (value.is_array() && value.size() == 2)
      return PictureSize{side(value[1], what), side(value[0], what)};
    if (value.is_object() && value.size() == 2 && value.contains("height") &&
        value.contains("width")) {
      return PictureSize{side(value["width"], what), side(value["height"], what)};
    }
    return std::nullopt;
  }

  [[noreturn]] void refuse_size(const Json& value, std::string_view key) const {
    throw UnsupportedModel(fmt::format(
        "'{}': '{}' is {}; supported are a number, {{\"height\", \"width\"}} and "
        "{{\"shortest_edge\"}}",
        fields_.file(), key, in_quotes(value.dump(-1, ' ', true, Json::error_handler_t::replace))));
  }

  void read_resize(PictureSettings& settings) const {
    settings.resampling = resampling();
    const Json* value = fields_.find("size");
    if (value == nullptr) {
      settings.size = defaults_.size;
      settings.shortest_edge = defaults_.shortest_edge;
    } else if (value->is_number()) {
      const int64_t length = side(*value, "'size'");
      if (fields_.flag_or("default_to_square", defaults_.number_is_square)) {
        settings.size = {length, length};
      } else {
        settings.shortest_edge = length;
      }
    } else if (value->is_object() && value->size() == 1 && value->contains("shortest_edge")) {
      settings.shortest_edge = side((*value)["shortest_edge"], "'shortest_edge' of 'size'");
    } else {
      settings.size = sides(*value, "size");
      if (!settings.size) refuse_size(*value, "size");
    }
  }

  Resampling resampling() const {
    const Json* value = fields_.find("resample");
    if (value == nullptr) return defaults_.resampling;
    if (value->is_number_integer() && *value >= 0 && *value <= 5) {
      return static_cast<Resampling>(value->get<int>());
    }
    throw FileError(
        fmt::format("'{}': 'resample' should be an integer from 0 to 5", fields_.file()));
  }

  void read_crop(PictureSettings& settings) const {
    const Json* value = fields_.find("crop_size");
    if (value == nullptr) {
      settings.crop = defaults_.crop_size;
      if (!settings.crop) {
        throw FileError(
            fmt::format("'{}' has 'do_center_crop' but no 'crop_size'", fields_.file()));
      }
    } else if (value->is_number()) {
      const int64_t length = side(*value, "'crop_size'");
      settings.crop = {length, length};
    } else {
      settings.crop = sides(*value, "crop_size");
      if (!settings.crop) refuse_size(*value, "crop_size");
    }
  }

  // ConvNeXt's own way: below 384 pixels a larger picture is cropped, from there on it is squeezed.
  void read_crop_share(PictureSettings& settings) const {
    if (settings.crop) {
      throw UnsupportedModel(
          fmt::format("'{}' asks for 'do_center_crop', which ConvNeXt's image processor does by "
                      "itself; set it to false",
                      fields_.file()));
    }
    if (settings.size) {
      throw FileError(fmt::format(
          "'{}': 'size' of ConvNeXt's image processor needs a 'shortest_edge'", fields_.file()));
    }
    if (!settings.shortest_edge) return;
    const int64_t length = *settings.shortest_edge;
    if (length >= 384) {
      settings.size = {length, length};
      settings.shortest_edge.reset();
      return;
    }
    const double larger = static_cast<double>(length) / number_or("crop_pct", 224.0 / 256);
    if (!(larger >= 1 && larger <= kLongestSide)) {
      throw FileError(fmt::format("'{}': 'crop_pct' should be a share near 1", fields_.file()));
    }
    settings.shortest_edge = static_cast<int64_t>(larger);
    settings.crop = {length, length};
  }

  double number_or(std::string_view key, double fallback) const {
    const Json* value = fields_.find(key);
    return value == nullptr ? fallback : number(*value, key);
  }

  double number(const Json& value, std::string_view key) const {
    if (value.is_number() && std::abs(value.get<double>()) < 1e30) return value.get<double>();
    throw FileError(
        fmt::format("'{}': '{}' should hold numbers of a sane size", fields_.file(), key));
  }

  Colours colours_or(std::string_view key, Colours fallback) const {
    const Json* value = fields_.find(key);
    if (value == nullptr) return fallback;
    if (value->is_number()) {
      const double one = number(*value, key);
      return {one, one, one};
    }
    // Those of grey pictures hold one.
    if (value->is_array() && value->size() == 1) {
      const double one = number((*value)[0], key);
      return {one, one, one};
    }
    if (!value->is_array() || value->size() != 3) {
      throw FileError(
          fmt::format("'{}': '{}' should hold three numbers, one per colour", fields_.file(), key));
    }
    return {number((*value)[0], key), number((*value)[1], key), number((*value)[2], key)};
  }

  const Json& object_;
  JsonFields fields_;
  const ProcessorClass& defaults_;
};

// "ViTImageProcessorFast" -> "ViT"; old files say "ViTFeatureExtractor".
std::string_view class_stem(std::string_view type) {
  for (const std::string_view ending :
       {"ImageProcessor", "ImageProcessorFast", "ImageProcessorPil", "FeatureExtractor"}) {
    if (type.ends_with(ending)) return type.substr(0, type.size() - ending.size());
  }
  return type;
}

const ProcessorClass* find_class(std::string_view stem) {
  const auto found = std::ranges::find(kClasses, stem, &ProcessorClass::name);
  return found == std::end(kClasses) ? nullptr : found;
}

std::string known_classes() {
  std::vector<std::string> names;
  for (const ProcessorClass& known : kClasses)
    names.push_back(fmt::format("{}ImageProcessor", known.name));
  return fmt::format("{}", fmt::join(names, ", "));
}

const ProcessorClass& class_by_model(const FileLookup& files, std::string_view file) {
  std::string type;
  if (const auto config = files("config.json")) {
    const Json json = parse_json(config->text(), "config.json");
    type = JsonFields(json, "config.json", "the configuration").text_or("model_type", "");
  }
  const auto found = std::ranges::find(kModelClasses, type, &ModelClass::model_type);
  if (found != std::end(kModelClasses)) return *find_class(found->processor);
  throw UnsupportedModel(fmt::format(
      "'{}' names no 'image_processor_type', and the model type {} has none that is known; "
      "write one of {} into it",
      file, in_quotes(type), known_classes()));
}

const ProcessorClass& class_of(const Json& object, const FileLookup& files, std::string_view file) {
  const JsonFields fields(object, file, "the image processor");
  const auto type = fields.find("image_processor_type") != nullptr
                        ? fields.optional_text("image_processor_type")
                        : fields.optional_text("feature_extractor_type");
  if (!type) return class_by_model(files, file);
  if (const ProcessorClass* found = find_class(class_stem(*type))) return *found;
  throw UnsupportedModel(fmt::format("'{}' names the image processor {}; supported are {}", file,
                                     in_quotes(*type), known_classes()));
}

PictureSettings settings_from(const Json& object, const FileLookup& files, std::string_view file) {
  return SettingsReader(object, file, class_of(object, files, file)).read();
}

}  // namespace

PictureSettings picture_settings(const FileLookup& files) {
  if (const auto file = files("processor_config.json")) {
    const Json json = parse_json(file->text(), "processor_config.json");
    const JsonFields fields(json, "processor_config.json", "the processor");
    if (const Json* nested = fields.find("image_processor")) {
      return settings_from(*nested, files, "processor_config.json");
    }
  }
  if (const auto file = files("preprocessor_config.json")) {
    const Json json = parse_json(file->text(), "preprocessor_config.json");
    return settings_from(json, files, "preprocessor_config.json");
  }
  throw FileError(
      "the model has no preprocessor_config.json, which says how pictures become its inputs: "
      "download it into its folder");
}

}  // namespace whyformer
