#include "labelled_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "console.h"
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
  std::string mask = {};     // of a picture, where a column names it
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

// Columns of a list of pictures with a heading, as scripts/paint_pictures.py writes it.
struct PictureColumns {
  std::string heading;
  size_t count = 0;
  std::optional<size_t> picture = {}, label = {}, mask = {};
};

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  for (const char c : line) {
    if (c == '\t')
      cells.emplace_back();
    else
      cells.back() += c;
  }
  return cells;
}

// Nothing where no column is called so, as in a list without a heading.
std::optional<PictureColumns> picture_columns(const std::string& line) {
  const std::vector<std::string> cells = cells_of(line);
  PictureColumns columns{.heading = line, .count = cells.size()};
  for (size_t i = 0; i < cells.size(); ++i) {
    if (cells[i] == "picture" || cells[i] == "file") columns.picture = i;
    if (cells[i] == "label" || cells[i] == "class") columns.label = i;
    if (cells[i] == "mask") columns.mask = i;
  }
  return columns.picture ? std::optional(columns) : std::nullopt;
}

LabelledLine from_named_columns(const std::string& line, const std::string& place,
                                const PictureColumns& columns) {
  const std::vector<std::string> cells = cells_of(line);
  if (cells.size() != columns.count) {
    throw InvalidInput(
        fmt::format("{}: {} cells where the heading has {}", place, cells.size(), columns.count));
  }
  LabelledLine picture{{cells[*columns.picture], {}}, {}, place};
  if (columns.label && !is_blank(cells[*columns.label])) picture.labels = {cells[*columns.label]};
  if (columns.mask) picture.mask = cells[*columns.mask];
  return picture;
}

// As many as tell `limit` examples; one more, because the first may be a header.
std::vector<LineReader::Line> first_lines(const std::string& path, int64_t limit) {
  LineReader reader(path);
  std::vector<LineReader::Line> lines;
  int64_t examples = 0;
  while (limit <= 0 || examples <= limit) {
    const auto line = reader.next();
    if (!line) break;
    if (!is_blank(line->text)) ++examples;
    lines.push_back(*line);
  }
  return lines;
}

using Lines = std::vector<LineReader::Line>;

// What is wrong with a line stands behind its place.
std::string without_place(const std::string& problem, const std::string& place) {
  return problem.starts_with(place + ": ") ? problem.substr(place.size() + 2) : problem;
}

std::optional<PictureColumns> heading_of(const Lines& lines) {
  return lines.empty() ? std::nullopt : picture_columns(lines[0].text);
}

std::vector<LabelledLine> labelled_lines(const Lines& lines, int64_t limit, Subject subject,
                                         BrokenLines broken = BrokenLines::kThrow) {
  const auto columns = subject == Subject::kPicture ? heading_of(lines) : std::nullopt;
  std::vector<LabelledLine> texts;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (limit > 0 && static_cast<int64_t>(texts.size()) == limit) break;
    const std::string& line = lines[i].text;
    if (is_blank(line) || (i == 0 && (is_heading(line) || columns))) continue;
    const std::string place = fmt::format("line {}", i + 1);
    try {
      lines[i].check_length();
      texts.push_back(line.starts_with('{') ? from_json(line, place, subject)
                      : columns             ? from_named_columns(line, place, *columns)
                                            : from_columns(line, place));
    } catch (const InvalidInput& error) {
      if (broken == BrokenLines::kThrow) throw;
      texts.push_back({{}, {}, place, {}, without_place(error.what(), place)});
    }
  }
  return texts;
}

bool names_picture(const Lines& lines) {
  if (heading_of(lines)) return true;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i].text;
    if (is_blank(line) || (i == 0 && is_heading(line))) continue;
    if (!line.starts_with('{')) return means_picture(line.substr(0, line.rfind('\t')));
    const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
    return json.is_object() && json.contains("picture");
  }
  return false;
}

// Where the list is a pipe, files are looked up from where the program runs.
std::filesystem::path folder_of_list(const std::string& list) {
  return list == "-" ? "" : std::filesystem::path(list).parent_path();
}

