#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "console.h"
#include "whyformer/methods.h"

namespace whyformer::cli {
namespace {

std::string text_of(const OptionValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* whole = std::get_if<int64_t>(&value)) return std::to_string(*whole);
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{:g}", *number);
  return std::get<std::string>(value);
}

nlohmann::ordered_json json_of(const OptionValue& value) {
  return std::visit([](const auto& v) { return nlohmann::ordered_json(v); }, value);
}

nlohmann::ordered_json json_of(const MethodInfo& method) {
  nlohmann::ordered_json options = nlohmann::ordered_json::array();
  for (const OptionInfo& option : method.options) {
    options.push_back({{"name", option.name},
                       {"summary", option.summary},
                       {"default", json_of(option.fallback)},
                       {"choices", option.choices}});
  }
  nlohmann::ordered_json presets = nlohmann::ordered_json::array();
  for (const PresetInfo& preset : method.presets) {
    nlohmann::ordered_json values;
    for (const auto& [name, value] : preset.values) values[name] = json_of(value);
    presets.push_back({{"name", preset.name}, {"summary", preset.summary}, {"options", values}});
  }
  return {{"name", method.name},
          {"summary", method.summary},
          {"paper", method.paper},
          {"cost", method.cost},
          {"class_specific", method.class_specific},
          {"signed", method.is_signed},
          {"options", options},
          {"presets", presets}};
}

void print_details(const MethodInfo& method) {
  print(fmt::format("{}\n  {}\n  {}\n  cost: {}\n", method.name, method.summary, method.paper,
                    method.cost));
  for (const OptionInfo& option : method.options) {
    std::string allowed;
    for (const std::string& choice : option.choices) {
      allowed += (allowed.empty() ? "  (" : " | ") + choice;
    }
    print(fmt::format("    --option {}.{}={}{}\n        {}\n", method.name, option.name,
                      text_of(option.fallback), allowed.empty() ? "" : allowed + ")",
                      option.summary));
  }
  for (const PresetInfo& preset : method.presets) {
    print(fmt::format("    --option {}.preset={}\n        {}\n", method.name, preset.name,
                      preset.summary));
  }
}

void print_table() {
  print(fmt::format("{:<25}{:<8}{:<8}{}\n", "method", "target", "signed", "what it is"));
  for (const MethodInfo& method : methods()) {
    print(fmt::format("{:<25}{:<8}{:<8}{}\n", method.name, method.class_specific ? "yes" : "no",
                      method.is_signed ? "yes" : "no", method.summary));
  }
  print("\n'whyformer methods NAME' shows options, presets, paper and cost.\n");
}

}  // namespace

void add_methods(CLI::App& program) {
  struct Arguments {
    std::string name;
    bool json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = program.add_subcommand("methods", "List the explanation methods");
  command->add_option("NAME", arguments->name, "show one method with its options");
  command->add_flag("--json", arguments->json, "as JSON");
  command->callback([arguments] {
    if (!arguments->name.empty()) method_named(arguments->name);  // says what is known
    if (arguments->json) {
      nlohmann::ordered_json list = nlohmann::ordered_json::array();
      for (const MethodInfo& method : methods()) {
        if (arguments->name.empty() || arguments->name == method.name) {
          list.push_back(json_of(method));
        }
      }
      print(list.dump(2) + "\n");
    } else if (arguments->name.empty()) {
      print_table();
    } else {
      print_details(method_named(arguments->name));
    }
  });
}

}  // namespace whyformer::cli
