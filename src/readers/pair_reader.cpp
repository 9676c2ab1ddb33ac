#include "readers/pair_reader.h"

#include <algorithm>

#include "base/length.h"
#include "readers/given_picture.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// The other side of the comparison: its vector, made of length `scale`.
std::vector<double> reference_of(const Input& side, double scale) {
  const FedGraph own = side.copies(1);
  const Value output = own.graph->output;
  std::vector<double> vector =
      run(own.graph->graph, own.feeds, {.outputs = {output}})[output].to_doubles();
  const double factor = scale / length_or_one(vector);
  for (double& x : vector) x *= factor;
  return vector;
}

}  // namespace

PairReader::PairReader(std::shared_ptr<const PictureReader> pictures,
                       std::shared_ptr<const TextReader> texts)
    : pictures_(std::move(pictures)),
      texts_(std::move(texts)),
      source_(pictures_->source().pair_source()),
      scale_(pictures_->source().similarity_scale()) {}

Answered PairReader::answered(const InputValue& value, const Question& question) const {
  if (pictures_->source().has_classifier()) {
    throw InvalidInput(
        "a picture with a text is explained by their similarity: do not choose among other "
        "texts");
  }
  if (question.similar_to) {
    throw InvalidInput(
        "a picture with a text is explained by their similarity: leave out the text to be "
        "similar to");
  }
  if (!std::holds_alternative<std::monostate>(question.target)) {
    throw InvalidInput(
        "a picture with a text has one output, their similarity: leave out the target");
  }
  Answered answered{.kind = kind_of(question),
                    .space = "logit",
                    .labels = {std::get<PictureWithText>(value).text}};
  for (const auto* notes : {&texts_->source().facts().notes, &pictures_->source().facts().notes}) {
    for (const std::string& note : *notes) {
      if (std::ranges::find(answered.notes, note) == answered.notes.end())
        answered.notes.push_back(note);
    }
  }
  return answered;
}

Sample PairReader::sample(const InputValue& value, DType dtype,
                          std::vector<std::string>& notes) const {
  const auto& pair = std::get<PictureWithText>(value);
  Sample both = pictures_->sample(pair.picture, dtype, notes);
  both["input_ids"] = texts_->sample(TextInput{pair.text, {}}, dtype, notes).at("input_ids");
  return both;
}

Input PairReader::together(const Encoding& text, const ProcessedPicture& picture,
                           const TextInput& given, const RunKind& kind) const {
  RunKind vector = kind;
  vector.head = Head::kEmbedding;
  auto of_picture = pictures_->part_of(picture, vector);
  Sample both = of_picture->sample();
  both["input_ids"] = samples_of({{text.ids}, {text.type_ids}, {}})[0].at("input_ids");
  InputFacts facts{
      .source = source_,
      .kind = kind,
      .sample = std::move(both),
      .max_at_once = pictures_->source().max_at_once(),
      .why_no_maps =
          "the text and the picture attend each to itself, so no attention map goes over both",
      .scale = scale_};
  std::vector<std::unique_ptr<const Part>> parts;
  parts.push_back(std::make_unique<TextPart>(texts_->reading(), ReadText{text, given}, vector));
  parts.push_back(std::move(of_picture));
  return {std::move(facts), std::move(parts)};
}

Reading PairReader::read(const InputValue& value, const Question& question) const {
  const auto& pair = std::get<PictureWithText>(value);
  const Picture picture = pixels_of(pair.picture);
  Reading reading;
  reading.answered = answered(value, question);
  const TextInput text{pair.text, {}};
  const Encoding encoding = texts_->encode(text, reading.notes);
  const ProcessedPicture pixels = pictures_->processed(picture);
  RunKind vector = reading.answered.kind, similarity = reading.answered.kind;
  vector.head = Head::kEmbedding;
  similarity.head = Head::kSimilarity;
  similarity.reference = reference_of(pictures_->input_of(pixels, vector), scale_);
  reading.inputs.push_back(texts_->input_of({encoding, text}, similarity));
  similarity.reference = reference_of(texts_->input_of({encoding, text}, vector), scale_);
  reading.inputs.push_back(pictures_->input_of(pixels, similarity));
  reading.inputs.push_back(together(encoding, pixels, text, reading.answered.kind));
  Explanation& shown = reading.shown;
  shown.text = name_of(pair.picture);
  shown.pair = pair.text;
  shown.units = reading.inputs[0].parts()[0]->units();
  for (Unit& unit : shown.units) unit.segment = 1;  // they are of `pair`
  const auto& of_picture = static_cast<const PicturePart&>(*reading.inputs[1].parts()[0]);
  shown.picture = view_of(of_picture, picture);
  shown.picture->first_patch += static_cast<int64_t>(shown.units.size());
  shown.units.insert(shown.units.end(), of_picture.units().begin(), of_picture.units().end());
  return reading;
}

}  // namespace whyformer
