// The stable, documented form of sanity checks, written and read: docs/sanity.md.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "whyformer/error.h"
#include "whyformer/printable.h"
#include "whyformer/report.h"
#include "whyformer/sanity.h"

namespace whyformer {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kChanges{"cascading", "independent", "other-target"};
constexpr std::array kTargets{"same", "highest"};

Json or_null(const std::optional<double>& number) { return number ? Json(*number) : Json(nullptr); }

Json similarity_json(const MeanSimilarity& similarity) {
  return {{"mean", or_null(similarity.mean)},
          {"low", or_null(similarity.low)},
          {"high", or_null(similarity.high)},
          {"inputs", similarity.inputs}};
}

Json comparison_json(const SanityComparison& one) {
  return {{"change", kChanges[static_cast<size_t>(one.change)]},
          {"step", one.step},
          {"inputs", one.inputs},
          {"identical", one.identical},
          {"spearman_of_magnitudes", similarity_json(one.magnitudes)},
          {"spearman_of_scores", similarity_json(one.signed_scores)},
          {"structural_similarity", similarity_json(one.structure)}};
}

Json method_json(const MethodSanity& method) {
  Json options = Json::object(), comparisons = Json::array();
  for (const auto& [name, value] : method.options) {
    std::visit([&, &key = name](const auto& held) { options[key] = held; }, value);
  }
  for (const SanityComparison& one : method.comparisons)
    comparisons.push_back(comparison_json(one));
  return {
      {"name", method.method},
      {"options", options},
      {"is_signed", method.is_signed},
      {"depends_on_class", kSanityVerdictNames[static_cast<size_t>(method.depends_on_class)]},
      {"depends_on_weights", kSanityVerdictNames[static_cast<size_t>(method.depends_on_weights)]},
      {"findings", method.findings},
      {"comparisons", comparisons}};
}

// Reads what was written, and nothing else: files may come from anywhere.
class CardReader {
 public:
  static constexpr size_t kMostEntries = 10'000;
  static constexpr size_t kLongestText = 10'000;

  explicit CardReader(const Json& json, std::string place = "the report")
      : json_(json), place_(std::move(place)) {
    if (!json.is_object()) fail("is not a JSON object");
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw FileError(fmt::format("this is not a report of sanity checks: {} {}", place_, what));
  }

  const Json& field(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end()) fail(fmt::format("has no \"{}\"", key));
    return *found;
  }

  std::string text(const char* key) const { return text_in(field(key), key); }

  int64_t count(const char* key) const {
    const Json& value = field(key);
    if (!value.is_number_integer() || value.get<double>() < 0 || value.get<double>() > 1e15)
      fail(fmt::format("needs a whole number from 0 as \"{}\"", key));
    return value.get<int64_t>();
  }

  int64_t integer(const char* key) const {
    const Json& value = field(key);
    if (!value.is_number_integer()) fail(fmt::format("needs a whole number as \"{}\"", key));
    return value.get<int64_t>();
  }

  bool flag(const char* key) const {
    if (!field(key).is_boolean()) fail(fmt::format("needs true or false as \"{}\"", key));
    return field(key).get<bool>();
  }

  std::optional<double> number(const char* key) const {
    const Json& value = field(key);
    if (value.is_null()) return std::nullopt;
    if (!value.is_number() || !std::isfinite(value.get<double>()))
      fail(fmt::format("needs a number or null as \"{}\"", key));
    return value.get<double>();
  }

  template <class Enum, size_t kCount>
  Enum one_of(const char* key, const std::array<const char*, kCount>& names) const {
    const std::string value = text(key);
    for (size_t i = 0; i < kCount; ++i) {
      if (value == names[i]) return static_cast<Enum>(i);
    }
    fail(fmt::format("has an unknown \"{}\"", key));
  }

  CardReader object(const char* key) const { return CardReader(field(key), key); }

  std::vector<CardReader> objects(const char* key) const {
    std::vector<CardReader> all;
    for (const Json& one : list(key)) all.emplace_back(one, key);
    return all;
  }

  std::vector<std::string> texts(const char* key) const {
    std::vector<std::string> all;
    for (const Json& one : list(key)) all.push_back(text_in(one, key));
    return all;
  }

