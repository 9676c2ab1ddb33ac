#include "api/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "api/applied_edits.h"
#include "readers/describe.h"
#include "run/labels.h"
#include "run/output_space.h"
#include "whyformer/error.h"

namespace whyformer {

int64_t target_index(const Output& output, const TargetChoice& asked) {
  if (const auto* label = std::get_if<std::string>(&asked)) {
    return label_index(output.labels, *label, "target");
  }
  if (const auto* number = std::get_if<int64_t>(&asked)) {
    return label_index(output.labels, *number, "target");
  }
  if (std::holds_alternative<OutputElement>(asked)) {
    throw InvalidInput(
        "an output element can be chosen only when arrays are given; choose a label or an index");
  }
  return std::max_element(output.values.begin(), output.values.end()) - output.values.begin();
}

Target target_of(const Output& output, int64_t index) {
  Target target{index, output.labels[index], output.values[index], {}};
  if (!output.probabilities.empty()) target.probability = output.probabilities[index];
  return target;
}

namespace {

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

void add_notes(Prepared& prepared, const ExplainRequest& request) {
  note_sampled_attention(prepared.run().graph().graph, prepared.common.notes);
  if (prepared.common.output.space == "embedding" &&
      std::holds_alternative<std::monostate>(request.target)) {
    prepared.common.notes.push_back(
        fmt::format("This model is explained as an encoder: the target is the largest of its {} "
                    "embedding dimensions; choose another, or a text to compare with.",
                    prepared.common.output.values.size()));
  }
  if (std::holds_alternative<std::monostate>(request.read_out) && prepared.run().layers() > 0 &&
      prepared.run().found().read_out.kind == ReadOut::Kind::kUnknown) {
    prepared.common.notes.push_back(
        "Read-out not recognised; tokens are weighted by the size of the output's gradient. Set "
        "the read-out to override.");
  }
}

Run::Settings settings_of(const Answered& answered, const ExplainRequest& request, Needs needs) {
  return {.problem = answered.problem,
          .needs = needs,
          .seed = request.seed,
          .memory_bytes = request.memory_bytes,
          .progress = request.progress};
}

// One answer is explained of an input of several parts.
void check_one_answer(const ExplainRequest& request) {
  if (!request.other_targets.empty() || request.top > 1) {
    throw InvalidInput(
        "a picture with a text has one output, their similarity; further targets are not possible");
  }
  if (!std::holds_alternative<std::monostate>(request.read_out)) {
    throw InvalidInput("the read-out of a picture with a text is fixed; do not set it");
  }
}

void add_runs(Prepared& prepared, std::vector<Input> inputs, const ExplainRequest& request,
              const PreparedNeeds& needs, const MakeRun& make_run) {
  const bool several = inputs.size() > 1;
  if (several) check_one_answer(request);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool together = several && i + 1 == inputs.size();
    if (together && !needs.together) {
      prepared.runs.push_back(nullptr);
      continue;
    }
    Run::Settings settings = settings_of(prepared.answered, request,
                                         together  ? *needs.together
                                         : several ? *needs.each
                                                   : needs.alone);
    if (!several) settings.read_out = told_read_out(request, inputs[i].units());
    prepared.runs.push_back(make_run(std::move(inputs[i]), std::move(settings)));
  }
}

void fill_output(Prepared& prepared) {
  Output& output = prepared.common.output;
  output.space = prepared.answered.space;
  output.labels = prepared.answered.labels;
  // Of several parts, as the last one by itself gives it.
  const Run& answers =
      prepared.has_several_parts() ? *prepared.runs[prepared.runs.size() - 2] : *prepared.runs[0];
  output.values = answers.outputs();
  if (output.space == "logit" && prepared.answered.problem)
    output.probabilities = probabilities_of(output.values, *prepared.answered.problem);
}

}  // namespace

void check_one_part(const Reading& reading) {
  if (reading.inputs.size() == 1) return;
  throw InvalidInput(
      "traces and relevance of a picture with a text are not supported: give the picture alone, "
      "with the text as similarity reference");
}

std::unique_ptr<Run> run_by_itself(Input input, Run::Settings settings) {
  return std::make_unique<Run>(std::move(input), std::move(settings));
}

Reading read_for(const Reader& reader, const InputValue& value, const ExplainRequest& request,
                 const std::optional<Randomisation>& randomisation) {
  Question question{.similar_to = request.similar_to,
                    .dtype = dtype_of(request.precision),
                    .target = request.target,
                    .hiding_id = request.hiding_id,
                    .randomisation = randomisation,
                    .by_rows = request.by_rows};
  if (!request.edits.empty()) question.edits = edits_for(reader, value, question, request.edits);
  Reading reading = reader.read(value, question);
  if (request.by_rows && !request.edits.empty()) {
    throw InvalidInput(
        "values inside a model are changed for explanations by columns, not by the rows of a "
        "context");
  }
  if (request.by_rows && !reading.by_rows) {
    throw InvalidInput(
        "which rows count can be told of a row of a table in a context alone, by a model whose "
        "rows attend to each other (SAINT)");
  }
  return reading;
}

Prepared prepare(const Reader& reader, const InputValue& value, const ExplainRequest& request,
                 const PreparedNeeds& needs, const std::optional<Randomisation>& randomisation) {
  return prepare(read_for(reader, value, request, randomisation), request, needs, run_by_itself);
}

Prepared prepare(Reading reading, const ExplainRequest& request, const PreparedNeeds& needs,
                 const MakeRun& make_run) {
  if (!needs.each) check_one_part(reading);
  Prepared prepared;
  for (const Edit& edit : request.edits) reading.shown.edits.push_back(to_text(edit));
  prepared.answered = std::move(reading.answered);
  prepared.common = std::move(reading.shown);
  prepared.element = reading.element;
  prepared.context = std::move(reading.context);
  add_runs(prepared, std::move(reading.inputs), request, needs, make_run);
  for (const std::string& edit : prepared.common.edits)
    prepared.common.notes.push_back(fmt::format("The model was changed: {}.", edit));
  prepared.common.notes.insert(prepared.common.notes.end(), reading.notes.begin(),
                               reading.notes.end());
  const auto add = [&](const std::vector<std::string>& more) {
    prepared.common.notes.insert(prepared.common.notes.end(), more.begin(), more.end());
  };
  add(prepared.answered.notes);
  if (needs.alone.embedding_gradient || needs.alone.values) add(reading.entry_notes);
  fill_output(prepared);
  if (prepared.element) {
    choose_target(prepared, *prepared.element);
    reading.check_element(prepared.target.value);
    return prepared;
  }
  choose_target(prepared, target_index(prepared.common.output, {}));
  if (!prepared.has_several_parts()) add_notes(prepared, request);
  return prepared;
}

std::vector<int64_t> targets_of(const Prepared& prepared, const ExplainRequest& request) {
  if (request.top < 1) {
    throw InvalidInput(
        fmt::format("the number of highest classes to explain is {}: give 1 or more", request.top));
  }
  if (prepared.element) return {*prepared.element};
  const Output& output = prepared.common.output;
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
  for (const auto& run : prepared.runs) {
    if (run != nullptr) run->set_target(index);
  }
  Output& output = prepared.common.output;
  if (prepared.element) {
    const double value = prepared.run().target_value();
    output.values = {value};
    prepared.target = {0, output.labels[0], value, {}, prepared.common.target.element};
    return;
  }
  prepared.target = target_of(output, index);
}

}  // namespace whyformer
