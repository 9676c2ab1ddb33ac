// ERASER folders (DeYoung et al., ACL 2020): documents with a sentence per line and words parted by
// spaces, and annotations with evidence as ranges of words.
#include <fmt/format.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/code_points.h"
#include "whyformer/error.h"
#include "whyformer/printable.h"
#include "whyformer/protocols.h"

namespace whyformer {
namespace {

using AnnotationJson = nlohmann::json;
namespace fs = std::filesystem;

std::string whole_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || !fs::is_regular_file(path)) {
    throw InvalidInput(fmt::format("there is no document '{}'", printable(path.string())));
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

// Documents by name: files of docs/, or the lines of docs.jsonl.
class EraserDocuments {
 public:
  explicit EraserDocuments(const fs::path& folder) : folder_(folder / "docs") {
    std::ifstream lines(folder / "docs.jsonl");
    for (std::string line; std::getline(lines, line);) {
      const AnnotationJson json = AnnotationJson::parse(line, nullptr, false);
      if (json.is_object() && json.contains("docid") && json.contains("document") &&
          json["docid"].is_string() && json["document"].is_string()) {
        listed_[json["docid"].get<std::string>()] = json["document"].get<std::string>();
      }
    }
  }

  // Throws InvalidInput where there is none of this name, or it leaves the folder.
  std::string text_of(const std::string& name) const {
    const auto found = listed_.find(name);
    if (found != listed_.end()) return found->second;
    if (name.empty() || name == "." || name == ".." ||
        name.find_first_of("/\\") != std::string::npos) {
      throw InvalidInput(fmt::format("'{}' is not the name of a document", printable(name)));
    }
    return whole_file(folder_ / name);
  }

 private:
  fs::path folder_;
  std::map<std::string, std::string> listed_;
};

// Words parted by spaces and lines, joined by single spaces; with their places by code point.
struct EraserWords {
  std::string text;
  std::vector<TextSpan> spans;
};

EraserWords words_of_document(const std::string& document) {
  EraserWords words;
  int64_t place = 0;
  for (size_t start = 0; start < document.size();) {
    const size_t end = std::min(document.find_first_of(" \n\r", start), document.size());
    if (end > start) {
      const std::string word = valid_utf8(std::string_view(document).substr(start, end - start));
      if (!words.spans.empty()) {
        words.text += ' ';
        ++place;
      }
      const int64_t length = CodePointText(word).size();
      words.spans.push_back({place, place + length, 0});
      words.text += word;
      place += length;
    }
    start = end + 1;
  }
  return words;
}

struct EraserEvidence {
  std::string document;
  int64_t start = 0, end = 0;  // words
};

std::vector<EraserEvidence> evidence_of(const AnnotationJson& annotation) {
  std::vector<EraserEvidence> all;
  for (const AnnotationJson& group : annotation.at("evidences")) {
    for (const AnnotationJson& one : group) {
      all.push_back({one.at("docid").get<std::string>(), one.at("start_token").get<int64_t>(),
                     one.at("end_token").get<int64_t>()});
    }
  }
  return all;
}

std::string document_of(const AnnotationJson& annotation,
                        const std::vector<EraserEvidence>& evidence) {
  std::set<std::string> names;
  for (const EraserEvidence& one : evidence) names.insert(one.document);
  if (names.empty() && annotation.contains("docids") && annotation["docids"].is_array()) {
    for (const AnnotationJson& name : annotation["docids"]) names.insert(name.get<std::string>());
  }
  if (names.empty()) return annotation.at("annotation_id").get<std::string>();
  if (names.size() == 1) return *names.begin();
  throw InvalidInput(
      fmt::format("its evidence is in {} documents; one is read at a time", names.size()));
}

std::string told_words(const MarkedWords& marked) {
  std::string told = "words";
  for (size_t i = 0; i < marked.words.size(); ++i) {
    const TextSpan& word = marked.words[i];
    told += fmt::format(" {} {} {}", word.start, word.end, bool(marked.marked[i]));
  }
  return told;
}

void read_annotation(const AnnotationJson& annotation, const EraserDocuments& documents,
                     EvaluationInput& input) {
  const std::vector<EraserEvidence> evidence = evidence_of(annotation);
  const std::string name = document_of(annotation, evidence);
  EraserWords words = words_of_document(documents.text_of(name));
  if (words.spans.empty()) {
    throw InvalidInput(fmt::format("the document '{}' has no words", printable(name)));
  }
  MarkedWords marked{words.spans, std::vector<bool>(words.spans.size(), false)};
  for (const EraserEvidence& one : evidence) {
    if (one.start < 0 || one.end < one.start ||
        one.end > static_cast<int64_t>(marked.marked.size())) {
      throw InvalidInput(fmt::format("evidence of words {} to {} in a document of {} words",
                                     one.start, one.end, marked.marked.size()));
    }
    std::fill(marked.marked.begin() + one.start, marked.marked.begin() + one.end, true);
  }
  input.label = annotation.at("classification").get<std::string>();
  input.input = TextInput{std::move(words.text), {}};
  input.known_from = [marked] { return told_words(marked); };
  input.words = [marked](const Explanation&) { return marked; };
}

EvaluationEntry annotation_entry(const std::string& line, int64_t number,
                                 const EraserDocuments& documents) {
  EvaluationEntry entry{{.name = fmt::format("line {}", number), .input = TextInput{}}};
  const AnnotationJson annotation = AnnotationJson::parse(line, nullptr, false);
  try {
    entry.input.name = annotation.at("annotation_id").get<std::string>();
    read_annotation(annotation, documents, entry.input);
  } catch (const AnnotationJson::exception&) {
    entry.problem = fmt::format(
        "line {} is no annotation with annotation_id, classification and evidences", number);
  } catch (const InvalidInput& error) {
    entry.problem = error.what();
  }
  return entry;
}

}  // namespace

std::vector<EvaluationEntry> read_eraser(const fs::path& folder, const std::string& split,
                                         int64_t limit) {
  const fs::path path = folder / (split + ".jsonl");
  std::ifstream file(path);
  if (!file) {
    throw FileError(
        fmt::format("'{}' is not an ERASER folder: it should have docs and train.jsonl, val.jsonl "
                    "or test.jsonl; "
                    "there is no {}.jsonl",
                    printable(folder.string()), printable(split)));
  }
  const EraserDocuments documents(folder);
  std::vector<EvaluationEntry> entries;
  int64_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (limit > 0 && static_cast<int64_t>(entries.size()) == limit) break;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    entries.push_back(annotation_entry(line, number, documents));
  }
  if (entries.empty()) {
    throw InvalidInput(fmt::format("'{}' has no annotations", printable(path.string())));
  }
  return entries;
}

}  // namespace whyformer
