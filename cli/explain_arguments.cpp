#include "explain_arguments.h"

#include <fmt/format.h>

#include "option_groups.h"
#include "output_files.h"
#include "whyformer/error.h"
#include "whyformer/sanity.h"

namespace whyformer::cli {
namespace {

void add_inputs(CLI::App& command, ExplainArguments& a) {
  a.input.text.add_to(command);
  command
      .add_option("-f,--file", a.file,
                  "texts, one per line ('-': standard input); answers are JSON lines")
      ->type_name("FILE");
  a.input.picture.add_to(command);
  a.table.add_to(command);
  a.table.add_row_to(command);
  a.has_by = command
                 .add_option("--by", a.by,
                             "which columns of a row count; or which rows of its context, of a "
                             "model whose rows attend to each other")
                 ->check(CLI::IsMember({"columns", "rows"}))
                 ->capture_default_str();
  a.input.arrays.add_to(command);
}

void add_methods(CLI::App& command, ExplainArguments& a) {
  start_group(command, OptionGroup::kMethods);
  command
      .add_option(
          "--method", a.methods,
          "methods, separated by commas, also METHOD:PRESET; see 'whyformer methods' (default: "
          "gae,integrated-gradients; for pictures: gae,transformer-attribution,grad-cam; for rows "
          "of tables: exact-shap or kernel-shap, gae,raw-attention:gorishniy; "
          "without attention: methods that need none)")
      ->delimiter(',')
      ->type_name("NAMES");
  command
      .add_option("-o,--option", a.options,
                  "option of a method, such as rollout.start=1; may be repeated")
      ->type_name("METHOD.NAME=VALUE");
  CLI::Option* trust = command.add_flag(
      "--trust", a.trust,
      "measure how far each method can be trusted: against random rankings, the other methods and "
      "small changes of the input");
  command
      .add_option("--trust-orders", a.trust_orders,
                  "number of random rankings (39, 79, 119, … give an exact test)")
      ->check(CLI::Range(int64_t{19}, int64_t{9999}))
      ->capture_default_str()
      ->needs(trust)
      ->type_name("N");
  command
      .add_option(
          "--precision", a.precision,
          "floating-point precision; double is slower, but more accurate for relevance rules")
      ->check(CLI::IsMember({"single", "double"}))
      ->capture_default_str();
  command.add_option("--seed", a.seed, "seed of sampling methods")->capture_default_str();
  command.add_option("--memory", a.memory_megabytes, "memory for batches of perturbed inputs")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 30))
      ->capture_default_str()
      ->type_name("MB");
  a.edits.add_to(command);
  a.input.arrays.add_hiding_to(command);
}

void add_targets(CLI::App& command, ExplainArguments& a) {
  a.target.add_to(command);
  a.input.picture.add_classes_to(command);
  a.input.model.add_output_to(command);
  a.input.arrays.add_element_to(command);
}

void add_outputs(CLI::App& command, ExplainArguments& a) {
  start_group(command, OptionGroup::kOutput);
  command.add_option("--html", a.html, "HTML page")->type_name("FILE");
  command.add_option("--json", a.json, "JSON ('-': standard output)")->type_name("FILE");
  command.add_option("--svg", a.svg, "bars, or heat maps on the picture, as SVG")
      ->type_name("FILE");
  command.add_option("--png", a.png, "bars, or heat maps on the picture, as PNG")
      ->type_name("FILE");
  command
      .add_option("--waterfall-svg", a.waterfall_svg,
                  "waterfall plot as SVG (additive methods only)")
      ->type_name("FILE");
  command.add_option("--waterfall-png", a.waterfall_png, "waterfall plot as PNG")
      ->type_name("FILE");
  a.has_grain = command.add_option("--grain", a.grain, "interpolation of heat maps on a picture")
                    ->check(CLI::IsMember({"smooth", "blocks"}))
                    ->capture_default_str();
  a.has_segment =
      command
          .add_option("--segment", a.segment, "region above Otsu's threshold, outlined or cut out")
          ->check(CLI::IsMember({"none", "outline", "mask"}))
          ->capture_default_str();
  a.has_words = command.add_option("--words", a.words, "aggregation of subword scores into words")
                    ->check(CLI::IsMember({"sum", "mean", "max"}))
                    ->capture_default_str();
  command
      .add_option("--special", a.special,
                  "special tokens in plots: show, hide, or exclude from the scale")
      ->check(CLI::IsMember({"show", "hide", "exclude"}))
      ->capture_default_str();
}

