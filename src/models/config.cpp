#include "models/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "whyformer/error.h"

namespace whyformer {
namespace {

std::string text_at(const nlohmann::json& json, std::string_view key, std::string fallback) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : fallback;
}

// Of the byte before which the parser stopped, counted from 1.
std::string place_in(std::string_view text, size_t byte) {
  if (text.empty()) return "it is empty";
  if (byte > text.size()) return "it ends too early";
  const std::string_view before = text.substr(0, byte == 0 ? 0 : byte - 1);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  return fmt::format("line {}, column {}", line, before.size() - (before.rfind('\n') + 1) + 1);
}

[[noreturn]] void refuse(std::string_view key, std::string_view expected,
                         const nlohmann::json& came) {
  throw FileError(fmt::format(
      "config.json: '{}' must be {} but is {}; correct it or download the file again", key,
      expected, came.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace).substr(0, 40)));
}

}  // namespace

nlohmann::json parse_json_file(const Bytes& file, std::string_view name) {
  try {
    nlohmann::json json = nlohmann::json::parse(file.text());
    if (!json.is_object()) throw FileError(fmt::format("'{}' must hold a JSON object", name));
    return json;
  } catch (const nlohmann::json::parse_error& error) {
    throw FileError(fmt::format("'{}' is not valid JSON ({}); correct it or download it again",
                                name, place_in(file.text(), error.byte)));
  } catch (const nlohmann::json::exception&) {  // a number that no double holds, say
    throw FileError(fmt::format(
        "'{}' holds a number that is out of range; correct it or download it again", name));
  }
}

Config::Config(nlohmann::json json) : json_(std::move(json)) {
  model_type_ = text_at(json_, "model_type", "");
  const auto architectures = json_.find("architectures");
  if (architectures != json_.end() && architectures->is_array() && !architectures->empty() &&
      architectures->front().is_string()) {
    architecture_ = architectures->front().get<std::string>();
  }
}

int64_t Config::size(std::string_view key, int64_t most) const {
  const auto found = json_.find(key);
  if (found == json_.end()) {
    throw FileError(fmt::format("config.json of this {} model lacks '{}'", model_type_, key));
  }
  if (!found->is_number_integer() || found->get<int64_t>() < 1 || found->get<int64_t>() > most) {
    throw FileError(fmt::format("config.json: '{}' must be a whole number from 1 to {} but is {}",
                                key, most, found->dump().substr(0, 40)));
  }
  return found->get<int64_t>();
}

int64_t Config::size_or(std::string_view key, int64_t fallback) const {
  const auto found = json_.find(key);
  return found == json_.end() || found->is_null() ? fallback : size(key);
}

double Config::number_or(std::string_view key, double fallback) const {
  const auto found = json_.find(key);
  if (found == json_.end()) return fallback;
  if (!found->is_number()) refuse(key, "a number", *found);
  return found->get<double>();
}

double Config::layer_norm_epsilon(double fallback) const {
  const std::string_view key = "layer_norm_eps";
  const double epsilon = number_or(key, fallback);
  if (!(epsilon >= 0) || !std::isfinite(epsilon))
    refuse(key, "a small number from 0 on", *json_.find(key));
  return epsilon;
}

std::string Config::text_or(std::string_view key, std::string fallback) const {
  const auto found = json_.find(key);
  if (found == json_.end()) return fallback;
  if (!found->is_string()) refuse(key, "a text", *found);
  return found->get<std::string>();
}

bool Config::flag_or(std::string_view key, bool fallback) const {
  const auto found = json_.find(key);
  if (found == json_.end()) return fallback;
  if (!found->is_boolean()) refuse(key, "true or false", *found);
  return found->get<bool>();
}

int64_t Config::id_or(std::string_view key, int64_t fallback) const {
  const auto found = json_.find(key);
  if (found == json_.end() || found->is_null())
    return fallback;  // transformers writes null for no id
  if (!found->is_number_integer()) refuse(key, "a whole number", *found);
  return found->get<int64_t>();
}

