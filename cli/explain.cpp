#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "array_arguments.h"
#include "command.h"
#include "console.h"
#include "model_arguments.h"
#include "output_files.h"
#include "table_arguments.h"
#include "whyformer/error.h"
#include "whyformer/printable.h"
#include "whyformer/report.h"

namespace whyformer::cli {
namespace {

struct Arguments {
  ModelArguments model;
  TextArguments text;
  PictureArguments picture;
  TargetArguments target;
  ArrayArguments arrays;
  TableArguments table;
  std::string file;
  std::vector<std::string> methods;
  std::vector<std::string> options;
  std::string html, json, svg, png, attention_svg, attention_png;
  std::string special = "show", words = "sum", precision = "single";
  std::string grain = "smooth", segment = "none";
  int64_t attention_layer = -1;
  int64_t seed = 0;
  int64_t memory_megabytes = 1024;
};

void add_arguments(CLI::App& command, Arguments& a) {
  a.text.add_to(command);
  command.add_option("-f,--file", a.file,
                     "texts, one per line ('-': standard input); answers are JSON lines")
      ->type_name("FILE");
  a.picture.add_to(command);
  a.model.add_to(command);
  command.add_option("--method", a.methods,
                     "methods, separated by commas; see 'whyformer methods' (default: "
                     "gae,integrated-gradients; for pictures: gae,transformer-attribution,grad-cam)")
      ->delimiter(',')
      ->type_name("NAMES");
  command.add_option("-o,--option", a.options,
                     "option of a method, such as rollout.start=1; may be repeated")
      ->type_name("METHOD.NAME=VALUE");
  a.target.add_to(command);
  a.table.add_to(command);
  a.arrays.add_to(command);
  a.arrays.add_hiding_to(command);
  command.add_option("--html", a.html, "write a page")->type_name("FILE");
  command.add_option("--json", a.json, "write JSON ('-': standard output)")->type_name("FILE");
  command.add_option("--svg", a.svg, "write the bars, or heat maps on the picture, as SVG")->type_name("FILE");
  command.add_option("--png", a.png, "write the bars, or heat maps on the picture, as PNG")->type_name("FILE");
  command.add_option("--grain", a.grain, "of heat maps on a picture: smooth, or a block per patch")
      ->check(CLI::IsMember({"smooth", "blocks"}))
      ->capture_default_str();
  command.add_option("--segment", a.segment, "what Otsu's threshold parts from the rest of a picture: its outline, or alone")
      ->check(CLI::IsMember({"none", "outline", "mask"}))
      ->capture_default_str();
  command.add_option("--attention-svg", a.attention_svg, "write attention maps as SVG")->type_name("FILE");
  command.add_option("--attention-png", a.attention_png, "write attention maps as PNG")->type_name("FILE");
  command.add_option("--attention-layer", a.attention_layer,
                     "heads of this layer (default: a map per layer, heads averaged)")
      ->type_name("N");
  command.add_option("--special", a.special, "special tokens in pictures: show, hide, or exclude from the scale")
      ->check(CLI::IsMember({"show", "hide", "exclude"}))
      ->capture_default_str();
  command.add_option("--words", a.words, "how pieces become words")
      ->check(CLI::IsMember({"sum", "mean", "max"}))
      ->capture_default_str();
  command.add_option("--precision", a.precision,
                     "double is slow, and steadier where relevance rules cancel")
      ->check(CLI::IsMember({"single", "double"}))
      ->capture_default_str();
  command.add_option("--seed", a.seed, "for methods that draw random numbers")->capture_default_str();
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
    throw InvalidInput(fmt::format("option '{}': add {} to --method to use it", assignment,
                                   method.name));
  }
}

// Arrays are not those of a Model; all other inputs are.
ExplainRequest request_of(const Arguments& a, const std::vector<std::string>& usual) {
  ExplainRequest request;
  for (const std::string& name : a.methods.empty() ? usual : a.methods) {
    if (!name.empty()) request.methods.push_back({method_named(name).name, {}});
  }
  for (const std::string& option : a.options) add_option(request, option);
  a.target.fill(request);
  request.fold = a.words == "mean" ? WordFold::kMean : a.words == "max" ? WordFold::kMax : WordFold::kSum;
  if (a.precision == "double") request.precision = Precision::kDouble;
  request.top = a.picture.top;
  request.seed = a.seed;
  request.memory_bytes = a.memory_megabytes << 20;
  return request;
}

SpecialTokens special_of(const Arguments& a) {
  if (a.special == "hide") return SpecialTokens::kHide;
  return a.special == "exclude" ? SpecialTokens::kExclude : SpecialTokens::kShow;
}

// After an interruption the answers so far have been given; the exit code tells that they are not all.
void tell_interruption() {
  if (interrupted()) throw Interrupted();
}

template <class Input>
void explain_one(const Arguments& a, const Model& model, const Input& input) {
  if (a.target.targets.size() > 1) {
    throw InvalidInput("a text or a row is explained for one --target at a time");
  }
  ExplainRequest request = request_of(a, usual_methods(model));
  ProgressBar bar("explaining");
  request.progress = [&bar](int64_t done, int64_t total) {
    bar.show(done, total);
    return !interrupted();
  };
  const Explanation explanation = explain(model, input, request);
  bar.clear();
  const ReportOptions report{special_of(a)};
  const AttentionPicture maps{static_cast<int>(a.attention_layer)};
  OutputFiles files;
  files.add(a.html, [&] { return to_html(explanation, report); });
  files.add(a.svg, [&] { return bars_picture(explanation, PictureFormat::kSvg, report); });
  files.add(a.png, [&] { return bars_picture(explanation, PictureFormat::kPng, report); });
  files.add(a.attention_svg,
            [&] { return attention_picture(explanation, PictureFormat::kSvg, maps, report); });
  files.add(a.attention_png,
            [&] { return attention_picture(explanation, PictureFormat::kPng, maps, report); });
  files.add(a.json, [&] { return to_json(explanation) + "\n"; });
  files.write();
  if (a.json == "-") {
    print(to_json(explanation) + "\n");
    return tell_interruption();
  }
  print(to_terminal(explanation,
                    {.colour = may_colour(), .width = terminal_width(), .special = special_of(a)}));
  files.name_them();
  tell_interruption();
}

std::vector<Explanation> explained_picture(const Arguments& a, const Model& model, const PictureFile& picture,
                                           const ExplainRequest& request) {
  if (a.text.has_pair->count() == 0) return explain(model, picture, request);
  return {explain(model, PictureWithText{picture, a.text.pair}, request)};
}

// One explanation for each target; JSON has a line for each.
void explain_picture(const Arguments& a, const PictureFile& picture) {
  if (!a.file.empty()) throw InvalidInput("give a picture or a file of texts, not both");
  const Model model = a.picture.load(a.model);
  ExplainRequest request = request_of(a, usual_methods(model));
  ProgressBar bar("explaining");
  request.progress = [&bar](int64_t done, int64_t total) {
    bar.show(done, total);
    return !interrupted();
  };
  const std::vector<Explanation> explanations = explained_picture(a, model, picture, request);
  bar.clear();
  const ReportOptions report{special_of(a)};
  const OverlayOptions overlay{
      .grain = a.grain == "blocks" ? Grain::kBlocks : Grain::kSmooth,
      .segment = a.segment == "mask"      ? Segment::kMask
                 : a.segment == "outline" ? Segment::kOutline
                                          : Segment::kNone};
  const AttentionPicture maps{static_cast<int>(a.attention_layer)};
  std::string json;
  for (const Explanation& explanation : explanations) {
    json += to_json(explanation, explanations.size() > 1 ? -1 : 2) + "\n";
  }
  OutputFiles files;
  files.add(a.html, [&] { return to_html(explanations, report); });
  files.add(a.svg, [&] { return overlay_picture(explanations, PictureFormat::kSvg, overlay); });
  files.add(a.png, [&] { return overlay_picture(explanations, PictureFormat::kPng, overlay); });
  files.add(a.attention_svg,
            [&] { return attention_picture(explanations[0], PictureFormat::kSvg, maps, report); });
  files.add(a.attention_png,
            [&] { return attention_picture(explanations[0], PictureFormat::kPng, maps, report); });
  files.add(a.json, [&] { return json; });
  files.write();
  if (a.json == "-") {
    print(json);
    return tell_interruption();
  }
  print(to_terminal(explanations,
                    {.colour = may_colour(), .width = terminal_width(), .special = special_of(a)}));
  files.name_them();
  tell_interruption();
}

// A line that could not be explained keeps its place among the answers.
std::string error_line(const std::string& text, const std::string& message) {
  const nlohmann::ordered_json json{
      {"schema", Explanation::kSchema}, {"text", text}, {"error", message}};
  return printable_json(json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) + "\n";
}

// Explains inputs one after the other; `explain_at` gives number i, `text_at` what to call it.
template <class ExplainAt, class TextAt>
void explain_all(const Arguments& a, size_t count, const std::string& what, const ExplainAt& explain_at,
                 const TextAt& text_at) {
  const bool to_file = !a.json.empty() && a.json != "-";
  std::string written;
  int64_t failed = 0;
  ProgressBar bar(what);
  for (size_t i = 0; i < count && !interrupted(); ++i) {
    std::string line;
    try {
      line = to_json(explain_at(i), -1) + "\n";
    } catch (const InvalidInput& error) {
      line = error_line(text_at(i), error.what());
      ++failed;
    } catch (const Interrupted&) {
      break;
    }
    if (to_file) written += line;
    else print(line);
    bar.show(static_cast<int64_t>(i) + 1, static_cast<int64_t>(count));
  }
  bar.clear();
  if (to_file) save(a.json, written);
  tell_interruption();
  if (failed > 0) {
    throw InvalidInput(fmt::format("{} of {} {} could not be explained; their answers have an \"error\"", failed, count,
                                   what));
  }
}

void refuse_pictures(const Arguments& a) {
  if (!a.html.empty() || !a.svg.empty() || !a.png.empty() || !a.attention_svg.empty() ||
      !a.attention_png.empty()) {
    throw InvalidInput(
        "pages and pictures show one text or row; for many of them use --json, or 'whyformer importance'");
  }
}

void explain_lines(const Arguments& a, const std::string& path) {
  refuse_pictures(a);
  const Model model = a.model.load();
  ExplainRequest request = request_of(a, usual_methods(model));
  request.progress = [](int64_t, int64_t) { return !interrupted(); };
  const std::vector<std::string> lines = read_lines(path);
  if (lines.empty()) throw InvalidInput("there is no text: the input has no lines");
  const auto explain_at = [&](size_t i) {
    TextInput input{lines[i], {}};
    if (a.text.has_pair->count() > 0) input.pair = a.text.pair;
    return explain(model, input, request);
  };
  explain_all(a, lines.size(), "lines", explain_at, [&](size_t i) { return lines[i]; });
}

void explain_table(const Arguments& a) {
  if (a.text.given() || !a.file.empty()) throw InvalidInput("give a text or a table, not both");
  if (a.model.model.empty()) throw InvalidInput("--table goes with a model of tables: --model model.onnx");
  const Model model = a.model.load();
  const NamedTable rows = a.table.read();
  if (a.table.has_row->count() > 0 || rows.table.rows == 1) {
    return explain_one(a, model, a.table.input(rows, a.table.row));
  }
  refuse_pictures(a);
  ExplainRequest request = request_of(a, usual_methods(model));
  request.progress = [](int64_t, int64_t) { return !interrupted(); };
  RowInput input = a.table.input(rows, 0);
  const auto explain_at = [&](size_t i) {
    const auto first = rows.table.values.begin() + static_cast<int64_t>(i) * rows.table.columns;
    input.values.assign(first, first + rows.table.columns);
    return explain(model, input, request);
  };
  explain_all(a, static_cast<size_t>(rows.table.rows), "rows", explain_at,
              [](size_t i) { return fmt::format("row {}", i); });
}

// "--method gae rollout" has a text behind it, which is hardly meant.
void refuse_names_of_methods(const Arguments& a) {
  for (const MethodInfo& method : methods()) {
    if (a.methods.empty() || a.text.positional != method.name) continue;
    throw InvalidInput(fmt::format("'{0}' is a method: separate methods by commas, or give it as a text with --text {0}", method.name));
  }
}

void run(const Arguments& a) {
  refuse_names_of_methods(a);
  if (a.table.given()) return explain_table(a);
  if (const auto picture = a.picture.given(a.text)) return explain_picture(a, *picture);
  const std::optional<TextInput> input = a.text.given();
  if (input && !a.file.empty()) {
    throw InvalidInput("give a text or a file of texts, not both");
  }
  if (input) return explain_one(a, a.model.load(), *input);
  if (!a.file.empty()) return explain_lines(a, a.file);
  if (input_is_terminal()) {
    throw InvalidInput("no text or picture: whyformer explain \"I cannot wait for next time\"");
  }
  explain_lines(a, "-");
}

ArrayRequest array_request_of(const Arguments& a) {
  const ExplainRequest plain = request_of(a, {"gae"});
  ArrayRequest request;
  request.target = a.arrays.target();
  request.methods = plain.methods;
  if (a.arrays.has_hiding_id->count() > 0) request.hiding_id = a.arrays.hiding_id;
  request.precision = plain.precision;
  request.seed = plain.seed;
  request.memory_bytes = plain.memory_bytes;
  return request;
}

// Models of any kind.
void run_on_arrays(const Arguments& a) {
  a.arrays.check(a.model.model);
  if (a.text.given() || !a.file.empty() || a.target.any_given()) {
    throw InvalidInput(
        "with --inputs the target is chosen by --output and --element; texts, --target and --read-out do not go with it");
  }
  ArrayRequest request = array_request_of(a);
  ProgressBar bar("explaining");
  request.progress = [&bar](int64_t done, int64_t total) {
    bar.show(done, total);
    return !interrupted();
  };
  const ArrayExplanation explanation =
      ArrayModel::load(a.model.model, a.arrays.batch_axis.batch_axes()).explain(read_array_views(a.arrays.inputs), request);
  bar.clear();
  const ReportOptions report{special_of(a)};
  const AttentionPicture maps{static_cast<int>(a.attention_layer)};
  const Explanation& inner = explanation.explanation;
  if (inner.attention.empty() && !(a.attention_svg + a.attention_png).empty()) {
    throw InvalidInput("pictures of attention show one stream of tokens; whyformer trace saves the maps of several");
  }
  for (const std::string& note : inner.notes) tell("note: " + note);
  OutputFiles files;
  files.add(a.html, [&] { return to_html(inner, report); });
  files.add(a.svg, [&] { return bars_picture(inner, PictureFormat::kSvg, report); });
  files.add(a.png, [&] { return bars_picture(inner, PictureFormat::kPng, report); });
  files.add(a.attention_svg, [&] { return attention_picture(inner, PictureFormat::kSvg, maps, report); });
  files.add(a.attention_png, [&] { return attention_picture(inner, PictureFormat::kPng, maps, report); });
  files.add(a.json, [&] { return to_json(explanation) + "\n"; });
  files.write();
  if (a.json == "-") print(to_json(explanation) + "\n");
  else print(to_terminal(explanation));
  if (a.json != "-") files.name_them();
  tell_interruption();
}

}  // namespace

void add_explain(CLI::App& program) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = program.add_subcommand("explain", "Explain a prediction");
  add_arguments(*command, *arguments);
  command->callback([arguments] {
    const Arguments& a = *arguments;
    check_outputs({a.html, a.json, a.svg, a.png, a.attention_svg, a.attention_png},
                  {a.file, a.model.model, a.picture.picture, a.text.positional, a.table.table, a.table.background, a.arrays.inputs});
    if (arguments->arrays.given()) run_on_arrays(*arguments);
    else run(*arguments);
  });
}

}  // namespace whyformer::cli
