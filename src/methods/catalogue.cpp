#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/edit_distance.h"
#include "methods/method.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr std::array kMethods{
    &kGenericAttention,
    &kRollout,
    &kRawAttention,
    &kAttentionFlow,
    &kGradCam,
    &kGradSam,
    &kIntegratedGradients,
    &kGradientTimesInput,
    &kSaliency,
    &kSmoothGrad,
    &kShap,
    &kExactShap,
    &kKernelShap,
    &kPartitionShap,
    &kPermutationShap,
    &kSamplingShap,
    &kShapleyTaylor,
    &kLime,
    &kLeaveOneOut,
    &kOcclusion,
    &kTransformerAttribution,
    &kAttnLrp,
    &kCpLrp,
    &kPartialLrp,
    &kLrp,
    &kAttentionNorm,
    &kGlobEnc,
    &kAlti,
    &kDecompX,
};

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

const OptionInfo& option_named(const MethodInfo& method, std::string_view name) {
  std::vector<std::string> known;
  for (const OptionInfo& option : method.options) {
    if (option.name == name) return option;
    known.push_back(option.name);
  }
  if (known.empty()) {
    throw InvalidInput(fmt::format("{} has no options; '{}' is not one", method.name, name));
  }
  throw InvalidInput(
      fmt::format("{} has no option '{}'; it has {}", method.name, name, joined(known)));
}

[[noreturn]] void refuse(const MethodInfo& method, const OptionInfo& option, std::string_view value,
                         std::string_view expected) {
  throw InvalidInput(fmt::format("{}.{}={}: expected {}", method.name, option.name,
                                 value.substr(0, 60), expected));
}

// Whole numbers with all their digits.
std::string plain(double number) {
  const bool whole = std::abs(number) < 1e15 && number == std::floor(number);
  return whole ? fmt::format("{:.0f}", number) : fmt::format("{:g}", number);
}

std::string range_of(const OptionInfo& option, std::string_view what) {
  std::string text(what);
  if (option.min > -1e17) text += " from " + plain(option.min);
  if (option.max < 1e17) text += " up to " + plain(option.max);
  return text;
}

template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

OptionValue parse_value(const MethodInfo& method, const OptionInfo& option, std::string_view text) {
  if (std::holds_alternative<bool>(option.default_value)) {
    if (text == "true" || text == "yes" || text == "on" || text == "1") return true;
    if (text == "false" || text == "no" || text == "off" || text == "0") return false;
    refuse(method, option, text, "true or false");
  }
  if (std::holds_alternative<int64_t>(option.default_value)) {
    if (const auto number = parse_number<int64_t>(text)) return *number;
    refuse(method, option, text, range_of(option, "a whole number"));
  }
  if (std::holds_alternative<double>(option.default_value)) {
    if (const auto number = parse_number<double>(text)) return *number;
    refuse(method, option, text, range_of(option, "a number"));
  }
  return std::string(text);
}

std::string_view type_of(const OptionValue& value) {
  constexpr std::array<std::string_view, 4> kTypes{"true or false", "a whole number", "a number",
                                                   "a word"};
  return kTypes[value.index()];
}

std::string printed(const OptionValue& value) {
  if (const auto* word = std::get_if<std::string>(&value)) return *word;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* whole = std::get_if<int64_t>(&value)) return fmt::format("{}", *whole);
  return plain(std::get<double>(value));
}

void check_value(const MethodInfo& method, const OptionInfo& option, OptionValue& value) {
  // A whole number is welcome where a number is.
  if (std::holds_alternative<double>(option.default_value) &&
      std::holds_alternative<int64_t>(value)) {
    value = static_cast<double>(std::get<int64_t>(value));
  }
  if (value.index() != option.default_value.index()) {
    refuse(method, option, printed(value),
           fmt::format("{}, not {}", type_of(option.default_value), type_of(value)));
  }
  if (const auto* word = std::get_if<std::string>(&value)) {
    const auto& choices = option.choices;
    if (!choices.empty() && std::find(choices.begin(), choices.end(), *word) == choices.end()) {
      refuse(method, option, *word, "one of " + joined(choices));
    }
  }
  double number = 0;
  if (const auto* whole = std::get_if<int64_t>(&value))
    number = static_cast<double>(*whole);
  else if (const auto* real = std::get_if<double>(&value))
    number = *real;
  else
    return;
  if (!(number >= option.min && number <= option.max)) {
    refuse(method, option, plain(number), range_of(option, "a number"));
  }
}

}  // namespace

