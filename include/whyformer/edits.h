// Changes of values inside a model, as data: what is changed, where, and to what. The changed model
// is explained by every method as any other. Nothing here is code, so that edits can be kept, sent
// and replayed to the last bit.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace whyformer {

enum class EditOp {
  kSet,      // to a number, a vector along the last axis, or an array
  kAdd,      // the same, added
  kScale,    // times a number
  kZero,     // to 0
  kMean,     // to the mean over the tokens, of each input by itself
  kCopy,     // to what another run has there
  kFreeze,   // to what the unedited model has there, whatever other edits do in front of it
  kPermute,  // to another place along an axis, drawn by a seed
  kNoise     // normal noise added, drawn by a seed
};

// Places along named axes: {"head": {5}, "token": {2, 3}}. An axis that is not named is taken
// whole; negative numbers count from the end. Tokens are units of the input.
using EditPlaces = std::map<std::string, std::vector<int64_t>, std::less<>>;

// Numbers of an edit, row by row. The shape is that of the places that the edit changes, with an
// axis of 1 for each that is not told apart, or the shape of the whole value; a vector goes along
// the last axis.
struct EditArray {
  std::vector<int64_t> shape = {};
  std::shared_ptr<const std::vector<double>> values = {};

  bool given() const { return values != nullptr; }
  bool operator==(const EditArray& other) const;
};

struct Edit {
  EditOp op = EditOp::kZero;
  std::string value = {};  // its name; see Probe::values
  EditPlaces at = {};
  double number = 0;        // of set, add and scale; the deviation of noise
  EditArray array = {};     // of set and add in place of a number; of copy
  std::string source = {};  // of copy: which value of which run the array is, for people
  std::string axis = {};    // of permute
  int64_t seed = 0;         // of permute and noise

  bool operator==(const Edit&) const = default;
};

// "zero blocks.3.attention.context head=5", "scale blocks.2.mlp.output 0.5 token=3", "set
// blocks.1.output 0 token=2,3", "copy other.blocks.4.output token=2", "noise embeddings sd=0.1
// seed=3", "permute blocks.1.attention.pattern axis=key seed=1". The array of a copy is filled in
// by whoever knows the run. Throws InvalidInput that says what is wrong.
Edit parse_edit(std::string_view text);
// The same text again; arrays are told by their shape.
std::string to_text(const Edit& edit);

// [{"op": "zero", "value": …, "at": {"head": [5]}}, …]; arrays with all their numbers.
std::string edits_to_json(const std::vector<Edit>& edits, int indent = -1);
// Throws InvalidInput for what is no such list.
std::vector<Edit> edits_from_json(std::string_view json);

}  // namespace whyformer
