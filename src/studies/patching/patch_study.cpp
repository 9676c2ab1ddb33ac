#include "studies/patching/patch_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "run/labels.h"
#include "run/output_space.h"
#include "studies/patching/sweep.h"
#include "whyformer/error.h"
#include "whyformer/interrupted.h"

namespace whyformer {
namespace {

constexpr double kRounding = 1e-6;  // of sums of shares

int64_t output_index(const Output& output, const TargetChoice& choice, const std::string& what) {
  if (const auto* label = std::get_if<std::string>(&choice))
    return label_index(output.labels, *label, what);
  if (const auto* number = std::get_if<int64_t>(&choice))
    return label_index(output.labels, *number, what);
  if (std::holds_alternative<OutputElement>(choice))
    throw InvalidInput("an output element cannot be patched: choose a label or an index");
  return std::ranges::max_element(output.values) - output.values.begin();
}

}  // namespace

PatchStudy::PatchStudy(const Reader& reader, const InputValue& value, const PatchRequest& request,
                       std::string analysis)
    : reader_(reader), request_(request), value_(value) {
  report.analysis = std::move(analysis);
  clean_ = std::make_unique<PatchedRun>(read(value, report.clean), request.memory_bytes);
  Output& output = report.clean.output;
  output.values = clean_->outputs();
  const int64_t target = output_index(output, request.target, "target");
  std::optional<int64_t> against;
  if (!std::holds_alternative<std::monostate>(request.against)) {
    against = output_index(output, request.against, "output to compare with");
    report.against = output.labels[*against];
  }
  report.target = output.labels[target];
  report.clean.target = {target, report.target, output.values[target], {}};
  if (output.space == "logit" && problem_)
    report.clean.target.probability = probabilities_of(output.values, *problem_)[target];
  metric_ = std::make_unique<AnswerMetric>(request.metric, problem_, target, against);
  report.metric = name_of(request.metric);
  report.clean_value = metric_->value(clean_->outputs());
  report.cost.forwards = 1;
}

Input PatchStudy::read(const InputValue& value, Explanation& shown) {
  Reading reading =
      reader_.read(value, {.dtype = dtype_of(request_.precision), .target = request_.target});
  if (reading.inputs.size() != 1)
    throw InvalidInput("an input of several parts cannot be patched: give one of them");
  Input input = std::move(reading.inputs[0]);
  if (!input.streams().empty()) {
    throw InvalidInput(
        "this model has several token streams: patching by layers needs one, so read and edit "
        "its named values instead");
  }
  problem_ = reading.answered.problem;
  shown = std::move(reading.shown);
  shown.output.space = reading.answered.space;
  shown.output.labels = reading.answered.labels;
  for (std::string& note : reading.notes) report.notes.push_back(std::move(note));
  return input;
}

std::unique_ptr<PatchedRun> PatchStudy::read_corrupted(const InputValue& value) {
  Explanation shown;
  auto run = std::make_unique<PatchedRun>(read(value, shown), request_.memory_bytes);
  shown.output.values = run->outputs();
  report.corrupted = std::move(shown);
  report.corrupted_value = metric_->value(run->outputs());
  ++report.cost.forwards;
  return run;
}

std::unique_ptr<PatchedRun> PatchStudy::with_entering(ValuesByName entering) const {
  Reading reading =
      reader_.read(value_, {.dtype = dtype_of(request_.precision), .target = request_.target});
  return std::make_unique<PatchedRun>(std::move(reading.inputs[0]), request_.memory_bytes,
                                      std::move(entering));
}

RunsMade PatchStudy::counter() {
  return [this](int64_t runs, double forwards) {
    report.cost.forwards += static_cast<int>(runs);
    made_ += forwards;
    const auto made = std::llround(made_), total = std::llround(std::max(made_, total_));
    if (request_.progress && !request_.progress(made, total)) throw Interrupted();
  };
}

PatchReport PatchStudy::finish() {
  report.cost.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  if (report.stopped_early && made_ < total_ - kRounding)
    report.notes.emplace_back("Stopped before the end.");
  return std::move(report);
}

}  // namespace whyformer
