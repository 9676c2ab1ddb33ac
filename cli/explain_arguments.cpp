#include "explain_arguments.h"

#include <fmt/format.h>

#include "output_files.h"
#include "whyformer/error.h"

namespace whyformer::cli {
namespace {

void add_inputs_and_methods(CLI::App& command, ExplainArguments& a) {
  a.text.add_to(command);
  command
      .add_option("-f,--file", a.file,
                  "texts, one per line ('-': standard input); answers are JSON lines")
      ->type_name("FILE");
  a.picture.add_to(command);
  a.model.add_to(command);
  a.model.add_output_to(command);
  command
      .add_option("--method", a.methods,
                  "methods, separated by commas; see 'whyformer methods' (default: "
                  "gae,integrated-gradients; for pictures: gae,transformer-attribution,grad-cam; "
                  "for models "
                  "without attention: methods that need none)")
      ->delimiter(',')
      ->type_name("NAMES");
  command
      .add_option("-o,--option", a.options,
                  "option of a method, such as rollout.start=1; may be repeated")
      ->type_name("METHOD.NAME=VALUE");
  a.target.add_to(command);
  a.table.add_to(command);
  a.arrays.add_to(command);
  a.arrays.add_hiding_to(command);
}

void add_outputs(CLI::App& command, ExplainArguments& a) {
  command.add_option("--html", a.html, "write a page")->type_name("FILE");
  command.add_option("--json", a.json, "write JSON ('-': standard output)")->type_name("FILE");
  command.add_option("--svg", a.svg, "write the bars, or heat maps on the picture, as SVG")
      ->type_name("FILE");
  command.add_option("--png", a.png, "write the bars, or heat maps on the picture, as PNG")
      ->type_name("FILE");
  a.has_grain =
      command
          .add_option("--grain", a.grain, "of heat maps on a picture: smooth, or a block per patch")
          ->check(CLI::IsMember({"smooth", "blocks"}))
          ->capture_default_str();
  a.has_segment =
      command
          .add_option(
              "--segment", a.segment,
              "what Otsu's threshold parts from the rest of a picture: its outline, or alone")
          ->check(CLI::IsMember({"none", "outline", "mask"}))
          ->capture_default_str();
}

void add_attention_pictures(CLI::App& command, ExplainArguments& a) {
  command.add_option("--attention-svg", a.attention_svg, "write attention maps as SVG")
      ->type_name("FILE");
  command.add_option("--attention-png", a.attention_png, "write attention maps as PNG")
      ->type_name("FILE");
  CLI::Option* layer =
      command
          .add_option("--attention-layer", a.attention_layer,
                      "heads of this layer, from 0 (default: a map per layer, heads averaged)")
          ->check(CLI::Range(int64_t{0}, int64_t{1} << 20))
          ->type_name("N");
  command
      .add_option("--attention-head", a.attention_head, "of that layer, this head alone, from 0")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 20))
      ->needs(layer)
      ->type_name("N");
}

void add_settings(CLI::App& command, ExplainArguments& a) {
  command
      .add_option("--special", a.special,
                  "special tokens in pictures: show, hide, or exclude from the scale")
      ->check(CLI::IsMember({"show", "hide", "exclude"}))
      ->capture_default_str();
  a.has_words = command.add_option("--words", a.words, "how pieces become words")
                    ->check(CLI::IsMember({"sum", "mean", "max"}))
                    ->capture_default_str();
  command
      .add_option("--precision", a.precision,
                  "double is slow, and steadier where relevance rules cancel")
      ->check(CLI::IsMember({"single", "double"}))
      ->capture_default_str();
  command.add_option("--seed", a.seed, "for methods that draw random numbers")
      ->capture_default_str();
  command.add_option("--memory", a.memory_megabytes, "megabytes for batches of perturbed inputs")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 30))
      ->capture_default_str();
}

// "METHOD.NAME=VALUE" goes to the method of that name.
void add_option(ExplainRequest& request, const std::string& assignment) {
  const size_t dot = assignment.find('.');
  if (dot == std::string::npos || assignment.find('=') == std::string::npos) {
    throw InvalidInput(
        fmt::format("option '{}': write METHOD.NAME=VALUE, such as rollout.start=1", assignment));
  }
  const MethodInfo& method = method_named(assignment.substr(0, dot));
  const Options values = parse_option(method, std::string_view(assignment).substr(dot + 1));
  bool used = false;
  for (MethodRequest& asked : request.methods) {
    if (asked.name != method.name) continue;
    asked.options.insert(asked.options.end(), values.begin(), values.end());
    used = true;
  }
  if (!used) {
    throw InvalidInput(
        fmt::format("option '{}': add {} to --method to use it", assignment, method.name));
  }
}

