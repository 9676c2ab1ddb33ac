// A run of units of one kind in an input: tokens of a text, patches of a picture, columns of a row,
// positions of arrays. Methods see parts only through an Input.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/graph_source.h"
#include "whyformer/explanation.h"
#include "whyformer/games.h"
#include "whyformer/input.h"

namespace whyformer {

// The input with something hidden, as numbers: equal numbers are equal inputs. Those with the same
// first number and as many numbers can run together.
using Variant = std::vector<int64_t>;

// The smallest pieces of the input that can be hidden, row by row: pixels, or else ordinary units.
struct Cells {
  int64_t height = 1;
  int64_t width = 0;
  int64_t unit_height = 1;  // cells of one unit
  int64_t unit_width = 1;
  std::vector<int64_t> unit = {};  // of each cell; -1 for none
  bool are_pixels = false;
};

// The ways to hide that some kind of part knows.
inline constexpr std::array<std::string_view, 13> kHidingNames{
    "auto",  "mask", "delete", "retokenize", "drop",   "zero",      "grey",
    "black", "mean", "blur",   "blur-11",    "impute", "background"};

// What a kind of part is called, and what methods choose for it where the user does not.
struct PartTraits {
  std::string name;                     // for messages: "text", "picture", "table", "arrays"
  std::string side;                     // in front of notes about one of several parts: "Text"
  std::string input_name;               // of Depth::kInput, where it has a name: "word-embeddings"
  std::string hiding;                   // by default: "mask"
  std::string baseline;                 // of integrated gradients
  std::vector<std::string> words = {};  // ways to hide, and baselines, that no other kind knows
  bool few_players = false;             // SHAP asks for every coalition, as of a table's columns
  std::string removal = {};             // takes units out altogether; empty where nothing does
  // Of LIME, for a part that stands alone; words are those of a PartText.
  LimeNeighbours neighbours = LimeNeighbours::kPictureParts;
};

// Where a part enters the model: values of one input at a depth, as [units, numbers], and back.
class PartEntrance {
 public:
  virtual ~PartEntrance() = default;

  virtual Tensor rows(Depth, const std::vector<Tensor>& values) const { return values[0]; }
  virtual std::vector<Tensor> from_rows(Depth, const Tensor& rows) const { return {rows}; }
  // The range (largest - smallest) of the numbers that share a scale with each unit's.
  virtual std::vector<double> ranges(Depth, const Tensor& rows) const;
  // The channels of a pixel in rows at the input, [height · width, channels], where there are
  // pixels.
  virtual std::optional<Tensor> pixel_channels(const Tensor&) const { return std::nullopt; }
  // An input that says nothing, as rows; `name` is one that this kind knows.
  virtual Tensor baseline(Depth depth, const std::string& name) const = 0;
};

// A part whose units have smaller cells that can be hidden, as patches have pixels.
class PartCells {
 public:
  virtual ~PartCells() = default;

  virtual Cells cells() const = 0;
  virtual Variant hiding_cells(const std::vector<bool>& hidden, const std::string& how) const = 0;
};

// A part that is a text, and so can be read again with other words.
class PartText {
 public:
  virtual ~PartText() = default;

  virtual const TextInput& text() const = 0;
  virtual Variant of_text(const TextInput& text) const = 0;
};

class Part {
 public:
  virtual ~Part() = default;

  virtual const PartTraits& traits() const = 0;
  virtual const std::vector<Unit>& units() const = 0;
  // Units that take part when parts of the input are hidden, and a tree over them, neighbours
  // first.
  virtual std::vector<int64_t> players() const = 0;
  virtual PlayerTree player_tree() const = 0;
  // Those that can be hidden at all, by unit.
  virtual std::vector<bool> can_hide(const std::string& how) const = 0;

  // The input with some units hidden: as they are in one row of the background, or in the one way
  // that there is. Throws InvalidInput for a way that this kind does not know.
  virtual Variant hiding(const std::vector<bool>& hidden, const std::string& how,
                         std::optional<int64_t> background) const = 0;
  virtual FedGraph run_of(std::span<const Variant> inputs) const = 0;

  virtual const PartEntrance& entrance() const = 0;
  // What only some parts have; null for the others.
  virtual const PartCells* as_cells() const { return nullptr; }
  virtual const PartText* as_text() const { return nullptr; }
};

// What an option's word says to one of several parts: "auto" where only another one knows it.
std::string word_for(const Part& part, const std::vector<const Part*>& all,
                     const std::string& word);

// Whether each unit stands for nothing of the input itself, as a class token does.
std::vector<bool> special_units(const std::vector<Unit>& units);

// The range of all numbers.
double range_of(const std::vector<double>& numbers);

}  // namespace whyformer
