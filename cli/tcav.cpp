#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "command.h"
#include "console.h"
#include "labelled_texts.h"
#include "layer_list.h"
#include "model_arguments.h"
#include "option_groups.h"
#include "output_files.h"
#include "whyformer/concepts.h"
#include "whyformer/error.h"
#include "whyformer/report.h"

namespace whyformer::cli {
namespace {

struct TcavArguments {
  ModelArguments model;
  std::vector<std::string> targets, examples, concepts, random;
  std::string layers = "all", tokens = "auto", precision = "single";
  int counterparts = ConceptsRequest().counterparts;
  bool given_sets = false;
  int permutations = ConceptsRequest().permutations;
  double strength = ConceptsRequest().strength, level = ConceptsRequest().level;
  int64_t seed = 0, limit = 0;
  double memory = 2;
  std::string json, html, svg, png;
};

void add_examples(CLI::App& command, TcavArguments& a) {
  start_group(command, OptionGroup::kInput);
  command
      .add_option("--examples", a.examples,
                  "examples of the target: a folder of pictures, a file with one text per line, or "
                  "arrays (.safetensors)")
      ->type_name("FILE|FOLDER");
  command
      .add_option("--concept", a.concepts,
                  "examples of a concept, at least 6, better 50 (default name: the file's); may be "
                  "repeated")
      ->required()
      ->type_name("[NAME=]FILE|FOLDER");
  command
      .add_option("--random", a.random,
                  "random examples, best twice as many as a concept has; may be repeated")
      ->required()
      ->type_name("[NAME=]FILE|FOLDER");
  command.add_option("--limit", a.limit, "maximum number of examples of each file")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
}

void add_tests(CLI::App& command, TcavArguments& a) {
  start_group(command, OptionGroup::kMethods);
  command.add_option("--layer", a.layers, "tested blocks, from 0: 3, 1,3, or all (one pass)")
      ->capture_default_str()
      ->type_name("N,…|all");
  command
      .add_option("--tokens", a.tokens,
                  "activation of a block: mean over tokens (texts), first or last token, or all "
                  "tokens (inputs of one length; pictures)")
      ->check(CLI::IsMember({"auto", "mean", "first", "last", "all"}))
      ->capture_default_str();
  CLI::Option* drawn =
      command
          .add_option("--counterparts", a.counterparts,
                      "number of random sets per concept, drawn from all random examples")
          ->check(CLI::Range(2, 10000))
          ->capture_default_str()
          ->type_name("N");
  command
      .add_flag("--given-sets", a.given_sets,
                "each --random file as one random set; at least 4 of them")
      ->excludes(drawn);
  command
      .add_option("--permutations", a.permutations,
                  "number of relabellings per permutation test; 0: no such test")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str()
      ->type_name("N");
  command
      .add_option("--strength", a.strength,
                  "inverse regularisation strength (C) of the logistic regression")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->type_name("C");
  command.add_option("--level", a.level, "significance level")
      ->check(CLI::Range(1e-6, 0.5))
      ->capture_default_str()
      ->type_name("P");
  command.add_option("--seed", a.seed, "seed of all random draws")
      ->capture_default_str()
      ->type_name("N");
  command.add_option("--precision", a.precision, "floating-point precision; double is slow")
      ->check(CLI::IsMember({"single", "double"}))
      ->capture_default_str();
  command
      .add_option("--memory", a.memory,
                  "memory for activations; more goes to a temporary file (TMPDIR)")
      ->check(CLI::Range(0.001, 1024.0))
      ->capture_default_str()
      ->type_name("GB");
}

void add_arguments(CLI::App& command, TcavArguments& a) {
  start_group(command, OptionGroup::kTarget);
  command
      .add_option("--target", a.targets,
                  "label or index of the tested logit, or a file or folder of examples named by "
                  "it; several: one --examples each, or one for all")
      ->required()
      ->type_name("LABEL|N");
  add_examples(command, a);
  a.model.add_to(command);
  add_tests(command, a);
  start_group(command, OptionGroup::kOutput);
  command.add_option("--json", a.json, "JSON ('-': standard output)")->type_name("FILE");
  command.add_option("--html", a.html, "HTML page with the plot and all tests")->type_name("FILE");
  command.add_option("--svg", a.svg, "plot with error bars as SVG")->type_name("FILE");
  command.add_option("--png", a.png, "plot with error bars as PNG")->type_name("FILE");
}

// "praise=words.txt", or "words.txt" by its own name.
std::pair<std::string, std::string> name_and_path(const std::string& given) {
  const size_t equals = given.find('=');
  if (equals != std::string::npos && equals > 0 && !std::filesystem::exists(given)) {
    return {given.substr(0, equals), given.substr(equals + 1)};
  }
  std::filesystem::path path(given);
  if (!path.has_filename()) path = path.parent_path();  // "striped/"
  return {path.stem().string(), given};
}

// A folder holds pictures.
bool gives_pictures(const TcavArguments& a) {
  return std::filesystem::is_directory(name_and_path(a.concepts[0]).second);
}

ConceptsRequest request_of(const TcavArguments& a) {
  ConceptsRequest request;
  request.layers = layers_of(a.layers);
  const bool all = a.tokens == "all" || (a.tokens == "auto" && gives_pictures(a));
  request.rows = a.tokens == "first"  ? TokenRows::kFirst
                 : a.tokens == "last" ? TokenRows::kLast
                 : all                ? TokenRows::kAll
                                      : TokenRows::kMean;
  request.counterparts = a.given_sets ? 0 : a.counterparts;
  request.permutations = a.permutations;
  request.strength = a.strength;
  request.level = a.level;
  request.seed = a.seed;
  if (a.precision == "double") request.precision = Precision::kDouble;
  request.memory_bytes = static_cast<int64_t>(a.memory * (int64_t{1} << 30));
  return request;
}

// Labels that a line may carry do not matter here.
std::vector<InputValue> texts_of(const std::string& path, int64_t limit) {
  if (std::filesystem::is_directory(path)) {
    throw InvalidInput(
        fmt::format("'{}' is a folder, but the first concept is a file: give files with one text "
                    "per line, or folders of pictures",
                    path));
  }
  std::vector<InputValue> texts;
  for (LabelledInput& text : read_labelled_texts(path, limit))
    texts.push_back(std::move(text.input));
  return texts;
}

// By name, so that the order does not depend on the machine.
std::vector<InputValue> pictures_of(const std::string& path, int64_t limit) {
  if (!std::filesystem::is_directory(path)) {
    throw InvalidInput(
        fmt::format("'{}' is not a folder of pictures, as the first concept is", path));
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (entry.is_regular_file() && means_picture(entry.path().string()))
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  if (limit > 0 && static_cast<int64_t>(files.size()) > limit) files.resize(limit);
  if (files.empty()) {
    throw InvalidInput(fmt::format("the folder '{}' has no JPEG, PNG or WebP pictures", path));
  }
  std::vector<InputValue> pictures;
  for (std::filesystem::path& file : files) {
    pictures.push_back(PictureInput(PictureFile{std::move(file)}));
  }
  return pictures;
}

// The first axis of every array counts examples.
std::vector<InputValue> arrays_of(const std::string& path, int64_t limit) {
  if (limit > 0) throw InvalidInput("--limit is for files of texts");
  return {read_array_views(path)};
}

using ReadExamples = std::vector<InputValue> (*)(const std::string& path, int64_t limit);

std::vector<ExampleSet> sets_of(const std::vector<std::string>& given, int64_t limit,
                                ReadExamples read) {
  std::vector<ExampleSet> sets;
  for (const std::string& one : given) {
    const auto [name, path] = name_and_path(one);
    for (const ExampleSet& other : sets) {
      if (other.name != name) continue;
      throw InvalidInput(fmt::format("two sets are called '{}': put names in front, such as {}2={}",
                                     name, name, path));
    }
    sets.push_back({name, read(path, limit)});
  }
  return sets;
}

// The label of target `i`, and where its examples are: in --examples, or in a file or folder that
// the target itself names.
std::pair<std::string, std::string> target_of(const TcavArguments& a, size_t i) {
  if (!a.examples.empty()) return {a.targets[i], a.examples[a.examples.size() == 1 ? 0 : i]};
  const auto [label, path] = name_and_path(a.targets[i]);
  if (!std::filesystem::exists(path)) {
    throw InvalidInput(
        fmt::format("there are no examples of '{}': give them with --examples", a.targets[i]));
  }
  return {label, path};
}

// Outputs of arrays have no names.
void check_number(const std::string& target) {
  if (target.empty() || target.size() > 9 ||
      target.find_first_not_of("0123456789") != std::string::npos) {
    throw InvalidInput(
        fmt::format("--target '{}': outputs of an ONNX file have numbers, from 0", target));
  }
}

std::vector<TargetSet> targets_of(const TcavArguments& a, ReadExamples read) {
  std::vector<TargetSet> targets;
  for (size_t i = 0; i < a.targets.size(); ++i) {
    const auto [label, path] = target_of(a, i);
    if (read == &arrays_of) check_number(label);
    targets.push_back({label, read(path, a.limit)});
  }
  return targets;
}

void write_reports(const TcavArguments& a, const ConceptReport& report) {
  OutputFiles files;
  files.add(a.html, [&] { return to_html(report); });
  files.add(a.svg, [&] { return concepts_picture(report, PictureFormat::kSvg); });
  files.add(a.png, [&] { return concepts_picture(report, PictureFormat::kPng); });
  show(report, a.json, std::move(files));
}

// The first concept tells what all examples are.
ReadExamples reader_for(const TcavArguments& a) {
  if (gives_pictures(a)) return &pictures_of;
  const std::filesystem::path path = name_and_path(a.concepts[0]).second;
  return path.extension() == ".safetensors" ? &arrays_of : &texts_of;
}

Model model_for(const TcavArguments& a, ReadExamples read) {
  if (read == &pictures_of) return a.model.load_for_pictures();
  if (read == &texts_of) return a.model.load();
  a.model.apply_threads();
  return Model::load(a.model.model, {.arrays = true});
}

ConceptReport test(const TcavArguments& a, const ConceptsRequest& request) {
  const ReadExamples read = reader_for(a);
  if (read == &arrays_of && a.model.model.empty()) {
    throw InvalidInput("arrays need an ONNX model: give it with --model");
  }
  const std::vector<ExampleSet> concepts = sets_of(a.concepts, a.limit, read);
  const std::vector<ExampleSet> random = sets_of(a.random, a.limit, read);
  const std::vector<TargetSet> targets = targets_of(a, read);
  return test_concepts(model_for(a, read), concepts, random, targets, request);
}

void run(const TcavArguments& a) {
  check_outputs({a.json, a.html, a.svg, a.png}, {a.model.model});
  if (a.examples.size() > 1 && a.examples.size() != a.targets.size()) {
    throw InvalidInput(
        fmt::format("{} targets but {} files of examples: give one for each target, or one for all",
                    a.targets.size(), a.examples.size()));
  }
  ConceptsRequest request = request_of(a);
  ProgressBar bar("runs and fits");
  request.progress = [&bar](int64_t done, int64_t total) {
    bar.show(done, total);
    return true;  // until there is a report to keep, a signal ends the program
  };
  const ConceptReport report = test(a, request);
  bar.clear();
  const KeepAnswers keep;
  write_reports(a, report);
}

}  // namespace

void add_tcav(CLI::App& program) {
  auto arguments = std::make_shared<TcavArguments>();
  CLI::App* command = program.add_subcommand(
      "tcav",
      "Test whether predictions depend on concepts given by examples (TCAV, Kim et al. 2018)");
  command->footer(
      "A folder holds pictures (JPEG, PNG, WebP). A file holds one text per line (text, "
      "text<TAB>label, or JSON with text and pair). For an ONNX model of tables or anything else, "
      "files are safetensors with an array per input, the first axis counting examples. "
      "docs/tcav.md explains the method and its tests.");
  add_arguments(*command, *arguments);
  command->callback([arguments] { run(*arguments); });
}

}  // namespace whyformer::cli
