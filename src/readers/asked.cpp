#include "readers/asked.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "run/explained.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos;
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

DType dtype_of(Precision precision) {
  return precision == Precision::kDouble ? DType::kFloat64 : DType::kFloat32;
}

// What the answers are called, whichever kind of model gives them.
template <class AnyModel>
Asked named(const AnyModel& model, const std::optional<std::string>& similar_to,
            Precision precision) {
  Asked asked{.kind = {.dtype = dtype_of(precision)},
              .problem = model.problem(),
              .output = {},
              .notes = {}};
  if (similar_to) {
    asked.kind.head = Head::kSimilarity;
    asked.output = {"similarity", {}, {fmt::format("similarity to \"{}\"", *similar_to)}};
    return asked;
  }
  asked.kind.head = model.has_classifier() ? Head::kLogits : Head::kEmbedding;
  asked.output.labels = model.output_names();
  asked.output.space = !model.has_classifier()                   ? "embedding"
                       : model.problem() == Problem::kRegression ? "value"
                                                                 : "logit";
  return asked;
}

}  // namespace

Encoding encode(const TextModel& model, const TextInput& input, std::vector<std::string>& notes) {
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
  const auto padding = std::count_if(encoding.ids.begin(), encoding.ids.end(),
                                     [&](int64_t id) { return id == model.pad_id(); });
  if (model.fixed_tokens() > 0 && padding > 0) {
    notes.push_back(fmt::format(
        "The file takes exactly {} tokens: {} of them are padding{}.", model.fixed_tokens(),
        padding, model.hides_padding() ? "" : ", which the model reads like any other token"));
  }
  if (encoding.invalid_bytes > 0) {
    notes.push_back(fmt::format("{} byte sequences are not valid UTF-8 and were read as U+FFFD.",
                                encoding.invalid_bytes));
  }
  if (model.has_one_token_type() && std::ranges::count(encoding.type_ids, 1) > 0) {
    notes.push_back("The model has one token type, so the second text gets type 0 like the first.");
  }
  return encoding;
}

Asked asked_of(const TextModel& model, const std::optional<std::string>& similar_to,
               Precision precision) {
  if (similar_to && model.has_classifier()) {
    throw InvalidInput(
        "similarity to a text needs an encoder without a classifier; this model classifies: choose "
        "one of its labels as the target");
  }
  Asked asked = named(model, similar_to, precision);
  asked.notes = model.notes();
  if (!model.averaged_output().empty()) {
    asked.notes.push_back(
        fmt::format("The output '{}' has numbers for each token; their mean over the tokens is "
                    "explained. To explain those of one token, give "
                    "arrays (--inputs, --output, --element).",
                    model.averaged_output()));
  }
  if (!model.head_left_out().empty()) {
    asked.notes.push_back(fmt::format(
        "'{}' has a head that {}; it is left out, and the model is explained as an encoder.",
        model.head_left_out(), model.work_left_out()));
  }
  if (similar_to)
    asked.kind.reference = reference_vector(model, *similar_to, asked.kind.dtype, asked.notes);
  return asked;
}

Asked asked_of(const PictureModel& model, const std::optional<std::string>& similar_to,
               Precision precision) {
  Asked asked = named(model, similar_to, precision);
  asked.notes = model.notes();
  if (!model.head_left_out().empty()) {
    asked.notes.push_back(
        fmt::format("'{}' has a head that does not classify pictures; it is left out, and the "
                    "model is explained as an encoder.",
                    model.head_left_out()));
  }
  if (similar_to) asked.kind.reference = model.text_embedding(*similar_to);
  return asked;
}

Asked asked_of(const TableModel& model, int64_t columns,
               const std::optional<std::string>& similar_to, Precision precision) {
  if (similar_to) throw InvalidInput("similarity to a text has no meaning for rows of a table");
  const std::optional<Problem> problem = model.problem(columns);
  return {.kind = {.dtype = dtype_of(precision)},
          .problem = problem,
          .output = {problem == Problem::kRegression ? "value" : "logit",
                     {},
                     model.output_names(columns)},
          .notes = {}};
}

}  // namespace whyformer
