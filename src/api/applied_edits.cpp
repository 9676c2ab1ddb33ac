#include "api/applied_edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

bool has_windows(const NamedValue& named) { return named.axis("window") >= 0; }

// Windows of all inputs of a run stand in one axis: edits need those of an input together, one
// input after the other.
void check_windows(const Input& input, const Edit& edit) {
  if (edit.op == EditOp::kMean) {
    throw InvalidInput(fmt::format(
        "'{}': the mean over the tokens of the input is not known inside windows, which hold some "
        "of them each",
        printable(to_text(edit))));
  }
  if (input.max_at_once() == 1) return;
  const auto value_in = [&](int64_t copies) {
    const FedGraph fed = input.copies(copies);
    const NamedValues names = names_in(*fed.graph, input.source().facts().native);
    const NamedValue& named = names.at(edit.value);
    return named.told(run(fed.graph->graph, fed.feeds, {.outputs = {named.value}})[named.value])
        .to_doubles();
  };
  std::vector<double> one = value_in(1);
  const std::vector<double> two = value_in(2);
  const size_t size = one.size();
  one.insert(one.end(), one.begin(), one.begin() + static_cast<int64_t>(size));
  double largest = 0, apart = 0;
  for (size_t i = 0; i < one.size(); ++i) {
    largest = std::max(largest, std::abs(one[i]));
    apart = std::max(apart, std::abs(one[i] - two[i]));
  }
  constexpr double kRounding = 1e-4;
  if (apart <= kRounding * largest) return;
  throw InvalidInput(
      fmt::format("'{}': windows of several inputs are mixed in '{}', which cannot be changed",
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
    if (has_windows(found)) check_windows(input, edit);
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
