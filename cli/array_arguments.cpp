#include "array_arguments.h"

#include "whyformer/error.h"

namespace whyformer::cli {

void ArrayArguments::add_to(CLI::App& command) {
  CLI::Option* given =
      command
          .add_option("--inputs", inputs,
                      "safetensors file with the inputs of an ONNX model of any kind, by name")
          ->type_name("FILE");
  command.add_option("--output", output, "which output (default: the logits)")->needs(given);
  command
      .add_option("--element", element,
                  "which element of it, one number per axis (default: the largest)")
      ->delimiter(',')
      ->needs(given);
}

void ArrayArguments::add_hiding_to(CLI::App& command) {
  has_hiding_id = command
                      .add_option("--hiding-id", hiding_id,
                                  "with --inputs: the id that stands in for a hidden token (default: the mask token of a "
                                  "tokenizer beside the file, or padding)")
                      ->type_name("N");
}

void ArrayArguments::check(const std::string& model) const {
  if (model.empty()) throw InvalidInput("--inputs goes with an ONNX file: --model model.onnx");
}

}  // namespace whyformer::cli
