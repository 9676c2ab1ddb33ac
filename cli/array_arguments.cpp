#include "array_arguments.h"

#include <fmt/format.h>

#include "option_groups.h"
#include "whyformer/error.h"

namespace whyformer::cli {

void BatchAxisArguments::add_to(CLI::App& command) {
  start_group(command, OptionGroup::kInput);
  command
      .add_option("--batch-axis", told,
                  "batch axis of an ONNX input: 0, 1 or none (default: found in the graph)")
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
  start_group(command, OptionGroup::kInput);
  has_inputs = command
                   .add_option("--inputs", inputs,
                               "safetensors file with the inputs of an ONNX model, by name")
                   ->type_name("FILE");
  batch_axis.add_to(command);
}

void ArrayArguments::add_element_to(CLI::App& command) {
  start_group(command, OptionGroup::kTarget);
  command
      .add_option("--element", element,
                  "element of the output, one index per axis (default: the largest)")
      ->delimiter(',')
      ->needs(has_inputs)
      ->type_name("I,J,…");
}

void ArrayArguments::add_hiding_to(CLI::App& command) {
  start_group(command, OptionGroup::kMethods);
  has_hiding_id = command
                      .add_option("--hiding-id", hiding_id,
                                  "id of a hidden token, with --inputs (default: mask token of a "
                                  "tokenizer beside the file, else padding)")
                      ->type_name("N");
}

void ArrayArguments::check(const ModelArguments& model) const {
  if (model.model.empty()) {
    throw InvalidInput("--inputs goes with an ONNX file: --model model.onnx");
  }
}

Model ArrayArguments::load(const ModelArguments& model) const {
  model.apply_threads();
  return Model::load(model.model, {.arrays = true, .batch_axes = batch_axis.batch_axes()});
}

void ArrayArguments::fill(ExplainRequest& request, const ModelArguments& model) const {
  request.target = OutputElement{model.output, element};
  if (has_hiding_id != nullptr && has_hiding_id->count() > 0) request.hiding_id = hiding_id;
}

}  // namespace whyformer::cli
