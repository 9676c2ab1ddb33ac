// Arrays with their model. Units are the tokens of all streams, one stream after the other.
#pragma once

#include <optional>

#include "readers/array_units.h"
#include "run/subject.h"

namespace whyformer {

class ArraySubject final : public Subject {
 public:
  // `element` is the one whose value is explained; `hiding_id` stands in for hidden tokens.
  ArraySubject(std::shared_ptr<const ElementGraph> element, NamedArrays arrays,
               std::optional<int64_t> hiding_id);

  const ArrayUnits& array_units() const { return units_; }

  std::string kind() const override { return "arrays"; }
  const std::vector<bool>& special() const override { return special_; }
  bool attends_by_unit() const override { return units_.why_no_maps.empty(); }
  std::string why_no_maps() const override { return units_.why_no_maps; }
  std::vector<UnitRange> streams() const override;
  // Lengths of files are fixed in many ways; one input at a time always works.
  int64_t most_at_once() const override { return 1; }
  Run copies(int64_t count) const override;
  // Tokens as the hiding id ("mask"), numbers as "zero" or their "mean" over the input's positions.
  Variant hiding(const std::vector<bool>& hidden, const std::string& how) const override;
  Run run_of(std::span<const Variant> inputs) const override;
  std::vector<int64_t> players() const override;
  std::vector<bool> can_hide(const std::string& how) const override;
  PlayerTree player_tree() const override;
  Cells cells() const override;
  Variant hiding_cells(const std::vector<bool>& hidden, const std::string& how) const override;
  std::vector<double> unit_means(const std::vector<double>& cells) const override;
  std::vector<Value> values_at(const ModelGraph& graph, Place place) const override;
  Tensor rows(Place place, const std::vector<Tensor>& values) const override;
  std::vector<Tensor> from_rows(Place place, const Tensor& all) const override;
  std::vector<double> ranges(Place place, const Tensor& all) const override;  // of its own part
  std::vector<int64_t> units_out_of_reach(Place place) const override;
  // Every unit hidden, or "zero": vectors and numbers of 0.
  Tensor baseline(Place place, const std::string& name) const override;
  std::string usual_baseline() const override;

 private:
  // Throws InvalidInput for a place that arrays do not have.
  const std::vector<ArrayPart>& parts_at(Place place) const;
  Shape shape_of(const ArrayPart& part) const;  // of its place, without the axis of inputs
  NamedArrays hidden_arrays(const std::vector<bool>& hidden, const std::string& how) const;
  Run run_arrays(const NamedArrays& arrays) const;

  std::shared_ptr<const ElementGraph> element_;
  NamedArrays arrays_;
  std::optional<int64_t> hiding_id_;
  ArrayUnits units_;
  std::vector<ArrayPart> hideable_;  // those parts whose positions in an input are known
  std::vector<ArrayPart> inputs_;    // where their numbers enter, as far as that was found
  std::vector<ArrayPart>
      first_layers_;  // what enters the first layer of each stream; empty where one was not found
  std::vector<bool> special_;
};

}  // namespace whyformer
