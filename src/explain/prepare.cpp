#include "explain/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "explain/labels.h"
#include "explain/picture_subject.h"
#include "explain/table_subject.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos;
}

// The text's embedding as a unit vector, the other side of a similarity.
std::vector<double> reference_vector(const TextModel& model, const std::string& text, DType dtype,
                                     std::vector<std::string>& notes) {
  Explained other(model, encode_text(model, {text, {}}, notes),
                  {.head = Head::kEmbedding, .dtype = dtype});
  std::vector<double> vector = other.outputs();
  double sum = 0;
  for (const double x : vector) sum += x * x;
  for (double& x : vector) x /= sum > 0 ? std::sqrt(sum) : 1;
  return vector;
}

// What the answers are called, whichever kind of model gave them.
template <class AnyModel>
Output output_of(const Explained& explained, const AnyModel& model, Head head, const ExplainRequest& request) {
  Output output;
  output.values = explained.outputs();
  if (head == Head::kSimilarity) {
    output.space = "similarity";
    output.labels = {fmt::format("similarity to \"{}\"", *request.similar_to)};
    return output;
  }
  output.labels = model.output_names();
  output.space = head == Head::kEmbedding                     ? "embedding"
                 : model.problem() == Problem::kRegression ? "value"
                                                              : "logit";
  return output;
}

int64_t target_index(const Output& output,
                     const std::variant<std::monostate, int64_t, std::string>& asked) {
  if (const auto* label = std::get_if<std::string>(&asked)) {
    return label_index(output.labels, *label, "target");
  }
  if (const auto* number = std::get_if<int64_t>(&asked)) {
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
      throw InvalidInput(fmt::format("there is no token {} to read: there are {}, from 0 to {}",
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

void add_notes(Prepared& prepared, Head head, const ExplainRequest& request) {
  if (head == Head::kEmbedding && std::holds_alternative<std::monostate>(request.target)) {
    prepared.notes.push_back(fmt::format(
        "This model has no classifier, so the largest of its {} embedding dimensions is explained; "
        "choose another target, or a text to compare with.",
        prepared.output.values.size()));
  }
  if (std::holds_alternative<std::monostate>(request.read_out) &&
      prepared.explained->found().read_out.kind == ReadOut::Kind::kUnknown) {
    prepared.notes.push_back(
        "How the output reads the tokens was not recognised: they count by the size of the output's "
        "gradient there; --read-out tells it.");
  }
}

}  // namespace

Encoding encode_text(const TextModel& model, const TextInput& input, std::vector<std::string>& notes) {
  if (is_blank(input.text)) {
    throw InvalidInput("the text is empty: there is nothing to explain");
  }
  const auto pair = input.pair ? std::optional<std::string_view>(*input.pair) : std::nullopt;
  Encoding encoding = model.encode(input.text, pair);
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

Explained::Settings run_settings(const ExplainRequest& request, Needs needs) {
  return {.needs = needs,
          .dtype = request.precision == Precision::kDouble ? DType::kFloat64 : DType::kFloat32,
          .seed = request.seed,
          .memory_bytes = request.memory_bytes,
          .progress = request.progress};
}

Prepared prepare(const TextModel& model, const TextInput& input, const ExplainRequest& request,
                 Needs needs) {
  Prepared prepared;
  Head head = model.has_classifier() ? Head::kLogits : Head::kEmbedding;
  if (request.similar_to && model.has_classifier()) {
    throw InvalidInput(
        "similarity to a text needs an encoder without a classifier; this model classifies: choose "
        "one of its labels as the target");
  }
  Encoding encoding = encode_text(model, input, prepared.notes);
  Explained::Settings settings = run_settings(request, needs);
  settings.read_out = told_read_out(request, static_cast<int64_t>(encoding.ids.size()));
  if (request.similar_to) {
    head = Head::kSimilarity;
    settings.reference = reference_vector(model, *request.similar_to, settings.dtype, prepared.notes);
  }
  settings.head = head;
  settings.problem = model.problem();
  prepared.explained = std::make_unique<Explained>(
      std::make_unique<TextSubject>(model, std::move(encoding), settings.kind(), input), settings);
  prepared.output = output_of(*prepared.explained, model, head, request);
  prepared.problem = model.problem();
  choose_target(prepared, target_index(prepared.output, request.target));
  add_notes(prepared, head, request);
  return prepared;
}

Prepared prepare(const Model& model, const Picture& picture, const ExplainRequest& request, Needs needs) {
  const PictureModel& pictures = model.picture_model();
  Prepared prepared;
  Head head = pictures.has_classifier() ? Head::kLogits : Head::kEmbedding;
  Explained::Settings settings = run_settings(request, needs);
  if (request.similar_to) {
    head = Head::kSimilarity;
    settings.reference = pictures.text_embedding(*request.similar_to);
  }
  settings.head = head;
  settings.problem = pictures.problem();
  auto subject = std::make_unique<PictureSubject>(pictures, model.picture_processor(),
                                                  model.picture_processor()(picture), settings.kind());
  settings.read_out = told_read_out(request, subject->units());
  prepared.explained = std::make_unique<Explained>(std::move(subject), settings);
  prepared.output = output_of(*prepared.explained, pictures, head, request);
  prepared.problem = pictures.problem();
  choose_target(prepared, target_index(prepared.output, {}));
  add_notes(prepared, head, request);
  return prepared;
}

Prepared prepare(const Model& model, const RowInput& row, const ExplainRequest& request, Needs needs) {
  const TableModel& tables = model.table_model();
  if (request.similar_to) throw InvalidInput("similarity to a text has no meaning for rows of a table");
  const auto columns = static_cast<int64_t>(row.values.size());
  Prepared prepared;
  Explained::Settings settings = run_settings(request, needs);
  settings.problem = prepared.problem = tables.problem(columns);
  auto subject = std::make_unique<TableSubject>(tables, row, settings.kind());
  settings.read_out = told_read_out(request, subject->units());
  prepared.explained = std::make_unique<Explained>(std::move(subject), settings);
  prepared.output.values = prepared.explained->outputs();
  prepared.output.labels = tables.output_names(columns);
  prepared.output.space = prepared.problem == Problem::kRegression ? "value" : "logit";
  choose_target(prepared, target_index(prepared.output, request.target));
  return prepared;
}

std::vector<int64_t> targets_of(const Output& output, const ExplainRequest& request) {
  if (!std::holds_alternative<std::monostate>(request.target)) {
    std::vector<int64_t> targets{target_index(output, request.target)};
    for (const auto& other : request.other_targets) targets.push_back(target_index(output, other));
    return targets;
  }
  std::vector<int64_t> order(output.values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return output.values[a] > output.values[b]; });
  order.resize(std::clamp<int64_t>(request.top, 1, static_cast<int64_t>(order.size())));
  return order;
}

void choose_target(Prepared& prepared, int64_t index) {
  prepared.target = target_of(prepared.output, index, prepared.problem);
  prepared.explained->set_target(index);
}

}  // namespace whyformer
