#include "whyformer/importance.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "command.h"
#include "console.h"
#include "labelled_texts.h"
#include "model_arguments.h"
#include "option_groups.h"
#include "output_files.h"
#include "whyformer/compared_importances.h"
#include "whyformer/error.h"
#include "whyformer/report.h"
#include "whyformer/summary.h"

namespace whyformer::cli {
namespace {

struct ImportanceArguments {
  ModelArguments model;
  std::string table, file, answers, method, score = "auto", target;
  std::string json, html, svg, png, plot = "beeswarm", column;
  std::vector<std::string> groups, options;
  int64_t repeats = 5, draws = 0, background_rows = 100, seed = 0;
  double precision = 0.025;
  bool all = false;
};

void add_inputs(CLI::App& command, ImportanceArguments& a) {
  start_group(command, OptionGroup::kInput);
  command.add_option("--table", a.table, "table of numbers (CSV or safetensors)")
      ->type_name("FILE");
  command.add_option("-f,--file", a.file, "texts, one per line ('-': standard input)")
      ->type_name("FILE");
  command.add_option("--answers", a.answers, "column of the table with the true class or number")
      ->type_name("COLUMN");
  command
      .add_option("--group", a.groups,
                  "columns that go together, separated by commas; may be repeated")
      ->type_name("COLUMNS");
  command.add_option("--background-rows", a.background_rows, "maximum number of background rows")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20))
      ->capture_default_str();
}

void add_methods(CLI::App& command, ImportanceArguments& a) {
  start_group(command, OptionGroup::kMethods);
  command.add_flag("--all", a.all,
                   "with answers: attention (--method, default raw-attention:gorishniy), shap, "
                   "permutation and sage side by side, with ranks and intervals");
  command
      .add_option("--method", a.method,
                  "with answers: permutation (default) or sage; without: mean scores of any "
                  "method over all texts or rows (default: shap)")
      ->type_name("NAME");
  command
      .add_option("-o,--option", a.options,
                  "option of the method, such as max-evals=200; may be repeated")
      ->type_name("NAME=VALUE");
  command.add_option("--score", a.score, "metric; auto: accuracy or r2, for sage a loss")
      ->check(CLI::IsMember({"auto", "accuracy", "cross-entropy", "r2", "squared-error"}))
      ->capture_default_str();
  command.add_option("--repeats", a.repeats, "permutation: number of shuffles of each column")
      ->check(CLI::Range(int64_t{1}, int64_t{100000}))
      ->capture_default_str();
  command
      .add_option("--precision", a.precision,
                  "sage: largest standard error, as a share of the values' range")
      ->check(CLI::Range(1e-6, 1.0))
      ->capture_default_str();
  command.add_option("--draws", a.draws, "sage: maximum number of draws; 0: 512 for each column")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 40))
      ->capture_default_str();
  command.add_option("--seed", a.seed, "seed of all random draws")->capture_default_str();
}

void add_outputs(CLI::App& command, ImportanceArguments& a) {
  start_group(command, OptionGroup::kOutput);
  command.add_option("--json", a.json, "JSON ('-': standard output)")->type_name("FILE");
  command.add_option("--html", a.html, "HTML page with all plots (without answers)")
      ->type_name("FILE");
  command.add_option("--svg", a.svg, "plot as SVG (without answers)")->type_name("FILE");
  command.add_option("--png", a.png, "plot as PNG (without answers)")->type_name("FILE");
  command
      .add_option("--plot", a.plot,
                  "kind of plot: a point per score, mean |score| as bars, features by inputs, or "
                  "scores over the values of a column")
      ->check(CLI::IsMember({"beeswarm", "bar", "heat-map", "dependence"}))
      ->capture_default_str();
  command
      .add_option("--column", a.column, "column of the dependence plot (default: the strongest)")
      ->type_name("NAME");
}

