#include <fmt/format.h>

#include <memory>
#include <numeric>
#include <span>

#include "answer_lines.h"
#include "command.h"
#include "console.h"
#include "explain_arguments.h"
#include "labelled_texts.h"
#include "output_files.h"
#include "whyformer/error.h"
#include "whyformer/report.h"

namespace whyformer::cli {
namespace {

using Explanations = std::vector<Explanation>;

// A picture shows its heat maps; all other inputs their scores as bars.
std::string plot_of(const ExplainArguments& a, const Explanations& explanations,
                    PictureFormat format) {
  if (explanations[0].picture) return overlay_picture(explanations, format, overlay_of(a));
  return bars_picture(explanations[0], format, {special_of(a)});
}

std::string attention_of(const ExplainArguments& a, const Explanation& explanation,
                         PictureFormat format) {
  if (explanation.attention.empty() && !explanation.streams.empty()) {
    throw InvalidInput(
        "attention pictures need a model with one token stream; 'whyformer trace' saves the maps "
        "of "
        "others.");
  }
  const AttentionPicture maps{static_cast<int>(a.attention_layer),
                              static_cast<int>(a.attention_head)};
  return attention_picture(explanation, format, maps, {special_of(a)});
}

// One explanation for each target; of several, JSON has a line for each.
void report(const ExplainArguments& a, const Explanations& explanations) {
  const Explanation& first = explanations[0];
  if (!first.streams.empty()) {  // whose reports leave notes out
    for (const std::string& note : first.notes) tell("note: " + note);
  }
  std::string json;
  for (const Explanation& explanation : explanations) {
    json += to_json(explanation, explanations.size() > 1 ? -1 : 2) + "\n";
  }
  OutputFiles files;
  files.add(a.html, [&] { return to_html(explanations, {special_of(a)}); });
  files.add(a.svg, [&] { return plot_of(a, explanations, PictureFormat::kSvg); });
  files.add(a.png, [&] { return plot_of(a, explanations, PictureFormat::kPng); });
  files.add(a.waterfall_svg, [&] { return waterfall_picture(first, PictureFormat::kSvg); });
  files.add(a.waterfall_png, [&] { return waterfall_picture(first, PictureFormat::kPng); });
  files.add(a.attention_svg, [&] { return attention_of(a, first, PictureFormat::kSvg); });
  files.add(a.attention_png, [&] { return attention_of(a, first, PictureFormat::kPng); });
  files.add(a.json, [&] { return json; });
  files.write();
  if (a.json == "-") {
    print(json);
    return;
  }
  print(to_terminal(explanations,
                    {.colour = may_colour(), .width = terminal_width(), .special = special_of(a)}));
  files.name_them();
}

void explain_one(const ExplainArguments& a, const Model& model, const InputValue& input) {
  ExplainRequest request = request_of(a, model, input);
  const KeepAnswers keep;
  ProgressBar bar("evaluations");
  request.progress = [&bar](int64_t done, int64_t total) {
    bar.show(done, total);
    return !interrupted();
  };
  const Explanations explanations = explain(model, input, request);
  bar.clear();
  report(a, explanations);
  // The answers so far have been given; the exit code tells that they are not all.
  if (interrupted()) throw Interrupted();
}

void explain_lines(const ExplainArguments& a, const std::string& path) {
  refuse_pictures(a);
  const Model model = a.input.model.load();
  TextInput input;
  model.reader_of(input);  // refuses texts where the model reads something else
  if (a.input.text.has_pair->count() > 0) input.pair = a.input.text.pair;
  ExplainRequest request = request_of(a, model, input);
  request.progress = [](int64_t, int64_t) { return !interrupted(); };
  const KeepAnswers keep;
  TextLines lines(path);
  AnswerLines answers(a.json, "lines", progress_is_visible() ? count_lines(path) : 0);
  while (const auto text = lines.next()) {
    const auto explain_line = [&] {
      TextInput own = text->input();
      if (!own.pair) own.pair = input.pair;
      return explain(model, own, request).front();
    };
    if (!answers.add(text->line.text, explain_line)) break;
  }
  if (answers.count() == 0 && !interrupted()) throw InvalidInput("the input is empty");
  answers.finish();
}

// Rows that run together; JSON lines of one group are written before the next is read.
constexpr size_t kRowsTogether = 256;

void explain_rows(const ExplainArguments& a, const Model& model, const NamedTable& rows,
                  std::span<const int64_t> chosen) {
  RowInput input = a.table.input(model, rows, chosen[0]);
  ExplainRequest request = request_of(a, model, input);
  request.progress = [](int64_t, int64_t) { return !interrupted(); };
  const KeepAnswers keep;
  AnswerLines answers(a.json, "rows", static_cast<int64_t>(chosen.size()));
  for (size_t done = 0; done < chosen.size() && !interrupted();) {
    const auto group = chosen.subspan(done, std::min(kRowsTogether, chosen.size() - done));
    std::vector<InputValue> inputs;
    for (const int64_t row : group) {
      a.table.take_row(model, rows, row, input);
      inputs.emplace_back(input);
    }
    const auto refused = [&](size_t i, const Error& why) {
      const auto* error = dynamic_cast<const InvalidInput*>(&why);
      if (error == nullptr) throw;
      return answers.add_problem(fmt::format("row {}", group[i]), *error);
    };
    try {
      explain_each(
          model, inputs, request,
          [&](size_t, const std::vector<Explanation>& found) { return answers.add(found[0]); },
          refused);
    } catch (const Interrupted&) {
      break;
    }
    done += group.size();
  }
  answers.finish();
}

void explain_table(const ExplainArguments& a) {
  const Model model = a.input.model.load_for_tables();
  const NamedTable rows = a.table.read(model);
  std::vector<int64_t> chosen = a.table.rows_in(rows);
  if (chosen.empty()) {
    chosen.resize(static_cast<size_t>(rows.table.rows));
    std::iota(chosen.begin(), chosen.end(), 0);
  }
  if (chosen.size() == 1) return explain_one(a, model, a.table.input(model, rows, chosen[0]));
  refuse_pictures(a);
  explain_rows(a, model, rows, chosen);
}

void run(const ExplainArguments& a) {
  if (a.input.arrays.given()) {
    check_options_of_arrays(a);
  } else if (a.table.given()) {
    check_options_of_tables(a);
    return explain_table(a);
  }
  const std::optional<InputValue> input = a.input.given();
  if (input && is_picture(*input)) {
    check_options_of_pictures(a);
  } else if (!a.input.arrays.given()) {
    check_options_of_texts(a);
  }
  if (input) return explain_one(a, a.input.load(*input), *input);
  if (a.file.empty() && input_is_terminal()) {
    throw InvalidInput("no text or picture: whyformer explain \"I cannot wait for next time\"");
  }
  explain_lines(a, a.file.empty() ? "-" : a.file);
}

}  // namespace

void add_explain(CLI::App& program) {
  auto arguments = std::make_shared<ExplainArguments>();
  CLI::App* command = program.add_subcommand("explain", "Explain a prediction");
  arguments->add_to(*command);
  command->callback([arguments] {
    arguments->check();
    run(*arguments);
  });
}

}  // namespace whyformer::cli
