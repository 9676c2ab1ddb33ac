#include "whyformer/kept_inputs.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "whyformer/error.h"
#include "whyformer/printable.h"
#include "whyformer/report.h"

namespace whyformer {
namespace {

using KeptJson = nlohmann::ordered_json;

constexpr const char* kKeptSchema = "whyformer.kept-inputs/1";

KeptJson methods_json(const std::vector<MethodRequest>& methods) {
  KeptJson list = KeptJson::array();
  for (const MethodRequest& one : methods) {
    KeptJson options = KeptJson::array();
    for (const auto& [name, value] : one.options) {
      options.push_back({name, std::visit([](const auto& held) { return KeptJson(held); }, value)});
    }
    list.push_back({{"name", one.name}, {"options", options}});
  }
  return list;
}

// All that the numbers of an input depend on beside the input itself, in one line.
std::string question_of(const Model& model, const EvaluationRequest& request) {
  const KeptJson json{
      {"schema", kKeptSchema},
      {"model", model.name().name},
      {"hash", model.hash()},
      {"methods", methods_json(request.explain.methods)},
      {"metrics", request.metrics},
      {"protocol", request.protocol},
      {"hiding", request.hidings},
      {"seed", request.explain.seed},
      {"precision", request.explain.precision == Precision::kDouble ? "double" : "single"},
      {"random", request.random_rankings},
      {"reversed", request.reversed_rankings},
      {"noisy", request.noisy_inputs},
      {"radius", request.radius}};
  return json.dump(-1, ' ', false, KeptJson::error_handler_t::replace);
}

// The names of what differs, for those who want to know which file they have.
std::string differences(const std::string& kept, const std::string& asked) {
  const KeptJson before = KeptJson::parse(kept, nullptr, false), now = KeptJson::parse(asked);
  if (!before.is_object() || before.value("schema", KeptJson()) != kKeptSchema) {
    return "it is no file of kept inputs of this version";
  }
  std::string names;
  for (const auto& [name, value] : now.items()) {
    if (before.contains(name) && before[name] == value) continue;
    names += (names.empty() ? "" : ", ") + (name == "hash" ? std::string("weights") : name);
  }
  return names + " differ";
}

std::string kept_line(const std::string& content, const EvaluatedInput& input) {
  return fmt::format("{{\"content\": \"{}\", \"input\": {}}}\n", content, to_json(input));
}

std::pair<std::string, EvaluatedInput> kept_input_of(const std::string& line) {
  const KeptJson json = KeptJson::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("content") || !json["content"].is_string() ||
      !json.contains("input")) {
    throw InvalidInput("this line is none of an evaluation");
  }
  return {json["content"].get<std::string>(), evaluated_input_of(json["input"].dump())};
}

// Nothing for an input that cannot be read: whoever evaluates it says so.
std::optional<std::string> content_of(const EvaluationEntry& entry) {
  if (!entry.problem.empty()) return std::nullopt;
  try {
    return content_hash(entry.input);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

KeptInputs::KeptInputs(std::filesystem::path path, const Model& model,
                       const EvaluationRequest& request)
    : file_(path), question_(question_of(model, request)) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  if (!std::getline(file, line)) return;
  if (line != question_) {
    throw InvalidInput(fmt::format(
        "'{}' keeps the inputs of another evaluation ({}): give another file, or delete it",
        printable(path.string()), differences(line, question_)));
  }
  for (int64_t number = 2; std::getline(file, line); ++number) {
    try {
      before_.insert(kept_input_of(line));
    } catch (const InvalidInput& error) {
      throw InvalidInput(
          fmt::format("'{}', line {}: {}", printable(path.string()), number, error.what()));
    }
  }
}

std::optional<EvaluatedInput> KeptInputs::find(const EvaluationEntry& entry) const {
  const std::optional<std::string> content = content_of(entry);
  if (!content) return std::nullopt;
  const auto found = before_.find(*content);
  if (found == before_.end()) return std::nullopt;
  EvaluatedInput input = found->second;
  input.name = entry.input.name;
  return input;
}

// The file takes the place of the one before in one step, with all that this one had.
void KeptInputs::add(const EvaluationEntry& entry, const EvaluatedInput& input) {
  if (!started_) {
    std::string lines = question_ + "\n";
    for (const auto& [content, kept] : before_) lines += kept_line(content, kept);
    file_.add(lines);
    started_ = true;
  }
  const std::optional<std::string> content = content_of(entry);
  if (!content || !input.problem.empty()) return;
  if (before_.contains(*content) || !added_.insert(*content).second) return;
  file_.add(kept_line(*content, input));
}

}  // namespace whyformer
