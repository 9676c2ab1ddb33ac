#include "whyformer/debate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>

#include "command.h"
#include "console.h"
#include "corpus_arguments.h"
#include "option_groups.h"
#include "output_files.h"
#include "whyformer/error.h"
#include "whyformer/evaluation.h"
#include "whyformer/growing_file.h"
#include "whyformer/report.h"
#include "whyformer/threads.h"

namespace whyformer::cli {
namespace {

struct DebateArguments {
  CorpusArguments corpus;
  CLI::Option* models = nullptr;  // may be given several times
  DebateRequest request;
  std::string precision = "single";
  bool with_special = false;
  std::string json, html, svg, png, keep;
};

std::string parts_help() {
  std::string text = "parts, separated by commas (default: all):";
  for (const DebatePartInfo& part : debate_parts())
    text += fmt::format("\n{}: {} ({})", part.name, part.question, part.paper);
  return text + "\n";
}

void add_debate_settings(CLI::App& command, DebateArguments& a) {
  start_group(command, OptionGroup::kMethods);
  DebateRequest& request = a.request;
  command.add_option("--part", request.parts, parts_help())->delimiter(',')->type_name("NAMES");
  command.add_flag("--with-special", a.with_special,
                   "change the weights of special tokens, too (default: they stay)");
  command
      .add_option("--permutations", request.permutations,
                  "number of permutations of the read-out row")
      ->check(CLI::Range(int64_t{1}, int64_t{100'000}))
      ->capture_default_str();
  command
      .add_option("--layer-permutations", request.layer_permutations,
                  "number of permutations of whole layers (all but last-row); 0: none")
      ->check(CLI::Range(int64_t{0}, int64_t{100'000}))
      ->capture_default_str();
  command
      .add_option("--permute", request.semantics,
                  "what is permuted: last-row, frozen, frozen-heads, live")
      ->delimiter(',')
      ->capture_default_str()
      ->type_name("NAMES");
  command
      .add_option("--scope", request.adversary.scopes,
                  "adversarial searches: joint, heads, on-uniform, rows, layers, all")
      ->delimiter(',')
      ->capture_default_str()
      ->type_name("NAMES");
  command
      .add_option("--steps", request.adversary.steps, "number of steps of the adversarial search")
      ->check(CLI::Range(int64_t{0}, int64_t{1'000'000}))
      ->capture_default_str();
  command.add_option("--restarts", request.adversary.restarts, "number of restarts of the search")
      ->check(CLI::Range(int64_t{1}, int64_t{1000}))
      ->capture_default_str();
  command.add_option("--guide", request.diagnostic.guides, "guides of the diagnostic network")
      ->delimiter(',')
      ->capture_default_str()
      ->type_name("NAMES");
  command
      .add_option("--lambda", request.consistent.lambdas,
                  "weights of the attention distance in the loss of the model-consistent adversary")
      ->delimiter(',')
      ->capture_default_str()
      ->type_name("NUMBERS");
  command.add_option("--seed", request.seed, "seed of all random draws")->capture_default_str();
  command.add_option("--memory", a.corpus.memory_megabytes, "memory for batches of inputs")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 30))
      ->capture_default_str()
      ->type_name("MB");
  command.add_option("--precision", a.precision, "floating-point precision; double is slow")
      ->check(CLI::IsMember({"single", "double"}))
      ->capture_default_str();
}

void add_arguments(CLI::App& command, DebateArguments& a) {
  a.corpus.add_inputs_to(command);
  a.models = command.get_option("--model")->take_first();
  a.models->description(a.models->get_description() +
                        "; may be repeated: the others are trained from other seeds");
  add_debate_settings(command, a);
  start_group(command, OptionGroup::kOutput);
  command
      .add_option("--keep", a.keep,
                  "file of finished inputs, one per line: a stopped debate goes on from it")
      ->type_name("FILE");
  command.add_option("--json", a.json, "JSON ('-': standard output)")->type_name("FILE");
  command.add_option("--html", a.html, "HTML page")->type_name("FILE");
  command.add_option("--svg", a.svg, "pictures as SVG")->type_name("FILE");
  command.add_option("--png", a.png, "pictures as PNG")->type_name("FILE");
}

// What is asked of each input, in one line: inputs kept for another question must not be mixed in.
std::string question_of(const DebateArguments& a, const Model& model,
                        const std::vector<std::string>& models) {
  const DebateRequest& request = a.request;
  const AdversarySettings& search = request.adversary;
  return fmt::format(
      "whyformer debate: model {} {}, others {}, parts {}, special {}, permutations {} {} of {}, "
      "search "
      "{} {} {}, guides {}, seed {}, {}",
      model.name().name, model.hash(),
      fmt::join(models.begin() + (models.empty() ? 0 : 1), models.end(), " "),
      fmt::join(request.parts, " "), a.with_special ? "take part" : "stay", request.permutations,
      request.layer_permutations, fmt::join(request.semantics, " "), fmt::join(search.scopes, " "),
      search.steps, search.restarts, fmt::join(request.diagnostic.guides, " "), request.seed,
      a.precision);
}

// What an example holds, whatever it is called.
std::string hash_of(const DebateExample& example) {
  EvaluationInput input{.input = example.input};
  if (example.label) input.label = *example.label;
  return content_hash(input);
}

// Inputs that an earlier run has finished, by what they hold: each line has that in front.
std::map<std::string, DebateInput> kept_inputs(const std::string& path,
                                               const std::string& question) {
  std::map<std::string, DebateInput> kept;
  std::ifstream file(path);
  std::string line;
  if (path.empty() || !std::getline(file, line)) return kept;
  if (line != question) {
    throw InvalidInput(
        fmt::format("'{}' keeps the inputs of another debate ({}): give another file, or delete it",
                    path, line));
  }
  while (std::getline(file, line)) {
    const size_t blank = std::min(line.find(' '), line.size());
    kept.emplace(line.substr(0, blank), debate_input_of(line.substr(blank)));
  }
  return kept;
}

class DebateCommand {
 public:
  DebateCommand(const DebateArguments& a, const Model& model, const std::vector<Model>& others,
                std::vector<DebateExample> examples, std::string question)
      : a_(a),
        model_(model),
        others_(others),
        examples_(std::move(examples)),
        question_(std::move(question)),
        request_(a.request) {
    request_.progress = [](int64_t, int64_t) { return !interrupted(); };
  }

  DebateReport run() {
    const std::vector<DebateInput> done = measured();
    if (done.empty()) throw Interrupted();
    // What is done is told, even where training has no time left.
    DebateReport report = summarise(model_, others_, examples_, done, request_);
    if (done.size() < examples_.size()) {
      report.stopped_early = true;
      report.notes.push_back(
          fmt::format("Interrupted after {} of {} inputs.", done.size(), examples_.size()));
    }
    return report;
  }

 private:
  std::vector<DebateInput> measured() {
    std::map<std::string, DebateInput> kept = kept_inputs(a_.keep, question_);
    std::unique_ptr<GrowingFile> file;
    if (!a_.keep.empty()) {
      file = std::make_unique<GrowingFile>(a_.keep);
      file->add(question_ + "\n");
    }
    ProgressBar bar("inputs");
    const auto count = static_cast<int64_t>(examples_.size());
    std::vector<DebateInput> done, found(examples_.size());
    const auto measure = [&](const PieceOfWork& piece) {
      const int64_t i = piece.number;
      const auto known = kept.find(hash_of(examples_[i]));
      DebateRequest own = request_;
      own.memory_bytes /= piece.at_once;
      found[i] =
          known != kept.end() ? known->second : debate_input(model_, others_, examples_[i], i, own);
      found[i].name = examples_[i].name;
    };
    const auto keep = [&](int64_t i) {
      done.push_back(std::move(found[i]));
      if (file != nullptr) file->add(hash_of(examples_[i]) + " " + to_json(done.back()) + "\n");
      bar.show(static_cast<int64_t>(done.size()), count);
      return !interrupted();
    };
    try {
      work_in_order(count, measure, keep);
    } catch (const Interrupted&) {
      // What is done stays.
    }
    if (file != nullptr) file->finish();
    bar.clear();
    return done;
  }

  const DebateArguments& a_;
  const Model& model_;
  const std::vector<Model>& others_;
  std::vector<DebateExample> examples_;
  std::string question_;
  DebateRequest request_;
};

std::vector<DebateExample> examples_of(const std::vector<CorpusArguments::Entry>& corpus) {
  std::vector<DebateExample> examples;
  for (const CorpusArguments::Entry& entry : corpus) {
    if (!entry.problem.empty()) {
      tell(fmt::format("left out {}: {}", entry.input.name, entry.problem));
      continue;
    }
    DebateExample example{entry.input.name, entry.input.input, {}};
    if (const auto* label = std::get_if<std::string>(&entry.input.label)) example.label = *label;
    examples.push_back(std::move(example));
  }
  if (examples.empty()) throw InvalidInput("no input of the corpus can be read");
  return examples;
}

std::vector<Model> other_models(DebateArguments a, const std::vector<std::string>& models,
                                const std::vector<CorpusArguments::Entry>& corpus) {
  std::vector<Model> others;
  for (size_t i = 1; i < models.size(); ++i) {
    a.corpus.model.model = models[i];
    a.corpus.table_model.reset();
    others.push_back(a.corpus.load(corpus));
  }
  return others;
}

void write_reports(const DebateArguments& a, const DebateReport& report) {
  OutputFiles files;
  files.add(a.html, [&] { return to_html(report); });
  files.add(a.svg, [&] { return debate_picture(report, PictureFormat::kSvg); });
  files.add(a.png, [&] { return debate_picture(report, PictureFormat::kPng); });
  show(report, a.json, std::move(files));
}

void run(DebateArguments a) {
  check_outputs({a.json, a.html, a.svg, a.png, a.keep}, a.corpus.files());
  if (a.corpus.explain_labels)
    throw InvalidInput("--labels has no effect here: the debate is about the predicted class");
  const std::vector<std::string> models = a.models->results();
  if (!models.empty()) a.corpus.model.model = models[0];
  const std::vector<CorpusArguments::Entry> corpus = a.corpus.read();
  const Model model = a.corpus.load(corpus);
  const std::vector<Model> others = other_models(a, models, corpus);
  if (a.with_special) a.request.special = SpecialAttention::kTakesPart;
  if (a.precision == "double") a.request.precision = Precision::kDouble;
  a.request.memory_bytes = a.corpus.memory_megabytes << 20;
  const KeepAnswers keep;
  DebateCommand command(a, model, others, examples_of(corpus), question_of(a, model, models));
  const DebateReport report = command.run();
  write_reports(a, report);
  if (interrupted()) throw Interrupted();
}

}  // namespace

void add_debate(CLI::App& program) {
  auto arguments = std::make_shared<DebateArguments>();
  CLI::App* command = program.add_subcommand(
      "debate", "Is attention explanation? Both sides for one model and a corpus");
  add_arguments(*command, *arguments);
  command->callback([arguments] { run(*arguments); });
}

}  // namespace whyformer::cli
