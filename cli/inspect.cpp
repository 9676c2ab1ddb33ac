#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "console.h"
#include "model_arguments.h"

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

}  // namespace

void add_inspect(CLI::App& program) {
  struct Arguments {
    std::string folder, model;
    bool json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command =
      program.add_subcommand("inspect", "Show what was found in a model: attention, streams, read-out");
  command->add_option("DIR", arguments->folder,
                      "HuggingFace model folder (default: the built-in sentiment model)");
  command->add_option("-m,--model", arguments->model, "the same, as an option")->type_name("DIR");
  command->add_flag("--json", arguments->json, "as JSON");
  command->callback([arguments] {
    const std::string& folder = arguments->folder.empty() ? arguments->model : arguments->folder;
    const ModelInfo info = (folder.empty() ? Model::built_in() : Model::load(folder)).inspect();
    if (arguments->json) print(json_of(info).dump(2) + "\n");
    else print_info(info);
  });
}

}  // namespace whyformer::cli
