#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>

#include "command.h"
#include "console.h"
#include "corpus_arguments.h"
#include "option_groups.h"
#include "output_files.h"
#include "whyformer/error.h"
#include "whyformer/kept_inputs.h"
#include "whyformer/printable.h"
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
    for (const MetricInfo& metric : metrics()) {
      if (std::ranges::find(names, metric.name) == names.end()) asked.push_back(metric.name);
    }
  }
  return asked;
}

class Evaluator {
 public:
  Evaluator(const EvaluateArguments& a, const Model& model, EvaluationRequest request)
      : a_(a), model_(model), request_(std::move(request)) {
    request_.explain.progress = [](int64_t, int64_t) { return !interrupted(); };
  }

  std::vector<EvaluatedInput> run(const std::vector<CorpusArguments::Entry>& corpus) {
    std::optional<KeptInputs> kept;
    if (!a_.keep.empty()) kept.emplace(a_.keep, model_, request_);
    ProgressBar bar("inputs");
    std::vector<EvaluatedInput> done;
    std::vector<EvaluatedInput> measured(corpus.size());
    std::atomic<int64_t> found = 0;
    const auto measure = [&](const PieceOfWork& piece) {
      const CorpusArguments::Entry& entry = corpus[piece.number];
      if (auto known = kept ? kept->find(entry) : std::nullopt) {
        measured[piece.number] = *std::move(known);
        ++found;
        return;
      }
      measured[piece.number] = evaluated(entry, piece);
    };
    const auto keep = [&](int64_t i) {
      done.push_back(std::move(measured[i]));
      if (kept) kept->add(corpus[i], done.back());
      bar.show(static_cast<int64_t>(done.size()), static_cast<int64_t>(corpus.size()));
      return !interrupted();
    };
    try {
      work_in_order(static_cast<int64_t>(corpus.size()), measure, keep);
    } catch (const Interrupted&) {
      // What is done stays.
    }
    if (kept) kept->finish();
    bar.clear();
    if (found > 0) {
      tell(fmt::format("{} kept: taken from '{}', not measured again",
                       quantity(found.load(), "input"), a_.keep));
    }
    return done;
  }

  const EvaluationRequest& request() const { return request_; }

 private:
  // Long inputs come one at a time, and tell their runs.
  EvaluatedInput evaluated(const CorpusArguments::Entry& entry, const PieceOfWork& piece) const {
    EvaluationRequest own = request_;
    own.explain.memory_bytes /= piece.at_once;
    ProgressBar runs("runs of " + entry.input.name);
    if (piece.at_once == 1) {
      own.explain.progress = [&runs](int64_t done, int64_t total) {
        runs.show(done, total);
        return !interrupted();
      };
    }
    return evaluate(model_, entry, own);
  }

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
  request.explain = a.corpus.request(a.corpus.methods.empty()
                                         ? default_methods(model, CorpusArguments::first_of(corpus))
                                         : a.corpus.methods);
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
