#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "array_arguments.h"
#include "command.h"
#include "console.h"
#include "model_arguments.h"
#include "whyformer/error.h"
#include "whyformer/printable.h"

namespace whyformer::cli {
namespace {

struct TraceArguments {
  ModelArguments model;
  TextArguments text;
  PictureArguments picture;
  TargetArguments target;
  ArrayArguments arrays;
  std::string save;
};

void trace_model_of_arrays(const ModelArguments& model, const ArrayArguments& arguments,
                           const std::string& file) {
  arguments.check(model.model);
  const ArrayTrace result =
      ArrayModel::load(model.model, arguments.batch_axis.batch_axes())
          .trace(read_array_views(arguments.inputs), arguments.target(model.output));
  for (const std::string& note : result.info.notes) tell("note: " + note);
  const KeepAnswers keep;
  save(file, result.safetensors);
  print(fmt::format("{}: {} attention sites in {} streams, gradients of {}[{}] ({:.4f})\n",
                    printable(file), result.info.sites.size(), result.info.streams.size(),
                    printable(result.output), fmt::join(result.indices, ","), result.value));
}

void run(const TraceArguments& a) {
  if (a.arrays.given()) {
    if (a.text.given() || a.target.any_given()) {
      throw InvalidInput(
          "with --inputs the target is chosen by --output and --element; texts, --target and "
          "--read-out do not go with it");
    }
    trace_model_of_arrays(a.model, a.arrays, a.save);
    return;
  }
  ExplainRequest request;
  a.target.fill(request);
  if (request.other_targets.size() > 0)
    throw InvalidInput("gradients are of one --target at a time");
  const auto picture = a.picture.given(a.text);
  if (picture && a.text.has_pair->count() > 0) {
    throw InvalidInput(
        "maps of a picture with a text come one side at a time: leave out --pair, and use "
        "--similar-to");
  }
  const std::optional<TextInput> input = a.text.given();
  if (!picture && !input) {
    throw InvalidInput("no text or picture: whyformer trace --text \"…\" --save maps.safetensors");
  }
  const Trace result = picture ? trace(a.picture.load(a.model), *picture, request)
                               : trace(a.model.load(), *input, request);
  for (const std::string& note : result.notes) tell("note: " + note);
  const KeepAnswers keep;
  save(a.save, to_safetensors(result));
  const AttentionMap* first = result.attention.empty() ? nullptr : &result.attention[0];
  print(
      fmt::format("{}: {} layers of [{} heads, {} queries, {} keys], gradients of '{}' ({:.4f})\n",
                  printable(a.save), result.attention.size(), first ? first->heads : 0,
                  first ? first->queries : 0, first ? first->keys : 0,
                  printable(result.target.label), result.target.value));
}

}  // namespace

void add_trace(CLI::App& program) {
  auto arguments = std::make_shared<TraceArguments>();
  CLI::App* command = program.add_subcommand(
      "trace", "Save attention maps and their gradients, for people who compute their own");
  arguments->model.add_to(*command);
  arguments->model.add_output_to(*command);
  arguments->text.add_to(*command);
  arguments->picture.add_to(*command);
  arguments->target.add_to(*command);
  command
      ->add_option("--save", arguments->save,
                   "safetensors file for attention.L, attention_gradient.L and logits")
      ->required()
      ->type_name("FILE");
  arguments->arrays.add_to(*command);
  command->callback([arguments] { run(*arguments); });
}

}  // namespace whyformer::cli