// Arrays are not those of a Model; all other inputs are.
ExplainRequest request_of(const ExplainArguments& a, const std::vector<std::string>& usual) {
  ExplainRequest request;
  for (const std::string& name : a.methods.empty() ? usual : a.methods) {
    if (!name.empty()) request.methods.push_back({method_named(name).name, {}});
  }
  for (const std::string& option : a.options) add_option(request, option);
  a.target.fill(request);
  request.fold = a.words == "mean"  ? WordFold::kMean
                 : a.words == "max" ? WordFold::kMax
                                    : WordFold::kSum;
  if (a.precision == "double") request.precision = Precision::kDouble;
  request.top = a.picture.top;
  request.seed = a.seed;
  request.memory_bytes = a.memory_megabytes << 20;
  return request;
}

}  // namespace

void ExplainArguments::add_to(CLI::App& command) {
  add_inputs_and_methods(command, *this);
  add_outputs(command, *this);
  add_attention_pictures(command, *this);
  add_settings(command, *this);
}

void ExplainArguments::check() const {
  check_outputs(
      {html, json, svg, png, attention_svg, attention_png},
      {file, model.model, picture.picture, means_picture(text.positional) ? text.positional : "",
       table.table, table.background, arrays.inputs});
  if (attention_layer >= 0 && attention_svg.empty() && attention_png.empty()) {
    throw InvalidInput(
        "--attention-layer and --attention-head choose what --attention-svg or --attention-png "
        "draw");
  }
}

void refuse_what_pictures_have(const ExplainArguments& a) {
  if (!a.picture.picture.empty())
    throw InvalidInput("give a picture, a table or arrays, not two of them");
  if (a.picture.has_top->count() > 0 || !a.picture.among.empty()) {
    throw InvalidInput(
        "--top and --among go with a picture: whyformer explain picture.png --top 3");
  }
  if (a.has_grain->count() == 0 && a.has_segment->count() == 0) return;
  throw InvalidInput(
      "--grain and --segment belong to heat maps on a picture: whyformer explain picture.png --png "
      "map.png");
}

void refuse_what_texts_have(const ExplainArguments& a) {
  if (a.text.has_pair->count() > 0)
    throw InvalidInput("--pair goes with a text, or with a picture");
  if (a.has_words->count() == 0) return;
  throw InvalidInput(
      "--words tells how the pieces of a text's words are put together: only texts have them");
}

void check_options_of_pictures(const ExplainArguments& a) {
  if (a.text.has_pair->count() == 0) refuse_what_texts_have(a);
  if (a.svg.empty() && a.png.empty() && (a.has_grain->count() > 0 || a.has_segment->count() > 0)) {
    throw InvalidInput(
        "--grain and --segment shape the heat maps that --svg and --png write: give one of them");
  }
}

void refuse_pictures(const ExplainArguments& a) {
  if (!a.html.empty() || !a.svg.empty() || !a.png.empty() || !a.attention_svg.empty() ||
      !a.attention_png.empty()) {
    throw InvalidInput(
        "pages and pictures show one text or row; for many of them use --json, or 'whyformer "
        "importance'");
  }
}

// "--method gae rollout" has a text behind it, which is hardly meant.
void refuse_names_of_methods(const ExplainArguments& a) {
  for (const MethodInfo& method : methods()) {
    if (a.methods.empty() || a.text.positional != method.name) continue;
    throw InvalidInput(fmt::format(
        "'{0}' is a method: separate methods by commas, or give it as a text with --text {0}",
        method.name));
  }
}

ExplainRequest request_of(const ExplainArguments& a, const Model& model) {
  return request_of(a, a.methods.empty() ? usual_methods(model) : a.methods);
}
ExplainRequest request_of(const ExplainArguments& a, const Model& model, const TextInput&) {
  return request_of(a, model);
}
ExplainRequest request_of(const ExplainArguments& a, const Model& model, const RowInput& row) {
  return request_of(a, a.methods.empty() ? usual_methods(model, row) : a.methods);
}

ArrayRequest array_request_of(const ExplainArguments& a, const ArrayModel& model,
                              const ArrayViews& inputs) {
  ArrayRequest request;
  request.target = a.arrays.target(a.model.output);
  const ExplainRequest plain =
      request_of(a, a.methods.empty() ? model.usual_methods(inputs, request.target) : a.methods);
  request.methods = plain.methods;
  if (a.arrays.has_hiding_id->count() > 0) request.hiding_id = a.arrays.hiding_id;
  request.precision = plain.precision;
  request.seed = plain.seed;
  request.memory_bytes = plain.memory_bytes;
  return request;
}

SpecialTokens special_of(const ExplainArguments& a) {
  if (a.special == "hide") return SpecialTokens::kHide;
  return a.special == "exclude" ? SpecialTokens::kExclude : SpecialTokens::kShow;
}

}  // namespace whyformer::cli
