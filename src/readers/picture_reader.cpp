#include "readers/picture_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "formats/file_checks.h"
#include "readers/describe.h"
#include "readers/given_picture.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// The probability of one text alone, or of one that stands there twice, says nothing.
void check_choices(const std::vector<std::string>& texts,
                   const std::vector<std::vector<int64_t>>& ids) {
  if (texts.size() < 2) throw InvalidInput("give at least two texts to choose among");
  for (size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].find_first_not_of(" \t\r\n\f\v") == std::string::npos) {
      throw InvalidInput(fmt::format("text {} to choose among is empty", i + 1));
    }
    const auto same = std::find(ids.begin(), ids.begin() + static_cast<int64_t>(i), ids[i]);
    if (same == ids.begin() + static_cast<int64_t>(i)) continue;
    throw InvalidInput(fmt::format("texts {} and {} to choose among are the same to the model: {}",
                                   same - ids.begin() + 1, i + 1, in_quotes(texts[i])));
  }
}

}  // namespace

std::shared_ptr<const PictureProcessor> processor_of(const FileLookup& files,
                                                     const PictureSource& source) {
  if (source.channels() != 1 && source.channels() != 3) {
    throw UnsupportedModel(
        fmt::format("'{}' takes pictures of {} channels, and pictures have 1 (grey) or 3 "
                    "(colours): give arrays",
                    source.name(), source.channels()),
        Remedy::kArrays);
  }
  PictureSettings settings;
  if (files("preprocessor_config.json") || files("processor_config.json")) {
    settings = picture_settings(files);
  } else {
    settings.size = PictureSize{.width = source.width(), .height = source.height()};
    settings.normalisation = {{0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}};
  }
  settings.channels = static_cast<int>(source.channels());
  return std::make_shared<PictureProcessor>(settings);
}

PictureReader::PictureReader(std::shared_ptr<const PictureSource> source,
                             std::shared_ptr<const PictureProcessor> processor,
                             std::shared_ptr<const TextReader> texts,
                             std::exception_ptr why_no_texts)
    : source_(std::move(source)),
      processor_(std::move(processor)),
      texts_(std::move(texts)),
      why_no_texts_(std::move(why_no_texts)) {}

void PictureReader::tell_why_not(const InputValue& value) const {
  // Says which models compare pictures with texts.
  if (std::holds_alternative<PictureWithText>(value)) source_->similarity_scale();
}

ModelInfo PictureReader::info() const {
  const auto graph = source_->graph(source_->own_key({.head = source_->own_head()}));
  ModelInfo info = describe(*source_, "picture", *graph);
  note_sampled_attention(graph->graph, info.notes);
  info.inputs.push_back(
      {"pixel_values", "float", {1, source_->channels(), source_->height(), source_->width()}});
  return info;
}

std::vector<int64_t> PictureReader::ids_of(const std::string& text) const {
  if (why_no_texts_) std::rethrow_exception(why_no_texts_);
  if (texts_ == nullptr) source_->similarity_scale();  // says which models compare
  return texts_->reading().tokenizer->encode(text).ids;
}

Answered PictureReader::answered(const InputValue&, const Question& question) const {
  Answered answered = answered_by(source_->facts(), question);
  if (!source_->facts().head_left_out.empty()) {
    answered.notes.push_back(
        fmt::format("'{}' has a head that does not classify pictures; it is left out, and the "
                    "model is explained as an encoder.",
                    source_->facts().head_left_out));
  }
  if (question.similar_to) {
    const std::vector<int64_t> ids = ids_of(*question.similar_to);
    // Both sides of the comparison come from one model.
    answered.kind.reference =
        question.randomisation ? texts_->unit_vector(*question.similar_to, question, answered.notes)
                               : source_->text_embedding(ids);
  }
  return answered;
}

ProcessedPicture PictureReader::processed(const Picture& picture) const {
  ProcessedPicture pixels = (*processor_)(picture);
  source_->check_takes(pixels.values.dim(1), pixels.values.dim(2));
  return pixels;
}

Sample PictureReader::sample(const InputValue& value, DType dtype,
                             std::vector<std::string>&) const {
  const Picture picture = pixels_of(std::get<PictureInput>(value));
  return {{"pixel_values", processed(picture).values.cast(dtype)}};
}

std::optional<SampleShapes> PictureReader::fixed_shapes() const {
  const auto size = processor_->input_size();
  if (!size) return std::nullopt;
  return picture_key(source_->channels(), size->height, size->width).shapes;
}

std::unique_ptr<const PicturePart> PictureReader::part_of(ProcessedPicture picture,
                                                          const RunKind& kind) const {
  return std::make_unique<PicturePart>(source_, processor_, std::move(picture), kind);
}

Input PictureReader::input_of(ProcessedPicture picture, const RunKind& kind) const {
  auto part = part_of(std::move(picture), kind);
  InputFacts facts{.source = source_,
                   .kind = kind,
                   .sample = part->sample(),
                   .max_at_once = source_->max_at_once(),
                   .why_no_maps = part->why_no_maps()};
  std::vector<std::unique_ptr<const Part>> parts;
  parts.push_back(std::move(part));
  return {std::move(facts), std::move(parts)};
}

Reading PictureReader::read(const InputValue& value, const Question& question) const {
  const auto& given = std::get<PictureInput>(value);
  const Picture picture = pixels_of(given);
  check_head(source_->facts(), question);
  Reading reading;
  reading.answered = answered(value, question);
  reading.inputs.push_back(input_of(processed(picture), reading.answered.kind));
  const auto& part = static_cast<const PicturePart&>(*reading.inputs[0].parts()[0]);
  reading.shown.text = name_of(given);
  reading.shown.picture = view_of(part, picture);
  reading.shown.units = part.units();
  return reading;
}

std::vector<std::string> PictureReader::default_methods(const InputValue*, const Question&) const {
  const auto graph = source_->graph(source_->own_key({.head = source_->own_head()}));
  if (!patch_maps_problem(*graph).empty()) {
    return {"gradient-x-input", "saliency", "leave-one-out"};
  }
  return {"gae", "transformer-attribution", "grad-cam"};
}

std::shared_ptr<const PictureReader> PictureReader::among(
    const std::vector<std::string>& texts) const {
  std::vector<std::vector<int64_t>> ids;
  for (const std::string& text : texts) ids.push_back(ids_of(text));
  check_choices(texts, ids);
  return std::make_shared<PictureReader>(source_->among(ids, texts), processor_, texts_);
}

}  // namespace whyformer
