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

const char* word_of(Scope scope) { return scope == Scope::kLocal ? "local" : "global"; }

const char* yes_or_no(bool flag) { return flag ? "yes" : "no"; }

const char* model_word(const MethodInfo& method) {
  return method.model_agnostic ? "agnostic" : "specific";
}

nlohmann::ordered_json json_of(const MethodInfo& method) {
  nlohmann::ordered_json options = nlohmann::ordered_json::array();
  for (const OptionInfo& option : method.options) {
    options.push_back({{"name", option.name},
                       {"summary", option.summary},
                       {"default", json_of(option.default_value)},
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
          {"scope", word_of(method.scope)},
          {"model_agnostic", method.model_agnostic},
          {"class_specific", method.class_specific},
          {"signed", method.is_signed},
          {"options", options},
          {"presets", presets}};
}

void print_details(const MethodInfo& method) {
  print(fmt::format("{}\n  {}\n  {}\n", method.name, method.summary, method.paper));
  print(fmt::format("  {}, model-{}, {}, {}; cost: {}\n", word_of(method.scope), model_word(method),
                    method.class_specific ? "class-specific" : "not class-specific",
                    method.is_signed ? "signed" : "not signed", method.cost));
  for (const OptionInfo& option : method.options) {
    std::string allowed;
    for (const std::string& choice : option.choices) {
      allowed += (allowed.empty() ? "  (" : " | ") + choice;
    }
    print(fmt::format("    --option {}.{}={}{}\n        {}\n", method.name, option.name,
                      text_of(option.default_value), allowed.empty() ? "" : allowed + ")",
                      option.summary));
  }
  for (const PresetInfo& preset : method.presets) {
    print(fmt::format("    --option {}.preset={}\n        {}\n", method.name, preset.name,
                      preset.summary));
  }
}

constexpr auto kRow = "{:<25}{:<10}{:<7}{:<8}{:<35}{}\n";

void print_rows(std::span<const MethodInfo> entries) {
  for (const MethodInfo& entry : entries) {
    print(fmt::format(kRow, entry.name, model_word(entry), yes_or_no(entry.class_specific),
                      yes_or_no(entry.is_signed), entry.cost, entry.summary));
  }
}

void print_table() {
  print("Local methods: one prediction (whyformer explain --method NAME)\n");
  print(fmt::format(kRow, "name", "model", "class", "signed", "cost", "what it is"));
  print_rows(methods());
  print("\nGlobal studies: a model over many inputs (whyformer NAME)\n");
  print_rows(studies());
  print(
      "\nmodel: specific methods look inside the model, agnostic ones need its outputs only.\n"
      "class: scores depend on the target. signed: negative scores are evidence against it.\n"
      "cost: with default options; M is the number of units (tokens, patches, columns).\n"
      "'whyformer methods NAME' shows options, presets and paper.\n");
}

const MethodInfo& entry_named(const std::string& name) {
  for (const MethodInfo& study : studies()) {
    if (study.name == name) return study;
  }
  return method_named(name);
}

}  // namespace

void add_methods(CLI::App& program) {
  struct Arguments {
    std::string name;
    bool json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = program.add_subcommand("methods", "List the explanation methods");
  command->add_option("NAME", arguments->name, "show one method or study with its options");
  command->add_flag("--json", arguments->json, "as JSON");
  command->callback([arguments] {
    const bool all = arguments->name.empty();
    if (!arguments->json) return all ? print_table() : print_details(entry_named(arguments->name));
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    const auto shown = all ? methods() : std::span(&entry_named(arguments->name), 1);
    for (const MethodInfo& method : shown) list.push_back(json_of(method));
    print(list.dump(2) + "\n");
  });
}

}  // namespace whyformer::cli
