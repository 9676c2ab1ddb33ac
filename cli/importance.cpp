#include "whyformer/importance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "command.h"
#include "console.h"
#include "model_arguments.h"
#include "output_files.h"
#include "whyformer/error.h"
#include "whyformer/printable.h"
#include "whyformer/report.h"
#include "whyformer/summary.h"

namespace whyformer::cli {
namespace {

struct Arguments {
  ModelArguments model;
  std::string table, file, answers, method, score = "auto", target;
  std::string json, html, svg, png, plot = "beeswarm";
  std::vector<std::string> groups, options;
  int64_t repeats = 5, draws = 0, background_rows = 100, seed = 0;
  double precision = 0.025;
};

void add_arguments(CLI::App& command, Arguments& a) {
  a.model.add_to(command);
  command.add_option("--table", a.table, "rows of numbers: CSV with names of columns, or safetensors")
      ->type_name("FILE");
  command.add_option("-f,--file", a.file, "texts, one per line ('-': standard input)")->type_name("FILE");
  command.add_option("--answers", a.answers, "the table's column that holds the right class or number")
      ->type_name("COLUMN");
  command.add_option("--method", a.method,
                     "with answers: shuffle each column (permutation, the default), or share out the loss (sage); "
                     "without: mean scores over all texts or rows of any method (default: shap)")
      ->type_name("NAME");
  command.add_option("-o,--option", a.options, "option of the method, such as max-evals=200; may be repeated")
      ->type_name("NAME=VALUE");
  command.add_option("--target", a.target, "label or number of the output to explain (default: each one's highest)")
      ->type_name("LABEL");
  command.add_option("--score", a.score, "how good answers are; auto: accuracy or r2, for sage a loss")
      ->check(CLI::IsMember({"auto", "accuracy", "cross-entropy", "r2", "squared-error"}))
      ->capture_default_str();
  command.add_option("--group", a.groups, "columns that go together, separated by commas; may be repeated")
      ->type_name("COLUMNS");
  command.add_option("--repeats", a.repeats, "permutation: shuffles of each column")
      ->check(CLI::Range(int64_t{1}, int64_t{100000}))
      ->capture_default_str();
  command.add_option("--precision", a.precision, "sage: largest standard error, as a share of the values' range")
      ->check(CLI::Range(1e-6, 1.0))
      ->capture_default_str();
  command.add_option("--draws", a.draws, "sage: at most so many; 0: 512 for each column")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 40))
      ->capture_default_str();
  command.add_option("--background-rows", a.background_rows, "rows that hidden columns are taken from, at most")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20))
      ->capture_default_str();
  command.add_option("--seed", a.seed, "of all random draws")->capture_default_str();
  command.add_option("--json", a.json, "write JSON ('-': standard output)")->type_name("FILE");
  command.add_option("--html", a.html, "without answers: write a page with both plots")->type_name("FILE");
  command.add_option("--svg", a.svg, "without answers: write a plot as SVG")->type_name("FILE");
  command.add_option("--png", a.png, "without answers: write a plot as PNG")->type_name("FILE");
  command.add_option("--plot", a.plot, "which one: a point for each score, or mean sizes as bars")
      ->check(CLI::IsMember({"beeswarm", "bar"}))
      ->capture_default_str();
}

