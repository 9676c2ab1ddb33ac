// A corpus as people keep it: a text or a picture's file per line, with its label behind a tab, or
// JSON lines; or pictures in folders that are called by their labels.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "line_reader.h"
#include "whyformer/heads.h"

namespace whyformer::cli {

// Lines are `text`, `text<TAB>label`, or {"text": …, "pair": …, "label": …} where the label is a
// name, a number or a list of them; "rationales": [[start, end], …] are code points that are known
// to hold the reason. A heading that ends in `label` and blank lines are left out. At
// most `limit` texts are read, all if it is 0. Throws FileError, or InvalidInput that names the
// line.
std::vector<LabelledInput> read_labelled_texts(const std::string& path, int64_t limit);

// Texts of a file one at a time, for those who explain each. Lines are read as above in a file
// called .tsv or with such a heading, and as they stand in any other.
class TextLines {
 public:
  explicit TextLines(const std::string& path);

  struct Text {
    LineReader::Line line;
    bool labelled = false;

    // Without its label. Throws InvalidInput that names the line.
    TextInput input() const;
  };
  // As LineReader::next(); headings and blank lines among labelled ones are left out.
  std::optional<Text> next();

 private:
  LineReader lines_;
  bool labelled_;
};

// Pictures where the path is a folder, or where the first line names one: `file<TAB>label`, or
// {"picture": …, "pair": …, "label": …}, where `pair` is a text to compare with, with files looked
// up from where the list is. In a folder, those in the folders inside are labelled by the names of
// these, others not; of many, the first `limit` are taken from each label in turn. Throws as the
// other.
std::vector<LabelledInput> read_labelled_corpus(const std::string& path, int64_t limit);

// A line of a corpus; what is wrong with it, where it is broken.
struct CorpusEntry {
  LabelledInput input;
  std::string problem = {};
  std::filesystem::path below = {};  // of a picture: its path below the folder, or in the list
  std::filesystem::path mask = {};   // that a list names; empty: none
};

enum class CorpusKind { kAny, kPictures };
struct CorpusChoice {
  int64_t limit = 0;
  CorpusKind kind = CorpusKind::kAny;  // what names no picture is refused, or read as a text
  std::filesystem::path without = {};  // a folder inside that is no label, as that of the masks
};
// The same, with broken lines in their places instead of an error. A list of pictures may have a
// heading with columns picture (or file), class (or label) and mask, which is told.
std::vector<CorpusEntry> read_corpus(const std::string& path, const CorpusChoice& choice);

}  // namespace whyformer::cli
