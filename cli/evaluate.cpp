#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>

#include "command.h"
#include "console.h"
#include "corpus_arguments.h"
#include "option_groups.h"
#include "output_files.h"
#include "whyformer/error.h"
#include "whyformer/growing_file.h"
#include "whyformer/protocols.h"
#include "whyformer/report.h"
#include "whyformer/threads.h"

namespace whyformer::cli {
namespace {

struct EvaluateArguments {
  CorpusArguments corpus;
  std::vector<std::string> metrics;
  std::vector<std::string> hidings{"auto"};
  int64_t random_rankings = 5, noisy_inputs = 10;
  bool no_reversed = false;
  std::string protocol;
  std::string json, csv, html, svg, png, keep;
};

std::string metrics_help() {
  std::string text = "metrics, separated by commas, or all:";
  for (const MetricInfo& metric : metrics()) {
    text += fmt::format("\n{} ({}): {}", metric.name, metric.higher_is_better ? "↑" : "↓",
                        metric.summary);
  }
  return text + "\n";
}

std::string protocols_help() {
  std::string text = "published evaluation protocol, instead of metrics:";
  for (const ProtocolInfo& protocol : protocols()) {
    text += fmt::format("\n{}: {}; on {}", protocol.name, protocol.summary, protocol.data);
  }
  return text + "\n";
}

void add_arguments(CLI::App& command, EvaluateArguments& a) {
  a.corpus.add_inputs_to(command);
  a.corpus.add_data_sets_to(command);
  a.corpus.add_methods_to(command);
  CLI::Option* metrics = command.add_option("--metric", a.metrics, metrics_help())
                             ->delimiter(',')
                             ->default_str("comprehensiveness,sufficiency")
                             ->type_name("NAMES");
  command.add_option("--protocol", a.protocol, protocols_help())
      ->excludes(metrics)
      ->type_name("NAME");
  command
      .add_option("--hiding", a.hidings,
                  "ways to hide units, separated by commas: mask, delete, drop, zero; grey, black, "
                  "mean, blur, impute; background")
      ->delimiter(',')
      ->capture_default_str()
      ->type_name("NAMES");
  command.add_option("--random", a.random_rankings, "number of random rankings for the baseline")
      ->check(CLI::Range(int64_t{0}, int64_t{1000}))
      ->capture_default_str();
  command.add_flag("--no-reversed", a.no_reversed, "leave out reversed rankings; halves the work");
  command
      .add_option("--noisy", a.noisy_inputs,
                  "number of noisy copies per input (robustness metrics)")
      ->check(CLI::Range(int64_t{1}, int64_t{10000}))
      ->capture_default_str();
  start_group(command, OptionGroup::kOutput);
  command.add_option("--keep", a.keep, "checkpoint file; a stopped evaluation resumes from it")
      ->type_name("FILE");
  command.add_option("--json", a.json, "JSON ('-': standard output)")->type_name("FILE");
  command.add_option("--csv", a.csv, "a line for each input, method and metric")->type_name("FILE");
  command.add_option("--html", a.html, "HTML page")->type_name("FILE");
  command.add_option("--svg", a.svg, "plot as SVG")->type_name("FILE");
  command.add_option("--png", a.png, "plot as PNG")->type_name("FILE");
}

std::vector<std::string> metrics_asked(const std::vector<std::string>& names) {
  if (names.empty()) return {"comprehensiveness", "sufficiency"};
  std::vector<std::string> asked;
  for (const std::string& name : names) {
    if (name != "all") {
      asked.push_back(metric_named(name).name);
      continue;
    }
    for (const MetricInfo& metric : metrics()) asked.push_back(metric.name);
  }
  return asked;
}

// What is asked, in one line: inputs kept for another question must not be mixed in.
std::string question_of(const EvaluateArguments& a, const EvaluationRequest& request,
                        const Model& model) {
  std::string methods;
  for (const MethodRequest& one : request.explain.methods) methods += one.name + " ";
  for (const std::string& option : a.corpus.options) methods += option + " ";
  const std::string measured = request.protocol.empty()
                                   ? fmt::format("metrics {}", fmt::join(request.metrics, " "))
                                   : "protocol " + request.protocol;
  return fmt::format(
      "whyformer evaluate: model {}, methods {}{}, hiding {}, seed {}, random {}, noisy {}{}",
      model.name().name, methods, measured, fmt::join(request.hidings, " "), a.corpus.seed,
      a.random_rankings, a.noisy_inputs, a.no_reversed ? ", no reversed" : "");
}

// Inputs that an earlier run has finished, by name.
std::map<std::string, EvaluatedInput> kept_inputs(const std::string& path,
                                                  const std::string& question) {
  std::map<std::string, EvaluatedInput> kept;
  std::ifstream file(path);
  std::string line;
  if (path.empty() || !std::getline(file, line)) return kept;
  if (line != question) {
    throw InvalidInput(fmt::format(
        "'{}' keeps the inputs of another evaluation ({}): give another file, or delete it", path,
        line));
  }
  while (std::getline(file, line)) {
    EvaluatedInput input = evaluated_input_of(line);
    kept.emplace(input.name, std::move(input));
  }
  return kept;
}

class Evaluator {
 public:
  Evaluator(const EvaluateArguments& a, const Model& model, EvaluationRequest request)
      : a_(a), model_(model), request_(std::move(request)) {
    request_.explain.progress = [](int64_t, int64_t) { return !interrupted(); };
  }