CorpusEntry listed_picture(LabelledLine line, const std::filesystem::path& folder) {
  const PictureFile file{folder / line.input.text};
  InputValue input = PictureInput(file);
  if (line.input.pair) input = PictureWithText{file, *line.input.pair};
  CorpusEntry entry{{std::move(input), std::move(line.labels), std::move(line.place)},
                    std::move(line.problem)};
  entry.below = line.input.text;
  if (!line.mask.empty()) entry.mask = folder / line.mask;
  return entry;
}

std::vector<LabelledInput> listed_pictures(const std::string& list, const Lines& lines,
                                           int64_t limit) {
  std::vector<LabelledInput> pictures;
  for (LabelledLine& line : labelled_lines(lines, limit, Subject::kPicture)) {
    pictures.push_back(listed_picture(std::move(line), folder_of_list(list)).input);
  }
  return pictures;
}

// Whoever wrote the list sees what was made of its first line.
void tell_of_heading(const PictureColumns& columns) {
  const std::vector<std::string> names = cells_of(columns.heading);
  std::string read = fmt::format("'{}' names the picture", names[*columns.picture]);
  if (columns.label) read += fmt::format(", '{}' its label", names[*columns.label]);
  if (columns.mask) read += fmt::format(", '{}' its mask", names[*columns.mask]);
  tell(fmt::format("line 1 is a heading: {}", read));
}

// Every line of a list; lines that name no picture have a problem. A first line that does not is
// taken for a heading.
std::vector<CorpusEntry> picture_entries(const std::string& list, const Lines& lines,
                                         int64_t limit) {
  const std::filesystem::path folder = folder_of_list(list);
  if (const auto columns = heading_of(lines); columns && columns->count > 2) {
    tell_of_heading(*columns);
  }
  std::vector<CorpusEntry> entries;
  bool any = false, has_heading = false;
  for (LabelledLine& line :
       labelled_lines(lines, limit <= 0 ? 0 : limit + 1, Subject::kPicture, BrokenLines::kKeep)) {
    const bool names_none =
        line.problem.empty() && !means_picture((folder / line.input.text).string());
    if (names_none && line.place == "line 1") {
      has_heading = true;
      continue;
    }
    if (limit > 0 && static_cast<int64_t>(entries.size()) == limit) break;
    if (names_none) line.problem = fmt::format("'{}' names no picture", line.input.text);
    any = any || line.problem.empty();
    entries.push_back(listed_picture(std::move(line), folder));
  }
  if (any && has_heading) tell("line 1 names no picture and is left out as a heading");
  if (any) return entries;
  throw InvalidInput(
      fmt::format("'{}' names no pictures: give a folder with pictures, or a list with a picture's "
                  "file in each line",
                  list));
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

bool is_same_folder(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code error;
  return !b.empty() && std::filesystem::equivalent(a, b, error);
}

// `without`: a folder inside that holds no pictures to read, as one of masks.
std::vector<LabelledInput> pictures_by_folder(const std::filesystem::path& folder, int64_t limit,
                                              const std::filesystem::path& without = {}) {
  std::vector<std::filesystem::path> inside;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_directory() && !is_same_folder(entry.path(), without))
      inside.push_back(entry.path());
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

std::vector<LabelledInput> texts_in(const std::string& path, const Lines& lines, int64_t limit) {
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
  const Lines lines = first_lines(path, limit);
  return names_picture(lines) ? listed_pictures(path, lines, limit) : texts_in(path, lines, limit);
}

std::vector<CorpusEntry> read_corpus(const std::string& path, const CorpusChoice& choice) {
  std::vector<CorpusEntry> entries;
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    for (LabelledInput& input : pictures_by_folder(path, choice.limit, choice.without)) {
      entries.push_back({std::move(input), {}});
      const std::filesystem::path file = entries.back().input.place;
      entries.back().below = file.lexically_relative(path);
    }
    return entries;
  }
  const Lines lines = first_lines(path, choice.limit);
  if (choice.kind == CorpusKind::kPictures || names_picture(lines))
    return picture_entries(path, lines, choice.limit);
  for (LabelledLine& line :
       labelled_lines(lines, choice.limit, Subject::kText, BrokenLines::kKeep)) {
    entries.push_back({{std::move(line.input), std::move(line.labels), std::move(line.place),
                        std::move(line.rationales)},
                       std::move(line.problem)});
  }
  if (entries.empty()) throw InvalidInput(fmt::format("there is no text in '{}'", path));
  return entries;
}

}  // namespace whyformer::cli