std::vector<int64_t> Config::sizes_or(std::string_view key, std::vector<int64_t> fallback,
                                      size_t most) const {
  const auto found = json_.find(key);
  if (found == json_.end() || found->is_null()) return fallback;
  const auto fail = [&] {
    throw FileError(fmt::format("config.json: '{}' must be a list of 1 to {} sizes but is {}", key,
                                most, found->dump().substr(0, 40)));
  };
  if (!found->is_array() || found->empty() || found->size() > most) fail();
  std::vector<int64_t> sizes;
  for (const auto& size : *found) {
    if (!size.is_number_integer() || size.get<int64_t>() < 1 || size.get<int64_t>() > 10'000'000)
      fail();
    sizes.push_back(size.get<int64_t>());
  }
  return sizes;
}

std::pair<int64_t, int64_t> Config::pair_or(std::string_view key, int64_t fallback) const {
  const auto found = json_.find(key);
  if (found == json_.end() || !found->is_array()) {
    const int64_t both = size_or(key, fallback);
    return {both, both};
  }
  const std::vector<int64_t> sizes = sizes_or(key, {}, 2);
  return {sizes.front(), sizes.back()};
}

Config Config::part(std::string_view key, std::string_view overriding) const {
  nlohmann::json merged = nlohmann::json::object();
  for (const std::string_view name : {key, overriding}) {
    const auto found = json_.find(name);
    if (found != json_.end() && found->is_object()) merged.update(*found);
  }
  return Config(std::move(merged));
}

std::vector<std::string> Config::labels(int64_t count) const {
  std::vector<std::string> names;
  const auto id2label = json_.find("id2label");
  for (int64_t id = 0; id < count; ++id) {
    const std::string key = std::to_string(id);
    std::string fallback = "LABEL_" + key;
    names.push_back(id2label != json_.end() && id2label->is_object()
                        ? text_at(*id2label, key, std::move(fallback))
                        : std::move(fallback));
  }
  return names;
}

Problem Config::problem(int64_t labels) const {
  // transformers writes null where training has not chosen yet.
  const auto given = json_.find("problem_type");
  const std::string type =
      given == json_.end() || given->is_null() ? "" : text_or("problem_type", "");
  if (type == "multi_label_classification") return Problem::kMultiLabel;
  if (type == "regression" || labels == 1) return Problem::kRegression;
  return Problem::kSingleLabel;
}

// "BertModel" has none, "BertForMaskedLM" and "GPT2LMHeadModel" have one.
bool Config::names_head() const {
  const size_t found = architecture_.find("For");
  const bool of_a_task = found != architecture_.npos && found > 0 &&
                         found + 3 < architecture_.size() && architecture_[found + 3] >= 'A' &&
                         architecture_[found + 3] <= 'Z';
  return of_a_task || architecture_.ends_with("LMHeadModel") ||
         architecture_.ends_with("DoubleHeadsModel");
}

std::string_view Config::work_of_other_head() const {
  // Those for multiple choice and for tokens name their weights as a classifier of texts does.
  struct OtherHead {
    std::string_view ending;  // of the architecture's name
    std::string_view work;
  };
  constexpr std::array kHeads{
      OtherHead{"ForMultipleChoice", "chooses among several texts"},
      OtherHead{"ForNextSentencePrediction",
                "says whether one text follows the other, and is not read here"},
      OtherHead{"ForQuestionAnswering", "marks where an answer begins and ends"},
      OtherHead{"ForTokenClassification", "labels each token, not the text"},
      OtherHead{"ForMaskedLM", "fills in hidden words"},
      OtherHead{"ForPreTraining", "is for pre-training"},
      OtherHead{"ForCausalLM", "predicts the next word"},
      OtherHead{"LMHeadModel", "predicts words"},
  };
  const auto found = std::ranges::find_if(
      kHeads, [&](const OtherHead& head) { return architecture_.ends_with(head.ending); });
  return found == kHeads.end() ? std::string_view() : found->work;
}

void check_vocabulary(const Config& config, int64_t rows) {
  const int64_t told = config.id_or("vocab_size", rows);
  if (told == rows) return;
  throw FileError(fmt::format(
      "config.json: 'vocab_size' is {}, but the table of word embeddings has {} rows", told, rows));
}

Config config_of(const FileLookup& files) {
  const auto file = files("config.json");
  return Config(file ? parse_json_file(*file, "config.json") : nlohmann::json::object());
}

}  // namespace whyformer
