#include "whyformer/learned.h"

#include <fmt/format.h>

#include <memory>

#include "command.h"
#include "console.h"
#include "labelled_texts.h"
#include "layer_list.h"
#include "model_arguments.h"
#include "option_groups.h"
#include "output_files.h"
#include "whyformer/error.h"
#include "whyformer/report.h"

namespace whyformer::cli {
namespace {

struct LearnedArguments {
  ModelArguments model;
  std::string file, words;
  int64_t limit = 0;
  std::string layers = "all", tokens = "mean", probe = "ridge", precision = "single";
  double strength = LearnedRequest().strength, held_out = 100 * LearnedRequest().held_out;
  int shuffles = LearnedRequest().shuffles;
  bool no_random_weights = false;
  int64_t max_rows = LearnedRequest().max_rows, seed = 0;
  std::string json, html, svg, png, directions;
};

void add_learned_inputs(CLI::App& command, LearnedArguments& a) {
  start_group(command, OptionGroup::kInput);
  CLI::Option* file =
      command
          .add_option("--file", a.file,
                      "inputs with one label each: text<TAB>label, JSON with text and label, or "
                      "pictures in a folder for each label")
          ->type_name("FILE|FOLDER");
  command
      .add_option("--words", a.words,
                  "a label for each word: word<TAB>label, a blank line behind each sentence")
      ->excludes(file)
      ->type_name("FILE");
  command.add_option("--limit", a.limit, "maximum number of inputs")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
}

void add_probes(CLI::App& command, LearnedArguments& a) {
  start_group(command, OptionGroup::kMethods);
  command.add_option("--layer", a.layers, "probed blocks, from 0: 3, 1,3, or all (one pass)")
      ->capture_default_str()
      ->type_name("N,…|all");
  command
      .add_option("--tokens", a.tokens,
                  "of whole inputs: the mean over tokens, the first, or the last")
      ->check(CLI::IsMember({"mean", "first", "last"}))
      ->capture_default_str();
  command
      .add_option("--probe", a.probe,
                  "ridge: least squares, the penalty by leave-one-out; logistic: one label against "
                  "the rest")
      ->check(CLI::IsMember({"ridge", "logistic"}))
      ->capture_default_str();
  command
      .add_option("--strength", a.strength,
                  "inverse regularisation strength (C) of the logistic probe")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("--held-out", a.held_out, "share of inputs held out for testing, in percent")
      ->check(CLI::Range(1.0, 99.0))
      ->capture_default_str()
      ->type_name("PERCENT");
  command
      .add_option("--shuffles", a.shuffles, "number of fits to shuffled labels, for the p-value")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str()
      ->type_name("N");
  command.add_flag("--no-random-weights", a.no_random_weights,
                   "without the control of random weights");
  command.add_option("--max-rows", a.max_rows, "maximum number of training rows of a probe")
      ->check(CLI::Range(10, 1000000))
      ->capture_default_str()
      ->type_name("N");
  command.add_option("--seed", a.seed, "seed of all random draws")
      ->capture_default_str()
      ->type_name("N");
  command.add_option("--precision", a.precision, "floating-point precision; double is slow")
      ->check(CLI::IsMember({"single", "double"}))
      ->capture_default_str();
}

void add_learned_outputs(CLI::App& command, LearnedArguments& a) {
  start_group(command, OptionGroup::kOutput);
  command.add_option("--json", a.json, "JSON ('-': standard output)")->type_name("FILE");
  command.add_option("--html", a.html, "HTML page with the plot and the table")->type_name("FILE");
  command.add_option("--svg", a.svg, "plot as SVG")->type_name("FILE");
  command.add_option("--png", a.png, "plot as PNG")->type_name("FILE");
  command
      .add_option("--directions", a.directions,
                  "a direction per layer and label, as safetensors: for edits and concepts")
      ->type_name("FILE");
}

LearnedRequest learned_request(const LearnedArguments& a) {
  LearnedRequest request;
  request.layers = layers_of(a.layers);
  request.rows = a.tokens == "first"  ? TokenRows::kFirst
                 : a.tokens == "last" ? TokenRows::kLast
                                      : TokenRows::kMean;
  request.probe = a.probe == "logistic" ? ProbeKind::kLogistic : ProbeKind::kRidge;
  request.strength = a.strength;
  request.held_out = a.held_out / 100;
  request.shuffles = a.shuffles;
  request.random_weights = !a.no_random_weights;
  request.max_rows = a.max_rows;
  request.seed = a.seed;
  if (a.precision == "double") request.precision = Precision::kDouble;
  return request;
}

std::vector<LearnedExample> learned_examples(const LearnedArguments& a) {
  if (a.file.empty() == a.words.empty()) {
    throw InvalidInput("give one of --file and --words: inputs with labels");
  }
  if (!a.words.empty()) return read_labelled_words(a.words, a.limit);
  std::vector<LearnedExample> examples;
  for (LabelledInput& one : read_labelled_corpus(a.file, a.limit)) {
    if (!one.labels || one.labels->size() != 1) {
      throw InvalidInput(fmt::format("{}: expected one label", one.place));
    }
    examples.push_back(
        {.input = std::move(one.input), .label = one.labels->front(), .place = one.place});
  }
  return examples;
}

bool is_picture_example(const LearnedExample& example) {
  return std::holds_alternative<PictureInput>(example.input);
}

void write_learned(const LearnedArguments& a, const LearnedReport& report) {
  OutputFiles files;
  files.add(a.html, [&] { return to_html(report); });
  files.add(a.svg, [&] { return learned_picture(report, PictureFormat::kSvg); });
  files.add(a.png, [&] { return learned_picture(report, PictureFormat::kPng); });
  files.add(a.directions, [&] { return directions_in_safetensors(report); });
  show(report, a.json, std::move(files));
}

void run_learned(const LearnedArguments& a) {
  check_outputs({a.json, a.html, a.svg, a.png, a.directions}, {a.file, a.words, a.model.model});
  LearnedRequest request = learned_request(a);
  const std::vector<LearnedExample> examples = learned_examples(a);
  const Model model =
      is_picture_example(examples[0]) ? a.model.load_for_pictures() : a.model.load();
  const KeepAnswers keep;
  ProgressBar bar("runs and fits");
  request.progress = [&bar](int64_t done, int64_t total) {
    bar.show(done, total);
    return !interrupted();
  };
  const LearnedReport report = probe_layers(model, examples, request);
  bar.clear();
  write_learned(a, report);
  if (report.stopped_early) throw Interrupted();  // what there is by then is kept
}

}  // namespace

void add_learned(CLI::App& program) {
  auto arguments = std::make_shared<LearnedArguments>();
  CLI::App* command = program.add_subcommand(
      "learned", "Probe what each layer knows: linear probes with their controls");
  add_learned_inputs(*command, *arguments);
  arguments->model.add_to(*command);
  add_probes(*command, *arguments);
  add_learned_outputs(*command, *arguments);
  command->callback([arguments] { run_learned(*arguments); });
}

}  // namespace whyformer::cli