  Options options(const char* key) const {
    const Json& values = field(key);
    if (!values.is_object() || values.size() > kMostEntries)
      fail(fmt::format("needs an object as \"{}\"", key));
    Options all;
    for (const auto& [name, value] : values.items()) {
      if (value.is_boolean())
        all.emplace_back(name, value.get<bool>());
      else if (value.is_number_integer())
        all.emplace_back(name, value.get<int64_t>());
      else if (value.is_number())
        all.emplace_back(name, value.get<double>());
      else
        all.emplace_back(name, text_in(value, key));
    }
    return all;
  }

 private:
  std::string text_in(const Json& value, const char* key) const {
    if (!value.is_string() || value.get_ref<const std::string&>().size() > kLongestText)
      fail(fmt::format("needs a text as \"{}\"", key));
    return value.get<std::string>();
  }

  const Json& list(const char* key) const {
    const Json& values = field(key);
    if (!values.is_array() || values.size() > kMostEntries)
      fail(fmt::format("needs a list as \"{}\"", key));
    return values;
  }

  const Json& json_;
  std::string place_;
};

MeanSimilarity similarity_from(const CardReader& json) {
  return {.mean = json.number("mean"),
          .low = json.number("low"),
          .high = json.number("high"),
          .inputs = json.count("inputs")};
}

MethodSanity method_from(const CardReader& json) {
  MethodSanity method{
      .method = json.text("name"),
      .options = json.options("options"),
      .is_signed = json.flag("is_signed"),
      .depends_on_class = json.one_of<SanityVerdict>("depends_on_class", kSanityVerdictNames),
      .depends_on_weights = json.one_of<SanityVerdict>("depends_on_weights", kSanityVerdictNames),
      .findings = json.texts("findings")};
  for (const CardReader& one : json.objects("comparisons")) {
    method.comparisons.push_back(
        {.change = one.one_of<SanityChange>("change", kChanges),
         .step = one.text("step"),
         .magnitudes = similarity_from(one.object("spearman_of_magnitudes")),
         .signed_scores = similarity_from(one.object("spearman_of_scores")),
         .structure = similarity_from(one.object("structural_similarity")),
         .inputs = one.count("inputs"),
         .identical = one.count("identical")});
  }
  return method;
}

Json parsed(std::string_view text) {
  try {
    return Json::parse(text);
  } catch (const nlohmann::json::exception&) {
    throw FileError("this is not a report of sanity checks: it is not valid JSON");
  }
}

}  // namespace

std::string to_json(const SanityReport& report, int indent) {
  Json json;
  json["schema"] = SanityReport::kSchema;
  json["model"] = {{"name", report.model.name}, {"architecture", report.model.architecture}};
  json["hash"] = report.hash;
  json["kind"] = report.kind;
  json["inputs"] = report.inputs;
  json["seed"] = report.seed;
  json["randomised_target"] = kTargets[static_cast<size_t>(report.randomised_target)];
  json["steps"] = Json::array();
  for (const SanityStep& step : report.steps)
    json["steps"].push_back({{"name", step.name}, {"weights", step.weights}});
  json["window"] = report.window;
  json["methods"] = Json::array();
  for (const MethodSanity& method : report.methods) json["methods"].push_back(method_json(method));
  json["refused"] = Json::array();
  for (const Refusal& refusal : report.refused)
    json["refused"].push_back({{"method", refusal.method}, {"reason", refusal.reason}});
  json["stopped_early"] = report.stopped_early;
  json["seconds"] = report.seconds;
  json["notes"] = report.notes;
  return printable_json(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

SanityReport sanity_report_from_json(std::string_view text) {
  const Json document = parsed(text);
  const CardReader json(document);
  if (json.text("schema") != SanityReport::kSchema)
    json.fail(fmt::format("has another schema than {}", SanityReport::kSchema));
  SanityReport report;
  const CardReader model = json.object("model");
  report.model = {model.text("name"), model.text("architecture")};
  report.hash = json.text("hash");
  report.kind = json.text("kind");
  report.inputs = json.count("inputs");
  report.seed = json.integer("seed");
  report.randomised_target = json.one_of<SanityTarget>("randomised_target", kTargets);
  for (const CardReader& step : json.objects("steps"))
    report.steps.push_back({step.text("name"), step.count("weights")});
  report.window = json.count("window");
  for (const CardReader& method : json.objects("methods"))
    report.methods.push_back(method_from(method));
  for (const CardReader& one : json.objects("refused"))
    report.refused.push_back({one.text("method"), one.text("reason")});
  report.stopped_early = json.flag("stopped_early");
  report.seconds = json.number("seconds").value_or(0);
  report.notes = json.texts("notes");
  return report;
}

}  // namespace whyformer
