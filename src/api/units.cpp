#include "api/units.h"

#include <fmt/format.h>

#include <algorithm>

namespace whyformer {
namespace {

bool starts_code_point(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

}  // namespace

std::string code_points(std::string_view text, int64_t start, int64_t end) {
  int64_t seen = -1;
  size_t begin = text.size(), stop = text.size();
  for (size_t i = 0; i < text.size(); ++i) {
    if (!starts_code_point(text[i])) continue;
    ++seen;
    if (seen == start) begin = i;
    if (seen == end) {
      stop = i;
      break;
    }
  }
  return begin < stop ? std::string(text.substr(begin, stop - begin)) : std::string();
}

std::vector<Unit> units_of(const Encoding& encoding) {
  std::vector<Unit> units;
  int64_t first_words = 0;
  for (size_t i = 0; i < encoding.ids.size(); ++i) {
    if (encoding.segment[i] == 0) first_words = std::max(first_words, encoding.word[i] + 1);
  }
  for (size_t i = 0; i < encoding.ids.size(); ++i) {
    Unit unit;
    unit.text = encoding.tokens[i];
    unit.start = encoding.offsets[i].start;
    unit.end = encoding.offsets[i].end;
    unit.special = encoding.special[i];
    unit.segment = encoding.segment[i];
    unit.word = encoding.word[i];
    if (unit.word >= 0 && unit.segment == 1) unit.word += first_words;
    units.push_back(std::move(unit));
  }
  return units;
}

std::vector<Unit> units_of(const PictureSubject& picture) {
  const PatchGrid& grid = picture.grid();
  std::vector<Unit> units;
  for (int64_t i = 0; i < picture.units(); ++i) {
    Unit unit;
    unit.special = picture.special()[i];
    const int64_t patch = i - grid.first;
    unit.text = !unit.special
                    ? fmt::format("row {}, column {}", patch / grid.columns, patch % grid.columns)
                : i == 0 ? "[CLS]"
                         : "[DIST]";
    units.push_back(std::move(unit));
  }
  return units;
}

PictureView view_of(const PictureSubject& subject, const Picture& file) {
  const Picture& seen = subject.seen();
  const std::shared_ptr<uint8_t[]> rgb(new uint8_t[seen.pixels.size()]);
  std::copy(seen.pixels.begin(), seen.pixels.end(), rgb.get());
  const PictureRegion& region = subject.region();
  return {.width = seen.width,
          .height = seen.height,
          .rgb = rgb,
          .first_patch = subject.grid().first,
          .rows = subject.grid().rows,
          .columns = subject.grid().columns,
          .file_width = file.width,
          .file_height = file.height,
          .left = region.left,
          .top = region.top,
          .right = region.left + region.width,
          .bottom = region.top + region.height};
}

std::vector<WordScore> fold_words(const std::vector<Unit>& units, const std::vector<double>& scores,
                                  const TextInput& input, WordFold fold) {
  std::vector<WordScore> words;
  int64_t current = -1;
  int64_t pieces = 0;
  const auto finish = [&] {
    if (words.empty()) return;
    WordScore& word = words.back();
    if (fold == WordFold::kMean && pieces > 0) word.score /= static_cast<double>(pieces);
    const std::string_view source =
        word.segment == 1 && input.pair ? std::string_view(*input.pair) : input.text;
    word.text = code_points(source, word.start, word.end);
    pieces = 0;
  };
  for (size_t i = 0; i < units.size(); ++i) {
    const Unit& unit = units[i];
    if (unit.special || unit.word < 0) continue;
    if (unit.word != current) {
      finish();
      current = unit.word;
      words.push_back({"", unit.start, unit.end, scores[i], unit.segment});
    } else {
      WordScore& word = words.back();
      word.start = std::min(word.start, unit.start);
      word.end = std::max(word.end, unit.end);
      word.score =
          fold == WordFold::kMax ? std::max(word.score, scores[i]) : word.score + scores[i];
    }
    ++pieces;
  }
  finish();
  return words;
}

}  // namespace whyformer