void add_arguments(CLI::App& command, ImportanceArguments& a) {
  add_inputs(command, a);
  a.model.add_to(command);
  add_methods(command, a);
  a.model.add_output_to(command);
  command.add_option("--target", a.target, "label or index (default: the highest of each input)")
      ->type_name("LABEL|N");
  add_outputs(command, a);
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

ImportanceRequest importance_request(const ImportanceArguments& a) {
  ImportanceRequest request{.score = score_named(a.score),
                            .repeats = a.repeats,
                            .precision = a.precision,
                            .draws = a.draws,
                            .background_rows = a.background_rows,
                            .seed = a.seed};
  for (const std::string& group : a.groups) request.groups.push_back(names_in(group));
  return request;
}

Progress shown_by(ProgressBar& bar) {
  return [&bar](int64_t done, int64_t total) {
    bar.show(done, total);
    return !interrupted();
  };
}

ImportanceReport importance_of(const ImportanceArguments& a, const Model& model,
                               const NamedTable& rows, const std::vector<double>& answers) {
  ProgressBar bar("rows");
  ImportanceRequest request = importance_request(a);
  if (a.method == "sage") request.method = ImportanceMethod::kSage;
  request.progress = shown_by(bar);
  ImportanceReport report = importance(model, rows, answers, request);
  bar.clear();
  return report;
}

// The right answers, which then are no column of the table any more.
std::vector<double> take_answers(const ImportanceArguments& a, const Model& model,
                                 NamedTable& rows) {
  if (!model.reads_words()) return take_column(rows, a.answers);
  return answers_in(model, take_cells(rows, a.answers));
}

// With the right answers: which columns the model needs to find them.
void run_with_answers(const ImportanceArguments& a) {
  if (!a.options.empty() || !a.target.empty()) {
    throw InvalidInput(
        "--option and --target belong to methods that explain each row: leave out --answers");
  }
  if (!a.html.empty() || !a.svg.empty() || !a.png.empty()) {
    throw InvalidInput("with --answers the importance is shown in the terminal and as JSON");
  }
  const Model model = a.model.load_for_tables();
  NamedTable rows = read_table_for(model, a.table);
  const std::vector<double> answers = take_answers(a, model, rows);
  const KeepAnswers keep;
  const ImportanceReport report = importance_of(a, model, rows, answers);
  OutputFiles files;
  files.add(a.json, [&] { return to_json(report) + "\n"; });
  files.write();
  if (a.json == "-")
    print(to_json(report) + "\n");
  else
    print(to_terminal(report));
  files.name_them();
  if (interrupted()) throw Interrupted();  // what there was is given
}

ExplainRequest request_of(const ImportanceArguments& a) {
  const std::string name = a.method.empty() ? "shap" : a.method;
  const MethodInfo& method = method_named(name);
  ExplainRequest request;
  request.methods = {{name, {}}};
  for (const std::string& option : a.options) {
    const bool named = option.starts_with(name + ".");
    const Options values =
        parse_option(method, std::string_view(option).substr(named ? name.size() + 1 : 0));
    request.methods[0].options.insert(request.methods[0].options.end(), values.begin(),
                                      values.end());
  }
  request.seed = a.seed;
  request.progress = [](int64_t, int64_t) { return !interrupted(); };
  if (!a.target.empty()) request.target = a.target;
  return request;
}

// Explains texts or rows one after the other; an interruption keeps those that are done.
class ExplainedInputs {
 public:
  ExplainedInputs(const char* what, int64_t total)
      : what_(what), total_(total), bar_(std::string(what) + "s") {}

  // False where the user interrupted.
  bool add(int64_t number, const std::function<Explanation()>& explain) {
    try {
      return add(explain());
    } catch (const Interrupted&) {
      return false;
    } catch (const InvalidInput& error) {
      return leave_out(number, error);
    }
  }

  bool add(Explanation explanation) {
    explanations_.push_back(std::move(explanation));
    explanations_.back().attention.clear();  // by far the most memory, and no summary shows it
    return one_more();
  }

  bool leave_out(int64_t number, const InvalidInput& error) {
    tell_refusal();
    refusal_ = error.what();
    refused_ = number;
    return one_more();
  }

  std::vector<Explanation> take() {
    bar_.clear();
    if (!explanations_.empty()) {
      tell_refusal();
      return std::move(explanations_);
    }
    if (interrupted()) throw Interrupted();
    if (count_ == 0) throw InvalidInput("the input is empty");
    throw InvalidInput(refusal_);
  }

 private:
  bool one_more() {
    ++count_;
    bar_.show(count_, total_ > 0 ? std::max(count_, total_) : 0);
    return !interrupted();
  }

  // One behind: where nothing can be explained, the last refusal is the error.
  void tell_refusal() {
    if (refusal_.empty()) return;
    bar_.clear();
    tell(fmt::format("left out {} {}: {}", what_, refused_, refusal_));
    refusal_.clear();
  }

  std::string what_, refusal_;
  int64_t total_, count_ = 0, refused_ = 0;
  ProgressBar bar_;
  std::vector<Explanation> explanations_;
};

std::vector<Explanation> explain_texts(const ImportanceArguments& a, const Model& model,
                                       const ExplainRequest& request) {
  TextLines lines(a.file);
  ExplainedInputs inputs("line", progress_is_visible() ? count_lines(a.file) : 0);
  while (const auto text = lines.next()) {
    const auto explain_line = [&] { return explain(model, text->input(), request).front(); };
    if (!inputs.add(text->line.number, explain_line)) break;
  }
  return inputs.take();
}

std::vector<Explanation> explain_rows(const ImportanceArguments& a, const Model& model,
                                      const NamedTable& rows, const ExplainRequest& request) {
  if (rows.table.rows == 1) throw InvalidInput("the table has one row; at least two are needed");
  const NamedTable background =
      has_background(model) ? NamedTable() : background_of(rows, a.background_rows);
  ExplainedInputs inputs("row", rows.table.rows);
  const auto refused = [&](int64_t row, const Error& why) {
    const auto* error = dynamic_cast<const InvalidInput*>(&why);
    if (error == nullptr) throw;
    return inputs.leave_out(row, *error);
  };
  constexpr int64_t kTogether = 256;
  for (int64_t first = 0; first < rows.table.rows && !interrupted(); first += kTogether) {
    std::vector<InputValue> group;
    for (int64_t row = first; row < std::min(first + kTogether, rows.table.rows); ++row) {
      RowInput input = row_of(rows, row);
      input.background = background.table;
      input.background_cells = background.cells;
      group.emplace_back(std::move(input));
    }
    try {
      explain_each(
          model, group, request,
          [&](size_t, std::vector<Explanation> found) {
            return inputs.add(std::move(found.front()));
          },
          [&](size_t i, const Error& why) {
            return refused(first + static_cast<int64_t>(i), why);
          });
    } catch (const Interrupted&) {
      break;
    }
  }
  return inputs.take();
}

// Four importances of the same rows.
void run_all(const ImportanceArguments& a) {
  if (!a.svg.empty() || !a.png.empty())
    throw InvalidInput(
        "--all is shown in the terminal, as JSON and as a page: leave out --svg and --png");
  if (!a.groups.empty()) throw InvalidInput("--all compares single columns: leave out --group");
  ImportanceArguments attention = a;
  if (a.method.empty()) attention.method = "raw-attention:gorishniy";
  CompareImportancesRequest request{.explain = request_of(attention),
                                    .importance = importance_request(a)};
  request.explain.methods.push_back({"shap", {}});
  const Model model = a.model.load_for_tables();
  NamedTable rows = read_table_for(model, a.table);
  const std::vector<double> answers = take_answers(a, model, rows);
  const KeepAnswers keep;
  ProgressBar bar("rows");
  request.progress = shown_by(bar);
  const ComparedImportances found = compare_importances(model, rows, answers, request);
  bar.clear();
  OutputFiles files;
  files.add(a.html, [&] { return to_html(found); });
  show(found, a.json, std::move(files));
  if (found.stopped_early) throw Interrupted();
}

std::string plot_of(const ImportanceArguments& a, const Summary& summary, PictureFormat format) {
  if (a.plot == "dependence") return dependence_picture(summary, a.column, format);
  return summary_picture(summary,
                         a.plot == "bar"        ? SummaryPlot::kBar
                         : a.plot == "heat-map" ? SummaryPlot::kHeatMap
                                                : SummaryPlot::kBeeswarm,
                         format);
}

// Without answers: scores of a method over many texts or rows.
void run_over_many(const ImportanceArguments& a) {
  if (!a.groups.empty()) throw InvalidInput("--group goes with --answers");
  if (a.method == "permutation" || a.method == "sage") {
    throw InvalidInput(fmt::format("{} needs the right answers: --answers COLUMN", a.method));
  }
  const ExplainRequest request = request_of(a);
  const Model model = a.table.empty() ? a.model.load() : a.model.load_for_tables();
  const KeepAnswers keep;
  const std::vector<Explanation> explanations =
      a.table.empty() ? explain_texts(a, model, request)
                      : explain_rows(a, model, read_table_for(model, a.table), request);
  const Summary summary = summarise(explanations, explanations[0].attributions[0].method);
  OutputFiles files;
  files.add(a.html, [&] { return to_html(summary); });
  files.add(a.svg, [&] { return plot_of(a, summary, PictureFormat::kSvg); });
  files.add(a.png, [&] { return plot_of(a, summary, PictureFormat::kPng); });
  show(summary, a.json, std::move(files));
  if (interrupted()) throw Interrupted();
}

void run(const ImportanceArguments& a) {
  check_outputs({a.html, a.json, a.svg, a.png}, {a.file, a.table, a.model.model});
  const bool draws = !a.svg.empty() || !a.png.empty();
  if (!a.column.empty() && (a.plot != "dependence" || !draws)) {
    throw InvalidInput(
        "--column names the column of --plot dependence, which --svg and --png write");
  }
  if (a.plot == "dependence" && a.table.empty())
    throw InvalidInput("--plot dependence draws values of a table's column: --table rows.csv");
  if (!a.table.empty() && !a.file.empty())
    throw InvalidInput("give a table or a file of texts, not both");
  if (a.table.empty() && a.file.empty()) {
    throw InvalidInput("no input: --file texts.txt, or --table rows.csv with a model of tables");
  }
  if (a.all) {
    if (a.answers.empty() || a.table.empty())
      throw InvalidInput("--all needs the right answers: --table rows.csv --answers COLUMN");
    return run_all(a);
  }
  if (!a.answers.empty()) {
    if (a.table.empty()) throw InvalidInput("--answers names a column of a --table");
    if (!a.method.empty() && a.method != "permutation" && a.method != "sage") {
      throw InvalidInput(
          fmt::format("with --answers the method is permutation or sage, not '{}'", a.method));
    }
    return run_with_answers(a);
  }
  run_over_many(a);
}

}  // namespace

void add_importance(CLI::App& program) {
  auto arguments = std::make_shared<ImportanceArguments>();
  CLI::App* command = program.add_subcommand(
      "importance", "Measure the importance of words or columns over a data set");
  add_arguments(*command, *arguments);
  command->callback([arguments] { run(*arguments); });
}

}  // namespace whyformer::cli
