#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "command.h"
#include "console.h"
#include "model_arguments.h"
#include "whyformer/arrays.h"
#include "whyformer/error.h"

namespace whyformer::cli {
namespace {

struct ArrayArguments {
  std::string inputs, output;
  std::vector<int64_t> element;
};

void trace_model_of_arrays(const std::string& model, const ArrayArguments& arguments,
                           const std::string& file) {
  if (model.empty()) throw InvalidInput("--inputs goes with an ONNX file: --model model.onnx");
  const ArrayTrace result =
      trace_arrays(model, arguments.inputs, {arguments.output, arguments.element});
  for (const std::string& note : result.info.notes) fmt::print(stderr, "note: {}\n", note);
  save(file, result.safetensors);
  print(fmt::format("{}: {} attention sites in {} streams, gradients of {}[{}] ({:.4f})\n", file,
                    result.info.sites.size(), result.info.streams.size(), result.output,
                    fmt::join(result.indices, ","), result.value));
}

}  // namespace

void add_trace(CLI::App& program) {
  struct Arguments {
    ModelArguments model;
    TextArguments text;
    TargetArguments target;
    ArrayArguments arrays;
    std::string save;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = program.add_subcommand(
      "trace", "Save attention maps and their gradients, for people who compute their own");
  arguments->model.add_to(*command);
  arguments->text.add_to(*command);
  arguments->target.add_to(*command);
  command
      ->add_option("--save", arguments->save,
                   "safetensors file for attention.L, attention_gradient.L and logits")
      ->required()
      ->type_name("FILE");
  CLI::Option* inputs =
      command
          ->add_option("--inputs", arguments->arrays.inputs,
                       "safetensors file with the inputs of an ONNX model of any kind, by name")
          ->type_name("FILE");
  command->add_option("--output", arguments->arrays.output, "which output (default: the logits)")
      ->needs(inputs);
  command
      ->add_option("--element", arguments->arrays.element,
                   "which element of it, one number per axis (default: the largest)")
      ->delimiter(',')
      ->needs(inputs);
  command->callback([arguments] {
    if (!arguments->arrays.inputs.empty()) {
      trace_model_of_arrays(arguments->model.model, arguments->arrays, arguments->save);
      return;
    }
    const std::optional<TextInput> input = arguments->text.given();
    if (!input) throw InvalidInput("no text: whyformer trace --text \"…\" --save maps.safetensors");
    ExplainRequest request;
    arguments->target.fill(request);
    const Trace result = trace(arguments->model.load(), *input, request);
    for (const std::string& note : result.notes) fmt::print(stderr, "note: {}\n", note);
    save(arguments->save, to_safetensors(result));
    const AttentionMap* first = result.attention.empty() ? nullptr : &result.attention[0];
    print(fmt::format(
        "{}: {} layers of [{} heads, {} queries, {} keys], gradients of '{}' ({:.4f})\n",
        arguments->save, result.attention.size(), first ? first->heads : 0,
        first ? first->queries : 0, first ? first->keys : 0, result.target.label,
        result.target.value));
  });
}

}  // namespace whyformer::cli
