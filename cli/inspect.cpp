#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "console.h"
#include "model_arguments.h"
#include "whyformer/relevance.h"

namespace whyformer::cli {
namespace {

nlohmann::ordered_json json_of(const ModelInfo& info) {
  nlohmann::ordered_json sites = nlohmann::ordered_json::array();
  for (const SiteInfo& site : info.sites) {
    sites.push_back({{"name", site.name},
                     {"heads", site.heads},
                     {"kind", site.self_attention ? "self" : "cross"}});
  }
  return {{"model", {{"name", info.model.name}, {"architecture", info.model.architecture}}},
          {"task", info.task},
          {"outputs", info.outputs},
          {"parameters", info.parameters},
          {"tensors", info.tensors},
          {"vocabulary", info.vocabulary},
          {"max_tokens", info.max_tokens},
          {"attention", sites},
          {"streams", info.streams},
          {"read_out", info.read_out}};
}

std::string outputs_line(const std::vector<std::string>& outputs) {
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(outputs.size(), 10); ++i) {
    text += (i == 0 ? "" : ", ") + outputs[i];
  }
  if (outputs.size() > 10) text += fmt::format(", … ({} in all)", outputs.size());
  return text;
}

void print_info(const ModelInfo& info) {
  const auto line = [](std::string_view what, const std::string& value) {
    print(fmt::format("{:<14}{}\n", what, value));
  };
  line("model", info.model.name);
  line("architecture", info.model.architecture);
  line("task", info.task);
  line("outputs", outputs_line(info.outputs));
  line("parameters", fmt::format("{:.1f} million in {} tensors",
                                 static_cast<double>(info.parameters) / 1e6, info.tensors));
  line("vocabulary", fmt::format("{} tokens", info.vocabulary));
  line("longest text", fmt::format("{} tokens", info.max_tokens));
  line("streams", fmt::format("{}", info.streams));
  line("read-out", info.read_out);
  print(fmt::format("\nattention sites found in the graph: {}\n", info.sites.size()));
  for (size_t i = 0; i < info.sites.size(); ++i) {
    const SiteInfo& site = info.sites[i];
    print(fmt::format("{:>4}  {:>3} heads  {:<5}  {}\n", i, site.heads,
                      site.self_attention ? "self" : "cross", site.name));
  }
}

constexpr const char* kSampleText = "I cannot wait for next time";

nlohmann::ordered_json json_of(const RelevanceReport& report) {
  nlohmann::ordered_json steps = nlohmann::ordered_json::array();
  for (const RelevanceStep& step : report.steps) {
    steps.push_back({{"node", step.node},
                     {"operator", step.op},
                     {"rule", step.rule},
                     {"entering", step.entering},
                     {"leaving", step.leaving},
                     {"entering_magnitude", step.entering_magnitude},
                     {"leaving_magnitude", step.leaving_magnitude}});
  }
  return {{"model", {{"name", report.model.name}, {"architecture", report.model.architecture}}},
          {"policy", report.policy},
          {"target", {{"index", report.target.index}, {"label", report.target.label}}},
          {"seed", report.seed},
          {"at_first_layer", report.at_first_layer},
          {"at_words", report.at_words},
          {"steps", steps}};
}

// Steps that only move relevance have nothing to tell; those that lose some are marked.
void print_report(const RelevanceReport& report) {
  print(fmt::format("relevance of \"{}\" by the policy {}: starts with {:.4g}\n\n",
                    report.target.label, report.policy, report.seed));
  print(fmt::format("{:>12}{:>12}{:>12}  {:<11}{:<17}{}\n", "entering", "leaving", "size out",
                    "operator", "rule", "node"));
  for (const RelevanceStep& step : report.steps) {
    if (step.rule == "move") continue;
    const double loss = step.loss();
    std::string mark;
    if (std::abs(loss) > 1e-4) {
      mark = fmt::format("  {} {:.2g} %", loss > 0 ? "loses" : "adds", 100 * std::abs(loss));
    }
    print(fmt::format("{:>12.4g}{:>12.4g}{:>12.4g}  {:<11}{:<17}{}{}\n", step.entering,
                      step.leaving, step.leaving_magnitude, step.op, step.rule, step.node, mark));
  }
  print(fmt::format("\nat the first layer {:.6g}, at the word vectors {:.6g}\n",
                    report.at_first_layer, report.at_words));
}

struct Arguments {
  std::string folder, model, policy = "chefer", text = kSampleText, target, precision = "single";
  bool json = false, relevance = false;
};

void inspect_relevance(const Model& model, const Arguments& arguments) {
  ExplainRequest request;
  if (!arguments.target.empty()) request.target = arguments.target;
  if (arguments.precision == "double") request.precision = Precision::kDouble;
  const RelevanceReport report =
      relevance_report(model, {arguments.text, {}}, arguments.policy, request);
  if (arguments.json) print(json_of(report).dump(2) + "\n");
  else print_report(report);
}

}  // namespace

void add_inspect(CLI::App& program) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command =
      program.add_subcommand("inspect", "Show what was found in a model: attention, streams, read-out");
  command->add_option("DIR", arguments->folder,
                      "HuggingFace model folder (default: the built-in sentiment model)");
  command->add_option("-m,--model", arguments->model, "the same, as an option")->type_name("DIR");
  command->add_flag("--json", arguments->json, "as JSON");
  CLI::Option* relevance = command->add_flag(
      "--relevance", arguments->relevance,
      "show the relevance that enters and leaves every operator, instead");
  command->add_option("--policy", arguments->policy, "relevance policy: a name or a JSON file")
      ->needs(relevance)
      ->capture_default_str();
  command->add_option("--text", arguments->text, "the text to explain")
      ->needs(relevance)
      ->capture_default_str();
  command->add_option("--target", arguments->target, "label or index (default: the highest)")
      ->needs(relevance);
  command->add_option("--precision", arguments->precision, "single or double")
      ->check(CLI::IsMember({"single", "double"}))
      ->needs(relevance)
      ->capture_default_str();
  command->callback([arguments] {
    const std::string& folder = arguments->folder.empty() ? arguments->model : arguments->folder;
    const Model model = folder.empty() ? Model::built_in() : Model::load(folder);
    if (arguments->relevance) {
      inspect_relevance(model, *arguments);
      return;
    }
    const ModelInfo info = model.inspect();
    if (arguments->json) print(json_of(info).dump(2) + "\n");
    else print_info(info);
  });
}

}  // namespace whyformer::cli
