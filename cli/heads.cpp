#include "whyformer/heads.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "command.h"
#include "console.h"
#include "labelled_texts.h"
#include "model_arguments.h"
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
  std::string json, svg, png;
};

std::string measures_help() {
  std::string text = "measures, separated by commas:";
  for (const HeadMeasureInfo& measure : head_measures()) {
    text += fmt::format("\n{}: {} ({}; {})", measure.name, measure.summary, measure.paper,
                        measure.cost);
  }
  return text + "\ndefault:";
}

void add_arguments(CLI::App& command, HeadsArguments& a) {
  command
      .add_option("FILE", a.file,
                  "texts, one per line ('-': standard input): text, text<TAB>label, or JSON with "
                  "text, pair, label; pictures: a list of files in the same form (JSON with "
                  "picture, label), or a folder "
                  "with a folder of pictures for each label")
      ->required();
  a.model.add_to(command);
  a.model.add_output_to(command);
  command.add_option("--measure", a.measures, measures_help())
      ->delimiter(',')
      ->capture_default_str()
      ->type_name("NAMES");
  command
      .add_option(
          "--among", a.among,
          "for models that compare pictures with texts (CLIP): texts to choose from, one each")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("TEXT");
  command
      .add_option("--limit", a.limit,
                  "read the first N texts or pictures only (of a folder: of each label in turn)")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  command.add_option("--normalise", a.normalise, "michel: scale each layer to length 1, or not")
      ->check(CLI::IsMember({"layer", "none"}))
      ->capture_default_str();
  command.add_flag("--all-tokens", a.all_tokens, "confidence: special tokens count too");
  command.add_flag("--attention-constant", a.attention_constant,
                   "voita-lrp: relevance passes through values only, not queries and keys");
  command.add_option("--precision", a.precision, "of all runs; double is slow")
      ->check(CLI::IsMember({"single", "double"}))
      ->capture_default_str();
  CLI::Option* prune = command.add_flag(
      "--prune", a.prune,
      "accuracy when heads go, the lowest of the first measure first, and in a random order");
  command.add_option("--prune-step", a.prune_step, "percent of all heads that go in each step")
      ->check(CLI::Range(0.1, 100.0))
      ->capture_default_str()
      ->needs(prune)
      ->type_name("PERCENT");
  command.add_flag("--keep-one", a.keep_one, "pruning leaves a head in every layer")->needs(prune);
  command.add_option("--seed", a.seed, "of the random order")->needs(prune)->capture_default_str();
  command.add_option("--json", a.json, "write JSON ('-': standard output)")->type_name("FILE");
  command.add_option("--svg", a.svg, "write a picture as SVG")->type_name("FILE");
  command.add_option("--png", a.png, "write a picture as PNG")->type_name("FILE");
}

HeadsRequest request_of(const HeadsArguments& a) {
  HeadsRequest request;
  request.measures = a.measures;
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
  files.add(a.svg, [&] { return heads_picture(importance, PictureFormat::kSvg); });
  files.add(a.png, [&] { return heads_picture(importance, PictureFormat::kPng); });
  files.add(a.json, [&] { return to_json(importance) + "\n"; });
  files.write();
  if (a.json == "-") {
    print(to_json(importance) + "\n");
    return;
  }
  print(to_terminal(importance, {.colour = may_colour(), .width = terminal_width()}));
  files.name_them();
}

Model model_for(const HeadsArguments& a, const LabelledCorpus& corpus) {
  if (std::holds_alternative<std::vector<LabelledPicture>>(corpus)) {
    const Model model = a.model.load_for_pictures();
    return a.among.empty() ? model : model.among(a.among);
  }
  if (!a.among.empty()) throw InvalidInput("--among goes with pictures");
  return a.model.load();
}

void run(const HeadsArguments& a) {
  check_outputs({a.json, a.svg, a.png}, {a.file, a.model.model});
  HeadsRequest request = request_of(a);
  const LabelledCorpus corpus = read_labelled_corpus(a.file, a.limit);
  const Model model = model_for(a, corpus);
  const KeepAnswers keep;
  ProgressBar bar("runs");
  request.progress = [&bar](int64_t done, int64_t total) {
    bar.show(done, total);
    return !interrupted();
  };
  const HeadImportance importance = std::visit(
      [&](const auto& examples) { return head_importance(model, examples, request); }, corpus);
  bar.clear();
  write_reports(a, importance);
  if (importance.stopped_early) throw Interrupted();  // what there is by then is kept
}

}  // namespace

void add_heads(CLI::App& program) {
  auto arguments = std::make_shared<HeadsArguments>();
  CLI::App* command =
      program.add_subcommand("heads", "Measure how much each attention head matters over a corpus");
  add_arguments(*command, *arguments);
  command->callback([arguments] { run(*arguments); });
}

}  // namespace whyformer::cli