void add_attention_pictures(CLI::App& command, ExplainArguments& a) {
  command.add_option("--attention-svg", a.attention_svg, "attention maps as SVG")
      ->type_name("FILE");
  command.add_option("--attention-png", a.attention_png, "attention maps as PNG")
      ->type_name("FILE");
  CLI::Option* layer =
      command
          .add_option("--attention-layer", a.attention_layer,
                      "layer of the maps, from 0 (default: all layers, mean over heads)")
          ->check(CLI::Range(int64_t{0}, int64_t{1} << 20))
          ->type_name("N");
  command
      .add_option("--attention-head", a.attention_head,
                  "head of that layer, from 0 (default: all heads)")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 20))
      ->needs(layer)
      ->type_name("N");
}

// "METHOD.NAME=VALUE" goes to the method of that name.
void add_option(ExplainRequest& request, const std::string& assignment) {
  const size_t dot = assignment.find('.');
  if (dot == std::string::npos || assignment.find('=') == std::string::npos) {
    throw InvalidInput(
        fmt::format("option '{}': write METHOD.NAME=VALUE, such as rollout.start=1", assignment));
  }
  const std::string name = assignment.substr(0, dot);
  const Options values =
      parse_option(method_named(name), std::string_view(assignment).substr(dot + 1));
  bool used = false;
  for (MethodRequest& asked : request.methods) {
    if (asked.name != name) continue;
    asked.options.insert(asked.options.end(), values.begin(), values.end());
    used = true;
  }
  if (!used) {
    throw InvalidInput(fmt::format("option '{}': add {} to --method to use it", assignment, name));
  }
}

// The input decides for rows and arrays, and says so where a model of tables is given another;
// otherwise what the model was made for.
std::vector<std::string> fitting_methods(const Model& model, const InputValue& input,
                                         const TargetChoice& target) {
  const bool by_input = std::holds_alternative<RowInput>(input) ||
                        std::holds_alternative<ArrayViews>(input) || model.reads_tables();
  return by_input ? default_methods(model, input, target) : default_methods(model);
}

void refuse_what_pictures_have(const ExplainArguments& a) {
  if (!a.input.picture.picture.empty())
    throw InvalidInput("give a picture, a table or arrays, not two of them");
  if (a.input.picture.has_top->count() > 0 || !a.input.picture.among.empty()) {
    throw InvalidInput(
        "--top and --among go with a picture: whyformer explain picture.png --top 3");
  }
  if (a.has_grain->count() == 0 && a.has_segment->count() == 0) return;
  throw InvalidInput(
      "--grain and --segment belong to heat maps on a picture: whyformer explain picture.png --png "
      "map.png");
}

void refuse_what_texts_have(const ExplainArguments& a) {
  if (a.input.text.has_pair->count() > 0)
    throw InvalidInput("--pair goes with a text, or with a picture");
  if (a.has_words->count() == 0) return;
  throw InvalidInput("--words sets how subword scores are aggregated; only texts have words");
}

// Arrays, pictures and texts have no rows.
void refuse_what_rows_have(const ExplainArguments& a) {
  a.table.refuse_without_table();
  if (a.has_by->count() > 0)
    throw InvalidInput("--by goes with a row of a table: --table rows.csv");
}

void refuse_what_arrays_have(const ExplainArguments& a) {
  if (a.input.arrays.has_hiding_id->count() == 0) return;
  throw InvalidInput("--hiding-id goes with --inputs: texts have their tokenizer's mask token");
}

void refuse_several_targets(const ExplainArguments& a) {
  if (a.target.targets.size() < 2) return;
  throw InvalidInput("a text or a row is explained for one --target at a time");
}

// "--method gae rollout" has a text behind it, which is hardly meant.
void refuse_names_of_methods(const ExplainArguments& a) {
  for (const MethodInfo& method : methods()) {
    if (a.methods.empty() || a.input.text.positional != method.name) continue;
    throw InvalidInput(fmt::format(
        "'{0}' is a method: separate methods by commas, or give it as a text with --text {0}",
        method.name));
  }
}

}  // namespace

void ExplainArguments::add_to(CLI::App& command) {
  add_inputs(command, *this);
  input.model.add_to(command);
  add_methods(command, *this);
  add_targets(command, *this);
  add_outputs(command, *this);
  add_attention_pictures(command, *this);
}

