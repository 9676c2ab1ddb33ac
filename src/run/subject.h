// One input with its model, as methods see them: units that get scores, and graphs that run the
// input or others like it.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "run/run.h"
#include "whyformer/games.h"

namespace whyformer {

// Where a gradient or relevance with respect to the input is taken.
enum class Place {
  kInput,           // the word vectors, or the pixels of a picture
  kEmbeddingBlock,  // positions added
  kFirstLayer
};

// What is run: the answer that is looked at, and with which precision.
struct RunKind {
  Head head = Head::kLogits;
  std::vector<double> reference = {};  // of the similarity head
  DType dtype = DType::kFloat32;
};

// Another input of the same kind, as numbers: equal numbers are equal inputs. Those with the same
// first number and as many numbers can run together.
using Variant = std::vector<int64_t>;

// Why a method that reads attention says nothing about a model that has none.
inline constexpr const char* kNoAttention =
    "no attention was found in this model; methods by gradients, by relevance down to the input "
    "and by hiding parts explain it";

class Subject {
 public:
  virtual ~Subject() = default;

  // "text", "picture", "table", "arrays" or "pair" (of a picture and a text), for messages.
  virtual std::string kind() const = 0;
  // Whether each unit stands for nothing of the input itself, as a class token does.
  virtual const std::vector<bool>& special() const = 0;
  int64_t units() const { return static_cast<int64_t>(special().size()); }
  // Whether attention maps have a row and a column for each unit.
  virtual bool attends_by_unit() const { return true; }
  // Where they have not: what to say about it.
  virtual std::string why_no_maps() const { return ""; }

  // Units of each token stream of the model, where it has several; empty for inputs whose units are
  // one stream.
  struct UnitRange {
    int64_t first = 0;
    int64_t count = 0;
  };
  virtual std::vector<UnitRange> streams() const { return {}; }

  // How many inputs can be run together.
  virtual int64_t most_at_once() const { return int64_t{1} << 30; }
  // So many copies of the input.
  virtual Run copies(int64_t count) const = 0;
  // The input with some of its units hidden. Throws InvalidInput for a way to hide them that this
  // kind of input does not know.
  virtual Variant hiding(const std::vector<bool>& hidden, const std::string& how) const = 0;
  virtual Run run_of(std::span<const Variant> inputs) const = 0;

  // Rows of a table that hidden columns are taken from, with their weights, which sum to 1; others
  // have one way to hide a unit.
  virtual std::vector<double> background_weights() const { return {1.0}; }
  virtual Variant hiding(const std::vector<bool>& hidden, const std::string& how,
                         int64_t /*background*/) const {
    return hiding(hidden, how);
  }

  // Units that take part when parts of the input are hidden; those among them that can be hidden at
  // all; and a tree over them, neighbours first.
  virtual std::vector<int64_t> players() const = 0;
  virtual std::vector<bool> can_hide(const std::string& how) const = 0;  // by unit
  virtual PlayerTree player_tree() const = 0;

  // The smallest pieces of the input that can be hidden, in their order: pixels, or else ordinary
  // units in a row.
  struct Cells {
    int64_t height = 1;
    int64_t width = 0;
    int64_t unit_height = 1;  // cells of one unit
    int64_t unit_width = 1;
  };
  virtual Cells cells() const;
  // `hidden` row by row.
  virtual Variant hiding_cells(const std::vector<bool>& hidden, const std::string& how) const;
  // The mean of each unit's cells; 0 for special units.
  virtual std::vector<double> unit_means(const std::vector<double>& cells) const;

  // What stands at `place`: one value, or several where the input enters the model at several.
  virtual std::vector<Value> values_at(const ModelGraph& graph, Place place) const = 0;
  // Those values of one input as [units, numbers], and back.
  virtual Tensor rows(Place, const std::vector<Tensor>& values) const { return values[0]; }
  virtual std::vector<Tensor> from_rows(Place, const Tensor& rows) const { return {rows}; }
  // The range (most - least) of the numbers that share a scale with each unit's; `all` are rows at
  // `place`.
  virtual std::vector<double> ranges(Place place, const Tensor& all) const;
  // Units of the input that enter the model where no gradient is taken: they have no score at
  // `place`.
  virtual std::vector<int64_t> units_out_of_reach(Place) const { return {}; }
  // The channels of a pixel in rows at kInput, [height · width, channels], where there are pixels.
  virtual std::optional<Tensor> pixel_channels(const Tensor&) const { return std::nullopt; }

  // An input that says nothing, at `place` as rows; `name` is "auto" or a way that this kind of
  // input knows.
  virtual Tensor baseline(Place place, const std::string& name) const = 0;
  // What "auto" stands for.
  virtual std::string usual_baseline() const = 0;
  // What is taken where a baseline of this name is asked for.
  virtual std::string baseline_taken(const std::string& name) const {
    return name == "auto" ? usual_baseline() : name;
  }
};

}  // namespace whyformer
