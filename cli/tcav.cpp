#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "command.h"
#include "console.h"
#include "labelled_texts.h"
#include "model_arguments.h"
#include "whyformer/concepts.h"
#include "whyformer/error.h"
#include "whyformer/report.h"

namespace whyformer::cli {
namespace {

struct Arguments {
  ModelArguments model;
  std::vector<std::string> targets, examples, concepts, random;
  std::string layers = "all", tokens = "mean", precision = "single";
  int counterparts = ConceptsRequest().counterparts;
  bool given_sets = false;
  int permutations = ConceptsRequest().permutations;
  double strength = ConceptsRequest().strength, level = ConceptsRequest().level;
  int64_t seed = 0, limit = 0;
  double memory = 2;
  std::string json, svg, png;
};

void add_examples(CLI::App& command, Arguments& a) {
  command.add_option("--target", a.targets,
                     "label or index of the output whose logit is tested; several: one --examples each, or "
                     "one for all")
      ->required()
      ->type_name("LABEL|N");
  command.add_option("--examples", a.examples, "examples of the target: a file with one text per line, or arrays (.safetensors)")
      ->required()
      ->type_name("FILE");
  command.add_option("--concept", a.concepts,
                     "examples of a concept, with its name in front (default: the file's name); at least 6, "
                     "better 50; several for several concepts")
      ->required()
      ->type_name("[NAME=]FILE");
  command.add_option("--random", a.random,
                     "random examples that the concepts stand against; at least twice as many as a concept "
                     "has are best; several files are put together")
      ->required()
      ->type_name("[NAME=]FILE");
  command.add_option("--limit", a.limit, "read the first N examples of each file only")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
}

void add_arguments(CLI::App& command, Arguments& a) {
  a.model.add_to(command);
  add_examples(command, a);
  command.add_option("--layer", a.layers, "blocks whose output is tested, from 0: 3, 1,3, or all (one pass)")
      ->capture_default_str()
      ->type_name("N,…|all");
  command.add_option("--tokens", a.tokens,
                     "what of a block's output counts: the mean over tokens, the first token, or all tokens "
                     "(inputs of one length)")
      ->check(CLI::IsMember({"mean", "first", "all"}))
      ->capture_default_str();
  CLI::Option* drawn = command.add_option("--counterparts", a.counterparts,
                     "random sets that stand against each concept, drawn from all random examples")
      ->check(CLI::Range(2, 10000))
      ->capture_default_str()
      ->type_name("N");
  command.add_flag("--given-sets", a.given_sets,
                   "each --random file is one counterpart, as it is; at least 4 of them")
      ->excludes(drawn);
  command.add_option("--permutations", a.permutations, "relabellings behind each permutation test; 0: none")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str()
      ->type_name("N");
  command.add_option("--strength", a.strength,
                     "C of the logistic regression: what examples count against short weights")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->type_name("C");
  command.add_option("--level", a.level, "of every test")
      ->check(CLI::Range(1e-6, 0.5))
      ->capture_default_str()
      ->type_name("P");
  command.add_option("--seed", a.seed, "of all random draws")->capture_default_str()->type_name("N");
  command.add_option("--precision", a.precision, "of all runs; double is slow")
      ->check(CLI::IsMember({"single", "double"}))
      ->capture_default_str();
  command.add_option("--memory", a.memory, "for activations; what needs more goes to a temporary file (TMPDIR)")
      ->check(CLI::Range(0.001, 1024.0))
      ->capture_default_str()
      ->type_name("GB");
  command.add_option("--json", a.json, "write JSON ('-': standard output)")->type_name("FILE");
  command.add_option("--svg", a.svg, "write a plot with error bars as SVG")->type_name("FILE");
  command.add_option("--png", a.png, "write a plot with error bars as PNG")->type_name("FILE");
}

std::vector<int> layers_of(const std::string& text) {
  std::vector<int> layers;
  if (text == "all") return layers;
  for (const std::string& part : CLI::detail::split(text, ',')) {
    if (part.empty() || part.size() > 4 || part.find_first_not_of("0123456789") != std::string::npos) {
      throw InvalidInput(fmt::format("--layer '{}': expected block numbers such as 3 or 1,3, or all", text));
    }
    layers.push_back(std::stoi(part));
  }
  return layers;
}

ConceptsRequest request_of(const Arguments& a) {
  ConceptsRequest request;
  request.layers = layers_of(a.layers);
  request.rows = a.tokens == "first" ? TokenRows::kFirst
                 : a.tokens == "all" ? TokenRows::kAll
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

// Labels that a line may carry do not matter here.
std::vector<TextInput> texts_of(const std::string& path, int64_t limit) {
  if (std::filesystem::is_directory(path)) {
    throw InvalidInput(fmt::format(
        "'{}' is a folder: this model reads texts, so give a file with one text per line", path));
  }
  std::vector<TextInput> texts;
  for (LabelledText& text : read_labelled_texts(path, limit)) texts.push_back(std::move(text.input));
  return texts;
}

std::vector<TextSet> sets_of(const std::vector<std::string>& given, int64_t limit) {
  std::vector<TextSet> sets;
  for (const std::string& one : given) {
    const auto [name, path] = name_and_path(one);
    for (const TextSet& other : sets) {
      if (other.name != name) continue;
      throw InvalidInput(fmt::format("two sets are called '{}': put names in front, such as {}2={}", name,
                                     name, path));
    }
    sets.push_back({name, texts_of(path, limit)});
  }
  return sets;
}

std::vector<TargetTexts> targets_of(const Arguments& a) {
  std::vector<TargetTexts> targets;
  for (size_t i = 0; i < a.targets.size(); ++i) {
    targets.push_back({a.targets[i], texts_of(a.examples[a.examples.size() == 1 ? 0 : i], a.limit)});
  }
  return targets;
}

// Said before the work, not after it.
void check_folder_of(const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  if (folder.empty() || std::filesystem::is_directory(folder)) return;
  throw FileError(fmt::format("cannot write '{}': there is no folder '{}'", file, folder.string()));
}

void write_reports(const Arguments& a, const ConceptReport& report) {
  std::vector<std::pair<std::string, std::string>> files;
  if (!a.svg.empty()) files.emplace_back(a.svg, concepts_picture(report, PictureFormat::kSvg));
  if (!a.png.empty()) files.emplace_back(a.png, concepts_picture(report, PictureFormat::kPng));
  if (!a.json.empty() && a.json != "-") files.emplace_back(a.json, to_json(report) + "\n");
  for (const auto& [path, content] : files) save(path, content);
  if (a.json == "-") {
    print(to_json(report) + "\n");
    return;
  }
  print(to_terminal(report, {.colour = may_colour(), .width = terminal_width()}));
  for (const auto& [path, content] : files) fmt::print(stderr, "wrote {}\n", path);
}

// Arrays in safetensors files go to ONNX models of any kind; everything else is text.
bool gives_arrays(const Arguments& a) {
  return std::filesystem::path(name_and_path(a.concepts[0]).second).extension() == ".safetensors";
}

std::vector<ArraySet> array_sets(const std::vector<std::string>& given) {
  std::vector<ArraySet> sets;
  for (const std::string& one : given) {
    const auto [name, path] = name_and_path(one);
    sets.push_back({name, path});
  }
  return sets;
}

ConceptReport test_arrays(const Arguments& a, const ConceptsRequest& request) {
  if (a.model.model.empty()) throw InvalidInput("arrays need an ONNX model: give it with --model");
  if (a.limit > 0) throw InvalidInput("--limit is for files of texts");
  std::vector<TargetArrays> targets;
  for (size_t i = 0; i < a.targets.size(); ++i) {
    const std::string& target = a.targets[i];
    if (target.size() > 9 || target.find_first_not_of("0123456789") != std::string::npos) {
      throw InvalidInput(fmt::format("--target '{}': outputs of an ONNX file have numbers, from 0", target));
    }
    targets.push_back({std::stoll(target), a.examples[a.examples.size() == 1 ? 0 : i]});
  }
  a.model.apply_threads();
  return test_array_concepts(a.model.model, array_sets(a.concepts), array_sets(a.random), targets, request);
}

ConceptReport test_texts(const Arguments& a, const ConceptsRequest& request) {
  const std::vector<TextSet> concepts = sets_of(a.concepts, a.limit);
  const std::vector<TextSet> random = sets_of(a.random, a.limit);
  const std::vector<TargetTexts> targets = targets_of(a);
  return test_concepts(a.model.load(), concepts, random, targets, request);
}

void run(const Arguments& a) {
  for (const std::string& file : {a.json, a.svg, a.png}) check_folder_of(file);
  if (a.examples.size() != 1 && a.examples.size() != a.targets.size()) {
    throw InvalidInput(fmt::format("{} targets but {} files of examples: give one for each target, or one for all",
                                   a.targets.size(), a.examples.size()));
  }
  ConceptsRequest request = request_of(a);
  ProgressBar bar("runs and fits");
  request.progress = [&bar](int64_t done, int64_t total) {
    bar.show(done, total);
    return !interrupted();
  };
  const ConceptReport report = gives_arrays(a) ? test_arrays(a, request) : test_texts(a, request);
  bar.clear();
  write_reports(a, report);
}

}  // namespace

void add_tcav(CLI::App& program) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = program.add_subcommand(
      "tcav", "Test whether an answer leans on concepts that examples name (TCAV, Kim et al. 2018)");
  command->footer(
      "A file holds one text per line (text, text<TAB>label, or JSON with text and pair). For an ONNX model of "
      "tables or anything else, files are safetensors with an array per input, the first axis counting examples. "
      "docs/tcav.md explains the method and its tests.");
  add_arguments(*command, *arguments);
  command->callback([arguments] { run(*arguments); });
}

}  // namespace whyformer::cli
