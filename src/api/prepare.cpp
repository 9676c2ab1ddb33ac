#include "api/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "api/describe.h"
#include "api/labels.h"
#include "readers/asked.h"
#include "readers/given_picture.h"
#include "readers/picture_subject.h"
#include "readers/table_subject.h"
#include "run/output_space.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

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
  if (output.space == "logit")
    target.probability = probabilities_of(output.values, *problem)[index];
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
      throw InvalidInput(
          fmt::format("the read-out '{}' is neither a token's number nor 'mean'", *words));
    }
    return ReadOut{.kind = ReadOut::Kind::kMean, .row = 0, .rows = tokens};
  }
  return std::nullopt;
}

// The largest dimension of what comes before a head is no answer of the model.
template <class AnyModel>
void check_head(const AnyModel& model, const ExplainRequest& request) {
  const bool named =
      !std::holds_alternative<std::monostate>(request.target) || request.similar_to.has_value();
  if (model.head_left_out().empty() || named) return;
  throw UnsupportedModel(
      fmt::format("'{}' has a head other than a classifier, which is not supported yet, so there "
                  "is no answer to explain. To explain it "
                  "as an encoder, choose a target, one of the {} dimensions of its embedding, or a "
                  "text to be similar to",
                  model.head_left_out(), model.output_names().size()));
}

// Nor is the largest mean over tokens.
void check_averaged(const TextModel& model, const ExplainRequest& request) {
  const bool named =
      !std::holds_alternative<std::monostate>(request.target) || request.similar_to.has_value();
  if (model.averaged_output().empty() || named) return;
  throw UnsupportedModel(fmt::format(
      "the output '{}' answers for each token, not for the text. To explain one of its {} numbers, "
      "averaged over the tokens, "
      "choose it as the target; to explain those of one token, give arrays and choose the element",
      model.averaged_output(), model.output_names().size()));
}

void add_notes(Prepared& prepared, const ExplainRequest& request) {
  note_sampled_attention(prepared.explained->graph().graph, prepared.notes);
  if (prepared.output.space == "embedding" &&
      std::holds_alternative<std::monostate>(request.target)) {
    prepared.notes.push_back(
        fmt::format("This model is explained as an encoder: the target is the largest of its {} "
                    "embedding dimensions; "
                    "choose another, or a text to compare with.",
                    prepared.output.values.size()));
  }
  if (std::holds_alternative<std::monostate>(request.read_out) &&
      prepared.explained->layers() > 0 &&
      prepared.explained->found().read_out.kind == ReadOut::Kind::kUnknown) {
    prepared.notes.push_back(
        "How the output reads the tokens was not recognised: they count by the size of the "
        "output's "
        "gradient there; --read-out tells it.");
  }
}

Explained::Settings settings_of(const Asked& asked, const ExplainRequest& request, Needs needs) {
  Explained::Settings settings = run_settings(request, needs);
  settings.head = asked.kind.head;
  settings.reference = asked.kind.reference;
  settings.problem = asked.problem;
  return settings;
}

// The highest output is the target at first.
Prepared run_of(std::unique_ptr<const Subject> subject, const Asked& asked,
                const ExplainRequest& request, Needs needs) {
  Explained::Settings settings = settings_of(asked, request, needs);
  settings.read_out = told_read_out(request, subject->units());
  Prepared prepared;
  prepared.explained = std::make_unique<Explained>(std::move(subject), settings);
  prepared.output = asked.output;
  prepared.output.values = prepared.explained->outputs();
  prepared.problem = asked.problem;
  choose_target(prepared, target_index(prepared.output, {}));
  return prepared;
}

}  // namespace

Explained::Settings run_settings(const ExplainRequest& request, Needs needs) {
  return {.needs = needs,
          .dtype = request.precision == Precision::kDouble ? DType::kFloat64 : DType::kFloat32,
          .seed = request.seed,
          .memory_bytes = request.memory_bytes,
          .progress = request.progress};
}

Prepared prepare(const TextModel& model, const TextInput& input, const ExplainRequest& request,
                 Needs needs) {
  check_head(model, request);
  check_averaged(model, request);
  const Asked asked = asked_of(model, request.similar_to, request.precision);
  std::vector<std::string> notes;
  Encoding encoding = encode(model, input, notes);
  auto subject = std::make_unique<TextSubject>(model, std::move(encoding), asked.kind, input);
  Prepared prepared = run_of(std::move(subject), asked, request, needs);
  choose_target(prepared, target_index(prepared.output, request.target));
  prepared.notes = std::move(notes);
  prepared.notes.insert(prepared.notes.end(), asked.notes.begin(), asked.notes.end());
  add_notes(prepared, request);
  return prepared;
}

Prepared prepare(const Model& model, const Picture& picture, const ExplainRequest& request,
                 Needs needs) {
  const PictureModel& pictures = model.picture_model();
  check_head(pictures, request);
  const Asked asked = asked_of(pictures, request.similar_to, request.precision);
  auto subject = std::make_unique<PictureSubject>(pictures, model.picture_processor(),
                                                  processed(model, picture), asked.kind);
  Prepared prepared = run_of(std::move(subject), asked, request, needs);
  prepared.notes = asked.notes;
  add_notes(prepared, request);
  return prepared;
}

Prepared prepare(const Model& model, const RowInput& row, const ExplainRequest& request,
                 Needs needs) {
  const TableModel& tables = model.table_model();
  const Asked asked = asked_of(tables, static_cast<int64_t>(row.values.size()), request.similar_to,
                               request.precision);
  Prepared prepared =
      run_of(std::make_unique<TableSubject>(tables, row, asked.kind), asked, request, needs);
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
