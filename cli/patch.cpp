#include <fmt/format.h>

#include <charconv>
#include <memory>

#include "command.h"
#include "console.h"
#include "input_arguments.h"
#include "option_groups.h"
#include "output_files.h"
#include "whyformer/error.h"
#include "whyformer/patching.h"
#include "whyformer/report.h"

namespace whyformer::cli {
namespace {

struct PatchArguments {
  ModelArguments model;
  std::string clean, corrupted, target, against, metric = "logit", ablate, path,
                                                 precision = "single";
  std::vector<std::string> kinds{"residual"};
  std::vector<int64_t> noise;
  NoiseRequest noise_settings;
  double exact = 100;
  bool no_preview = false, lens = false;
  int64_t seed = 0, memory_megabytes = 1024;
  std::string html, json, svg, png;
  // Options that mean something to causal tracing alone, to sweeps alone, and to sweeps between two
  // inputs alone.
  std::vector<CLI::Option*> of_noise, of_sweeps, of_pairs;
};

std::string kinds_help() {
  std::string text = "values that are patched, separated by commas:";
  for (const PatchKindInfo& kind : patch_kinds())
    text += fmt::format("\n{}: {}", kind.name, kind.summary);
  return text;
}

void add_inputs(CLI::App& command, PatchArguments& a) {
  start_group(command, OptionGroup::kInput);
  command.add_option("--clean", a.clean, "text or picture whose answer is looked for")
      ->required()
      ->type_name("TEXT");
  command.add_option("--corrupted", a.corrupted, "text or picture with another answer")
      ->type_name("TEXT");
  command
      .add_option("--noise", a.noise,
                  "causal tracing instead: noise on these tokens (numbers, from 0)")
      ->delimiter(',')
      ->type_name("N,N");
  NoiseRequest& noise = a.noise_settings;
  a.of_noise = {
      command.add_option("--noise-scale", noise.scale, "in deviations of the word vectors"),
      command.add_option("--draws", noise.draws, "draws of noise"),
      command.add_option("--window", noise.window, "layers restored together")};
  for (CLI::Option* option : a.of_noise) option->capture_default_str();
  a.model.add_to(command);
}

void add_analyses(CLI::App& command, PatchArguments& a) {
  start_group(command, OptionGroup::kMethods);
  a.of_sweeps = {command.add_option("--kind", a.kinds, kinds_help())
                     ->delimiter(',')
                     ->capture_default_str()
                     ->type_name("NAMES")};
  a.of_pairs = {command
                    .add_option("--exact", a.exact,
                                "cells that are run, in percent: those with the largest "
                                "first-order estimates")
                    ->check(CLI::Range(0.1, 100.0))
                    ->capture_default_str()
                    ->type_name("PERCENT"),
                command.add_flag("--no-preview", a.no_preview, "no first-order estimates")};
  command.add_option("--ablate", a.ablate, "without each head instead: its context zero or mean")
      ->check(CLI::IsMember({"zero", "mean"}));
  command.add_flag("--lens", a.lens, "logit lens instead: the answer behind each layer");
  command
      .add_option("--path", a.path,
                  "path patching instead: of each head to the output, or to another head: output, "
                  "query:L.H, key:L.H, value:L.H")
      ->type_name("RECEIVER");
  command.add_option("--precision", a.precision, "floating-point precision; double is slow")
      ->check(CLI::IsMember({"single", "double"}))
      ->capture_default_str();
  a.of_noise.push_back(
      command.add_option("--seed", a.seed, "seed of the noise")->capture_default_str());
  command.add_option("--memory", a.memory_megabytes, "for runs together, in megabytes")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

void add_target(CLI::App& command, PatchArguments& a) {
  start_group(command, OptionGroup::kTarget);
  command.add_option("--target", a.target, "label or index (default: the clean answer)")
      ->type_name("LABEL|N");
  command.add_option("--against", a.against, "the metric is the target's less this output's")
      ->type_name("LABEL|N");
  command.add_option("--metric", a.metric, "the number that patches move")
      ->check(CLI::IsMember({"logit", "probability", "log-odds", "loss"}))
      ->capture_default_str();
  a.model.add_output_to(command);
  start_group(command, OptionGroup::kOutput);
  command.add_option("--html", a.html, "page")->type_name("FILE");
  command.add_option("--json", a.json, "JSON ('-': standard output)")->type_name("FILE");
  command.add_option("--svg", a.svg, "heat maps as SVG")->type_name("FILE");
  command.add_option("--png", a.png, "heat maps as PNG")->type_name("FILE");
}

InputValue value_of(const std::string& given) {
  if (given.empty()) throw InvalidInput("the text is empty");
  if (means_picture(given)) return PictureInput(PictureFile{given});
  return TextInput{given, {}};
}

TargetChoice choice_of(const std::string& word) {
  if (word.empty()) return {};
  int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error == std::errc() && end == word.data() + word.size()) return number;
  return word;
}

// "query:5.2", or "output".
PathReceiver receiver_of(const std::string& path) {
  PathReceiver receiver;
  const size_t colon = path.find(':');
  receiver.what = path.substr(0, colon);
  if (colon == std::string::npos) return receiver;
  const char* const end = path.data() + path.size();
  const auto layer = std::from_chars(path.data() + colon + 1, end, receiver.layer);
  const bool has_head = layer.ec == std::errc() && layer.ptr != end && *layer.ptr == '.';
  const auto head = has_head ? std::from_chars(layer.ptr + 1, end, receiver.head) : layer;
  if (!has_head || head.ec != std::errc() || head.ptr != end) {
    throw InvalidInput(fmt::format(
        "--path '{}': expected output, or query, key or value with a head, such as query:5.2",
        path));
  }
  return receiver;
}

// What would be ignored is refused.
void refuse_given(const std::vector<CLI::Option*>& options, const std::string& why) {
  for (const CLI::Option* option : options) {
    if (option->count() > 0)
      throw InvalidInput(fmt::format("{} {}: leave it out", option->get_name(), why));
  }
}

void check(const PatchArguments& a) {
  const int others = (a.noise.empty() ? 0 : 1) + (a.ablate.empty() ? 0 : 1) + (a.lens ? 1 : 0);
  if (others > 1) throw InvalidInput("choose one of --noise, --ablate and --lens");
  if (others == 1 && !a.corrupted.empty())
    throw InvalidInput("--noise, --ablate and --lens look at one input: leave out --corrupted");
  if (others == 1 && !a.path.empty())
    throw InvalidInput("--path needs --corrupted, and none of --noise, --ablate and --lens");
  if (others == 0 && a.corrupted.empty()) {
    throw InvalidInput(
        "give --corrupted, a text with another answer, or one of --noise, --ablate and --lens");
  }
  if (a.noise.empty()) refuse_given(a.of_noise, "goes with --noise");
  const bool sweeps = others == 0 && a.path.empty();
  if (!sweeps) refuse_given(a.of_pairs, "is about patching between two inputs");
  if (!sweeps && a.noise.empty()) refuse_given(a.of_sweeps, "is about patching and --noise");
}

PatchRequest request_of(const PatchArguments& a) {
  PatchRequest request{.kinds = a.kinds,
                       .target = choice_of(a.target),
                       .against = choice_of(a.against),
                       .preview = !a.no_preview,
                       .exact_share = a.exact / 100,
                       .seed = a.seed,
                       .memory_bytes = a.memory_megabytes << 20};
  if (a.metric == "probability") request.metric = PatchMetric::kProbability;
  if (a.metric == "log-odds") request.metric = PatchMetric::kLogOdds;
  if (a.metric == "loss") request.metric = PatchMetric::kLoss;
  if (a.precision == "double") request.precision = Precision::kDouble;
  return request;
}

PatchReport report_of(const PatchArguments& a, const Model& model, const InputValue& clean,
                      const PatchRequest& request) {
  if (!a.noise.empty()) {
    NoiseRequest noise = a.noise_settings;
    noise.tokens = a.noise;
    return trace_causes(model, clean, noise, request);
  }
  if (!a.ablate.empty()) {
    return ablate_heads(
        model, clean, a.ablate == "zero" ? HeadAblation::kZero : HeadAblation::kTokenMean, request);
  }
  if (a.lens) return logit_lens(model, clean, request);
  const InputValue corrupted = value_of(a.corrupted);
  if (!a.path.empty()) return patch_paths(model, clean, corrupted, receiver_of(a.path), request);
  return patch(model, clean, corrupted, request);
}

void run(const PatchArguments& a) {
  check(a);
  check_outputs({a.html, a.json, a.svg, a.png}, {a.model.model});
  PatchRequest request = request_of(a);
  const InputValue clean = value_of(a.clean);
  const Model model = is_picture(clean) ? a.model.load_for_pictures() : a.model.load();
  const KeepAnswers keep;
  ProgressBar bar("runs");
  request.progress = [&bar](int64_t done, int64_t total) {
    bar.show(done, total);
    return !interrupted();
  };
  const PatchReport report = report_of(a, model, clean, request);
  bar.clear();
  OutputFiles files;
  files.add(a.html, [&] { return to_html(report); });
  files.add(a.svg, [&] { return patch_picture(report, PictureFormat::kSvg); });
  files.add(a.png, [&] { return patch_picture(report, PictureFormat::kPng); });
  show(report, a.json, std::move(files));
  if (report.stopped_early) throw Interrupted();  // what there is by then was shown
}

}  // namespace

void add_patch(CLI::App& program) {
  auto arguments = std::make_shared<PatchArguments>();
  CLI::App* command = program.add_subcommand(
      "patch", "Find the values inside a model that carry its answer, by patching them");
  add_inputs(*command, *arguments);
  add_analyses(*command, *arguments);
  add_target(*command, *arguments);
  command->callback([arguments] { run(*arguments); });
}

}  // namespace whyformer::cli
