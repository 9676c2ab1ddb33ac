#include "array_arguments.h"

#include <fmt/format.h>

#include "whyformer/error.h"

namespace whyformer::cli {

void BatchAxisArguments::add_to(CLI::App& command) {
  command
      .add_option("--batch-axis", told,
                  "the axis, 0 or 1, along which an ONNX input holds several samples, or none "
                  "(default: found in the graph)")
      ->type_name("NAME=AXIS");
}

BatchAxes BatchAxisArguments::batch_axes() const {
  BatchAxes axes;
  for (const std::string& text : told) {
    const size_t equals = text.rfind('=');
    const std::string axis = equals == text.npos ? "" : text.substr(equals + 1);
    if (axis != "0" && axis != "1" && axis != "none") {
      throw InvalidInput(fmt::format("--batch-axis '{}': write NAME=0, NAME=1 or NAME=none", text));
    }
    axes[text.substr(0, equals)] =
        axis == "none" ? std::nullopt : std::optional(axis == "0" ? 0 : 1);
  }
  return axes;
}

void ArrayArguments::add_to(CLI::App& command) {
  batch_axis.add_to(command);
  CLI::Option* given =
      command
          .add_option("--inputs", inputs,
                      "safetensors file with the inputs of an ONNX model of any kind, by name")
          ->type_name("FILE");
  command
      .add_option("--element", element,
                  "which element of it, one number per axis (default: the largest)")
      ->delimiter(',')
      ->needs(given);
}

void ArrayArguments::add_hiding_to(CLI::App& command) {
  has_hiding_id = command
                      .add_option("--hiding-id", hiding_id,
                                  "with --inputs: the id that stands in for a hidden token "
                                  "(default: the mask token of a "
                                  "tokenizer beside the file, or padding)")
                      ->type_name("N");
}

void ArrayArguments::check(const std::string& model) const {
  if (model.empty()) throw InvalidInput("--inputs goes with an ONNX file: --model model.onnx");
}

}  // namespace whyformer::cli
