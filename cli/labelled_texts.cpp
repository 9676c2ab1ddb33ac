#include "labelled_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "line_reader.h"
#include "whyformer/error.h"

namespace whyformer::cli {
namespace {

bool is_heading(const std::string& line) { return line.ends_with("\tlabel"); }

bool is_blank(const std::string& line) {
  return line.find_first_not_of(" \t\f\v") == std::string::npos;
}

std::string label_text(const nlohmann::json& label, const std::string& place) {
  if (label.is_string()) return label.get<std::string>();
  if (label.is_number()) return label.dump();
  throw InvalidInput(fmt::format("{}: a \"label\" is a name, a number, or a list of them", place));
}

// What a line tells of: a text, or a picture's file.
enum class Subject { kText, kPicture };

// A line as it stands there.
struct LabelledLine {
  TextInput input;  // or the picture's file as its text
  std::optional<std::vector<std::string>> labels;
  std::string place;
  std::optional<std::vector<std::pair<int64_t, int64_t>>> rationales = {};
  std::string problem = {};  // of a line that cannot be read
};

enum class BrokenLines { kThrow, kKeep };

std::vector<std::pair<int64_t, int64_t>> rationales_of(const nlohmann::json& json,
                                                       const std::string& place) {
  std::vector<std::pair<int64_t, int64_t>> spans;
  const auto refuse = [&]() -> void {
    throw InvalidInput(
        fmt::format("{}: \"rationales\" is a list of [start, end], characters of the text", place));
  };
  if (!json.is_array()) refuse();
  for (const nlohmann::json& span : json) {
    if (!span.is_array() || span.size() != 2 || !span[0].is_number_integer() ||
        !span[1].is_number_integer()) {
      refuse();
    }
    spans.emplace_back(span[0].get<int64_t>(), span[1].get<int64_t>());
  }
  return spans;
}

LabelledLine from_json(const std::string& line, const std::string& place, Subject subject) {
  const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
  const char* key = subject == Subject::kText ? "text" : "picture";
  if (!json.is_object() || !json.contains(key) || !json[key].is_string()) {
    throw InvalidInput(
        subject == Subject::kText
            ? fmt::format(
                  "{}: expected JSON such as {{\"text\": \"…\", \"pair\": \"…\", \"label\": 1}}",
                  place)
            : fmt::format("{}: expected JSON such as {{\"picture\": \"file.png\", \"label\": 1}}",
                          place));
  }
  LabelledLine text{{json[key].get<std::string>(), {}}, {}, place};
  if (json.contains("pair") && json["pair"].is_string()) {
    text.input.pair = json["pair"].get<std::string>();
  }
  if (json.contains("rationales")) text.rationales = rationales_of(json["rationales"], place);
  if (!json.contains("label") || json["label"].is_null()) return text;
  text.labels.emplace();
  if (json["label"].is_array()) {
    for (const nlohmann::json& label : json["label"])
      text.labels->push_back(label_text(label, place));
  } else {
    text.labels->push_back(label_text(json["label"], place));
  }
  return text;
}

LabelledLine from_columns(const std::string& line, const std::string& place) {
  const size_t tab = line.rfind('\t');
  LabelledLine text{{line.substr(0, tab), {}}, {}, place};
  if (tab == std::string::npos || is_blank(line.substr(tab + 1))) return text;
  const size_t first = line.find_first_not_of(' ', tab + 1);
  text.labels = {line.substr(first, line.find_last_not_of(' ') - first + 1)};
  return text;
}

// As many as tell `limit` examples; one more, because the first may be a header.
std::vector<std::string> first_lines(const std::string& path, int64_t limit) {
  LineReader reader(path);
  std::vector<std::string> lines;
  int64_t examples = 0;
  while (limit <= 0 || examples <= limit) {
    const auto line = reader.next();
    if (!line) break;
    line->check_length();
    if (!is_blank(line->text)) ++examples;
    lines.push_back(line->text);
  }
  return lines;
}

std::vector<LabelledLine> labelled_lines(const std::vector<std::string>& lines, int64_t limit,
                                         Subject subject,
                                         BrokenLines broken = BrokenLines::kThrow) {
  std::vector<LabelledLine> texts;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (limit > 0 && static_cast<int64_t>(texts.size()) == limit) break;
    if (is_blank(lines[i]) || (i == 0 && is_heading(lines[i]))) continue;
    const std::string place = fmt::format("line {}", i + 1);
    try {
      texts.push_back(lines[i].starts_with('{') ? from_json(lines[i], place, subject)
                                                : from_columns(lines[i], place));
    } catch (const InvalidInput& error) {
      if (broken == BrokenLines::kThrow) throw;
      texts.push_back({{}, {}, place, {}, error.what()});
    }
  }
  return texts;
}

bool names_picture(const std::vector<std::string>& lines) {
  for (size_t i = 0; i < lines.size(); ++i) {
    if (is_blank(lines[i]) || (i == 0 && is_heading(lines[i]))) continue;
    if (!lines[i].starts_with('{')) return means_picture(lines[i].substr(0, lines[i].rfind('\t')));
    const nlohmann::json json = nlohmann::json::parse(lines[i], nullptr, false);
    return json.is_object() && json.contains("picture");
  }
  return false;
}

std::vector<LabelledInput> listed_pictures(const std::string& list,
                                           const std::vector<std::string>& lines, int64_t limit) {
  const std::filesystem::path folder = list == "-" ? "" : std::filesystem::path(list).parent_path();
  std::vector<LabelledInput> pictures;
  for (LabelledLine& line : labelled_lines(lines, limit, Subject::kPicture)) {
    const PictureFile file{folder / line.input.text};
    InputValue input = PictureInput(file);
    if (line.input.pair) input = PictureWithText{file, *line.input.pair};
    pictures.push_back({std::move(input), std::move(line.labels), std::move(line.place)});
  }
  return pictures;
}

// By name, so that the order does not depend on the machine.
std::vector<LabelledInput> pictures_in(const std::filesystem::path& folder,
                                       const std::optional<std::string>& label) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_regular_file() && means_picture(entry.path().string()))
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<LabelledInput> pictures;
  for (const std::filesystem::path& file : files) {
    pictures.push_back({PictureInput(PictureFile{file}), {}, file.string()});
    if (label) pictures.back().labels = std::vector{*label};
  }
  return pictures;
}

