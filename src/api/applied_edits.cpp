#include "api/applied_edits.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/prepare.h"
#include "whyformer/error.h"
#include "whyformer/printable.h"

namespace whyformer {

NamedValues names_for(const Input& input) {
  return names_in(*input.copies(1).graph, input.source().facts().native);
}

EditArray edit_array(const Tensor& told) {
  return {told.shape(), std::make_shared<const std::vector<double>>(told.to_doubles())};
}

namespace {

// Windows of all inputs of a run stand in one axis, so that only what is the same for each window
// is the same for each input.
void check_windows(const Edit& edit, const NamedValue& named) {
  if (std::ranges::find(named.axes, "window") == named.axes.end()) return;
  const bool alike = (edit.op == EditOp::kZero || edit.op == EditOp::kScale ||
                      edit.op == EditOp::kSet || edit.op == EditOp::kAdd) &&
                     !edit.array.given();
  if (alike && !edit.at.contains("window")) return;
  throw InvalidInput(fmt::format(
      "'{}': the windows of '{}' can be set, scaled or added to by a number, all of them alike",
      printable(to_text(edit)), printable(edit.value)));
}

}  // namespace

std::shared_ptr<const AppliedEdits> edits_for(const Reader& reader, const InputValue& value,
                                              const Question& question,
                                              const std::vector<Edit>& edits, int64_t copies) {
  auto applied = std::make_shared<AppliedEdits>();
  applied->edits = edits;
  applied->copies = std::max<int64_t>(1, copies);
  for (const Edit& edit : edits) {
    const bool of_batch = edit.at.contains("batch") || edit.axis == "batch";
    if (copies > 0 || !of_batch) continue;
    throw InvalidInput(fmt::format(
        "'{}' names the batch: only copies of an input that is probed differ from each other",
        printable(to_text(edit))));
  }
  Question own = question;
  own.edits.reset();
  own.all_rows = true;
  const Reading reading = reader.read(value, own);
  if (reading.inputs.size() > 1) {
    throw InvalidInput(
        "values inside a model are changed for one input: give the picture alone and the text as "
        "what to be similar to, or the text alone");
  }
  const Input& input = reading.inputs[0];
  applied->own = input.sample_shapes();
  const FedGraph fed = input.copies(1);
  const NamedValues names = names_for(input);
  std::vector<Value> frozen;
  for (const Edit& edit : edits) {
    const NamedValue& found = names.at(edit.value);
    check_windows(edit, found);
    if (edit.op == EditOp::kFreeze) frozen.push_back(found.value);
  }
  if (frozen.empty()) return applied;
  const Pass pass = run(fed.graph->graph, fed.feeds, {.outputs = frozen});
  for (Edit& edit : applied->edits) {
    if (edit.op != EditOp::kFreeze) continue;
    const NamedValue& named = names.at(edit.value);
    edit.array = edit_array(named.told(pass[named.value]));
  }
  return applied;
}

}  // namespace whyformer