const OptionValue& OptionReader::at(std::string_view name) const {
  for (const auto& [known, value] : options_) {
    if (known == name) return value;
  }
  throw Error(fmt::format("the option '{}' is not in the catalogue", name));
}

int64_t OptionReader::whole(std::string_view name) const { return std::get<int64_t>(at(name)); }
double OptionReader::number(std::string_view name) const { return std::get<double>(at(name)); }
bool OptionReader::flag(std::string_view name) const { return std::get<bool>(at(name)); }
const std::string& OptionReader::word(std::string_view name) const {
  return std::get<std::string>(at(name));
}

std::span<const Method* const> catalogue() { return kMethods; }

Options preset_in(std::string_view name) {
  const size_t colon = name.find(':');
  if (colon == std::string_view::npos) return {};
  return parse_option(method_named(name.substr(0, colon)),
                      fmt::format("preset={}", name.substr(colon + 1)));
}

const Method& find_method(std::string_view name) {
  if (const size_t colon = name.find(':'); colon != std::string_view::npos) {
    preset_in(name);  // says so where there is no such preset
    return find_method(name.substr(0, colon));
  }
  std::vector<std::string> names;
  for (const Method* method : kMethods) {
    if (method->info.name == name) return *method;
    names.push_back(method->info.name);
  }
  std::stable_sort(names.begin(), names.end(), [&](const auto& a, const auto& b) {
    return edit_distance(a, name) < edit_distance(b, name);
  });
  const bool close = edit_distance(names.front(), name) <= names.front().size() / 3;
  throw InvalidInput(fmt::format("there is no method '{}'; {}known are {}", name.substr(0, 60),
                                 close ? fmt::format("did you mean '{}'? ", names.front()) : "",
                                 joined(names)));
}

OptionInfo policy_option(std::string fallback) {
  return {"policy", fmt::format("{}, or a JSON file", joined(policy_names())), std::move(fallback)};
}

OptionReader complete_options(const Method& method, const Options& given) {
  Options complete;
  for (const OptionInfo& option : method.info.options) {
    complete.emplace_back(option.name, option.default_value);
  }
  for (const auto& [name, asked] : given) {
    const OptionInfo& option = option_named(method.info, name);
    OptionValue value = asked;
    check_value(method.info, option, value);
    for (auto& [known, current] : complete) {
      if (known == name) current = value;
    }
  }
  return OptionReader(std::move(complete));
}

std::span<const MethodInfo> methods() {
  static const std::vector<MethodInfo> infos = [] {
    std::vector<MethodInfo> list;
    for (const Method* method : kMethods) list.push_back(method->info);
    return list;
  }();
  return infos;
}

const MethodInfo& method_named(std::string_view name) { return find_method(name).info; }

Options parse_option(const MethodInfo& method, std::string_view assignment) {
  const size_t equals = assignment.find('=');
  if (equals == std::string_view::npos) {
    throw InvalidInput(fmt::format("option '{}' of {}: write NAME=VALUE", assignment, method.name));
  }
  const std::string_view name = assignment.substr(0, equals);
  const std::string_view text = assignment.substr(equals + 1);
  if (name == "preset") {
    std::vector<std::string> known;
    for (const PresetInfo& preset : method.presets) {
      if (preset.name == text) return preset.values;
      known.push_back(preset.name);
    }
    throw InvalidInput(fmt::format("{} has no preset '{}'; {}", method.name, text,
                                   known.empty() ? "it has none" : "it has " + joined(known)));
  }
  const OptionInfo& option = option_named(method, name);
  OptionValue value = parse_value(method, option, text);
  check_value(method, option, value);
  return {{std::string(name), std::move(value)}};
}

}  // namespace whyformer
