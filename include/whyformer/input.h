// What a model can be given: a text or two, a picture, a picture with a text, a row of a table, or
// arrays.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "whyformer/games.h"
#include "whyformer/parts.h"

namespace whyformer {

// Each kind tells all that it `holds`, for content_hash.
struct TextInput {
  std::string text;
  std::optional<std::string> pair;

  auto holds() const { return std::tie(text, pair); }
};

// A JPEG, PNG or WebP file.
struct PictureFile {
  std::filesystem::path path;
};

// A picture in memory, 8 bits for each level.
struct PicturePixels {
  std::string name;  // that reports show
  int64_t width = 0;
  int64_t height = 0;
  int64_t channels = 3;  // 1: grey, 3: RGB, 4: RGBA, whose transparency is dropped, not blended
  std::shared_ptr<const uint8_t[]> pixels;  // [height, width, channels], row after row from the top
};

using PictureInput = std::variant<PictureFile, PicturePixels>;

// A picture with a text that a model compares it with (CLIP).
struct PictureWithText {
  PictureInput picture;
  std::string text;

  auto holds() const { return std::tie(picture, text); }
};

// Neighbouring rows of a table, which share the names of their columns; cells as in RowInput.
struct TableBlock {
  int64_t first = 0;  // in the table
  Table table;
  std::vector<std::string> cells = {};
};

struct RowInput {
  std::vector<std::string> names;  // one for each value
  std::vector<double> values;      // not a number: a word, or nothing
  // Rows that hidden columns are taken from, and their weights: one for each row, 0 or more, with
  // the sum 1. None: all count the same.
  Table background = {};
  std::vector<double> weights = {};
  // Cells as they were written, for models that read words: one for each value of the row and of
  // the background. Empty: numbers alone.
  std::vector<std::string> cells = {};
  std::vector<std::string> background_cells = {};
  // Its block of the table, for models whose rows attend to each other, and which row of it it is.
  std::shared_ptr<const TableBlock> block = {};
  int64_t in_block = 0;
  std::optional<int64_t> number = {};  // in its table, from 0; for reports

  auto holds() const {
    return std::tie(names, values, cells, background, background_cells, weights, block, in_block);
  }
};

// Inputs of an ONNX file by name. Masks, positions, flags and caches may be left out.
using ArrayViews = std::map<std::string, ArrayView, std::less<>>;

// The kinds of input, and what messages call them.
using InputValue = std::variant<TextInput, PictureInput, PictureWithText, RowInput, ArrayViews>;
inline constexpr std::array kInputNames{"texts", "pictures", "pictures with texts",
                                        "rows of a table", "arrays"};
static_assert(kInputNames.size() == std::variant_size_v<InputValue>);

// The arrays of a safetensors file, which stays mapped as long as one of them is there. Throws
// FileError.
ArrayViews read_array_views(const std::filesystem::path& path);

// Whether a command's argument means a picture rather than a text: it names one, or a file that
// begins like one.
bool means_picture(const std::string& argument);

}  // namespace whyformer
