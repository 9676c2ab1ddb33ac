// What the units of a model given arrays are: the tokens of its streams, and which numbers of which
// input each stands for.
#pragma once

#include <string>
#include <vector>

#include "models/array_source.h"
#include "run/input.h"
#include "whyformer/explanation.h"

namespace whyformer {

// Neighbouring units of one origin.
struct ArraySegment {
  StreamSegment segment;
  int stream = 0;
  UnitRange units;
  // Positions of an axis of the input fall into so many cells of equal length; a unit is a cell
  // along each. None for learned tokens and where it is not known.
  struct Cut {
    int axis = 0;  // without the axis of inputs
    int64_t cells = 0;
  };
  std::vector<Cut> cuts = {};
  // Of a part that has one: where its numbers enter, the input itself or the rows that ids pick,
  // whose last axis is one more.
  Value value = {};
  bool are_ids = false;
};

struct ArrayUnits {
  std::vector<ArraySegment> segments;
  // The same units as far as their numbers were found, by the values where these enter: several of
  // one part where its columns have a table each.
  std::vector<ArraySegment> entries;
  std::vector<UnitRange> streams;
  std::string why_no_maps;  // empty where maps go over these units

  int64_t count() const {
    return streams.empty() ? 0 : streams.back().first + streams.back().count;
  }
};

// Tokens of the streams that were found; where attention works in windows or there is none,
// positions of the inputs. Throws UnsupportedModel where there are neither.
ArrayUnits array_units(const OnnxProbe& probe);

// What enters the first layer of each stream that has numbers of inputs: the last value of all its
// tokens in front of its first attention through which everything of them passes. Empty where one
// of them was not found.
std::vector<ArraySegment> first_layer_segments(const OnnxProbe& probe, const ArrayUnits& units,
                                               Value output);

// The unit (from 0 within its part) of each number of the part's place; `shape` is the value's,
// without the axis of inputs.
std::vector<int64_t> unit_of_each(const ArraySegment& part, const Shape& shape);

// Names for people: "input_ids 3", "row 0, column 1 of pixel_values".
std::string name_of_unit(const ArraySegment& part, int64_t index);

}  // namespace whyformer
