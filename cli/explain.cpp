#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "answer_lines.h"
#include "array_arguments.h"
#include "command.h"
#include "console.h"
#include "line_reader.h"
#include "model_arguments.h"
#include "output_files.h"
#include "table_arguments.h"
#include "whyformer/error.h"
#include "whyformer/printable.h"
#include "whyformer/report.h"

namespace whyformer::cli {
namespace {

struct ExplainArguments {
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
  CLI::Option *has_grain = nullptr, *has_segment = nullptr, *has_words = nullptr;
  int64_t attention_layer = -1, attention_head = -1;
  int64_t seed = 0;
  int64_t memory_megabytes = 1024;
};

void add_arguments(CLI::App& command, ExplainArguments& a) {
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

// Options that say nothing to the kind of input at hand would be ignored.
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

// With the methods that fit the model where none is named; those for a row depend on it.
ExplainRequest request_of(const ExplainArguments& a, const Model& model) {
  return request_of(a, a.methods.empty() ? usual_methods(model) : a.methods);
}
ExplainRequest request_of(const ExplainArguments& a, const Model& model, const TextInput&) {
  return request_of(a, model);
}
ExplainRequest request_of(const ExplainArguments& a, const Model& model, const RowInput& row) {
  return request_of(a, a.methods.empty() ? usual_methods(model, row) : a.methods);
}

SpecialTokens special_of(const ExplainArguments& a) {
  if (a.special == "hide") return SpecialTokens::kHide;
  return a.special == "exclude" ? SpecialTokens::kExclude : SpecialTokens::kShow;
}

// After an interruption the answers so far have been given; the exit code tells that they are not
// all.
void tell_interruption() {
  if (interrupted()) throw Interrupted();
}

template <class Input>
void explain_one(const ExplainArguments& a, const Model& model, const Input& input) {
  if (a.target.targets.size() > 1) {
    throw InvalidInput("a text or a row is explained for one --target at a time");
  }
  ExplainRequest request = request_of(a, model, input);
  const KeepAnswers keep;
  ProgressBar bar("explaining");
  request.progress = [&bar](int64_t done, int64_t total) {
    bar.show(done, total);
    return !interrupted();
  };
  const Explanation explanation = explain(model, input, request);
  bar.clear();
  const ReportOptions report{special_of(a)};
  const AttentionPicture maps{static_cast<int>(a.attention_layer),
                              static_cast<int>(a.attention_head)};
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

std::vector<Explanation> explained_picture(const ExplainArguments& a, const Model& model,
                                           const PictureFile& picture,
                                           const ExplainRequest& request) {
  if (a.text.has_pair->count() == 0) return explain(model, picture, request);
  return {explain(model, PictureWithText{picture, a.text.pair}, request)};
}

// One explanation for each target; JSON has a line for each.
void explain_picture(const ExplainArguments& a, const PictureFile& picture) {
  check_options_of_pictures(a);
  if (!a.file.empty()) throw InvalidInput("give a picture or a file of texts, not both");
  const Model model = a.picture.load(a.model);
  ExplainRequest request = request_of(a, model);
  const KeepAnswers keep;
  ProgressBar bar("explaining");
  request.progress = [&bar](int64_t done, int64_t total) {
    bar.show(done, total);
    return !interrupted();
  };
  const std::vector<Explanation> explanations = explained_picture(a, model, picture, request);
  bar.clear();
  const ReportOptions report{special_of(a)};
  const OverlayOptions overlay{.grain = a.grain == "blocks" ? Grain::kBlocks : Grain::kSmooth,
                               .segment = a.segment == "mask"      ? Segment::kMask
                                          : a.segment == "outline" ? Segment::kOutline
                                                                   : Segment::kNone};
  const AttentionPicture maps{static_cast<int>(a.attention_layer),
                              static_cast<int>(a.attention_head)};
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

void refuse_pictures(const ExplainArguments& a) {
  if (!a.html.empty() || !a.svg.empty() || !a.png.empty() || !a.attention_svg.empty() ||
      !a.attention_png.empty()) {
    throw InvalidInput(
        "pages and pictures show one text or row; for many of them use --json, or 'whyformer "
        "importance'");
  }
}

void explain_lines(const ExplainArguments& a, const std::string& path) {
  refuse_pictures(a);
  const Model model = a.model.load();
  ExplainRequest request = request_of(a, model);
  request.progress = [](int64_t, int64_t) { return !interrupted(); };
  const KeepAnswers keep;
  LineReader lines(path);
  AnswerLines answers(a.json, "lines", progress_is_visible() ? count_lines(path) : 0);
  while (const auto line = lines.next()) {
    const auto explain_line = [&] {
      line->check_length();
      TextInput input{line->text, {}};
      if (a.text.has_pair->count() > 0) input.pair = a.text.pair;
      return explain(model, input, request);
    };
    if (!answers.add(line->text, explain_line)) break;
  }
  if (answers.count() == 0 && !interrupted())
    throw InvalidInput("there is no text: the input has no lines");
  answers.finish();
}

void explain_table(const ExplainArguments& a) {
  if (a.text.given() || !a.file.empty()) throw InvalidInput("give a text or a table, not both");
  if (a.model.model.empty())
    throw InvalidInput("--table goes with a model of tables: --model model.onnx");
  const Model model = a.model.load();
  const NamedTable rows = a.table.read();
  if (a.table.has_row->count() > 0 || rows.table.rows == 1) {
    return explain_one(a, model, a.table.input(rows, a.table.row));
  }
  refuse_pictures(a);
  ExplainRequest request = request_of(a, model, a.table.input(rows, 0));
  request.progress = [](int64_t, int64_t) { return !interrupted(); };
  RowInput input = a.table.input(rows, 0);
  const KeepAnswers keep;
  AnswerLines answers(a.json, "rows", rows.table.rows);
  for (int64_t row = 0; row < rows.table.rows; ++row) {
    const auto first = rows.table.values.begin() + row * rows.table.columns;
    input.values.assign(first, first + rows.table.columns);
    if (!answers.add(fmt::format("row {}", row), [&] { return explain(model, input, request); }))
      break;
  }
  answers.finish();
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

void run(const ExplainArguments& a) {
  refuse_names_of_methods(a);
  if (a.arrays.has_hiding_id->count() > 0) {
    throw InvalidInput("--hiding-id goes with --inputs: texts have their tokenizer's mask token");
  }
  if (a.table.given()) {
    refuse_what_texts_have(a);
    refuse_what_pictures_have(a);
    return explain_table(a);
  }
  if (const auto picture = a.picture.given(a.text)) return explain_picture(a, *picture);
  refuse_what_pictures_have(a);
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

// Models of any kind.
void run_on_arrays(const ExplainArguments& a) {
  a.arrays.check(a.model.model);
  refuse_what_texts_have(a);
  refuse_what_pictures_have(a);
  if (a.table.given()) throw InvalidInput("give a table or arrays, not both");
  if (a.text.given() || !a.file.empty() || a.target.any_given()) {
    throw InvalidInput(
        "with --inputs the target is chosen by --output and --element; texts, --target and "
        "--read-out do not go with it");
  }
  const ArrayModel model = ArrayModel::load(a.model.model, a.arrays.batch_axis.batch_axes());
  const ArrayViews inputs = read_array_views(a.arrays.inputs);
  ArrayRequest request = array_request_of(a, model, inputs);
  const KeepAnswers keep;
  ProgressBar bar("explaining");
  request.progress = [&bar](int64_t done, int64_t total) {
    bar.show(done, total);
    return !interrupted();
  };
  const ArrayExplanation explanation = model.explain(inputs, request);
  bar.clear();
  const ReportOptions report{special_of(a)};
  const AttentionPicture maps{static_cast<int>(a.attention_layer),
                              static_cast<int>(a.attention_head)};
  const Explanation& inner = explanation.explanation;
  if (inner.attention.empty() && !(a.attention_svg + a.attention_png).empty()) {
    throw InvalidInput(
        "pictures of attention show one stream of tokens; this model has several, whose maps "
        "whyformer trace saves, or no attention "
        "over what gets scores");
  }
  for (const std::string& note : inner.notes) tell("note: " + note);
  OutputFiles files;
  files.add(a.html, [&] { return to_html(inner, report); });
  files.add(a.svg, [&] { return bars_picture(inner, PictureFormat::kSvg, report); });
  files.add(a.png, [&] { return bars_picture(inner, PictureFormat::kPng, report); });
  files.add(a.attention_svg,
            [&] { return attention_picture(inner, PictureFormat::kSvg, maps, report); });
  files.add(a.attention_png,
            [&] { return attention_picture(inner, PictureFormat::kPng, maps, report); });
  files.add(a.json, [&] { return to_json(explanation) + "\n"; });
  files.write();
  if (a.json == "-")
    print(to_json(explanation) + "\n");
  else
    print(to_terminal(explanation));
  if (a.json != "-") files.name_them();
  tell_interruption();
}

}  // namespace

void add_explain(CLI::App& program) {
  auto arguments = std::make_shared<ExplainArguments>();
  CLI::App* command = program.add_subcommand("explain", "Explain a prediction");
  add_arguments(*command, *arguments);
  command->callback([arguments] {
    const ExplainArguments& a = *arguments;
    check_outputs({a.html, a.json, a.svg, a.png, a.attention_svg, a.attention_png},
                  {a.file, a.model.model, a.picture.picture,
                   means_picture(a.text.positional) ? a.text.positional : "", a.table.table,
                   a.table.background, a.arrays.inputs});
    if (a.attention_layer >= 0 && a.attention_svg.empty() && a.attention_png.empty()) {
      throw InvalidInput(
          "--attention-layer and --attention-head choose what --attention-svg or --attention-png "
          "draw");
    }
    if (arguments->arrays.given())
      run_on_arrays(*arguments);
    else
      run(*arguments);
  });
}

}  // namespace whyformer::cli