std::vector<LabelledInput> pictures_by_folder(const std::filesystem::path& folder, int64_t limit) {
  std::vector<std::filesystem::path> inside;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_directory()) inside.push_back(entry.path());
  }
  std::sort(inside.begin(), inside.end());
  std::vector<std::vector<LabelledInput>> by_label{pictures_in(folder, {})};
  for (const std::filesystem::path& label : inside)
    by_label.push_back(pictures_in(label, label.filename().string()));
  std::vector<LabelledInput> pictures;
  const auto room = [&] { return limit <= 0 || static_cast<int64_t>(pictures.size()) < limit; };
  for (size_t turn = 0, before = 1; before != pictures.size() && room(); ++turn) {
    before = pictures.size();
    for (std::vector<LabelledInput>& some : by_label) {
      if (turn < some.size() && room()) pictures.push_back(std::move(some[turn]));
    }
  }
  if (pictures.empty()) {
    throw InvalidInput(
        fmt::format("the folder '{}' has no JPEG, PNG or WebP pictures, nor folders with some",
                    folder.string()));
  }
  return pictures;
}

std::vector<LabelledInput> texts_in(const std::string& path, const std::vector<std::string>& lines,
                                    int64_t limit) {
  std::vector<LabelledInput> texts;
  for (LabelledLine& line : labelled_lines(lines, limit, Subject::kText)) {
    texts.push_back({std::move(line.input), std::move(line.labels), std::move(line.place),
                     std::move(line.rationales)});
  }
  if (texts.empty()) throw InvalidInput(fmt::format("there is no text in '{}'", path));
  return texts;
}

}  // namespace

TextLines::TextLines(const std::string& path)
    : lines_(path), labelled_(std::filesystem::path(path).extension() == ".tsv") {}

std::optional<TextLines::Text> TextLines::next() {
  while (auto line = lines_.next()) {
    const bool heading = line->number == 1 && is_heading(line->text);
    labelled_ = labelled_ || heading;
    if (heading || (labelled_ && is_blank(line->text))) continue;
    return Text{*std::move(line), labelled_};
  }
  return std::nullopt;
}

TextInput TextLines::Text::input() const {
  line.check_length();
  if (!labelled) return {line.text, {}};
  const std::string place = fmt::format("line {}", line.number);
  return line.text.starts_with('{') ? from_json(line.text, place, Subject::kText).input
                                    : from_columns(line.text, place).input;
}

std::vector<LabelledInput> read_labelled_texts(const std::string& path, int64_t limit) {
  return texts_in(path, first_lines(path, limit), limit);
}

std::vector<LabelledInput> read_labelled_corpus(const std::string& path, int64_t limit) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return pictures_by_folder(path, limit);
  const std::vector<std::string> lines = first_lines(path, limit);
  return names_picture(lines) ? listed_pictures(path, lines, limit) : texts_in(path, lines, limit);
}

std::vector<CorpusEntry> read_corpus(const std::string& path, int64_t limit) {
  std::vector<CorpusEntry> entries;
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    for (LabelledInput& input : pictures_by_folder(path, limit)) entries.push_back({input, {}});
    return entries;
  }
  const std::vector<std::string> lines = first_lines(path, limit);
  if (names_picture(lines)) {
    for (LabelledInput& input : listed_pictures(path, lines, limit)) entries.push_back({input, {}});
    return entries;
  }
  for (LabelledLine& line : labelled_lines(lines, limit, Subject::kText, BrokenLines::kKeep)) {
    entries.push_back({{std::move(line.input), std::move(line.labels), std::move(line.place),
                        std::move(line.rationales)},
                       std::move(line.problem)});
  }
  if (entries.empty()) throw InvalidInput(fmt::format("there is no text in '{}'", path));
  return entries;
}

}  // namespace whyformer::cli
