#include <fmt/format.h>

#include <memory>

#include "answer_lines.h"
#include "command.h"
#include "console.h"
#include "explain_arguments.h"
#include "line_reader.h"
#include "output_files.h"
#include "whyformer/error.h"
#include "whyformer/report.h"

namespace whyformer::cli {
namespace {

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
  arguments->add_to(*command);
  command->callback([arguments] {
    arguments->check();
    if (arguments->arrays.given())
      run_on_arrays(*arguments);
    else
      run(*arguments);
  });
}

}  // namespace whyformer::cli