std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names;
  size_t begin = 0;
  while (begin <= list.size()) {
    const size_t end = std::min(list.find(',', begin), list.size());
    names.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

ImportanceScore score_named(const std::string& name) {
  if (name == "accuracy") return ImportanceScore::kAccuracy;
  if (name == "cross-entropy") return ImportanceScore::kCrossEntropy;
  if (name == "r2") return ImportanceScore::kR2;
  return name == "squared-error" ? ImportanceScore::kSquaredError : ImportanceScore::kAuto;
}

// A bar for each column, the most important first.
std::string to_terminal(const ImportanceReport& report) {
  constexpr int kWidth = 30;
  std::vector<ColumnImportance> columns = report.columns;
  std::stable_sort(columns.begin(), columns.end(), [](const auto& a, const auto& b) { return a.value > b.value; });
  size_t longest = 0;
  double most = 0;
  for (ColumnImportance& column : columns) {
    column.name = printable(column.name);
    longest = std::max(longest, column.name.size());
    most = std::max(most, std::abs(column.value));
  }
  std::string text =
      report.method == "sage"
          ? fmt::format("{}: all columns together save {:.4g} of {} ({} rows)\n\n", printable(report.model.name), report.whole,
                        report.score, report.rows)
          : fmt::format("{}: {} {:.4g} on {} rows; it falls by\n\n", printable(report.model.name), report.score, report.whole,
                        report.rows);
  for (const ColumnImportance& column : columns) {
    std::string bar;
    const int steps = most > 0 ? static_cast<int>(std::lround(kWidth * std::abs(column.value) / most)) : 0;
    for (int i = 0; i < steps; ++i) bar += column.value < 0 ? "░" : "█";
    const std::string error = std::isfinite(column.error) ? fmt::format("{:.4f}", column.error) : "?";
    text += fmt::format("  {:>{}}  {:>+9.4f} ± {:<7} {}\n", column.name, longest, column.value, error, bar);
  }
  text += fmt::format("\n  {}, seed {}, {} rows predicted in {:.3g} s\n", report.method, report.seed, report.evaluations,
                      report.seconds);
  for (const std::string& note : report.notes) text += "  " + printable(note) + "\n";
  return text;
}

// With the right answers: which columns the model needs to find them.
void run_with_answers(const Arguments& a) {
  if (a.model.model.empty()) throw InvalidInput("importance needs a model of tables: --model model.onnx");
  if (!a.options.empty() || !a.target.empty()) {
    throw InvalidInput("--option and --target belong to methods that explain each row: leave out --answers");
  }
  if (!a.html.empty() || !a.svg.empty() || !a.png.empty()) {
    throw InvalidInput("with --answers the importance is shown in the terminal and as JSON");
  }
  const Model model = a.model.load();
  NamedTable rows = read_table(a.table);
  const std::vector<double> answers = take_column(rows, a.answers);
  ProgressBar bar("rows");
  ImportanceRequest request{
      .method = a.method == "sage" ? ImportanceMethod::kSage : ImportanceMethod::kPermutation,
      .score = score_named(a.score),
      .repeats = a.repeats,
      .precision = a.precision,
      .draws = a.draws,
      .background_rows = a.background_rows,
      .seed = a.seed,
      .progress = [&bar](int64_t done, int64_t total) {
        bar.show(done, total);
        return !interrupted();
      }};
  for (const std::string& group : a.groups) request.groups.push_back(names_in(group));
  const ImportanceReport report = importance(model, rows, answers, request);
  bar.clear();
  if (!a.json.empty() && a.json != "-") save(a.json, to_json(report) + "\n");
  if (a.json == "-") print(to_json(report) + "\n");
  else print(to_terminal(report));
  if (interrupted()) throw Interrupted();  // what there was is given
}

ExplainRequest request_of(const Arguments& a) {
  const MethodInfo& method = method_named(a.method.empty() ? "shap" : a.method);
  ExplainRequest request;
  request.methods = {{method.name, {}}};
  for (const std::string& option : a.options) {
    const bool named = option.starts_with(method.name + ".");
    const Options values = parse_option(method, std::string_view(option).substr(named ? method.name.size() + 1 : 0));
    request.methods[0].options.insert(request.methods[0].options.end(), values.begin(), values.end());
  }
  request.seed = a.seed;
  request.progress = [](int64_t, int64_t) { return !interrupted(); };
  if (!a.target.empty()) request.target = a.target;
  return request;
}

// Explains each text or row; an interruption keeps those that are done.
std::vector<Explanation> explain_all(const Arguments& a) {
  const ExplainRequest request = request_of(a);
  const Model model = a.model.load();
  std::vector<std::string> lines;
  NamedTable rows;
  if (a.table.empty()) lines = read_lines(a.file);
  else rows = read_table(a.table);
  const auto count = a.table.empty() ? static_cast<int64_t>(lines.size()) : rows.table.rows;
  if (count == 0) throw InvalidInput("there is no text: the input has no lines");
  if (rows.table.rows == 1) throw InvalidInput("one row has nothing to be compared with: give a table of several");
  const Table background = background_of(rows.table, a.background_rows);
  int64_t failed = 0;
  std::vector<Explanation> explanations;
  ProgressBar bar(a.table.empty() ? "texts" : "rows");
  for (int64_t i = 0; i < count && !interrupted(); ++i) {
    try {
      if (a.table.empty()) {
        explanations.push_back(explain(model, TextInput{lines[i], {}}, request));
      } else {
        const auto first = rows.table.values.begin() + i * rows.table.columns;
        explanations.push_back(
            explain(model, RowInput{rows.names, {first, first + rows.table.columns}, background, {}}, request));
      }
    } catch (const Interrupted&) {
      break;
    } catch (const InvalidInput& error) {
      if (++failed == count) throw;
      bar.clear();
      tell(fmt::format("left out {} {}: {}", a.table.empty() ? "line" : "row", a.table.empty() ? i + 1 : i, error.what()));
    }
    bar.show(i + 1, count);
  }
  if (explanations.empty()) throw Interrupted();
  return explanations;
}

// Without answers: scores of a method over many texts or rows.
void run_over_many(const Arguments& a) {
  if (!a.groups.empty()) throw InvalidInput("--group goes with --answers");
  if (a.method == "permutation" || a.method == "sage") {
    throw InvalidInput(fmt::format("{} compares with the right answers: --answers COLUMN", a.method));
  }
  const std::vector<Explanation> explanations = explain_all(a);
  const Summary summary = summarise(explanations, explanations[0].attributions[0].method);
  const SummaryPlot plot = a.plot == "bar" ? SummaryPlot::kBar : SummaryPlot::kBeeswarm;
  OutputFiles files;
  files.add(a.html, [&] { return to_html(summary); });
  files.add(a.svg, [&] { return summary_picture(summary, plot, PictureFormat::kSvg); });
  files.add(a.png, [&] { return summary_picture(summary, plot, PictureFormat::kPng); });
  files.add(a.json, [&] { return to_json(summary) + "\n"; });
  files.write();
  if (a.json == "-") print(to_json(summary) + "\n");
  else print(to_terminal(summary, {.colour = may_colour(), .width = terminal_width()}));
  if (interrupted()) throw Interrupted();
}

void run(const Arguments& a) {
  check_outputs({a.html, a.json, a.svg, a.png}, {a.file, a.table, a.model.model});
  if (!a.table.empty() && !a.file.empty()) throw InvalidInput("give a table or a file of texts, not both");
  if (a.table.empty() && a.file.empty()) {
    throw InvalidInput("nothing to look at: --file texts.txt, or --table rows.csv with a model of tables");
  }
  if (!a.answers.empty()) {
    if (a.table.empty()) throw InvalidInput("--answers names a column of a --table");
    if (!a.method.empty() && a.method != "permutation" && a.method != "sage") {
      throw InvalidInput(fmt::format("with --answers the method is permutation or sage, not '{}'", a.method));
    }
    return run_with_answers(a);
  }
  run_over_many(a);
}

}  // namespace

void add_importance(CLI::App& program) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = program.add_subcommand("importance", "What matters to a model over many texts or rows");
  add_arguments(*command, *arguments);
  command->callback([arguments] { run(*arguments); });
}

}  // namespace whyformer::cli
