#include "whyformer/sanity.h"

#include <fmt/format.h>

#include <memory>

#include "command.h"
#include "console.h"
#include "corpus_arguments.h"
#include "option_groups.h"
#include "output_files.h"
#include "whyformer/error.h"
#include "whyformer/report.h"

namespace whyformer::cli {
namespace {

struct SanityArguments {
  CorpusArguments corpus;
  std::string target, randomised_target = "same", precision = "single", json;
  bool cascading_only = false, no_card = false;
};

void add_arguments(CLI::App& command, SanityArguments& a) {
  a.corpus.add_inputs_to(command);
  a.corpus.add_methods_to(command);
  command.add_flag("--cascading-only", a.cascading_only,
                   "cascading randomisation only, not layer by layer; halves the work");
  command.add_option("--precision", a.precision, "floating-point precision; double is slow")
      ->check(CLI::IsMember({"single", "double"}))
      ->capture_default_str();
  start_group(command, OptionGroup::kTarget);
  a.corpus.model.add_output_to(command);
  command.add_option("--target", a.target, "label or index (default: the highest of each input)")
      ->type_name("LABEL|N");
  command
      .add_option("--randomised-target", a.randomised_target,
                  "target after randomisation: the original, or the model's new highest")
      ->check(CLI::IsMember({"same", "highest"}))
      ->capture_default_str();
  start_group(command, OptionGroup::kOutput);
  command.add_option("--json", a.json, "JSON ('-': standard output)")->type_name("FILE");
  command.add_flag("--no-card", a.no_card, "do not keep the result in the user's cache");
}

struct CheckedInputs {
  std::vector<InputValue> values;
  std::vector<std::string> names;
};

// Lines that could not be read are left out and told.
CheckedInputs inputs_of(const std::vector<CorpusArguments::Entry>& corpus) {
  CheckedInputs inputs;
  for (const CorpusArguments::Entry& entry : corpus) {
    if (!entry.problem.empty()) {
      tell(fmt::format("left out {}: {}", entry.input.name, entry.problem));
      continue;
    }
    inputs.values.push_back(entry.input.input);
    inputs.names.push_back(entry.input.name);
  }
  return inputs;
}

SanityRequest request_of(const SanityArguments& a, const Model& model,
                         const CheckedInputs& inputs) {
  const bool named = !a.corpus.methods.empty() || inputs.values.empty();
  const ExplainRequest asked = a.corpus.request(named ? std::vector<std::string>()
                                                      : default_methods(model, inputs.values[0]));
  SanityRequest request{.methods = asked.methods, .names = inputs.names};
  if (!a.target.empty()) request.target = a.target;
  request.independent = !a.cascading_only;
  if (a.randomised_target == "highest") request.randomised_target = SanityTarget::kHighest;
  if (a.precision == "double") request.precision = Precision::kDouble;
  request.seed = asked.seed;
  request.memory_bytes = asked.memory_bytes;
  return request;
}

void run(const SanityArguments& a) {
  check_outputs({a.json}, a.corpus.files());
  if (a.corpus.explain_labels)
    throw InvalidInput("--labels has no effect here: one output is compared with itself");
  const std::vector<CorpusArguments::Entry> corpus = a.corpus.read();
  const Model model = a.corpus.load(corpus);
  const CheckedInputs inputs = inputs_of(corpus);
  SanityRequest request = request_of(a, model, inputs);
  const KeepAnswers keep;
  ProgressBar bar("explanations");
  request.progress = [&bar](int64_t done, int64_t total) {
    bar.show(done, total);
    return !interrupted();
  };
  const SanityReport report = test_sanity(model, inputs.values, request);
  bar.clear();
  show(report, a.json, {});
  if (report.stopped_early) throw Interrupted();  // what there is by then was shown
  if (!a.no_card) keep_sanity_card(report);
}

}  // namespace

void add_sanity(CLI::App& program) {
  auto arguments = std::make_shared<SanityArguments>();
  CLI::App* command = program.add_subcommand(
      "sanity", "Check whether explanations depend on the model's weights and on the class");
  add_arguments(*command, *arguments);
  command->callback([arguments] { run(*arguments); });
}

}  // namespace whyformer::cli
