#include "whyformer/heads.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "command.h"
#include "console.h"
#include "input_arguments.h"
#include "labelled_texts.h"
#include "option_groups.h"
#include "output_files.h"
#include "whyformer/error.h"
#include "whyformer/report.h"

namespace whyformer::cli {
namespace {

struct HeadsArguments {
  ModelArguments model;
  std::string file;
  std::vector<std::string> among;
  std::vector<std::string> measures = HeadsRequest().measures;
  int64_t limit = 0;
  std::string normalise = "layer", precision = "single";
  bool all_tokens = false, attention_constant = false, prune = false, keep_one = false;
  double prune_step = 10;
  int64_t seed = 0;
  std::string conllu;
  bool roles = false;
  double role_share = 100 * HeadRolesRequest().share;
  int relabellings = HeadRolesRequest().permutations;
  CLI::Option* given_measures = nullptr;
  std::string json, html, svg, png;
};

std::string measures_help() {
  std::string text = "measures, separated by commas:";
  for (const HeadMeasureInfo& measure : head_measures()) {
    text += fmt::format("\n{}: {} ({}; {})", measure.name, measure.summary, measure.paper,
                        measure.cost);
  }
  return text;
}

void add_measures(CLI::App& command, HeadsArguments& a) {
  start_group(command, OptionGroup::kMethods);
  a.given_measures = command.add_option("--measure", a.measures, measures_help())
                         ->delimiter(',')
                         ->capture_default_str()
                         ->type_name("NAMES");
  command.add_option("--normalise", a.normalise, "michel: normalisation of scores per layer")
      ->check(CLI::IsMember({"layer", "none"}))
      ->capture_default_str();
  command.add_flag("--all-tokens", a.all_tokens, "confidence: special tokens included");
  command.add_flag("--attention-constant", a.attention_constant,
                   "voita-lrp: relevance through values only, not queries and keys");
  command.add_option("--precision", a.precision, "floating-point precision; double is slow")
      ->check(CLI::IsMember({"single", "double"}))
      ->capture_default_str();
}

std::string roles_help() {
  std::string text =
      "what each head attends to most, against chance; measures only where --measure names them:";
  for (const RoleInfo& role : head_roles())
    text += fmt::format("\n{}: {}", role.name, role.summary);
  return text;
}

void add_roles(CLI::App& command, HeadsArguments& a) {
  CLI::Option* roles = command.add_flag("--roles", a.roles, roles_help());
  command.add_option("--role-share", a.role_share, "minimum share of tokens in a role, in percent")
      ->check(CLI::Range(1.0, 100.0))
      ->capture_default_str()
      ->needs(roles)
      ->type_name("PERCENT");
  command
      .add_option("--relabellings", a.relabellings,
                  "number of relabelled texts that chance levels are estimated from")
      ->check(CLI::Range(19, 10000))
      ->capture_default_str()
      ->needs(roles)
      ->type_name("N");
  command
      .add_option("--conllu", a.conllu,
                  "sentences with dependency trees in CoNLL-U, instead of FILE: heads that find "
                  "arcs")
      ->needs(roles)
      ->type_name("FILE");
}

void add_pruning(CLI::App& command, HeadsArguments& a) {
  CLI::Option* prune = command.add_flag(
      "--prune", a.prune,
      "pruning curve: accuracy without the heads lowest in the first measure, and without random "
      "ones");
  command.add_option("--prune-step", a.prune_step, "heads pruned in each step, in percent")
      ->check(CLI::Range(0.1, 100.0))
      ->capture_default_str()
      ->needs(prune)
      ->type_name("PERCENT");
  command.add_flag("--keep-one", a.keep_one, "keep at least one head in each layer")->needs(prune);
  command.add_option("--seed", a.seed, "seed of the random order and of relabellings")
      ->capture_default_str();
}

void add_arguments(CLI::App& command, HeadsArguments& a) {
  start_group(command, OptionGroup::kInput);
  command.add_option(
      "FILE", a.file,
      "texts, one per line ('-': standard input): text, text<TAB>label, or JSON with "
      "text, pair, label; pictures: a list of files in the same form (JSON with "
      "picture, label), or a folder with a folder of pictures for each label");
  command
      .add_option("--limit", a.limit,
                  "maximum number of texts or pictures (of a folder: of each label in turn)")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  a.model.add_to(command);
  add_measures(command, a);
  add_roles(command, a);
  add_pruning(command, a);
  start_group(command, OptionGroup::kTarget);
  command
      .add_option("--among", a.among,
                  "candidate text for zero-shot classification (CLIP); repeat for each")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("TEXT");
  a.model.add_output_to(command);
  start_group(command, OptionGroup::kOutput);
  command.add_option("--json", a.json, "JSON ('-': standard output)")->type_name("FILE");
  command.add_option("--html", a.html, "HTML page with the plot and tables")->type_name("FILE");
  command.add_option("--svg", a.svg, "plot as SVG")->type_name("FILE");
  command.add_option("--png", a.png, "plot as PNG")->type_name("FILE");
}

HeadsRequest request_of(const HeadsArguments& a) {
  HeadsRequest request;
  request.measures = a.measures;
  if (a.roles) {
    if (a.given_measures->count() == 0 && !a.prune) request.measures.clear();
    request.roles = {.share = a.role_share / 100, .permutations = a.relabellings, .seed = a.seed};
  }
  request.michel_scale = a.normalise == "layer" ? LayerScale::kUnitLength : LayerScale::kNone;
  request.all_tokens = a.all_tokens;
  request.attention_constant = a.attention_constant;
  if (a.precision == "double") request.precision = Precision::kDouble;
  if (a.prune) {
    request.prune = {.step = a.prune_step / 100, .keep_one = a.keep_one, .seed = a.seed};
  }
  return request;
}

void write_reports(const HeadsArguments& a, const HeadImportance& importance) {
  OutputFiles files;
  files.add(a.html, [&] { return to_html(importance); });
  files.add(a.svg, [&] { return heads_picture(importance, PictureFormat::kSvg); });
  files.add(a.png, [&] { return heads_picture(importance, PictureFormat::kPng); });
  show(importance, a.json, std::move(files));
}

Model model_for(const HeadsArguments& a, const std::vector<LabelledInput>& corpus) {
  if (is_picture(corpus[0].input)) {
    const Model model = a.model.load_for_pictures();
    return a.among.empty() ? model : model.among(a.among);
  }
  if (!a.among.empty()) throw InvalidInput("--among goes with pictures");
  return a.model.load();
}

std::vector<LabelledInput> corpus_of(const HeadsArguments& a) {
  if (a.file.empty() == a.conllu.empty()) {
    throw InvalidInput("give one of FILE and --conllu: the inputs that heads are measured on");
  }
  if (a.conllu.empty()) return read_labelled_corpus(a.file, a.limit);
  std::vector<LabelledInput> corpus;
  for (ParsedSentence& one : read_treebank(a.conllu, a.limit)) {
    corpus.push_back({TextInput{std::move(one.text), {}}, {}, fmt::format("line {}", one.line)});
    corpus.back().tree = std::make_shared<DependencyTree>(std::move(one.words));
  }
  return corpus;
}

void run(const HeadsArguments& a) {
  check_outputs({a.json, a.html, a.svg, a.png}, {a.file, a.conllu, a.model.model});
  HeadsRequest request = request_of(a);
  const std::vector<LabelledInput> corpus = corpus_of(a);
  const Model model = model_for(a, corpus);
  const KeepAnswers keep;
  ProgressBar bar("runs");
  request.progress = [&bar](int64_t done, int64_t total) {
    bar.show(done, total);
    return !interrupted();
  };
  const HeadImportance importance = head_importance(model, corpus, request);
  bar.clear();
  write_reports(a, importance);
  if (importance.stopped_early) throw Interrupted();  // what there is by then is kept
}

}  // namespace

void add_heads(CLI::App& program) {
  auto arguments = std::make_shared<HeadsArguments>();
  CLI::App* command = program.add_subcommand(
      "heads",
      "Measure the importance of each attention head over a corpus, and what it attends to");
  add_arguments(*command, *arguments);
  command->callback([arguments] { run(*arguments); });
}

}  // namespace whyformer::cli
