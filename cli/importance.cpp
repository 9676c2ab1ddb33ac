#include "whyformer/importance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "command.h"
#include "console.h"
#include "model_arguments.h"
#include "whyformer/error.h"

namespace whyformer::cli {
namespace {

struct Arguments {
  ModelArguments model;
  std::string table, answers, method = "permutation", score = "auto", json;
  std::vector<std::string> groups;
  int64_t repeats = 5, background_rows = 100, seed = 0;
  double precision = 0.025;
};

void add_arguments(CLI::App& command, Arguments& a) {
  a.model.add_to(command);
  command.add_option("--table", a.table, "rows of numbers: CSV with names of columns, or safetensors")
      ->required()
      ->type_name("FILE");
  command.add_option("--answers", a.answers, "the column that holds the right class or number")
      ->required()
      ->type_name("COLUMN");
  command.add_option("--method", a.method, "shuffle each column (permutation), or share out the loss (sage)")
      ->check(CLI::IsMember({"permutation", "sage"}))
      ->capture_default_str();
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
  command.add_option("--background-rows", a.background_rows, "sage: rows that hidden columns are taken from")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20))
      ->capture_default_str();
  command.add_option("--seed", a.seed, "of all random draws")->capture_default_str();
  command.add_option("--json", a.json, "write JSON ('-': standard output)")->type_name("FILE");
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
  for (const ColumnImportance& column : columns) {
    longest = std::max(longest, column.name.size());
    most = std::max(most, std::abs(column.value));
  }
  std::string text =
      report.method == "sage"
          ? fmt::format("{}: all columns together save {:.4g} of {} ({} rows)\n\n", report.model.name, report.whole,
                        report.score, report.rows)
          : fmt::format("{}: {} {:.4g} on {} rows; it falls by\n\n", report.model.name, report.score, report.whole,
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
  for (const std::string& note : report.notes) text += "  " + note + "\n";
  return text;
}

void run(const Arguments& a) {
  if (a.model.model.empty()) throw InvalidInput("importance needs a model of tables: --model model.onnx");
  const Model model = a.model.load();
  NamedTable rows = read_table(a.table);
  const std::vector<double> answers = take_column(rows, a.answers);
  ProgressBar bar("rows");
  ImportanceRequest request{
      .method = a.method == "sage" ? ImportanceMethod::kSage : ImportanceMethod::kPermutation,
      .score = score_named(a.score),
      .repeats = a.repeats,
      .precision = a.precision,
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

}  // namespace

void add_importance(CLI::App& program) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = program.add_subcommand("importance", "Which columns of a table a model needs");
  add_arguments(*command, *arguments);
  command->callback([arguments] { run(*arguments); });
}

}  // namespace whyformer::cli
