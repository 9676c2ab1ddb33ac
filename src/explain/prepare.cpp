#include "explain/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "explain/labels.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos;
}

Encoding encode(const TextModel& model, const TextInput& input, std::vector<std::string>& notes) {
  if (is_blank(input.text)) {
    throw InvalidInput("the text is empty: there is nothing to explain");
  }
  const auto pair = input.pair ? std::optional<std::string_view>(*input.pair) : std::nullopt;
  Encoding encoding = model.tokenizer().encode(input.text, pair, model.max_tokens());
  if (encoding.truncated > 0) {
    notes.push_back(fmt::format(
        "The text is longer than the model reads: the last {} tokens were cut off at its maximum "
        "of {}.",
        encoding.truncated, model.max_tokens()));
  }
  if (encoding.invalid_bytes > 0) {
    notes.push_back(fmt::format("{} byte sequences are not valid UTF-8 and were read as U+FFFD.",
                                encoding.invalid_bytes));
  }
  return encoding;
}

// The text's embedding as a unit vector, the other side of a similarity.
std::vector<double> reference_vector(const TextModel& model, const std::string& text, DType dtype,
                                     std::vector<std::string>& notes) {
  Explained other(model, encode(model, {text, {}}, notes),
                  {.head = Head::kEmbedding, .dtype = dtype});
  std::vector<double> vector = other.outputs();
  double sum = 0;
  for (const double x : vector) sum += x * x;
  for (double& x : vector) x /= sum > 0 ? std::sqrt(sum) : 1;
  return vector;
}

Output output_of(const Explained& explained, Head head, const ExplainRequest& request) {
  Output output;
  output.values = explained.outputs();
  if (head == Head::kSimilarity) {
    output.space = "similarity";
    output.labels = {fmt::format("similarity to \"{}\"", *request.similar_to)};
    return output;
  }
  const TextModel& model = explained.text().model();
  output.labels = model.output_names();
  output.space = head == Head::kEmbedding                     ? "embedding"
                 : model.problem() == Problem::kRegression ? "value"
                                                              : "logit";
  return output;
}

int64_t target_index(const Output& output, const ExplainRequest& request) {
  if (const auto* label = std::get_if<std::string>(&request.target)) {
    return label_index(output.labels, *label, "target");
  }
  if (const auto* number = std::get_if<int64_t>(&request.target)) {
    return label_index(output.labels, *number, "target");
  }
  return std::max_element(output.values.begin(), output.values.end()) - output.values.begin();
}

Target target_of(const Output& output, int64_t index, std::optional<Problem> problem) {
  Target target{index, output.labels[index], output.values[index], {}};
  if (output.space != "logit") return target;
  if (problem == Problem::kMultiLabel) {
    target.probability = 1 / (1 + std::exp(-target.value));
  } else {
    const double most = *std::max_element(output.values.begin(), output.values.end());
    double sum = 0;
    for (const double value : output.values) sum += std::exp(value - most);
    target.probability = std::exp(target.value - most) / sum;
  }
  return target;
}

// The read-out that the user tells, if any.
std::optional<ReadOut> told_read_out(const ExplainRequest& request, int64_t tokens) {
  if (const auto* row = std::get_if<int64_t>(&request.read_out)) {
    const int64_t from_start = *row < 0 ? *row + tokens : *row;
    if (from_start < 0 || from_start >= tokens) {
      throw InvalidInput(fmt::format("there is no token {} to read: the text has {}, from 0 to {}",
                                     *row, tokens, tokens - 1));
    }
    return ReadOut{.kind = ReadOut::Kind::kRow, .row = from_start};
  }
  if (const auto* words = std::get_if<std::string>(&request.read_out)) {
    if (*words != "mean") {
      throw InvalidInput(fmt::format("the read-out '{}' is neither a token's number nor 'mean'", *words));
    }
    return ReadOut{.kind = ReadOut::Kind::kMean, .row = 0, .rows = tokens};
  }
  return std::nullopt;
}

}  // namespace

Prepared prepare(const TextModel& model, const TextInput& input, const ExplainRequest& request,
                 Needs needs) {
  Prepared prepared;
  Head head = model.has_classifier() ? Head::kLogits : Head::kEmbedding;
  if (request.similar_to && model.has_classifier()) {
    throw InvalidInput(
        "similarity to a text needs an encoder without a classifier; this model classifies: choose "
        "one of its labels as the target");
  }
  Encoding encoding = encode(model, input, prepared.notes);
  Explained::Settings settings{.needs = needs,
                               .dtype = request.precision == Precision::kDouble
                                            ? DType::kFloat64
                                            : DType::kFloat32,
                               .read_out = told_read_out(
                                   request, static_cast<int64_t>(encoding.ids.size())),
                               .seed = request.seed,
                               .memory_bytes = request.memory_bytes,
                               .progress = request.progress};
  if (request.similar_to) {
    head = Head::kSimilarity;
    settings.reference = reference_vector(model, *request.similar_to, settings.dtype, prepared.notes);
  }
  settings.head = head;
  prepared.explained = std::make_unique<Explained>(model, std::move(encoding), settings);
  prepared.output = output_of(*prepared.explained, head, request);
  const int64_t index = target_index(prepared.output, request);
  prepared.target = target_of(prepared.output, index, model.problem());
  prepared.explained->set_target(index);
  if (head == Head::kEmbedding && std::holds_alternative<std::monostate>(request.target)) {
    prepared.notes.push_back(fmt::format(
        "This model has no classifier, so the largest of its {} embedding dimensions is explained; "
        "choose another target, or a text to compare with.",
        prepared.output.values.size()));
  }
  if (!settings.read_out &&
      prepared.explained->found().read_out.kind == ReadOut::Kind::kUnknown) {
    prepared.notes.push_back(
        "How the output reads the tokens was not recognised: they count by the size of the output's "
        "gradient there; --read-out tells it.");
  }
  return prepared;
}

}  // namespace whyformer