  std::vector<EvaluatedInput> run(const std::vector<CorpusArguments::Entry>& corpus) {
    const std::string question = question_of(a_, request_, model_);
    std::map<std::string, EvaluatedInput> kept = kept_inputs(a_.keep, question);
    std::unique_ptr<GrowingFile> file;
    if (!a_.keep.empty()) {
      file = std::make_unique<GrowingFile>(a_.keep);
      file->add(question + "\n");
    }
    ProgressBar bar("inputs");
    std::vector<EvaluatedInput> done;
    std::vector<EvaluatedInput> measured(corpus.size());
    const auto measure = [&](int64_t i) {
      const auto known = kept.find(corpus[i].input.name);
      measured[i] =
          known != kept.end() ? std::move(known->second) : evaluate(model_, corpus[i], request_);
    };
    const auto keep = [&](int64_t i) {
      done.push_back(std::move(measured[i]));
      if (file != nullptr) file->add(to_json(done.back()) + "\n");
      bar.show(static_cast<int64_t>(done.size()), static_cast<int64_t>(corpus.size()));
      return !interrupted();
    };
    try {
      work_in_order(static_cast<int64_t>(corpus.size()), measure, keep);
    } catch (const Interrupted&) {
      // What is done stays.
    }
    if (file != nullptr) file->finish();
    bar.clear();
    return done;
  }

  const EvaluationRequest& request() const { return request_; }

 private:
  const EvaluateArguments& a_;
  const Model& model_;
  EvaluationRequest request_;
};

void write_reports(const EvaluateArguments& a, const Evaluation& evaluation) {
  OutputFiles files;
  files.add(a.html, [&] { return to_html(evaluation); });
  files.add(a.svg, [&] { return evaluation_picture(evaluation, PictureFormat::kSvg); });
  files.add(a.png, [&] { return evaluation_picture(evaluation, PictureFormat::kPng); });
  files.add(a.csv, [&] { return to_csv(evaluation); });
  show(evaluation, a.json, std::move(files));
}

void run(const EvaluateArguments& a) {
  if (!a.protocol.empty()) protocol_named(a.protocol);
  check_outputs({a.json, a.csv, a.html, a.svg, a.png, a.keep}, a.corpus.files());
  const std::vector<CorpusArguments::Entry> corpus = a.corpus.read();
  const Model model = a.corpus.load(corpus);
  EvaluationRequest request;
  request.explain = a.corpus.request(
      a.corpus.methods.empty() ? default_methods(model, corpus[0].input.input) : a.corpus.methods);
  request.protocol = a.protocol;
  if (a.protocol.empty()) request.metrics = metrics_asked(a.metrics);
  request.hidings = a.hidings;
  request.random_rankings = a.random_rankings;
  request.reversed_rankings = !a.no_reversed;
  request.noisy_inputs = a.noisy_inputs;
  const KeepAnswers keep;
  Evaluator evaluator(a, model, std::move(request));
  const std::vector<EvaluatedInput> done = evaluator.run(corpus);
  if (done.empty()) throw Interrupted();
  Evaluation evaluation = summarise(model.name(), done, evaluator.request());
  if (done.size() < corpus.size()) {
    evaluation.notes.push_back(
        fmt::format("Interrupted after {} of {} inputs.", done.size(), corpus.size()));
  }
  write_reports(a, evaluation);
  if (interrupted()) throw Interrupted();
  const auto failed = [](const EvaluatedInput& input) { return !input.problem.empty(); };
  if (std::ranges::all_of(evaluation.inputs, failed)) {
    throw InvalidInput(fmt::format("none of the inputs could be evaluated; the first, {}: {}",
                                   evaluation.inputs[0].name, evaluation.inputs[0].problem));
  }
}

}  // namespace

void add_evaluate(CLI::App& program) {
  auto arguments = std::make_shared<EvaluateArguments>();
  CLI::App* command = program.add_subcommand(
      "evaluate", "Evaluate explanation methods by metrics over many inputs");
  add_arguments(*command, *arguments);
  command->callback([arguments] { run(*arguments); });
}

}  // namespace whyformer::cli
