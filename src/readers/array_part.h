// Arrays with their model. Units are the tokens of all streams, one stream after the other.
#pragma once

#include <optional>

#include "readers/array_units.h"
#include "run/part.h"

namespace whyformer {

class ArraysPart final : public Part, public PartEntrance {
 public:
  // `element` is the one whose value is explained; `hiding_id` stands in for hidden tokens.
  ArraysPart(std::shared_ptr<const ElementGraph> element, NamedArrays arrays,
             std::optional<int64_t> hiding_id);

  const ArrayUnits& array_units() const { return array_units_; }
  // The units as a text, "input_ids 0 = 17, input_ids 1 = 4, …".
  const std::string& shown_text() const { return shown_text_; }
  // The graph with the values where the input enters.
  const std::shared_ptr<const ElementGraph>& graph() const { return element_; }
  const NamedArrays& arrays() const { return arrays_; }
  std::vector<int64_t> out_of_reach() const;

  const PartTraits& traits() const override { return traits_; }
  const std::vector<Unit>& units() const override { return units_; }
  // Tokens as the hiding id ("mask"), numbers as "zero" or their "mean" over the input's positions.
  Variant hiding(const std::vector<bool>& hidden, const std::string& how,
                 std::optional<int64_t> background) const override;
  FedGraph run_of(std::span<const Variant> inputs) const override;
  std::vector<int64_t> players() const override;
  std::vector<bool> can_hide(const std::string& how) const override;
  PlayerTree player_tree() const override;
  const PartEntrance& entrance() const override { return *this; }
  Tensor rows(Depth depth, const std::vector<Tensor>& values) const override;
  std::vector<Tensor> from_rows(Depth depth, const Tensor& all) const override;
  std::vector<double> ranges(Depth depth, const Tensor& all) const override;  // of its own segment
  // Every unit hidden, or "zero": vectors and numbers of 0.
  Tensor baseline(Depth depth, const std::string& name) const override;

 private:
  int64_t unit_count() const { return static_cast<int64_t>(units_.size()); }
  void name_units();
  // Throws InvalidInput for a depth that arrays do not have.
  const std::vector<ArraySegment>& segments_at(Depth depth) const;
  Shape shape_of(const ArraySegment& segment) const;  // of its entry, without the axis of inputs
  NamedArrays hidden_arrays(const std::vector<bool>& hidden, const std::string& how) const;
  FedGraph run_arrays(const NamedArrays& arrays) const;

  std::shared_ptr<const ElementGraph> element_;
  NamedArrays arrays_;
  std::optional<int64_t> hiding_id_;
  ArrayUnits array_units_;
  std::vector<ArraySegment> hideable_;  // those whose positions in an input are known
  // What enters the first layer of each stream; empty where one was not found.
  std::vector<ArraySegment> first_layers_;
  std::vector<Unit> units_;
  std::string shown_text_;
  PartTraits traits_;
};

}  // namespace whyformer