void ExplainArguments::check() const {
  check_outputs({html, json, svg, png, waterfall_svg, waterfall_png, attention_svg, attention_png},
                {file, input.model.model, input.picture.picture,
                 means_picture(input.text.positional) ? input.text.positional : "", table.table,
                 table.background, input.arrays.inputs, edits.file});
  if (attention_layer >= 0 && attention_svg.empty() && attention_png.empty()) {
    throw InvalidInput(
        "--attention-layer and --attention-head choose what --attention-svg or --attention-png "
        "draw");
  }
}

void check_options_of_arrays(const ExplainArguments& a) {
  refuse_what_rows_have(a);
  a.input.arrays.check(a.input.model);
  refuse_what_texts_have(a);
  refuse_what_pictures_have(a);
  if (a.table.given()) throw InvalidInput("give a table or arrays, not both");
  if (a.input.text.given() || !a.file.empty() || a.target.any_given()) {
    throw InvalidInput(
        "with --inputs the target is chosen by --output and --element; texts, --target and "
        "--read-out do not go with it");
  }
}

void check_options_of_tables(const ExplainArguments& a) {
  refuse_names_of_methods(a);
  refuse_what_arrays_have(a);
  refuse_what_texts_have(a);
  refuse_what_pictures_have(a);
  if (a.input.text.given() || !a.file.empty())
    throw InvalidInput("give a text or a table, not both");
  refuse_several_targets(a);
}

void check_options_of_pictures(const ExplainArguments& a) {
  refuse_what_rows_have(a);
  refuse_what_arrays_have(a);
  if (a.input.text.has_pair->count() == 0) refuse_what_texts_have(a);
  if (a.svg.empty() && a.png.empty() && (a.has_grain->count() > 0 || a.has_segment->count() > 0)) {
    throw InvalidInput(
        "--grain and --segment shape the heat maps that --svg and --png write: give one of them");
  }
  if (!a.file.empty()) throw InvalidInput("give a picture or a file of texts, not both");
}

void check_options_of_texts(const ExplainArguments& a) {
  refuse_names_of_methods(a);
  refuse_what_rows_have(a);
  refuse_what_arrays_have(a);
  refuse_what_pictures_have(a);
  if (a.input.text.given() && !a.file.empty())
    throw InvalidInput("give a text or a file of texts, not both");
  refuse_several_targets(a);
}

void refuse_pictures(const ExplainArguments& a) {
  const bool any = !a.html.empty() || !a.svg.empty() || !a.png.empty() ||
                   !a.waterfall_svg.empty() || !a.waterfall_png.empty() ||
                   !a.attention_svg.empty() || !a.attention_png.empty();
  if (any) {
    throw InvalidInput(
        "pages and pictures show one text or row; for many of them use --json, or 'whyformer "
        "importance'");
  }
}

ExplainRequest request_of(const ExplainArguments& a, const Model& model, const InputValue& input) {
  ExplainRequest request;
  a.target.fill(request);
  request.by_rows = a.by == "rows";
  if (a.input.arrays.given()) a.input.arrays.fill(request, a.input.model);
  for (const std::string& name : !a.methods.empty() ? a.methods
                                 : request.by_rows
                                     ? default_methods_by_rows()
                                     : fitting_methods(model, input, request.target)) {
    if (name.empty()) continue;
    method_named(name);  // says so where there is none
    request.methods.push_back({name, {}});
  }
  for (const std::string& option : a.options) add_option(request, option);
  request.fold = a.words == "mean"  ? WordFold::kMean
                 : a.words == "max" ? WordFold::kMax
                                    : WordFold::kSum;
  if (a.precision == "double") request.precision = Precision::kDouble;
  request.top = a.input.picture.top;
  if (a.trust) request.trust = {.orders = a.trust_orders};
  // The card is that of the model as it is.
  if (a.trust && !a.edits.given()) request.trust->sanity = sanity_findings(model);
  request.seed = a.seed;
  request.memory_bytes = a.memory_megabytes << 20;
  request.edits = a.edits.read(model, input);
  return request;
}

SpecialTokens special_of(const ExplainArguments& a) {
  if (a.special == "hide") return SpecialTokens::kHide;
  return a.special == "exclude" ? SpecialTokens::kExclude : SpecialTokens::kShow;
}

OverlayOptions overlay_of(const ExplainArguments& a) {
  return {.grain = a.grain == "blocks" ? Grain::kBlocks : Grain::kSmooth,
          .segment = a.segment == "mask"      ? Segment::kMask
                     : a.segment == "outline" ? Segment::kOutline
                                              : Segment::kNone};
}

}  // namespace whyformer::cli
