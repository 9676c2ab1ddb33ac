#include <fmt/format.h>

#include <memory>
#include <mutex>

#include "command.h"
#include "console.h"
#include "corpus_arguments.h"
#include "option_groups.h"
#include "output_files.h"
#include "whyformer/error.h"
#include "whyformer/method_agreement.h"
#include "whyformer/report.h"

namespace whyformer::cli {
namespace {

struct AgreeArguments {
  CorpusArguments corpus;
  CLI::Option* models = nullptr;  // may be given several times
  std::string with;
  int64_t top_k = 0;
  double persistence = 0;
  bool magnitudes = false;
  std::string json, html, svg, png;
};

void add_arguments(CLI::App& command, AgreeArguments& a) {
  a.corpus.add_inputs_to(command);
  a.models = command.get_option("--model")->take_first();
  a.models->description(a.models->get_description() +
                        "; may be repeated, for the spread over trained models");
  a.corpus.add_methods_to(command);
  command
      .add_option("--with", a.with,
                  "method that all others are compared with, such as kernel-shap; it comes first")
      ->type_name("NAME");
  command.add_option("--top", a.top_k, "units of the top-k overlaps (default: a fifth)")
      ->check(CLI::PositiveNumber)
      ->type_name("K");
  command
      .add_option("--persistence", a.persistence,
                  "p of rank-biased overlap (default: 0.9, and 0.98 for 50 units or more)")
      ->check(CLI::Range(0.01, 0.999))
      ->type_name("P");
  command.add_flag("--magnitudes", a.magnitudes,
                   "compare magnitudes of scores, as for attention, which has no sign");
  start_group(command, OptionGroup::kOutput);
  command.add_option("--json", a.json, "JSON ('-': standard output)")->type_name("FILE");
  command.add_option("--html", a.html, "HTML page")->type_name("FILE");
  command.add_option("--svg", a.svg, "heat map as SVG")->type_name("FILE");
  command.add_option("--png", a.png, "heat map as PNG")->type_name("FILE");
}

AgreementRequest request_of(const AgreeArguments& a, const Model& model,
                            const InputValue& first_input) {
  std::vector<std::string> methods =
      a.corpus.methods.empty() ? default_methods(model, first_input) : a.corpus.methods;
  if (!a.with.empty()) {
    std::erase(methods, a.with);
    methods.insert(methods.begin(), a.with);
  }
  CorpusArguments corpus = a.corpus;
  corpus.methods = methods;
  AgreementRequest request;
  request.explain = corpus.request({});
  request.top_k = a.top_k;
  request.persistence = a.persistence;
  request.magnitudes = a.magnitudes;
  return request;
}

std::vector<AgreementInput> inputs_of(const std::vector<CorpusArguments::Entry>& corpus,
                                      const Model& model, const AgreementRequest& request) {
  ProgressBar bar("inputs");
  std::mutex showing;
  const auto show = [&](int64_t done, int64_t total) {
    const std::lock_guard lock(showing);
    bar.show(done, total);
    return !interrupted();
  };
  std::vector<AgreementInput> inputs;
  try {
    inputs = agreement_inputs(model, corpus, request, show);
  } catch (const Interrupted&) {
    // Nothing is done yet.
  }
  bar.clear();
  return inputs;
}

void add_pictures(const AgreeArguments& a, const AgreementReport& report, OutputFiles& files) {
  files.add(a.svg, [&] { return agreement_picture(report, PictureFormat::kSvg); });
  files.add(a.png, [&] { return agreement_picture(report, PictureFormat::kPng); });
}
void add_pictures(const AgreeArguments&, const AgreementOverModels&, OutputFiles&) {}

template <typename Report>
void write_reports(const AgreeArguments& a, const Report& report) {
  OutputFiles files;
  files.add(a.html, [&] { return to_html(report); });
  add_pictures(a, report, files);
  show(report, a.json, std::move(files));
}

struct ReportOfModel {
  AgreementReport report;
  bool is_whole = true;  // not interrupted before the last input
};

// Nothing where it was interrupted before the first input.
std::optional<ReportOfModel> report_of(const AgreeArguments& a, const Model& model,
                                       const std::vector<CorpusArguments::Entry>& corpus) {
  const AgreementRequest request = request_of(a, model, CorpusArguments::first_of(corpus));
  const KeepAnswers keep;
  const std::vector<AgreementInput> inputs = inputs_of(corpus, model, request);
  if (inputs.empty()) return std::nullopt;
  AgreementReport report = summarise(model.name(), inputs, request);
  const bool is_whole = inputs.size() == corpus.size();
  if (!is_whole) {
    report.notes.push_back(
        fmt::format("Interrupted after {} of {} inputs.", inputs.size(), corpus.size()));
  }
  return ReportOfModel{std::move(report), is_whole};
}

// One model after the other; an interruption keeps those that are done. A spread is over models
// that saw the same inputs.
void run_over_models(AgreeArguments a, const std::vector<std::string>& models,
                     const std::vector<CorpusArguments::Entry>& corpus) {
  if (!a.svg.empty() || !a.png.empty())
    throw InvalidInput(
        "the heat map shows one model: leave out --svg and --png, or give one --model");
  std::vector<AgreementReport> whole;
  std::optional<AgreementReport> part;
  for (const std::string& name : models) {
    if (interrupted()) break;
    a.corpus.model.model = name;
    a.corpus.table_model.reset();
    std::optional<ReportOfModel> found = report_of(a, a.corpus.load(corpus), corpus);
    if (!found) break;
    found->report.model.name = name;
    if (found->is_whole)
      whole.push_back(std::move(found->report));
    else
      part = std::move(found->report);
  }
  if (whole.empty() && !part) throw Interrupted();
  if (whole.empty()) return write_reports(a, *part);
  const size_t done = whole.size();
  write_reports(a, over_models(std::move(whole)));
  if (done < models.size()) {
    tell(
        fmt::format("interrupted: {} of {} models are compared; '{}' and what follows are left out",
                    done, models.size(), models[done]));
  }
}

void run(const AgreeArguments& a) {
  check_outputs({a.json, a.html, a.svg, a.png}, a.corpus.files());
  const std::vector<CorpusArguments::Entry> corpus = a.corpus.read();
  const std::vector<std::string> models = a.models->results();
  if (models.size() > 1) {
    run_over_models(a, models, corpus);
  } else {
    const auto found = report_of(a, a.corpus.load(corpus), corpus);
    if (!found) throw Interrupted();
    write_reports(a, found->report);
  }
  if (interrupted()) throw Interrupted();
}

}  // namespace

void add_agree(CLI::App& program) {
  auto arguments = std::make_shared<AgreeArguments>();
  CLI::App* command =
      program.add_subcommand("agree", "Measure the agreement between methods over many inputs");
  add_arguments(*command, *arguments);
  command->callback([arguments] { run(*arguments); });
}

}  // namespace whyformer::cli
