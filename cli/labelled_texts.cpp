#include "labelled_texts.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "line_reader.h"
#include "whyformer/error.h"

namespace whyformer::cli {
namespace {

using Json = nlohmann::json;

bool is_blank(const std::string& line) {
  return line.find_first_not_of(" \t\f\v") == std::string::npos;
}

std::string label_text(const Json& label, const std::string& place) {
  if (label.is_string()) return label.get<std::string>();
  if (label.is_number()) return label.dump();
  throw InvalidInput(fmt::format("{}: a \"label\" is a name, a number, or a list of them", place));
}

LabelledText from_json(const std::string& line, const std::string& place) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("text") || !json["text"].is_string()) {
    throw InvalidInput(fmt::format(
        "{}: expected JSON such as {{\"text\": \"…\", \"pair\": \"…\", \"label\": 1}}", place));
  }
  LabelledText text{{json["text"].get<std::string>(), {}}, {}, place};
  if (json.contains("pair") && json["pair"].is_string()) {
    text.input.pair = json["pair"].get<std::string>();
  }
  if (!json.contains("label") || json["label"].is_null()) return text;
  text.labels.emplace();
  if (json["label"].is_array()) {
    for (const Json& label : json["label"]) text.labels->push_back(label_text(label, place));
  } else {
    text.labels->push_back(label_text(json["label"], place));
  }
  return text;
}

LabelledText from_columns(const std::string& line, const std::string& place) {
  const size_t tab = line.rfind('\t');
  LabelledText text{{line.substr(0, tab), {}}, {}, place};
  if (tab == std::string::npos || is_blank(line.substr(tab + 1))) return text;
  const size_t first = line.find_first_not_of(' ', tab + 1);
  text.labels = {line.substr(first, line.find_last_not_of(' ') - first + 1)};
  return text;
}

}  // namespace

std::vector<LabelledText> read_labelled_texts(const std::string& path, int64_t limit) {
  std::vector<LabelledText> texts;
  LineReader lines(path);
  while (limit == 0 || static_cast<int64_t>(texts.size()) < limit) {
    const auto line = lines.next();
    if (!line) break;
    line->check_length();
    const std::string& text = line->text;
    if (is_blank(text) || (line->number == 1 && text.ends_with("\tlabel"))) continue;
    const std::string place = fmt::format("line {}", line->number);
    texts.push_back(text.starts_with('{') ? from_json(text, place) : from_columns(text, place));
  }
  if (texts.empty()) throw InvalidInput(fmt::format("there is no text in '{}'", path));
  return texts;
}

}  // namespace whyformer::cli
