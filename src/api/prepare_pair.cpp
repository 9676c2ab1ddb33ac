#include "api/prepare_pair.h"

#include <algorithm>
#include <cmath>

#include "readers/asked.h"
#include "readers/given_picture.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

void check(const PictureModel& model, const ExplainRequest& request) {
  if (!model.reads_texts()) model.text_tower();  // says which models do
  if (model.has_classifier()) {
    throw InvalidInput(
        "a picture with a text is explained by how alike the two are: leave out --among");
  }
  if (request.similar_to) {
    throw InvalidInput(
        "a picture with a text is explained by how alike the two are: leave out --similar-to");
  }
  if (!std::holds_alternative<std::monostate>(request.target) || !request.other_targets.empty() ||
      request.top > 1) {
    throw InvalidInput(
        "a picture with a text has one answer, how alike they are: leave out --target and --top");
  }
  if (!std::holds_alternative<std::monostate>(request.read_out)) {
    throw InvalidInput(
        "a picture with a text is read at the class token and at the text's end: leave out "
        "--read-out");
  }
}

// The other side of the comparison: a vector of length `scale`.
std::vector<double> reference_of(std::unique_ptr<const Subject> subject,
                                 Explained::Settings settings, double scale) {
  settings.head = Head::kEmbedding;
  settings.needs = {};
  std::vector<double> vector = Explained(std::move(subject), settings).outputs();
  double squares = 0;
  for (const double x : vector) squares += x * x;
  for (double& x : vector) x *= scale / (squares > 0 ? std::sqrt(squares) : 1);
  return vector;
}

}  // namespace

PreparedPair prepare_pair(const Model& model, const Picture& picture, const std::string& text,
                          const ExplainRequest& request, const PairNeeds& needs) {
  const PictureModel& pictures = model.picture_model();
  check(pictures, request);
  const TextModel& texts = *pictures.text_tower();
  PreparedPair prepared;
  const TextInput input{text, {}};
  const Encoding encoding = encode(texts, input, prepared.notes);
  for (const auto* notes : {&texts.notes(), &pictures.notes()}) {
    for (const std::string& note : *notes) {
      if (std::ranges::find(prepared.notes, note) == prepared.notes.end())
        prepared.notes.push_back(note);
    }
  }
  const ProcessedPicture pixels = processed(model, picture);
  const auto text_subject = [&](const RunKind& kind) {
    return std::make_unique<TextSubject>(texts, encoding, kind, input);
  };
  const auto picture_subject = [&](const RunKind& kind) {
    return std::make_unique<PictureSubject>(pictures, model.picture_processor(), pixels, kind);
  };
  Explained::Settings settings = run_settings(request, needs.each_side);
  const double scale = pictures.similarity_scale();
  const RunKind vector{.head = Head::kEmbedding, .dtype = settings.dtype};
  settings.head = Head::kSimilarity;
  settings.reference = reference_of(picture_subject(vector), settings, scale);
  prepared.text = std::make_unique<Explained>(text_subject(settings.kind()), settings);
  settings.reference = reference_of(text_subject(vector), settings, scale);
  prepared.picture = std::make_unique<Explained>(picture_subject(settings.kind()), settings);
  if (needs.together) {
    prepared.together = std::make_unique<Explained>(
        std::make_unique<PairSubject>(text_subject(vector), picture_subject(vector), settings.dtype,
                                      settings.memory_bytes),
        run_settings(request, *needs.together));
  }
  prepared.output = {.space = "logit", .values = prepared.picture->outputs(), .labels = {text}};
  prepared.target = {
      .index = 0, .label = text, .value = prepared.output.values[0], .probability = {}};
  return prepared;
}

}  // namespace whyformer
