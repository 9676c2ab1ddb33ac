#include <fmt/format.h>

#include <memory>

#include "command.h"
#include "console.h"
#include "edit_arguments.h"
#include "input_arguments.h"
#include "option_groups.h"
#include "whyformer/error.h"
#include "whyformer/printable.h"

namespace whyformer::cli {
namespace {

struct TraceArguments {
  InputArguments input;
  TargetArguments target;
  EditArguments edits;
  std::string save;
};

void check(const TraceArguments& a) {
  if (a.input.arrays.given() && (a.input.text.given() || a.target.any_given())) {
    throw InvalidInput(
        "with --inputs the target is chosen by --output and --element; texts, --target and "
        "--read-out do not go with it");
  }
  if (a.target.targets.size() > 1)
    throw InvalidInput("give one --target: gradients belong to one output");
}

InputValue input_of(const TraceArguments& a) {
  std::optional<InputValue> input = a.input.given();
  if (!input) {
    throw InvalidInput("no text or picture: whyformer trace --text \"…\" --save maps.safetensors");
  }
  return *std::move(input);
}

// What the maps are: of arrays each site has its own size.
std::string maps_of(const Trace& trace) {
  if (!trace.arrays.empty()) {
    return fmt::format(
        "{} in {}, gradients of {}", quantity(std::ssize(trace.attention), "attention site"),
        quantity(std::ssize(trace.streams), "stream"), printable(trace.target.label));
  }
  const AttentionMap first = trace.attention.empty() ? AttentionMap() : trace.attention[0];
  return fmt::format("{} of [{} heads, {} queries, {} keys], gradients of '{}'",
                     quantity(std::ssize(trace.attention), "layer"), first.heads, first.queries,
                     first.keys, printable(trace.target.label));
}

void run(const TraceArguments& a) {
  check(a);
  const InputValue input = input_of(a);
  ExplainRequest request;
  a.target.fill(request);
  if (a.input.arrays.given()) a.input.arrays.fill(request, a.input.model);
  const Model model = a.input.load(input);
  request.edits = a.edits.read(model, input);
  const Trace result = trace(model, input, request);
  for (const std::string& note : result.notes) tell("note: " + note);
  const KeepAnswers keep;
  save(a.save, to_safetensors(result));
  print(fmt::format("{}: {} ({:.4f})\n", printable(a.save), maps_of(result), result.target.value));
}

}  // namespace

void add_trace(CLI::App& program) {
  auto arguments = std::make_shared<TraceArguments>();
  CLI::App* command = program.add_subcommand("trace", "Save attention maps and their gradients");
  InputArguments& input = arguments->input;
  input.text.add_to(*command);
  input.picture.add_to(*command);
  input.arrays.add_to(*command);
  input.model.add_to(*command);
  arguments->target.add_to(*command);
  arguments->edits.add_to(*command);
  input.picture.add_classes_to(*command);
  input.model.add_output_to(*command);
  input.arrays.add_element_to(*command);
  start_group(*command, OptionGroup::kOutput);
  command
      ->add_option("--save", arguments->save,
                   "safetensors file for attention.L, attention_gradient.L and logits")
      ->required()
      ->type_name("FILE");
  command->callback([arguments] { run(*arguments); });
}

}  // namespace whyformer::cli
